// The facts of a process that has given its store away, for the one that has it: in order, and kept until that one has them on disk.
import type { Clock } from '../../base/clock.js';
import { StoreError } from '../../base/errors.js';
import { pause } from '../../base/pause.js';
import type { CallEvent } from '../../contract/call-event.js';

/** Facts in a batch. */
const BATCH = 500;
const RETRY_MS = 200;
/** What the other process has had for so long is on its disk, in milliseconds. */
const STORED_AFTER_MS = 5000;

interface Kept {
  readonly fact: CallEvent;
  /** Resolves when the other process has it, or never will. */
  readonly settled: Promise<void>;
  settle(): void;
  isOnItsWay: boolean;
  /** When the other process had it, on the clock. */
  takenAt: number | undefined;
  /** It is a deletion that the other process could not finish. */
  isUndone: boolean;
}

/** Resolves to the calls whose deletion the other process could not finish. Rejects for facts that are to be sent again. A deletion comes alone: it may take long. */
export type SendFacts = (facts: readonly CallEvent[]) => Promise<readonly string[]>;

export class FactRelay {
  readonly #clock: Clock;
  /** In order. */
  #kept: Kept[] = [];
  #send: SendFacts | undefined;
  #sending: Promise<void> | undefined;
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the other process has it, or never will. Rejects only for a deletion that is not known to be done there. */
  async append(fact: CallEvent): Promise<void> {
    const kept = keep(fact);
    this.#kept.push(kept);
    if (this.#isClosed) kept.settle();
    this.#pump();
    await kept.settled;
    if (fact.type === 'call.forgotten' && (kept.takenAt === undefined || kept.isUndone))
      throw new StoreError(
        'The process that has the calls on disk has not deleted the call: delete it again.',
      );
  }

  /** Sends from now on. */
  start(send: SendFacts): void {
    this.#send = send;
    this.#pump();
  }

  /** Those of a call that the other process is yet to have. */
  pendingOf(callId: string): CallEvent[] {
    return this.#unsent.flatMap(({ fact }) => (fact.callId === callId ? [fact] : []));
  }

  /** Resolves when the other process has everything so far, or never will. */
  async flushed(): Promise<void> {
    if (this.#isClosed) return;
    await Promise.all(this.#unsent.map(({ settled }) => settled));
  }

  /** Sends no more. Returns the facts that the disk of the other process may not have. Idempotent. */
  close(): CallEvent[] {
    this.#isClosed = true;
    for (const { settle } of this.#kept) settle();
    return this.#kept.splice(0).map(({ fact }) => fact);
  }

  get #unsent(): Kept[] {
    return this.#kept.filter(({ takenAt }) => takenAt === undefined);
  }

  #pump(): void {
    if (this.#send === undefined || this.#isClosed) return;
    this.#sending ??= this.#sendAll(this.#send).finally(() => {
      this.#sending = undefined;
      // Who was told that all is there may have had more to say.
      if (this.#next().length > 0) this.#pump();
    });
  }

  /** A deletion is behind what was stated before it, and nothing waits for it. */
  async #sendAll(send: SendFacts): Promise<void> {
    for (let batch = this.#next(); batch.length > 0 && !this.#isClosed; batch = this.#next()) {
      const sending = this.#sendBatch(send, batch);
      if (!batch.some(isDeletion)) await sending;
    }
  }

  async #sendBatch(send: SendFacts, batch: readonly Kept[]): Promise<void> {
    for (const each of batch) each.isOnItsWay = true;
    try {
      const undone = await send(batch.map(({ fact }) => fact));
      const now = this.#clock.now();
      for (const each of batch) {
        each.takenAt = now;
        each.isUndone = undone.includes(each.fact.callId);
        each.settle();
      }
      this.#kept = this.#kept.filter(({ takenAt = now }) => now - takenAt < STORED_AFTER_MS);
    } catch {
      await pause(this.#clock, RETRY_MS);
      for (const each of batch) each.isOnItsWay = false;
      this.#pump();
    }
  }

  #next(): readonly Kept[] {
    const waiting = this.#unsent.filter(({ isOnItsWay }) => !isOnItsWay);
    const deletionAt = waiting.findIndex(isDeletion);
    if (deletionAt === 0) return waiting.slice(0, 1);
    return waiting.slice(0, deletionAt < 0 ? BATCH : Math.min(deletionAt, BATCH));
  }
}

function keep(fact: CallEvent): Kept {
  let settle: () => void = () => {};
  const settled = new Promise<void>((resolve) => (settle = resolve));
  return { fact, settled, settle: () => settle(), isOnItsWay: false, takenAt: undefined, isUndone: false };
}

function isDeletion({ fact }: Kept): boolean {
  return fact.type === 'call.forgotten';
}
