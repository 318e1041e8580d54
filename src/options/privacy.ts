// The option `privacy` of `phone.serve(...)`: what it means and its defaults. Documented here and nowhere else.
import { checkChoice, checkNames, requireObject } from '../base/option-checks.js';
import type { PrivacyPolicy } from '../calls/privacy/private-facts.js';

/** The option `privacy` of `phone.serve(...)`: what of a call is kept, shown and reported. The model, tools and `onMessage` get everything. */
export interface PrivacyOptions {
  /** `redacted`: card, account and phone numbers and e-mail addresses are replaced, such as by `[card number]`, in what reaches disk, page, exports, spans, `onTranscript`, `onMetrics` and `onCallEnd`; what tools are called with, and give, is left out. `none`: no words of caller, agent or tools reach these. Live calls then end with their process, since another one would need the words; excludes `takeOver`. @default 'full' */
  transcript?: 'full' | 'redacted' | 'none' | undefined;
  /** `none`: digits of keys that are pressed or sent are left out in the same places; `userText` of a turn says `[keys]`. Tools may be called with them: what these are called with, give, and say of a failure is left out. What the agent repeats of keys, also in the summary of a hand-off, is transcript. @default 'full' */
  keys?: 'full' | 'none' | undefined;
}

const TRANSCRIPT = ['full', 'redacted', 'none'] as const;
const KEYS = ['full', 'none'] as const;

/** @throws ConfigError */
export function checkPrivacy(options: PrivacyOptions = {}): PrivacyPolicy {
  requireObject(options, 'privacy', "{ transcript: 'redacted' }");
  checkNames(options, ['transcript', 'keys'], 'privacy');
  return {
    transcript: checkChoice('privacy.transcript', options.transcript, TRANSCRIPT),
    keys: checkChoice('privacy.keys', options.keys, KEYS),
  };
}
