// One end of a connection that never leaves this process. It behaves as a `net.Socket` does for whoever reads and writes it.
import { AsyncResource } from 'node:async_hooks';
import { Duplex } from 'node:stream';

/** The ports that both ends tell of themselves. */
export interface Ports {
  readonly local: number;
  readonly remote: number;
}

/** Runs a delivery in a later turn of the event loop. Those from one end keep their order. */
export type Deliver = (from: MemorySocket, task: () => void) => void;

const ADDRESS = '127.0.0.1';
/** What comes without being read until the peer has to wait: a kernel's buffers for one connection. */
const KERNEL_BYTES = 256 * 1024;

export class MemorySocket extends Duplex {
  connecting = false;
  bytesRead = 0;
  bytesWritten = 0;
  readonly remoteAddress = ADDRESS;
  readonly localAddress = ADDRESS;
  readonly remoteFamily = 'IPv4';
  readonly localFamily = 'IPv4';
  readonly remotePort: number;
  readonly localPort: number;
  readonly #deliver: Deliver;
  /** What comes is read on behalf of whoever opened this end, and counts as theirs: by the name that Node gives to such a socket. */
  readonly #resource = new AsyncResource('TCPWRAP', { requireManualDestroy: true });
  #peer: MemorySocket | undefined;
  /** The peer has written more than is read here: it goes on when this is called. */
  #goOn: (() => void) | undefined;
  #hasSentEnd = false;
  /** Bytes that were written and have not been taken by the peer. */
  #inKernel = 0;

  constructor(ports: Ports, deliver: Deliver, allowHalfOpen: boolean) {
    super({ allowHalfOpen, autoDestroy: true });
    this.localPort = ports.local;
    this.remotePort = ports.remote;
    this.#deliver = deliver;
  }

  join(peer: MemorySocket): void {
    this.#peer = peer;
  }

  runHere(task: (socket: MemorySocket) => void): void {
    this.#resource.runInAsyncScope(task, undefined, this);
  }

  get pending(): boolean {
    return this.connecting;
  }

  get readyState(): string {
    if (this.connecting) return 'opening';
    if (this.readable) return this.writable ? 'open' : 'readOnly';
    return this.writable ? 'writeOnly' : 'closed';
  }

  override _read(): void {
    const goOn = this.#goOn;
    this.#goOn = undefined;
    goOn?.();
  }

  override _write(
    chunk: Buffer | string,
    encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    // Whoever writes may use their buffer again: a kernel would have copied it.
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk);
    this.bytesWritten += bytes.length;
    this.#inKernel += bytes.length;
    // What a kernel takes is written, for whoever writes it.
    const isTaken = this.#inKernel <= KERNEL_BYTES;
    this.#send((peer) =>
      peer.#take(bytes, () => {
        this.#inKernel -= bytes.length;
        if (!isTaken) done();
      }),
    );
    if (isTaken) done();
  }

  override _writev(
    chunks: { chunk: Buffer | string; encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    const parts = chunks.map(({ chunk, encoding }) =>
      typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk,
    );
    this._write(Buffer.concat(parts), 'binary', done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#sendEnd();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const goOn = this.#goOn;
    this.#goOn = undefined;
    goOn?.();
    // Words of the peer that nobody has read make it a reset, as TCP has it.
    if (this.readableLength > 0) this.#send((peer) => peer.#reset());
    else this.#sendEnd();
    this.#resource.emitDestroy();
    done(error);
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  resetAndDestroy(): this {
    this.#hasSentEnd = true;
    this.#send((peer) => peer.#reset());
    return this.destroy();
  }

  address(): { address: string; family: string; port: number } {
    return { address: ADDRESS, family: 'IPv4', port: this.localPort };
  }

  /** Nobody waits long enough here for the timeouts of sockets, which go by real time. */
  setTimeout(_ms: number, listener?: () => void): this {
    if (listener !== undefined && _ms > 0) this.once('timeout', listener);
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  #send(task: (peer: MemorySocket) => void): void {
    this.#deliver(this, () => {
      // What is written before the connection stands comes behind it.
      this.#peer?.runHere(task);
    });
  }

  #sendEnd(): void {
    if (this.#hasSentEnd) return;
    this.#hasSentEnd = true;
    this.#send((peer) => {
      if (peer.destroyed) return;
      peer.push(null);
      // Who reads nothing learns of the end as well.
      peer.read(0);
    });
  }

  #take(bytes: Buffer, done: () => void): void {
    if (this.destroyed) {
      // Whoever writes to an end that has gone is told so.
      done();
      this.#send((peer) => peer.#reset());
      return;
    }
    this.bytesRead += bytes.length;
    if (this.push(bytes)) done();
    else {
      const before = this.#goOn;
      this.#goOn = () => {
        before?.();
        done();
      };
    }
  }

  #reset(): void {
    this.destroy(
      Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', errno: -104, syscall: 'read' }),
    );
  }
}
