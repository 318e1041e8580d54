// The command that makes the first call, with what the server knows of itself.
import { CARRIER_IDS } from '../../../contract/call-record.js';
import type { CallEntry } from '../../../contract/dashboard-api.js';

/** `origin`: where the page comes from. */
export function simulateCommand({ carrier, voiceUrl }: CallEntry, origin: string): string {
  const host = voiceUrl === null ? null : new URL(voiceUrl).host;
  return [
    `npx offhook simulate --url ${origin}`,
    ...(carrier === CARRIER_IDS[0] ? [] : [`--carrier ${carrier}`]),
    // A carrier signs for the public host, wherever the request goes.
    ...(host === null || host === new URL(origin).host ? [] : [`--webhook-host ${host}`]),
    '--text "Hello?"',
  ].join(' ');
}
