// The log of facts in a LevelDB folder. A process that has it open locks it; one that dies leaves it to the next.
import { randomUUID } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClassicLevel } from 'classic-level';
import { StoreError } from '../../base/errors.js';
import { makeFolder } from '../../base/make-folder.js';
import type { EventLog, StoredRow } from './event-log.js';
import { type KeyChange, type MigratedLog, migrate, type Migrations, SCHEMA_KEY } from './migrations.js';
import { type KeyRange, type Row, toKey } from './row.js';
import { tornTailBytes } from './torn-tail.js';
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

export class LevelLog implements EventLog, MigratedLog {
  /** Bytes of a write that was under way when the process before this one ended. */
  readonly tornBytes: number;
  readonly #level: ClassicLevel;
  readonly #folder: string;
  /** Tells whether another process had the folder while it was closed here. */
  readonly #owner = randomUUID();

  private constructor(level: ClassicLevel, options: { folder: string; tornBytes: number }) {
    this.#level = level;
    this.#folder = options.folder;
    this.tornBytes = options.tornBytes;
  }

  /** @throws StoreError that names the folder and the fix. */
  static async open({ folder, schema }: LevelLogOptions): Promise<LevelLog> {
    try {
      const { ClassicLevel } = await import('classic-level');
      await makeFolder(folder);
      await chmod(folder, 0o700);
      const location = join(folder, 'calls');
      const tornBytes = await tornTailBytes(location);
      const level = new ClassicLevel(location, { keyEncoding: 'utf8', valueEncoding: 'utf8' });
      await level.open();
      const log = new LevelLog(level, { folder, tornBytes });
      try {
        await migrate(log, await level.get(SCHEMA_KEY), { folder, ...schema });
        await log.change([{ key: OWNER_KEY, value: log.#owner }]);
      } catch (error) {
        await level.close();
        throw error;
      }
      return log;
    } catch (error) {
      throw toStoreError(error, folder);
    }
  }

  async append(rows: readonly Row[]): Promise<void> {
    await this.#level.batch(
      rows.map((row) => ({ type: 'put', key: toKey(row), value: row.value })),
      SYNCED,
    );
  }

  async drop(call: number, rows: number): Promise<void> {
    await this.#level.batch(
      Array.from({ length: rows }, (_, row) => ({ type: 'del', key: toKey({ call, row }) })),
    );
  }

  async *read(range: KeyRange): AsyncGenerator<readonly StoredRow[]> {
    const { entries, highWaterMarkBytes } = PAGE;
    const iterator = this.#level.iterator({ ...range, highWaterMarkBytes });
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
