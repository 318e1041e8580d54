// Reads what a provider streams, but waits for it no longer than there is time.
import type { Clock, Timer } from '../../base/clock.js';
import { ProviderError } from '../../base/errors.js';
import { EventLoopTurns } from '../../base/event-loop-turns.js';
import type { TrialLeft } from './trial.js';

/** How long, and for how many items, a stream that was given up is still listened to: one without end may never let a timer run. */
const LATE_MS = 5000;
const LATE_ITEMS = 100;

/** A provider did not go on while there was time for it. */
export class LateError extends ProviderError {
  readonly isFair: boolean;

  constructor(source: string, { isFair }: Pick<TrialLeft, 'isFair'>) {
    super(`${source} did not go on in time.`, { status: null, retryable: true });
    this.isFair = isFair;
  }
}

export class PatientReader<T> {
  readonly #open: () => AsyncIterable<T>;
  readonly #clock: Clock;
  readonly #source: string;
  readonly #turns = new EventLoopTurns();
  #iterator: AsyncIterator<T> | undefined;
  #asked: Promise<IteratorResult<T>> | undefined;
  #isLeft = false;

  /** `open` is called when the first item is asked for. `source`: who is read, for the error's words. */
  constructor(open: () => AsyncIterable<T>, { clock, source }: { clock: Clock; source: string }) {
    this.#open = open;
    this.#clock = clock;
    this.#source = source;
  }

  /**
   * The next item, undefined at the end. `patience` says how long it may still take, asked again when that time is over; undefined
   * waits without end. @throws LateError when it takes longer
   */
  async next(patience: () => TrialLeft | undefined): Promise<{ readonly value: T } | undefined> {
    const turn = this.#turns.next();
    if (turn !== undefined) await turn;
    this.#iterator ??= iteratorOf(this.#open());
    const asked = Promise.resolve(this.#iterator.next());
    this.#asked = asked;
    const settled = () => {
      this.#asked = undefined;
    };
    asked.then(settled, settled);
    const { done, value } = await this.#inTime(asked, patience);
    return done === true ? undefined : { value };
  }

  /** True while the stream owes an item. */
  get isAwaited(): boolean {
    return this.#asked !== undefined;
  }

  /** Nobody waits for it any more: tells what it still gives, for a while, and lets it end. Its failure is of no interest. Idempotent. */
  async leave(late: (item: T) => void = () => {}): Promise<void> {
    const iterator = this.#iterator;
    if (iterator === undefined || this.#isLeft) return;
    this.#isLeft = true;
    let timer: Timer | undefined;
    const over = new Promise<undefined>((resolve) => {
      timer = this.#clock.after(LATE_MS, () => resolve(undefined));
    });
    try {
      let next = this.#asked;
      for (let count = 0; count < LATE_ITEMS; count += 1) {
        const item = await Promise.race([next ?? iterator.next(), over]);
        next = undefined;
        if (item === undefined || item.done === true) break;
        late(item.value);
      }
      iterator.return?.()?.then(undefined, () => {});
    } catch {
      // It was given up.
    } finally {
      timer?.cancel();
    }
  }

  #inTime<R>(asked: Promise<R>, patience: () => TrialLeft | undefined): Promise<R> {
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined;
      const wait = () => {
        const left = patience();
        if (left === undefined) return;
        if (left.leftMs > 0) timer = this.#clock.after(left.leftMs, wait);
        else reject(new LateError(this.#source, left));
      };
      wait();
      asked.then(resolve, reject).finally(() => timer?.cancel());
    });
  }
}

/** What is no stream says so here. That a promise may reject as well is nobody else's trouble. */
function iteratorOf<T>(stream: AsyncIterable<T>): AsyncIterator<T> {
  if (stream instanceof Promise) stream.catch(() => {});
  return stream[Symbol.asyncIterator]();
}
