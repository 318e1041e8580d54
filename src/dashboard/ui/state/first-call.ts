// The command that makes the first call, with what the server knows of itself.
import { SIMULATED_CARRIERS } from '../../../contract/call-record.js';
import type { CallEntry } from '../../../contract/dashboard-api.js';

/** `origin`: where the page comes from. Null where no simulator plays the carrier. */
export function simulateCommand({ carrier, voiceUrl }: CallEntry, origin: string): string | null {
  if (!SIMULATED_CARRIERS.some((each) => each === carrier)) return null;
  const host = voiceUrl === null ? null : new URL(voiceUrl).host;
  return [
    `npx offhook simulate --url ${origin}`,
    ...(carrier === SIMULATED_CARRIERS[0] ? [] : [`--carrier ${carrier}`]),
    // A carrier signs for the public host, wherever the request goes.
    ...(host === null || host === new URL(origin).host ? [] : [`--webhook-host ${host}`]),
    '--text "Hello?"',
  ].join(' ');
}
