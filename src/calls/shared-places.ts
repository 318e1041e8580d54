// Limits that this process shares with others: there is room where all of them together have some.

/** Places for calls, of which so many may be taken at a time by all processes together. */
export interface SharedPlaces {
  /** True while none is left, as far as it is known here. */
  readonly isFull: boolean;
  /**
   * Takes a place, or keeps the one that `id` has, wherever it was taken. Resolves to false where all are taken. Never rejects. `since`: when what it is for
   * began to wait for other processes, on the clock. @default now
   */
  take(id: string, about?: { readonly since?: number | undefined }): Promise<boolean>;
}

/** The same for connections of one address. */
export interface SharedConnections {
  /**
   * Counts a connection for a call, of which it has proved to be one: connections of one call have one place, which it keeps where it comes back to another
   * process. Resolves to the function that gives it back (idempotent), or to undefined where there are too many. Never rejects.
   */
  acquire(address: string, callId: string): Promise<(() => void) | undefined>;
}

/** What a process shares. */
export interface SharedLimits {
  /** Undefined without `maxCalls`. */
  readonly calls: SharedPlaces | undefined;
  readonly streams: SharedConnections;
}
