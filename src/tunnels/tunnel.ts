// Contract of a tunnel: a public host that leads to an address of this machine.

/** An open tunnel. */
export interface Tunnel {
  /** The public host name, without a scheme; TLS on port 443. */
  readonly host: string;
  /** Resolves when the tunnel is gone although nobody closed it; pending for ever otherwise. Never rejects. */
  readonly lost: Promise<void>;
  /** Resolves when it is gone. Idempotent, never rejects. */
  close(): Promise<void>;
}

/** What can open tunnels: a program that was found on this machine. */
export interface TunnelProgram {
  /**
   * Opens a tunnel to `url`, an `http` address of this machine. `signal` gives up waiting, and ends it.
   * @throws ConfigError when no public host was had in time, or the program ended.
   */
  open(url: string, options: { signal: AbortSignal }): Promise<Tunnel>;
}
