// A vendor without a network: sockets that a test opens, speaks through and breaks by hand.
import type { WireFailure } from '../../src/providers/wire/failure.js';
import type {
  OpenVendorSocket,
  VendorSocket,
  VendorSocketOptions,
} from '../../src/providers/wire/vendor-socket.js';
import type { FakeClock } from '../support/fake-clock.js';

export class FakeVendorSocket implements VendorSocket {
  readonly options: VendorSocketOptions;
  readonly sent: (string | Uint8Array)[] = [];
  bufferedBytes = 0;
  pings = 0;
  closed = false;
  terminated = false;

  constructor(options: VendorSocketOptions) {
    this.options = options;
  }

  send(message: string | Uint8Array): void {
    this.sent.push(typeof message === 'string' ? message : message.slice());
  }
  ping(): void {
    this.pings += 1;
  }

  close(lastMessage?: string): void {
    if (lastMessage !== undefined && !this.closed) this.sent.push(lastMessage);
    this.closed = true;
  }

  terminate(): void {
    this.closed = true;
    this.terminated = true;
  }

  /** The texts that were sent, as objects. */
  get messages(): Record<string, unknown>[] {
    return this.sent.flatMap((each) => (typeof each === 'string' ? [JSON.parse(each)] : []));
  }

  get audioBytes(): number {
    return this.sent.reduce((sum, each) => sum + (typeof each === 'string' ? 0 : each.length), 0);
  }

  opens(): void {
    this.options.events.opened();
  }
  says(message: object | string): void {
    this.options.events.text(typeof message === 'string' ? message : JSON.stringify(message));
  }
  /** A binary frame. */
  sends(bytes: Uint8Array): void {
    this.options.events.binary?.(bytes);
  }
  pongs(): void {
    this.options.events.pong?.();
  }
  ends(failure: Partial<WireFailure> = {}): void {
    this.options.events.ended({
      kind: 'transient',
      status: null,
      retryAfterMs: null,
      reason: 'broke',
      ...failure,
    });
  }
}

export class FakeVendor {
  readonly sockets: FakeVendorSocket[] = [];
  #refused: FakeVendorSocket | undefined;
  readonly open: OpenVendorSocket = (options) => {
    const socket = new FakeVendorSocket(options);
    this.sockets.push(socket);
    return socket;
  };

  get socket(): FakeVendorSocket {
    const socket = this.sockets.at(-1);
    if (socket === undefined) throw new Error('no socket was opened');
    return socket;
  }

  /** The connection is lost, and for so long every other one is refused. */
  async goDown(clock: FakeClock, ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 20) {
      if (this.#refused !== this.socket) this.socket.ends();
      this.#refused = this.socket;
      await clock.advanceAsync(20);
    }
  }
}
