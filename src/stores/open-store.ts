// The store of a process: on disk where that is possible, else in memory, which is said once.
import { resolve } from 'node:path';
import type { Clock } from '../base/clock.js';
import { describeError, type Logger } from '../base/log.js';
import type { CallStore } from './call-store.js';
import { MemoryStore } from './memory-store.js';
import { StoreError } from '../base/errors.js';

/** Processes that may run beside each other in one data folder: each has a folder of its own in it. */
export type StoreRole = 'server' | 'dashboard';

export interface StoreLocation {
  /** False keeps calls in memory only. */
  readonly dataDir: string | false;
  readonly role: StoreRole;
}

export interface StoreSurroundings {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Hears why calls are kept in memory. @default a warning in the log, with `dataDir` as the setting */
  readonly onMemoryOnly?: (trouble: StoreError) => void;
}

/** Never rejects for the disk's sake: a folder that cannot be used is a warning, and calls are kept in memory. */
export async function openStore(
  { dataDir, role }: StoreLocation,
  { logger, clock, onMemoryOnly }: StoreSurroundings,
): Promise<CallStore> {
  if (dataDir === false) return new MemoryStore();
  const folder = resolve(dataDir, role);
  const { DiskStore } = await import('./disk-store.js');
  try {
    return await DiskStore.open({ folder, logger, clock });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (onMemoryOnly !== undefined) onMemoryOnly(error);
    else
      logger.warn(
        { folder, setting: 'dataDir', ...describeError(error) },
        'calls are kept in memory only and lost at exit',
      );
    return new MemoryStore();
  }
}
