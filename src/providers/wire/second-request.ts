// A request that is sent a second time when its answer is late: the first one may be on a connection that nobody knows to be dead. It is not
// stopped for that, because the server may just be busy; and one that is always slow is not asked twice for it.
import type { Clock, Timer } from '../../base/clock.js';
import type { AnswerTimes } from './answer-times.js';

/** One of the two. */
export interface SentRequest {
  /** Stops it, also when the other one was answered. */
  readonly signal: AbortSignal;
  readonly isSecond: boolean;
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
  /**
   * After this time the second one is sent to a server that nothing is known of, in milliseconds; after half of the whole at the latest. A
   * known one has more where it needs that, and is asked once where it could not answer the second one in time.
   */
  readonly secondAfterMs: number;
  /** Of this server. Learns from the answer. */
  readonly times: AnswerTimes;
}

/** A server may take this much longer than for its slowest recent answer before its connection is doubted. */
const DOUBT_FACTOR = 1.5;

/**
 * The first answer of two; the other request is stopped then. A first one that is stopped was probably on a dead connection; a second one
 * was taken by the server. Rejects like the last one that was sent when none is left.
 */
export function askTwice<Answer>(
  ask: (request: SentRequest) => Promise<Answer>,
  { clock, signal, withinMs, secondAfterMs, times }: SecondRequestOptions,
): Promise<FirstAnswer<Answer>> {
  const open = new Set<AbortController>();
  const startedAt = clock.now();
  const firstMs = () => {
    const { slowestMs = 0 } = times;
    const ms = Math.max(Math.min(secondAfterMs, withinMs / 2), slowestMs * DOUBT_FACTOR);
    return withinMs - ms < slowestMs ? undefined : ms;
  };
  return new Promise((resolve, reject) => {
    const send = (timeoutMs: number, { isSecond }: { isSecond: boolean }) => {
      const own = new AbortController();
      open.add(own);
      const sentAt = clock.now();
      ask({ signal: AbortSignal.any([own.signal, signal]), timeoutMs, isSecond }).then(
        (answer) => {
          settle();
          times.answered(clock.now() - sentAt);
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
    let second: Timer | undefined;
    // Other answers may tell meanwhile that the server is slow.
    const sendSecond = () => {
      const waitedMs = clock.now() - startedAt;
      const dueMs = firstMs();
      if (dueMs === undefined) return;
      if (waitedMs < dueMs) second = clock.after(dueMs - waitedMs, sendSecond);
      else send(withinMs - waitedMs, { isSecond: true });
    };
    const settle = () => {
      second?.cancel();
      signal.removeEventListener('abort', settle);
    };
    signal.addEventListener('abort', settle, { once: true });
    sendSecond();
    send(withinMs, { isSecond: false });
  });
}
