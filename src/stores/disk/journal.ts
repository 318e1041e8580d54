// Writes facts to the log: some at a time, away from the calls, and again when the disk has failed.
import type { Clock, Timer } from '../../base/clock.js';
import { describeError, type Logger } from '../../base/log.js';
import type { Erasure, EventLog } from './event-log.js';
import type { Row } from './row.js';
import { toStoreError } from './trouble.js';

/** A fact waits this long for others, in milliseconds. With the write itself it shall be on disk within 250. */
const WRITE_AFTER_MS = 100;
/** Rows that are handed over at a time: what they cost this thread grows with them. */
const MAX_ROWS = 500;
/** Pause before a disk that failed is tried again, in milliseconds. */
const RETRY_MS = 5000;
/** `close` gives up a disk that has not finished a write for so long, in milliseconds. */
const CLOSE_MS = 5000;

export interface JournalOptions {
  readonly log: EventLog;
  /** Named in log lines. */
  readonly folder: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface NumberedRow extends Row {
  /** Rises by one with every row that is added. */
  readonly number: number;
}

interface PlannedErasure {
  readonly erasure: Erasure;
  /** Hears whether it is done; not where the disk fails. */
  resolve(isDone: boolean): void;
}

interface Waiter {
  /** Number of the last row that it waits for. */
  readonly upTo: number;
  resolve(): void;
}

/**
 * While the disk fails, rows wait in memory: those of the calls that the store holds. One log line reports the failure, and one its
 * end.
 */
export class Journal {
  readonly #options: JournalOptions;
  /** Rows that are not written yet, in order. */
  #rows: NumberedRow[] = [];
  /** Calls to forget, and how many rows each has. */
  readonly #drops = new Map<number, number>();
  /** Calls to delete. */
  readonly #erasures: PlannedErasure[] = [];
  /** Files are rid of deleted calls one after the other, beside what is written. */
  #scrubbing: Promise<void> = Promise.resolve();
  #waiters: Waiter[] = [];
  /** Number of the row that was added last. */
  #added = 0;
  /** Number of the last row that shall be written now. */
  #due = 0;
  #timer: Timer | undefined;
  #watchdog: Timer | undefined;
  /** Writes, and files that were rid of a call, that were finished. */
  #batches = 0;
  #writing: Promise<void> | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** True while rows do not reach the disk. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Never throws. */
  add(row: Row): void {
    if (this.#isClosed) return;
    this.#added += 1;
    this.#rows.push({ ...row, number: this.#added });
    this.#plan();
  }

  /** Forgets a call, of which `rows` were added. */
  drop(call: number, rows: number): void {
    if (this.#isClosed) return;
    this.#rows = this.#rows.filter((row) => row.call !== call);
    this.#drops.set(call, rows);
    this.#plan();
  }

  /** Deletes a call. Resolves to false where it cannot be done now, but when the disk works again, or with the next start. Never rejects. */
  erase(erasure: Erasure): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    this.#rows = this.#rows.filter((row) => row.call !== erasure.call);
    return new Promise((resolve) => {
      this.#erasures.push({ erasure, resolve });
      if (this.#isFailing) resolve(false);
      else this.#start();
    });
  }

  /** Writes at once. Resolves when everything added so far is on disk, or while the disk fails. Never rejects. */
  async written(): Promise<void> {
    if (this.#isFailing || this.#isClosed) return;
    const upTo = this.#added;
    this.#due = upTo;
    const written = new Promise<void>((resolve) => this.#waiters.push({ upTo, resolve }));
    this.#start();
    await written;
  }

  /** Writes what is left, waits for files that are being rid of a deleted call, and closes the log. Rejects when the log does. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer?.cancel();
    const closed = this.#finish()
      .then(() => this.#scrubbing)
      .then(() => this.#options.log.close());
    await Promise.race([closed, this.#stalled()]);
    this.#watchdog?.cancel();
  }

  /** Resolves when nothing has been written for a while, nor a file been rid of a deleted call. */
  #stalled(): Promise<void> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      const watch = (batches: number) => {
        this.#watchdog = clock.after(CLOSE_MS, () => {
          if (this.#batches === batches) resolve();
          else watch(this.#batches);
        });
      };
      watch(this.#batches);
    });
  }

  async #finish(): Promise<void> {
    // One last try for a disk that failed.
    if (this.#isFailing && this.#writing === undefined) this.#writing = this.#resume();
    await this.#writing;
    this.#due = this.#added;
    if (this.#isFailing) return;
    this.#start();
    await this.#writing;
  }

  #plan(): void {
    if (this.#isFailing) return;
    this.#timer ??= this.#options.clock.after(WRITE_AFTER_MS, () => {
      this.#timer = undefined;
      this.#due = this.#added;
      this.#start();
    });
  }

