// Folders of stores on disk, gone after the test.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { DiskStore, type DiskStoreOptions } from '../../src/stores/disk-store.js';

export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-data-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  return folder;
}

/** Closed after the test. */
export async function openDisk(options: DiskStoreOptions): Promise<DiskStore> {
  const store = await DiskStore.open(options);
  onTestFinished(() => store.close().catch(() => {}));
  return store;
}
