// Store on disk: what it shows stands in memory, and every fact that made it in a log from which it is read back at the start.
import { resolve } from 'node:path';
import { type Clock, systemClock } from '../base/clock.js';
import { type Logger, silentLogger } from '../base/log.js';
import { StoreError } from '../base/errors.js';
import type { CallEvent } from '../contract/call-event.js';
import type { CallRecord } from '../contract/call-record.js';
import type { Aggregates } from '../contract/dashboard-api.js';
import type { CallFilter } from '../events/call-filter.js';
import { type CallForgotten, CallRing, type RingChange } from './call-ring.js';
import type { CallPage, CallQuery, CallStore } from './call-store.js';
import type { Erasure, EventLog } from './disk/event-log.js';
import { byEnd, readCalls, readEvents } from './disk/hydrate.js';
import { Journal } from './disk/journal.js';
import { LevelLog } from './disk/level-log.js';
import { decodeFact, encodeFact, encodeRow } from './disk/row.js';
import { toStoreError } from './disk/trouble.js';

export interface DiskStoreOptions {
  /** Made with mode 0700 if it is not there. One process at a time may use it. */
  folder: string;
  /** Ended calls that are kept, in memory and on disk; the one that ended first leaves first. @default 500 */
  size?: number;
  /** Hears once that the disk fails, and once that it works again. @default none */
  logger?: Logger;
  clock?: Clock;
}

/** What is known of the rows of a call. */
interface Kept {
  readonly call: number;
  /** Rows that were added so far. */
  rows: number;
  readonly first: CallEvent;
}

/**
 * Phases are not kept, nor are partial transcripts but for the first of an entry, which gives it its place: they change no record of a call
 * that is over. Everything else is on disk within 250 ms, and the end of a call before `append` resolves. A disk that fails while calls run
 * holds up nothing: facts wait in memory until it works again.
 */
export class DiskStore implements CallStore {
  readonly #ring: CallRing;
  readonly #log: EventLog;
  readonly #journal: Journal;
  readonly #folder: string;
  readonly #kept = new Map<string, Kept>();
  /** Calls that are being deleted. */
  readonly #erasing = new Map<string, { readonly erasure: Erasure; done?: Promise<boolean> | undefined }>();
  /** Number of the call that comes next. */
  #next = 0;

  private constructor(log: EventLog, options: DiskStoreOptions) {
    const { folder, size, clock = systemClock, logger = silentLogger } = options;
    this.#ring = new CallRing(size, clock);
    this.#log = log;
    this.#folder = folder;
    this.#journal = new Journal({ log, folder, clock, logger });
  }

  /**
   * Opens the folder and reads it. @throws StoreError that names the folder and the fix: locked by another process, not writable, full,
   * or written by a newer version. Damaged data is left out, and counted in one log line. ConfigError for an invalid size.
   */
  static async open(options: DiskStoreOptions): Promise<DiskStore> {
    const folder = resolve(options.folder);
    const log = await LevelLog.open({ folder });
    try {
      const store = new DiskStore(log, { ...options, folder });
      const lost = await store.#hydrate();
      const { tornBytes: bytes, damaged: files } = log.trouble;
      if (bytes > 0) {
        options.logger?.warn({ folder, bytes }, 'the last write before the stop is incomplete: skipped');
      }
      if (lost > 0 || files.length > 0) {
        options.logger?.error({ folder, files, lostCalls: lost }, 'damaged calls on disk are left out');
      }
      return store;
    } catch (error) {
      await log.close();
      throw toStoreError(error, folder);
    }
  }

  get isKept(): boolean {
    return !this.#journal.isFailing;
  }

  /** @throws StoreError for a call that is deleted, while the disk has what was written of it. */
  async append(event: CallEvent): Promise<void> {
    if (event.type === 'call.forgotten') return this.#erase(event);
    const change = this.#ring.apply(event);
    if (change === undefined) return;
    if (!isPassing(event, change)) this.#keep(event, change.record);
    if (change.evicted !== undefined) this.#forget(change.evicted);
    if (event.type === 'call.ended') await this.#journal.written();
  }

  async get(callId: string): Promise<CallRecord | undefined> {
    return this.#ring.get(callId);
  }

  async list(query: CallQuery): Promise<CallPage> {
    return this.#ring.list(query);
  }

  async active(): Promise<CallRecord[]> {
    return this.#ring.active();
  }

