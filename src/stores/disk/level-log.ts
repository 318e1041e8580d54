// The log of facts in a LevelDB folder. A process that has it open locks it; one that dies leaves it to the next.
import { randomUUID } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClassicLevel } from 'classic-level';
import { require } from '../../base/commonjs.js';
import { StoreError } from '../../base/errors.js';
import { makeFolder } from '../../base/make-folder.js';
import { EndRegister } from './end-register.js';
import type { Erasure, EventLog, StoredRow } from './event-log.js';
import { readLevelFolder } from './level-files/folder.js';
import { finishMending, mend } from './mend.js';
import { type KeyChange, type MigratedLog, migrate, type Migrations, SCHEMA_KEY } from './migrations.js';
import {
  ERASING,
  FORGOTTEN,
  type KeyRange,
  type Row,
  rowsOf,
  toErasingKey,
  toForgottenKey,
  toKey,
} from './row.js';
import { toStoreError } from './trouble.js';

/** Entries, and about as many bytes, that are read at a time. */
const PAGE = { entries: 5000, highWaterMarkBytes: 1 << 20 };
const OWNER_KEY = 'owner';
const SYNCED = { sync: true };

export interface LevelLogOptions {
  /** Absolute. Made if it is not there; only the user who runs the process can look into it. */
  readonly folder: string;
  /** Today's version of the data, and the ways to it. @default those of this version of the package */
  readonly schema?: { readonly target: number; readonly migrations: Migrations };
}

/** What was wrong with the files of a folder. */
export interface FolderTrouble {
  /** Files that were missing or not as they were written. */
  readonly damaged: readonly string[];
  /** Bytes of a write that was under way when the process before this one ended. */
  readonly tornBytes: number;
}

export class LevelLog implements EventLog, MigratedLog {
  readonly trouble: FolderTrouble;
  readonly #level: ClassicLevel;
  readonly #register: EndRegister;
  readonly #folder: string;
  /** Tells whether another process had the folder while it was closed here. */
  readonly #owner = randomUUID();
  /** Who begins to read waits for it: a file is not replaced while somebody reads it. */
  #scrubbing: Promise<void> = Promise.resolve();
  /** Each resolves when a reader has finished. */
  readonly #reading = new Set<Promise<void>>();

  private constructor(opened: OpenedFolder, folder: string) {
    this.#level = opened.level;
    this.#register = opened.register;
    this.trouble = opened.trouble;
    this.#folder = folder;
  }

