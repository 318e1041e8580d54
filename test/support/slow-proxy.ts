// A proxy in front of a Redis, which passes on what that says after a time, in its order. It counts what it is asked.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { type Clock, systemClock } from '../../src/base/clock.js';

export interface SlowProxy {
  readonly port: number;
  /** How often somebody has connected so far. */
  readonly connections: number;
  /** Connections that are up. */
  readonly open: number;
  /** Commands so far. */
  readonly questions: number;
  /** Who connects from now on gets to this port. Ends all connections, unless it is to keep them. */
  turnTo(port: number, options?: { readonly keep: boolean }): void;
  /** From now on, in milliseconds. What is infinite never comes. */
  delay(ms: number): void;
  /** Ends all connections, and takes no other one until `mend`. */
  cut(): void;
  mend(): void;
  /** What is asked from now on is held back, also once who asked has gone. */
  hold(): void;
  /** What is asked from now on is passed on again. */
  pass(): void;
  /** Passes on what was held back, and resolves once it is answered. */
  letGo(): Promise<void>;
  close(): Promise<void>;
}

/** As a command begins. */
const COMMAND = /\*\d+\r\n\$/g;

export async function openSlowProxy(port: number, clock: Clock = systemClock): Promise<SlowProxy> {
  let to = port;
  let delayMs = 0;
  let [connections, questions] = [0, 0];
  let isHolding = false;
  let isCut = false;
  const held: { readonly far: Socket; readonly bytes: Buffer }[] = [];
  const [nears, sockets] = [new Set<Socket>(), new Set<Socket>()];
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    connections += 1;
    nears.add(near);
    near.on('close', () => nears.delete(near));
    const far = connect(to, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        if (!held.some(({ far }) => far === other)) other.destroy();
      });
    }
    near.on('data', (bytes) => {
      questions += bytes.toString('latin1').match(COMMAND)?.length ?? 0;
      if (isHolding) held.push({ far, bytes });
      else far.write(bytes);
    });
    let dueAt = Number.NEGATIVE_INFINITY;
    const late: Buffer[] = [];
    far.on('data', (bytes) => {
      const now = clock.now();
      dueAt = Math.max(dueAt, now + delayMs);
      if (dueAt <= now && late.length === 0) near.write(bytes);
      else if (Number.isFinite(dueAt)) {
        late.push(bytes);
        clock.after(dueAt - now, () => near.write(late.shift() ?? Buffer.alloc(0)));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    get open() {
      return nears.size;
    },
    get questions() {
      return questions;
    },
    turnTo(next, { keep } = { keep: false }) {
      to = next;
      if (!keep) for (const socket of sockets) socket.destroy();
    },
    delay(ms) {
      delayMs = ms;
    },
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend() {
      isCut = false;
    },
    hold() {
      isHolding = true;
    },
    pass() {
      isHolding = false;
    },
    async letGo() {
      const answered = held.splice(0).map(({ far, bytes }) => {
        far.write(bytes);
        return once(far, 'data');
      });
      await Promise.all(answered);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
