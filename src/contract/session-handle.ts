// What a service gives so that another connection can go on with its session.

/** Plain data, which may be stored. Of use to a model of the same settings alone. */
export interface SessionHandle {
  readonly handle: string;
  /** Of everything that the session was set up with. */
  readonly settingsDigest: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}
