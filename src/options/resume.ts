// The option `resume` of `phone.serve(...)`: what it means, its defaults and ranges. Documented here and nowhere else.
import { checkNames, checkNumber, requireObject } from '../base/option-checks.js';
import { checkTextByLanguage, type TextByLanguage } from './text-by-language.js';

/** The option `resume` of `phone.serve(...)`: how a call goes on whose media stream, or server process, was lost. */
export interface ResumeOptions {
  /** How long carrier A waits after a lost stream before it asks for another one, in whole seconds, 0-10. It is the longest silence that a lost stream makes where the carrier's REST API cannot be reached. Carrier B is asked for a stream and never waits. @default 2; 0 in a cluster, where another server answers */
  holdSeconds?: number | undefined;
  /** What the caller hears first when another process takes up their call after a crash, at most 300 characters; empty for nothing. One text, or one per language: `{ en: 'I am back.', de: 'Da bin ich wieder.' }`. Callers who were cut off while they spoke are also asked to repeat it. @default a short sentence in the agent's language */
  message?: string | Readonly<Record<string, string>> | undefined;
}

export interface CheckedResumeOptions {
  readonly holdSeconds: number;
  /** Undefined for the default. */
  readonly message: TextByLanguage | undefined;
}

const MAX_MESSAGE_CHARS = 300;

const HOLD = { min: 0, max: 10, whole: true };

/** `holdSeconds`: where none is given. @throws ConfigError */
export function checkResume(
  options: ResumeOptions = {},
  { holdSeconds: fallback }: { readonly holdSeconds: number } = { holdSeconds: 2 },
): CheckedResumeOptions {
  requireObject(options, 'resume');
  checkNames(options, ['holdSeconds', 'message'], 'resume');
  return {
    holdSeconds: checkNumber('resume.holdSeconds', options.holdSeconds, { ...HOLD, fallback }),
    message: checkTextByLanguage('resume.message', options.message, {
      maxChars: MAX_MESSAGE_CHARS,
      example: "{ en: 'I am back.' }",
    }),
  };
}
