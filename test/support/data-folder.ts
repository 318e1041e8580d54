// Folders of stores on disk, gone after each test.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { CallStore } from '../../src/stores/call-store.js';
import { DiskStore, type DiskStoreOptions } from '../../src/stores/disk-store.js';

const folders: string[] = [];
const stores: CallStore[] = [];

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close().catch(() => {})));
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-data-'));
  folders.push(folder);
  return folder;
}

/** Closed after the test. */
export async function openDisk(options: DiskStoreOptions): Promise<DiskStore> {
  const store = await DiskStore.open(options);
  stores.push(store);
  return store;
}
