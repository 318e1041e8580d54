// How long a caller can still be kept waiting, for whoever has several providers to try. Part of the contracts of what a call opens.

/** One per call. */
export interface Patience {
  /** Milliseconds until the caller has heard nothing for too long; less than nothing behind that, `Infinity` while nobody waits. */
  leftMs(): number;
}
