// Where calls are kept: the options `dataDir` and `store`.
import { ConfigError } from '../base/errors.js';
import type { CallStore } from '../stores/call-store.js';

const DEFAULT_DATA_DIR = '.offhook';

const STORE_METHODS = [
  'append',
  'get',
  'list',
  'active',
  'aggregates',
  'close',
] as const satisfies readonly (keyof CallStore)[];

/** Where calls are kept. `store` stands in for the folder. */
export interface Storage {
  readonly dataDir: string | false;
  readonly store: CallStore | undefined;
}

/** @throws ConfigError for both at once, and naming what a store lacks. */
export function checkStorage({ dataDir, store }: { dataDir?: unknown; store?: unknown }): Storage {
  if (store === undefined) return { dataDir: checkDataDir(dataDir), store };
  if (dataDir !== undefined && dataDir !== false) {
    throw new ConfigError('CONFIG_CONFLICT', 'store and dataDir exclude each other: leave one of them out.');
  }
  return { dataDir: false, store: checkStore(store) };
}

/** @throws ConfigError */
export function checkDurability(value: unknown): 'process' | 'power' {
  if (value === undefined || value === 'process') return 'process';
  if (value === 'power') return value;
  throw new ConfigError('CONFIG_INVALID', "durability must be 'process' or 'power'.");
}

/** The folder, or false for memory only. @throws ConfigError */
export function checkDataDir(value: unknown): string | false {
  if (value === undefined) return DEFAULT_DATA_DIR;
  const isFolder = typeof value === 'string' && value.trim() !== '' && !value.includes('\0');
  if (isFolder || value === false) return value;
  throw new ConfigError(
    'CONFIG_INVALID',
    'dataDir must be the path of a folder, or false to keep calls in memory only.',
  );
}

function checkStore(value: unknown): CallStore {
  if (typeof value !== 'object' || value === null) {
    const hint = typeof value === 'function' ? ' Did you forget new?' : '';
    throw new ConfigError('CONFIG_INVALID', `store must be a CallStore, such as new MemoryStore().${hint}`);
  }
  const missing = STORE_METHODS.filter((name) => typeof Reflect.get(value, name) !== 'function');
  if (missing.length > 0) {
    throw new ConfigError('CONFIG_INVALID', `store is not a CallStore: it lacks ${missing.join(', ')}.`);
  }
  const { events, isKept } = value as { events?: unknown; isKept?: unknown };
  if (events !== undefined && typeof events !== 'function')
    throw new ConfigError('CONFIG_INVALID', 'store is not a CallStore: its events must be a function.');
  if (typeof isKept !== 'boolean')
    throw new ConfigError('CONFIG_INVALID', 'store is not a CallStore: its isKept must be true or false.');
  return value as CallStore;
}
