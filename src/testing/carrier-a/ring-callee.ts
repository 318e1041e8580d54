// Rings somebody, and tells what came of it. The leg's status moves along.
import type { Clock } from '../../base/clock.js';
import { ringTimeOf } from '../callee.js';
import { pause } from '../../base/pause.js';
import type { Callee } from '../simulator.js';
import type { Leg } from './leg.js';

/** How long the network takes to say that a line is busy, or not there. */
const NETWORK_MS = 100;

export type RingResult = 'answered' | 'busy' | 'no-answer' | 'failed' | 'called-off';

/** Rings until the callee answers, the time is over, or the leg is. */
export async function ringCallee(
  leg: Leg,
  input: { callee: Callee; timeoutMs: number; clock: Clock },
): Promise<RingResult> {
  const { callee, timeoutMs, clock } = input;
  const wait = async (durationMs: number, result: RingResult): Promise<RingResult> => {
    await pause(clock, durationMs, leg.signal);
    return leg.isOver ? 'called-off' : result;
  };
  leg.setStatus('initiated');
  const tried = await wait(NETWORK_MS, 'answered');
  if (tried === 'called-off') return tried;
  if (callee.type === 'busy') return 'busy';
  if (callee.type === 'unreachable') return 'failed';
  leg.setStatus('ringing');
  if (callee.type === 'no-answer') {
    return wait(Math.min(callee.ringMs ?? timeoutMs, timeoutMs), 'no-answer');
  }
  const ringMs = ringTimeOf(callee);
  return ringMs < timeoutMs ? wait(ringMs, 'answered') : wait(timeoutMs, 'no-answer');
}