  /** Mends a folder that is damaged. @throws StoreError that names the folder and the fix. */
  static async open({ folder, schema }: LevelLogOptions): Promise<LevelLog> {
    try {
      await makeFolder(folder);
      await chmod(folder, 0o700);
      const opened = await openFolder(folder);
      const { level } = opened;
      const log = new LevelLog(opened, folder);
      try {
        await migrate(log, await level.get(SCHEMA_KEY), { folder, ...schema });
        await log.change([{ key: OWNER_KEY, value: log.#owner }]);
        await log.#finishErasures();
      } catch (error) {
        await level.close();
        throw error;
      }
      return log;
    } catch (error) {
      throw toStoreError(error, folder);
    }
  }

  get ended(): ReadonlyMap<number, number> {
    return this.#register.rows;
  }

  async append(rows: readonly Row[]): Promise<void> {
    await this.#level.batch(
      rows.map((row) => ({ type: 'put', key: toKey(row), value: row.value })),
      SYNCED,
    );
    // Behind the rows: what it says is there is there.
    const over = rows.filter(({ isOver }) => isOver);
    await this.#register.write(new Map(over.map(({ call, row }) => [call, row + 1])));
  }

  async drop(call: number, rows: number): Promise<void> {
    if (this.ended.has(call)) await this.#register.write(new Map([[call, 0]]));
    await this.#level.batch(
      Array.from({ length: rows }, (_, row) => ({ type: 'del', key: toKey({ call, row }) })),
    );
  }

  async erase({ call, rows, callId, value, forgottenId }: Erasure): Promise<void> {
    if (this.ended.has(call)) await this.#register.write(new Map([[call, 0]]));
    const gone = forgottenId === undefined ? [] : [{ key: toForgottenKey(forgottenId) }];
    await this.change([
      ...gone,
      ...Array.from({ length: rows }, (_, row) => ({ key: toKey({ call, row }) })),
      { key: toForgottenKey(callId), value },
      { key: toErasingKey(call), value: String(rows) },
    ]);
  }

  /**
   * A deleted row stays in the file that it was written to until that is merged with the file that deletes it. Where both come out of memory
   * together, they lie in one file, which nothing merges: so the rows are deleted once more, on top of it.
   */
  scrub(erasure: Pick<Erasure, 'call' | 'rows'>): Promise<void> {
    const scrubbed = this.#scrubbing.then(() => this.#scrub(erasure));
    this.#scrubbing = scrubbed.catch(() => {});
    return scrubbed;
  }

  async #scrub({ call, rows }: Pick<Erasure, 'call' | 'rows'>): Promise<void> {
    // For who began to read before, a file keeps what was deleted meanwhile.
    await Promise.all(this.#reading);
    const { gte, lt } = rowsOf(call);
    const again = Array.from({ length: rows }, (_, row) => ({ key: toKey({ call, row }) }));
    await this.#level.compactRange(gte, lt);
    await this.change(again);
    await this.#level.compactRange(gte, lt);
    await this.change([{ key: toErasingKey(call) }]);
  }

  erased(): AsyncIterable<readonly StoredRow[]> {
    return this.read(FORGOTTEN);
  }

  /** Those that a process before this one was stopped in. */
  async #finishErasures(): Promise<void> {
    const left: StoredRow[] = [];
    for await (const page of this.read(ERASING)) left.push(...page);
    for (const [key, rows] of left) await this.scrub({ call: toErased(key), rows: Number(rows) });
  }

  async *read(range: KeyRange): AsyncGenerator<readonly StoredRow[]> {
    const { entries, highWaterMarkBytes } = PAGE;
    await this.#scrubbing;
    const iterator = this.#level.iterator({ ...range, highWaterMarkBytes });
    let finish = () => {};
    const reading = new Promise<void>((resolve) => {
      finish = resolve;
    });
    this.#reading.add(reading);
    try {
      // The next page is read while the caller works on this one.
      let next = iterator.nextv(entries);
      for (let page = await next; page.length > 0; page = await next) {
        next = iterator.nextv(entries);
        // Awaited later, or not at all if the caller breaks off.
        next.catch(() => {});
        yield page;
      }
    } finally {
      await iterator.close();
      this.#reading.delete(reading);
      finish();
    }
  }

  async *entries(): AsyncGenerator<StoredRow> {
    yield* this.#level.iterator();
  }

  async change(changes: readonly KeyChange[]): Promise<void> {
    await this.#level.batch(
      changes.map(({ key, value }) =>
        value === undefined ? { type: 'del', key } : { type: 'put', key, value },
      ),
      SYNCED,
    );
  }

  async reopen(): Promise<void> {
    await this.#level.close();
    await this.#level.open();
    if ((await this.#level.get(OWNER_KEY)) === this.#owner) return;
    throw new StoreError(`Another process has written to ${this.#folder}: start again.`);
  }

  async close(): Promise<void> {
    await this.#level.close();
  }
}

function toErased(key: string): number {
  return Number.parseInt(key.slice(ERASING.gte.length), 16);
}

interface OpenedFolder {
  readonly level: ClassicLevel;
  readonly register: EndRegister;
  readonly trouble: FolderTrouble;
}

async function openFolder(folder: string): Promise<OpenedFolder> {
  const { ClassicLevel } = require('classic-level') as typeof import('classic-level');
  const location = join(folder, 'calls');
  const make = (path: string) => new ClassicLevel(path, { keyEncoding: 'utf8', valueEncoding: 'utf8' });
  await finishMending(location);
  const { entries, ...trouble } = await readLevelFolder(location);
  if (trouble.damaged.length > 0) await mend(location, entries(), make);
  const level = make(location);
  await level.open();
  const register = await EndRegister.open(join(folder, 'ended-calls'));
  return { level, register, trouble };
}
