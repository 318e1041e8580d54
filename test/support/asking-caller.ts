// A caller who asks once what is to happen to the call has happened.
import type { CallerStep } from '../../src/testing/index.js';

export const WAIT: CallerStep = { type: 'wait-for-agent' };

export const asksUpon = (signal: AbortSignal): CallerStep[] => [
  WAIT,
  { type: 'wait-until', signal, timeoutMs: 50_000 },
  { type: 'say', text: 'What time is it?' },
  WAIT,
  { type: 'hang-up' },
];
