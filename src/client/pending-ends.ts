// Calls whose `onCallEnd` has not returned: a file each, by which the next process knows of those that this one leaves behind.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.js';
import { dataLane } from '../base/disk-lane.js';
import { describeError, type Logger } from '../base/log.js';
import { within } from '../base/pause.js';
import type { CallEvent } from '../contract/call-event.js';
import type { CallRecord } from '../contract/call-record.js';
import type { DurableListener } from '../events/bus.js';
import type { CallReader } from '../stores/call-store.js';

/** A callback that ends its process each time shall not end every process to come. */
const MAX_DELIVERIES = 5;
/** The end of a call waits no longer for a disk that does not answer, in milliseconds. */
const PATIENCE_MS = 1000;
const SUFFIX = '.json';

/** A call whose `onCallEnd` a process before this one had begun, or was about to. */
export interface PendingEnd {
  readonly record: CallRecord;
  /** How often it was begun. */
  readonly deliveries: number;
}

export class PendingEnds {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** Writes of files that are still needed, by call. */
  readonly #written = new Map<string, Promise<void>>();
  /** Facts that wait for such a write, by call: the last of them. */
  readonly #waiting = new Map<string, Promise<unknown>>();
  #isFailing = false;

  /** `folder`: made with mode 0700 when the first file is. */
  constructor(options: { folder: string; clock: Clock; logger: Logger }) {
    this.#folder = options.folder;
    this.#clock = options.clock;
    this.#logger = options.logger;
  }

  /**
   * What the processes before have left, oldest end first. To be asked before a call ends here: the end of one that is still active is yet
   * to be stated, and told for the first time. Forgets calls that the store does not have. `isRunning`: true for those of this process. @default none is
   */
  async left(store: Pick<CallReader, 'get'>, isRunning = (_callId: string) => false): Promise<PendingEnd[]> {
    const others = (await this.#list()).filter((callId) => !isRunning(callId));
    const found = await Promise.all(others.map((callId) => this.#find(callId, store)));
    const pending = found.filter((end) => end !== undefined);
    return pending.sort((a, b) => (a.record.endedAt ?? 0) - (b.record.endedAt ?? 0));
  }

  /** True for a call whose callback runs here, or is about to. */
  isRunning(callId: string): boolean {
    return this.#written.has(callId);
  }

  /** Passes facts on to `store`, the end of a call only once its file is there. The facts of a call keep their order. */
  before(store: DurableListener): DurableListener {
    return (event) => {
      const { callId } = event;
      const waiting = this.#waiting.get(callId);
      if (waiting === undefined && event.type !== 'call.ended') return store(event);
      return this.#storeBehind(waiting ?? this.begin(callId), event, store);
    };
  }

  /** `onCallEnd` is about to run for the call. Resolves when its file is there, or the disk fails. Never rejects. */
  async begin(callId: string, { deliveries = 0 } = {}): Promise<void> {
    const written = this.#write(callId, deliveries + 1);
    this.#written.set(callId, written);
    await within(this.#clock, PATIENCE_MS, written);
  }

  /** `onCallEnd` has returned. Never rejects. */
  async told(callId: string): Promise<void> {
    // A file that comes after it was removed would stay.
    await this.#written.get(callId);
    await this.#remove(callId);
    // Who has just listed the file finds it gone, or the call running.
    this.#written.delete(callId);
  }

  async #storeBehind(ready: Promise<unknown>, event: CallEvent, store: DurableListener): Promise<void> {
    const { callId } = event;
    let stored: Promise<void> | undefined;
    const turn = ready.then(() => {
      stored = store(event);
      if (this.#waiting.get(callId) === turn) this.#waiting.delete(callId);
    });
    this.#waiting.set(callId, turn);
    await turn;
    await stored;
  }

  async #find(callId: string, store: Pick<CallReader, 'get'>): Promise<PendingEnd | undefined> {
    const record = await store.get(callId);
    if (record !== undefined && record.status !== 'completed') return undefined;
    const deliveries = await this.#deliveries(callId);
    if (deliveries === undefined) return undefined;
    const isTooMany = deliveries >= MAX_DELIVERIES;
    if (record !== undefined && !isTooMany) return { record, deliveries };
    if (isTooMany)
      this.#logger.error({ callId, deliveries }, 'onCallEnd never returned: it is not called again');
    await this.#remove(callId);
    return undefined;
  }

  /** Ids of calls. What somebody else has put there is left alone. */
  async #list(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names.flatMap((name) => {
      const callId = toCallId(name);
      return callId === undefined ? [] : [callId];
    });
  }

  /** One that was not written to its end has been begun once. Undefined where the file is gone: `onCallEnd` has just returned. */
  async #deliveries(callId: string): Promise<number | undefined> {
    try {
      const { deliveries } = JSON.parse(await readFile(this.#path(callId), 'utf8')) as {
        deliveries?: unknown;
      };
      return typeof deliveries === 'number' ? deliveries : 1;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : 1;
    }
  }

  async #write(callId: string, deliveries: number): Promise<void> {
    try {
      const write = () => writeFile(this.#path(callId), JSON.stringify({ deliveries }), { mode: 0o600 });
      const writeInFolder = () =>
        write().catch(async (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') throw error;
          await mkdir(this.#folder, { recursive: true, mode: 0o700 });
          await write();
        });
      await dataLane.run(writeInFolder);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        this.#logger.warn(
          { folder: this.#folder, ...describeError(error) },
          'cannot write to disk: onCallEnd is not repeated if the process dies while it runs',
        );
      this.#isFailing = true;
    }
  }

  async #remove(callId: string): Promise<void> {
    try {
      await dataLane.run(() => rm(this.#path(callId), { force: true }));
    } catch (error) {
      this.#logger.warn(
        { callId, ...describeError(error) },
        'cannot remove a file: onCallEnd is repeated at the next start',
      );
    }
  }

  #path(callId: string): string {
    return join(this.#folder, `${encodeURIComponent(callId)}${SUFFIX}`);
  }
}

function toCallId(name: string): string | undefined {
  if (!name.endsWith(SUFFIX)) return undefined;
  try {
    return decodeURIComponent(name.slice(0, -SUFFIX.length));
  } catch {
    return undefined;
  }
}
