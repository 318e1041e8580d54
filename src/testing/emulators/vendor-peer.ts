// One socket of a client, as an emulator has it, and what goes wrong on the way of its messages.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.js';
import type { MediaSocket } from '../media-socket.js';

/** What happens to every message of a socket on its way to the client. */
export interface WireTroubles {
  readonly delayMs?: number;
  /** Added to the delay, up to so much, the same in every run. The order stays. */
  readonly jitterMs?: number;
  /** Every so manieth message is dropped, sent twice, or sent after the one behind it. */
  readonly dropEvery?: number;
  readonly duplicateEvery?: number;
  readonly reorderEvery?: number;
  /** Cuts every message into frames of one WebSocket message, also in the middle of a character. */
  readonly split?: boolean;
}

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
  send(message: object | string): void;
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
  readonly #wire: PeerWire;
  #count = 0;
  #held: string | undefined;
  #lastDueAt = 0;
  #seed = 1;

  constructor(ws: MediaSocket, socket: Duplex, wire: PeerWire) {
    this.#ws = ws;
    this.#socket = socket;
    this.#wire = wire;
    this.request = wire.request;
  }

  get isOpen(): boolean {
    return this.#ws.readyState === this.#ws.OPEN;
  }

  send(message: object | string): void {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    const { dropEvery = 0, duplicateEvery = 0, reorderEvery = 0 } = this.#wire.troubles();
    this.#count += 1;
    const isNth = (every: number) => every > 0 && this.#count % every === 0;
    if (isNth(dropEvery)) return;
    const texts = isNth(duplicateEvery) ? [text, text] : [text];
    if (this.#held !== undefined) {
      texts.push(this.#held);
      this.#held = undefined;
    } else if (isNth(reorderEvery)) {
      this.#held = text;
      return;
    }
    for (const each of texts) this.#delay(each);
  }

  close(code: number, reason: string): void {
    if (code === 1006) this.#ws.terminate();
    else this.#ws.close(code, reason);
  }

  freeze(): void {
    this.frozen = true;
    // Unread pings stay unanswered.
    this.#socket.pause();
  }

  #delay(text: string): void {
    const { delayMs = 0, jitterMs = 0 } = this.#wire.troubles();
    if (delayMs + jitterMs === 0) {
      this.#write(text);
      return;
    }
    this.#seed = (this.#seed * 16_807) % 2_147_483_647;
    const { clock } = this.#wire;
    const dueAt = Math.max(this.#lastDueAt, clock.now() + delayMs + (this.#seed / 2_147_483_647) * jitterMs);
    this.#lastDueAt = dueAt;
    clock.after(dueAt - clock.now(), () => this.#write(text));
  }

  #write(text: string): void {
    if (!this.isOpen || this.frozen) return;
    if (this.#wire.troubles().split !== true) {
      this.#ws.send(text);
      return;
    }
    const bytes = Buffer.from(text);
    const pieces = Math.min(bytes.length, 4);
    for (let index = 0; index < pieces; index += 1) {
      const [from, to] = [index, index + 1].map((part) => Math.floor((bytes.length * part) / pieces));
      this.#ws.send(bytes.subarray(from, to), { binary: false, fin: index === pieces - 1 });
    }
  }
}
