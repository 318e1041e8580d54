// The leg that a `<Dial>` makes: rings, connects, and ends with the call that it belongs to.
import type { Callee } from '../simulator.js';
import type { Leg } from './leg.js';
import type { DialVerb } from './markup-verbs.js';
import { ringCallee } from './ring-callee.js';
import type { Switchboard } from './switchboard.js';

/** What became of the leg, in the words of the wire. */
export interface DialedLeg {
  readonly callSid: string;
  readonly status: string;
  readonly bridged: boolean;
  readonly durationMs: number;
}

/** Rings the callee and stays until one side hangs up. The signal ends it, as the parent's end does. */
export async function dialOut(
  child: Leg,
  input: { verb: DialVerb; callee: Callee; preparing: Promise<void>; signal: AbortSignal },
  switchboard: Switchboard,
): Promise<DialedLeg> {
  const { verb, callee, signal } = input;
  const { clock } = switchboard;
  const endWithParent = () => child.end({ by: 'caller', how: 'hang-up' });
  signal.addEventListener('abort', endWithParent, { once: true });
  if (signal.aborted) endWithParent();
  child.statusCallback = verb.statusCallback;
  const result = await ringCallee(child, { callee, timeoutMs: verb.timeoutSeconds * 1000, clock });
  if (result === 'answered') {
    await input.preparing;
    child.answer({ timeLimitSeconds: verb.timeLimitSeconds });
    child.line.start(child.steps);
    await child.over;
  } else if (result !== 'called-off') {
    child.end({ by: 'caller', how: 'hang-up', status: result });
  }
  signal.removeEventListener('abort', endWithParent);
  return {
    callSid: child.carrierCallId,
    status: child.status,
    bridged: child.isAnswered,
    durationMs: child.durationMs,
  };
}
