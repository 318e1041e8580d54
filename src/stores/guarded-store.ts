// A store of the application's, as the server uses it: facts go in one after the other, and a store that fails or hangs is waited for
// here, where no call feels it.
import type { Clock } from '../base/clock.js';
import { OffhookError, StoreError } from '../base/errors.js';
import { describeThrown, type Logger } from '../base/log.js';
import { pause } from '../base/pause.js';
import type { CallEvent } from '../contract/call-event.js';
import type { CallRecord } from '../contract/call-record.js';
import type { Aggregates } from '../contract/dashboard-api.js';
import type { CallFilter } from '../events/call-filter.js';
import type { CallPage, CallQuery, CallStore } from './call-store.js';

/** A store that takes longer is said to hang, in milliseconds. Reading gives up then, and so does `close`. */
const PATIENCE_MS = 5000;
/** A reader waits so long for facts that are on their way into the store, in milliseconds. */
const CATCH_UP_MS = 1000;
/** Between two attempts to store a fact, in milliseconds. Doubles with each. */
const SHORTEST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** Facts that wait in memory, over all calls. An hour of talk is about a thousand. */
const MAX_WAITING = 10_000;

interface Waiting {
  readonly event: CallEvent;
  readonly stored: () => void;
}

/** The facts of one call that the store does not have yet. The first of them is under way. */
interface Queue {
  readonly facts: Waiting[];
  /** Resolves when the queue is empty, or given up. */
  idle: Promise<void>;
  hasFailed: boolean;
}

export interface GuardedStoreParts {
  /** The application's, which closes it. */
  readonly store: CallStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long `close` waits for what is not stored yet, in milliseconds. @default 5000 */
  readonly closeMs?: number;
}

/**
 * Facts of one call are stored one at a time, in their order; a fact that the store throws for is stored again until it takes it. Reads
 * wait up to a second for what is on its way. No more than 10,000 facts wait: the call that has the most of them is given up, and ends as
 * `process-lost` with the next start.
 */
export class GuardedStore implements CallStore {
  readonly events?: (callId: string) => Promise<readonly CallEvent[] | undefined>;
  readonly forgotten?: () => Promise<readonly CallEvent[]>;
  readonly #store: CallStore;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #closeMs: number;
  readonly #queues = new Map<string, Queue>();
  /** Calls of which facts were lost: the store gets no more of them. */
  readonly #givenUp = new Set<string>();
  readonly #closing = new AbortController();
  #waiting = 0;
  /** Queues whose first fact the store did not take. */
  #failing = 0;

  constructor({ store, clock, logger, closeMs = PATIENCE_MS }: GuardedStoreParts) {
    this.#closeMs = closeMs;
    this.#store = store;
    this.#clock = clock;
    this.#logger = logger;
    if (store.forgotten !== undefined)
      this.forgotten = () => this.#read(async () => (await store.forgotten?.()) ?? []);
    if (store.events !== undefined) this.events = (callId) => this.#read(async () => store.events?.(callId));
  }

  get isKept(): boolean {
    return this.#store.isKept && this.#failing === 0;
  }

