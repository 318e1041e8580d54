// The version of what is on disk, and the way from an older one to today's.
import { StoreError } from '../../base/errors.js';
import { damaged } from './row.js';

/** Rises with every change of keys or rows that an older version cannot read. */
export const SCHEMA_VERSION = 1;

/** A change of one key. Without a value it goes away. */
export interface KeyChange {
  readonly key: string;
  readonly value?: string;
}

/** Reads all keys of one version, and returns what becomes of them in the next one. */
export type Migration = (
  entries: AsyncIterable<readonly [key: string, value: string]>,
) => Promise<KeyChange[]>;

/** By the version that it starts from. */
export type Migrations = ReadonlyMap<number, Migration>;

export const MIGRATIONS: Migrations = new Map();

/** What a migration works on. */
export interface MigratedLog {
  entries(): AsyncIterable<readonly [key: string, value: string]>;
  /** All of them or none, and synced. */
  change(changes: readonly KeyChange[]): Promise<void>;
}

export const SCHEMA_KEY = 'schema';

export interface MigrationOptions {
  /** Named in errors. */
  readonly folder: string;
  /** @default today's version */
  readonly target?: number;
  readonly migrations?: Migrations;
}

/**
 * Brings a log from the version that it says it has to `target`, one version at a time; each step is written whole, so one that is
 * interrupted begins again. A log without a version is new. @throws StoreError for a version that is newer or has no way here.
 */
export async function migrate(
  log: MigratedLog,
  found: string | undefined,
  { folder, target = SCHEMA_VERSION, migrations = MIGRATIONS }: MigrationOptions,
): Promise<void> {
  if (found === undefined) {
    await log.change([{ key: SCHEMA_KEY, value: String(target) }]);
    return;
  }
  const version = Number(found);
  if (!Number.isInteger(version) || version < 1) throw damaged();
  if (version > target) {
    throw new StoreError(
      `${folder} was written by a newer version of offhook (data version ${version}, this one knows ${target}): update offhook, or set another dataDir.`,
    );
  }
  for (let from = version; from < target; from += 1) {
    const migration = migrations.get(from);
    if (migration === undefined) {
      throw new StoreError(
        `${folder} holds data version ${from}, which this version of offhook cannot read: move it away and start again.`,
      );
    }
    const changes = await migration(log.entries());
    await log.change([...changes, { key: SCHEMA_KEY, value: String(from + 1) }]);
  }
}
