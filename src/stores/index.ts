// Entry point `offhook/stores`.
export type { CallPage, CallQuery, CallStore } from './call-store.js';
export { DiskStore, type DiskStoreOptions } from './disk-store.js';
export { MemoryStore } from './memory-store.js';
