// Entry point `offhook/stores`.
export type { CallPage, CallQuery, CallStore } from './call-store.js';
export { opensCall, reduceCall } from '../events/reduce.js';
export {
  type CallFilter,
  facetOf,
  searchedText,
  spokenNumbers,
  spokenText,
  wantedNumber,
  wantedTexts,
} from '../events/call-filter.js';
export { DiskStore, type DiskStoreOptions } from './disk-store.js';
export { MemoryStore } from './memory-store.js';
export { aggregateCalls, listCalls } from './queries.js';