  /** Resolves when the store has the fact, or it was given up. Rejects only for a deletion that the store has not taken in five seconds: it is tried on. */
  async append(event: CallEvent): Promise<void> {
    const stored = this.#append(event);
    if (event.type !== 'call.forgotten') return stored;
    const taken = await this.#within(
      PATIENCE_MS,
      stored.then(() => true),
    );
    if (taken === undefined) throw new StoreError('The store has not deleted the call within five seconds.');
  }

  #append(event: CallEvent): Promise<void> {
    if (this.#closing.signal.aborted) return Promise.resolve();
    if (this.#givenUp.has(event.callId)) {
      if (event.type === 'call.ended') this.#givenUp.delete(event.callId);
      return Promise.resolve();
    }
    return new Promise((stored) => {
      this.#waiting += 1;
      const queue = this.#queues.get(event.callId);
      if (queue === undefined) this.#open(event.callId, { event, stored });
      else queue.facts.push({ event, stored });
      if (this.#waiting > MAX_WAITING) this.#giveUpLongest();
    });
  }

  get(callId: string): Promise<CallRecord | undefined> {
    return this.#read(async () => this.#store.get(callId));
  }

  list(query: CallQuery): Promise<CallPage> {
    return this.#read(async () => this.#store.list(query));
  }

  active(): Promise<CallRecord[]> {
    return this.#read(async () => this.#store.active());
  }

  aggregates(filter?: CallFilter): Promise<Aggregates> {
    return this.#read(async () => this.#store.aggregates(filter));
  }

  /** Tries once more to store what waits, within `closeMs`. The store itself stays open: it is the application's. Idempotent. */
  async close(): Promise<void> {
    const isFirst = !this.#closing.signal.aborted;
    this.#closing.abort();
    await this.#within(this.#closeMs, this.#idle());
    if (isFirst && this.#waiting > 0)
      this.#logger.error(
        { facts: this.#waiting },
        'the store did not take these facts of calls: they are lost',
      );
  }

  #open(callId: string, first: Waiting): void {
    const queue: Queue = { facts: [first], idle: Promise.resolve(), hasFailed: false };
    this.#queues.set(callId, queue);
    queue.idle = this.#run(callId, queue);
  }

  async #run(callId: string, queue: Queue): Promise<void> {
    let pauseMs = SHORTEST_PAUSE_MS;
    for (let first = queue.facts[0]; first !== undefined; first = queue.facts[0]) {
      // Asked before the attempt: the one that `close` wakes is the last.
      const isLast = this.#closing.signal.aborted;
      if (await this.#write(first.event, queue)) {
        this.#take(queue, first);
        pauseMs = SHORTEST_PAUSE_MS;
        continue;
      }
      if (isLast) return;
      await pause(this.#clock, pauseMs, this.#closing.signal);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
    this.#queues.delete(callId);
  }

  async #write(event: CallEvent, queue: Queue): Promise<boolean> {
    const overdue = this.#clock.after(PATIENCE_MS, () => this.#fail(queue, new StoreError(HANGS)));
    try {
      await this.#store.append(event);
      this.#recover(queue);
      return true;
    } catch (error) {
      this.#fail(queue, error);
      return false;
    } finally {
      overdue.cancel();
    }
  }

  /** The store has it. Where the queue was given up meanwhile, it was counted then. */
  #take(queue: Queue, first: Waiting): void {
    if (queue.facts[0] !== first) return;
    queue.facts.shift();
    this.#waiting -= 1;
    first.stored();
  }

  #fail(queue: Queue, error: unknown): void {
    if (queue.hasFailed) return;
    queue.hasFailed = true;
    this.#failing += 1;
    if (this.#failing > 1) return;
    this.#logger.error(
      describeThrown(error),
      'the store fails: calls go on, and what happens in them waits in memory',
    );
  }

  #recover(queue: Queue): void {
    if (!queue.hasFailed) return;
    queue.hasFailed = false;
    this.#failing -= 1;
    if (this.#failing === 0) this.#logger.info({}, 'the store works again');
  }

  #giveUpLongest(): void {
    const [callId, queue] = [...this.#queues].reduce((a, b) =>
      b[1].facts.length > a[1].facts.length ? b : a,
    );
    const lost = queue.facts.splice(0);
    this.#waiting -= lost.length;
    if (!lost.some(({ event }) => event.type === 'call.ended')) this.#givenUp.add(callId);
    this.#recover(queue);
    this.#logger.error(
      { callId, facts: lost.length },
      'too many facts wait for the store: a call is given up',
    );
    for (const { stored } of lost) stored();
  }

  async #idle(): Promise<void> {
    await Promise.all([...this.#queues.values()].map(({ idle }) => idle));
  }

  /** @throws StoreError for whatever the store throws that is no error of ours, and for one that hangs. */
  async #read<T>(read: () => Promise<T>): Promise<T> {
    if (this.#failing === 0) await this.#within(CATCH_UP_MS, this.#idle());
    try {
      const answer = await this.#within(
        PATIENCE_MS,
        read().then((value) => ({ value })),
      );
      if (answer !== undefined) return answer.value;
    } catch (error) {
      if (OffhookError.isInstance(error)) throw error;
      throw new StoreError('The store could not be read.', { cause: error });
    }
    throw new StoreError(HANGS);
  }

  /** Undefined when the time is over first. */
  async #within<T>(timeoutMs: number, task: Promise<T>): Promise<T | undefined> {
    const inTime = new AbortController();
    const timeout = pause(this.#clock, timeoutMs, inTime.signal).then(() => undefined);
    try {
      return await Promise.race([task, timeout]);
    } finally {
      inTime.abort();
    }
  }
}

const HANGS = 'The store has not answered for five seconds.';
