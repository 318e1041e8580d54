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
  /** When the other process had it, on the clock. */
  takenAt: number | undefined;
}

/** Resolves to the calls whose deletion the other process could not finish. Rejects for facts that are to be sent again. */
export type SendFacts = (facts: readonly CallEvent[]) => Promise<readonly string[]>;

export class FactRelay {
  readonly #clock: Clock;
  /** In order. Those that were taken come first. */
  #kept: Kept[] = [];
  /** Calls whose deletion the other process could not finish. */
  readonly #undeleted = new Set<string>();
  #send: SendFacts | undefined;
  #sending: Promise<void> | undefined;
  #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the other process has it, or never will. Rejects only for a deletion that is not known to be done there. */
  async append(fact: CallEvent): Promise<void> {
    const kept: Kept = { fact, takenAt: undefined };
    this.#kept.push(kept);
    await this.flushed();
    if (fact.type !== 'call.forgotten') return;
    if (kept.takenAt === undefined || this.#undeleted.delete(fact.callId))
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
  flushed(): Promise<void> {
    if (this.#isClosed || this.#unsent.length === 0) return Promise.resolve();
    this.#pump();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Sends no more. Returns the facts that the disk of the other process may not have. Idempotent. */
  close(): CallEvent[] {
    this.#isClosed = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
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
      if (this.#unsent.length > 0) this.#pump();
    });
  }

  async #sendAll(send: SendFacts): Promise<void> {
    for (let batch = this.#unsent.slice(0, BATCH); batch.length > 0; batch = this.#unsent.slice(0, BATCH)) {
      try {
        for (const callId of await send(batch.map(({ fact }) => fact))) this.#undeleted.add(callId);
        const now = this.#clock.now();
        for (const each of batch) each.takenAt = now;
        this.#kept = this.#kept.filter(({ takenAt = now }) => now - takenAt < STORED_AFTER_MS);
      } catch {
        await pause(this.#clock, RETRY_MS);
      }
      if (this.#isClosed) return;
    }
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
