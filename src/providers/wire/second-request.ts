// A request that is sent a second time when its answer is late: the first one may be on a connection that nobody knows to be dead. It is not
// stopped for that, because the server may just be busy.
import type { Clock } from '../../base/clock.js';

/** One of the two. */
export interface SentRequest {
  readonly signal: AbortSignal;
  /** How long it may take, in milliseconds. */
  readonly timeoutMs: number;
}

export interface FirstAnswer<Answer> {
  readonly answer: Answer;
  /** When the request was sent that it answers, on the clock. */
  readonly sentAt: number;
  readonly isSecond: boolean;
}

export interface SecondRequestOptions {
  readonly clock: Clock;
  /** Stops both. */
  readonly signal: AbortSignal;
  /** How long the two may take together, in milliseconds. */
  readonly withinMs: number;
  /** After this time the second one is sent, in milliseconds; after half of the whole at the latest. */
  readonly secondAfterMs: number;
}

/** The first answer of two; the other request is stopped then. Rejects like the last one that was sent when none is left. */
export function askTwice<Answer>(
  ask: (request: SentRequest) => Promise<Answer>,
  { clock, signal, withinMs, secondAfterMs }: SecondRequestOptions,
): Promise<FirstAnswer<Answer>> {
  const open = new Set<AbortController>();
  const firstMs = Math.min(secondAfterMs, withinMs / 2);
  return new Promise((resolve, reject) => {
    const send = (timeoutMs: number, { isSecond }: { isSecond: boolean }) => {
      const own = new AbortController();
      open.add(own);
      const sentAt = clock.now();
      ask({ signal: AbortSignal.any([own.signal, signal]), timeoutMs }).then(
        (answer) => {
          settle();
          open.delete(own);
          for (const other of open) other.abort();
          resolve({ answer, sentAt, isSecond });
        },
        (error: unknown) => {
          open.delete(own);
          if (open.size > 0) return;
          settle();
          reject(error);
        },
      );
    };
    const second = clock.after(firstMs, () => send(withinMs - firstMs, { isSecond: true }));
    const settle = () => {
      second.cancel();
      signal.removeEventListener('abort', settle);
    };
    signal.addEventListener('abort', settle, { once: true });
    send(withinMs, { isSecond: false });
  });
}
