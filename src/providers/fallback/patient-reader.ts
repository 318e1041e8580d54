// Reads what a provider streams, but waits for it no longer than there is time.
import { hearOut, iteratorOf } from '../../base/async-iteration.js';
import type { Clock, Timer } from '../../base/clock.js';
import { EventLoopTurns } from '../../base/event-loop-turns.js';
import { LateError } from '../circuits.js';
import type { TrialLeft } from './trial.js';

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
    await hearOut(iterator, { clock: this.#clock, asked: this.#asked, late });
  }

  #inTime<R>(asked: Promise<R>, patience: () => TrialLeft | undefined): Promise<R> {
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined;
      const wait = () => {
        const left = patience();
        if (left === undefined) return;
        if (left.leftMs > 0) timer = this.#clock.after(left.leftMs, wait);
        else reject(new LateError(`${this.#source} did not go on in time.`, left));
      };
      wait();
      asked.then(resolve, reject).finally(() => timer?.cancel());
    });
  }
}
