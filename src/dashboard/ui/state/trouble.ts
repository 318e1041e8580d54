// Which ends nobody wanted. Pure.
import type { EndReason } from '../../../contract/call-record.js';
import type { CallSummary } from '../../../contract/dashboard-api.js';

/** Whatever the outcome. */
const TROUBLE: readonly (EndReason | null)[] = [
  'process-lost',
  'provider-failed',
  'protocol-error',
  'stream-lost',
];

export function isTrouble(call: Pick<CallSummary, 'error' | 'outcome' | 'endReason'>): boolean {
  return call.error !== null || call.outcome === 'failed' || TROUBLE.includes(call.endReason);
}