  #start(): void {
    if (this.#isFailing) return;
    this.#writing ??= this.#write();
  }

  async #write(): Promise<void> {
    const { log } = this.#options;
    let batch: NumberedRow[] = [];
    try {
      do {
        batch = this.#isDue ? this.#rows.splice(0, MAX_ROWS) : [];
        if (batch.length > 0) await log.append(batch);
        this.#batches += 1;
        const last = batch.at(-1);
        if (last !== undefined) this.#tell(last.number);
        batch = [];
        await this.#forget();
      } while (this.#isDue || this.#erasures.length > 0);
      if (this.#rows.length === 0) this.#tell(this.#added);
      this.#recovered();
    } catch (error) {
      this.#rows.unshift(...batch.filter(({ call }) => !this.#isDropped(call)));
      this.#failed(error);
    }
    this.#writing = undefined;
  }

  get #isDue(): boolean {
    const [first] = this.#rows;
    return first !== undefined && first.number <= this.#due;
  }

  async #forget(): Promise<void> {
    for (const [call, rows] of [...this.#drops]) {
      await this.#options.log.drop(call, rows);
      this.#drops.delete(call);
    }
    for (let next = this.#erasures[0]; next !== undefined; next = this.#erasures[0]) {
      await this.#options.log.erase(next.erasure);
      this.#erasures.shift();
      this.#scrub(next);
    }
  }

  #scrub(planned: PlannedErasure): void {
    const scrub = async () => {
      try {
        await this.#options.log.scrub(planned.erasure);
        this.#batches += 1;
        planned.resolve(true);
      } catch (error) {
        // Tried again like a write that failed, once the one under way is over.
        await this.#writing;
        this.#erasures.push(planned);
        this.#failed(error);
      }
    };
    this.#scrubbing = this.#scrubbing.then(scrub);
  }

  #isDropped(call: number): boolean {
    return this.#drops.has(call) || this.#erasures.some(({ erasure }) => erasure.call === call);
  }

  #tell(upTo: number): void {
    const waiters = this.#waiters;
    this.#waiters = waiters.filter((waiter) => waiter.upTo > upTo);
    for (const waiter of waiters) if (waiter.upTo <= upTo) waiter.resolve();
  }

  #failed(error: unknown): void {
    const { folder, clock, logger } = this.#options;
    if (!this.#isFailing) {
      const reason = describeError(toStoreError(error, folder));
      logger.error({ folder, ...reason }, 'cannot write to disk: calls go on, and writing is retried');
    }
    this.#isFailing = true;
    this.#tell(this.#added);
    for (const { resolve } of this.#erasures) resolve(false);
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#isClosed) return;
    this.#timer = clock.after(RETRY_MS, () => {
      this.#timer = undefined;
      this.#writing ??= this.#resume();
    });
  }

  async #resume(): Promise<void> {
    try {
      await this.#options.log.reopen();
    } catch (error) {
      this.#writing = undefined;
      this.#failed(error);
      return;
    }
    this.#due = this.#added;
    await this.#write();
  }

  #recovered(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    const { folder, logger } = this.#options;
    logger.info({ folder }, 'writing calls to disk again');
    if (this.#rows.length > 0) this.#plan();
  }
}
