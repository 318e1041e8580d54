// Rings at the one who is called, and lets them answer, or not.
import { ringTimeOf } from '../callee.js';
import { ENDS, type CallEnd } from './events.js';
import type { Leg } from './leg.js';
import type { PreparedCallee } from './prepared-callee.js';

/** How soon the network knows that nobody will answer. */
const NETWORK_MS = 200;

/** Rings on an outbound leg. `onAnswered` is called when somebody has taken it; otherwise the leg ends. */
export function ring(
  leg: Leg,
  { callee, steps }: PreparedCallee,
  options: { timeoutMs: number; retryOnTimeout: boolean | undefined; onAnswered(): void },
): void {
  const end = (delayMs: number, how: CallEnd) =>
    leg.after(delayMs, () => leg.end({ ...how, by: 'caller', how: 'hang-up' }));
  const ringsOut = () =>
    end(options.timeoutMs, options.retryOnTimeout === false ? ENDS.noAnswer : ENDS.ringTimeout);
  switch (callee.type) {
    case 'busy':
      end(NETWORK_MS, ENDS.busy);
      break;
    case 'unreachable':
      end(NETWORK_MS, ENDS.notFound);
      break;
    case 'rejects':
      end(callee.ringMs ?? NETWORK_MS, ENDS.rejected);
      break;
    case 'no-answer':
      if (callee.ringMs === undefined || callee.ringMs >= options.timeoutMs) ringsOut();
      else end(callee.ringMs, ENDS.noAnswer);
      break;
    default:
      if (ringTimeOf(callee) >= options.timeoutMs) ringsOut();
      else {
        leg.person = { steps, startsWith: callee.type === 'human' ? 'stream' : 'answer' };
        leg.after(ringTimeOf(callee), () => {
          leg.answer();
          options.onAnswered();
        });
      }
  }
}