  async aggregates(filter?: CallFilter): Promise<Aggregates> {
    return this.#ring.aggregates(filter);
  }

  /** @throws StoreError when the disk does not give back what was written. */
  async events(callId: string): Promise<readonly CallEvent[] | undefined> {
    const forgotten = this.#ring.forgottenAs(callId);
    if (forgotten !== undefined) return [forgotten];
    const record = this.#ring.get(callId);
    const kept = record === undefined ? undefined : this.#kept.get(record.callId);
    if (kept === undefined) return undefined;
    await this.#journal.written();
    if (this.#journal.isFailing) return undefined;
    try {
      const events = await readEvents(this.#log, kept.call);
      return events.length > 0 ? events : undefined;
    } catch (error) {
      throw toStoreError(error, this.#folder);
    }
  }

  async forgotten(): Promise<readonly CallEvent[]> {
    return this.#ring.forgotten();
  }

  /** Writes what is left; a disk that does not answer for five seconds is given up. Idempotent. */
  async close(): Promise<void> {
    await this.#journal.close();
  }

  /** Returns how many calls are damaged: they leave the disk. */
  async #hydrate(): Promise<number> {
    await this.#recallForgotten();
    const { calls, damaged } = await readCalls(this.#log);
    for (const { call } of [...calls, ...damaged]) this.#next = Math.max(this.#next, call + 1);
    for (const { call, rows } of damaged) this.#journal.drop(call, rows);
    for (const { record, ...kept } of calls.toSorted(byEnd)) {
      this.#kept.set(record.callId, kept);
      const evicted = this.#ring.put(record);
      if (evicted !== undefined) this.#forget(evicted);
    }
    return damaged.length;
  }

  #keep(event: CallEvent, { status }: CallRecord): void {
    const kept = this.#kept.get(event.callId);
    const { call, rows: row } = kept ?? { call: this.#next, rows: 0 };
    // What cannot be written, because it is not JSON, takes no place.
    const value = encodeRow(event, kept?.first);
    if (kept === undefined) {
      this.#next += 1;
      this.#kept.set(event.callId, { call, rows: 1, first: event });
    } else {
      kept.rows += 1;
    }
    this.#journal.add({ call, row, value, isOver: status === 'completed' });
  }

  /** Told again, it waits for what is under way, and tries again what has failed. */
  async #erase(event: CallForgotten): Promise<void> {
    const { callId } = event;
    const kept = this.#kept.get(callId);
    const forgottenId = this.#ring.forget(event)?.callId;
    this.#kept.delete(callId);
    if (kept !== undefined) {
      const { call, rows } = kept;
      const erasure = { call, rows, callId, value: encodeFact(event), forgottenId };
      this.#erasing.set(callId, { erasure });
    }
    const erasing = this.#erasing.get(callId);
    if (erasing === undefined) return;
    erasing.done ??= this.#journal.erase(erasing.erasure);
    if (await erasing.done) {
      this.#erasing.delete(callId);
      return;
    }
    erasing.done = undefined;
    throw new StoreError(
      `${this.#folder} could not be written: the call is deleted, but its data stays on disk. Delete it again when that works.`,
    );
  }

  /** The deleted calls of processes before this one. One that cannot be read is not known to be deleted any more, and its data is gone all the same. */
  async #recallForgotten(): Promise<void> {
    const forgotten: CallForgotten[] = [];
    for await (const page of this.#log.erased()) {
      for (const [, value] of page) {
        const event = decodeFact(value);
        if (event?.type === 'call.forgotten') forgotten.push(event);
      }
    }
    for (const event of forgotten.sort((a, b) => a.at - b.at)) this.#ring.remember(event);
  }

  /** A call that leaves the ring leaves the disk. */
  #forget({ callId }: CallRecord): void {
    const kept = this.#kept.get(callId);
    if (kept === undefined) return;
    this.#kept.delete(callId);
    this.#journal.drop(kept.call, kept.rows);
  }
}

/** True for a phase, and for a partial transcript that only takes the place of another one. */
function isPassing(event: CallEvent, { before }: RingChange): boolean {
  if (event.type === 'phase.changed') return true;
  if (event.type !== 'transcript.segment' || event.entry.final || before?.status === 'completed')
    return false;
  const { id } = event.entry;
  return before?.transcript.some((entry) => entry.id === id && !entry.final) ?? false;
}
