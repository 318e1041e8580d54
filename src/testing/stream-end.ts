// How a stream ended, and what broke its protocol: the words that streams of every simulated carrier and the report share.

/** How a stream ended. */
export interface StreamEnd {
  by: 'caller' | 'agent' | 'server' | 'network';
  /**
   * `hang-up`: the caller's own, or the agent's through the REST API. `transfer`: through the REST API. `replaced`: new
   * instructions ended it, and open another one. `time-limit`: the longest duration was reached. `aborted`: the simulation
   * was called off. `closed`: the server closed the socket. `lost`: the socket broke without a closing handshake.
   */
  how: 'hang-up' | 'transfer' | 'replaced' | 'time-limit' | 'aborted' | 'closed' | 'lost';
  /** Close code of the server, null when it did not begin the closing. */
  closeCode: number | null;
  /** Close reason of the server. */
  reason: string;
}

export interface Violation {
  /** Milliseconds since the start of the stream; 0 for what came before. */
  atMs: number;
  sentence: string;
  count: number;
}
