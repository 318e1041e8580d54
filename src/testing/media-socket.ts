// A WebSocket as the simulators and emulators use one. Their public types name no library of ours: who only tests with them need not
// have its declarations.

/** What a message of a socket may come as. */
export type SocketData = Buffer | ArrayBuffer | Buffer[];

/** Fits a socket of `ws`. */
export interface MediaSocket {
  readonly readyState: number;
  /** Value of `readyState` while messages can be sent. */
  readonly OPEN: number;
  on(event: 'message', listener: (data: SocketData, isBinary: boolean) => void): unknown;
  on(event: 'close', listener: (code: number, reason: Buffer) => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  send(data: string | Uint8Array): void;
  send(data: string | Uint8Array, options: { binary: boolean; fin: boolean }): void;
  resume(): void;
  /** Without a code the other side sees 1005. */
  close(code?: number, reason?: string): void;
  /** Cuts the connection without a closing handshake. */
  terminate(): void;
}
