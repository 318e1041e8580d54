// One socket of a client, as an emulator has it.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.js';
import type { MediaSocket } from '../media-socket.js';
import { type SocketTrouble, toTroubleMessage } from './socket-trouble.js';
import { TroubledWire, type WireTroubles } from './troubled-wire.js';

/** A request or a handshake, as it came. */
export interface EmulatorRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
}

/** One socket of the client, seen from the vendor. */
export interface VendorPeer {
  readonly request: EmulatorRequest;
  readonly isOpen: boolean;
  /** An object is sent as JSON, bytes as a binary message. */
  send(message: object | string | Buffer): void;
  close(code: number, reason: string): void;
}

export interface PeerWire {
  readonly request: EmulatorRequest;
  readonly clock: Clock;
  /** As they are when a message is sent. */
  readonly troubles: () => WireTroubles;
}

export class WsPeer implements VendorPeer {
  readonly request: EmulatorRequest;
  frozen = false;
  readonly #ws: MediaSocket;
  readonly #socket: Duplex;
  readonly #troubles: () => WireTroubles;
  readonly #wire: TroubledWire;

  constructor(ws: MediaSocket, socket: Duplex, wire: PeerWire) {
    this.#ws = ws;
    this.#socket = socket;
    this.request = wire.request;
    this.#troubles = wire.troubles;
    this.#wire = new TroubledWire({ ...wire, write: (message) => this.#write(message) });
  }

  get isOpen(): boolean {
    return this.#ws.readyState === this.#ws.OPEN;
  }

  send(message: object | string | Buffer): void {
    const isWhole = typeof message === 'string' || Buffer.isBuffer(message);
    this.#wire.send(isWhole ? message : JSON.stringify(message));
  }

  close(code: number, reason: string): void {
    if (code === 1006) this.#ws.terminate();
    else if (code === 1005) this.#ws.close();
    else this.#ws.close(code, reason);
  }

  freeze(): void {
    this.frozen = true;
    // Unread pings, and a close that is asked for, stay unanswered. That the client has cut the connection is still noticed.
    this.#socket.removeAllListeners('data');
    this.#socket.resume();
  }

  /** What goes wrong is not held up by the troubles of the wire. */
  break(trouble: SocketTrouble): void {
    const message = toTroubleMessage(trouble);
    if (trouble === 'freeze') this.freeze();
    else if (typeof trouble === 'number') this.close(trouble, 'on demand');
    else if (message === undefined) this.close(1006, '');
    else
      this.#write(
        Buffer.isBuffer(message) || typeof message === 'string' ? message : JSON.stringify(message),
      );
  }

  #write(message: string | Buffer): void {
    if (!this.isOpen || this.frozen) return;
    if (this.#troubles().split !== true) {
      this.#ws.send(message);
      return;
    }
    const binary = Buffer.isBuffer(message);
    const bytes = binary ? message : Buffer.from(message);
    const pieces = Math.min(bytes.length, 4);
    for (let index = 0; index < pieces; index += 1) {
      const [from, to] = [index, index + 1].map((part) => Math.floor((bytes.length * part) / pieces));
      this.#ws.send(bytes.subarray(from, to), { binary, fin: index === pieces - 1 });
    }
  }
}
