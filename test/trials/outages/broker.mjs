// A Redis of the trial's own, on a free port. Nothing is kept on disk.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const PROGRAM = 'redis-server';
/** A replica would else leave a file, which the next broker would begin with. */
const WITHOUT_DISK = Object.entries({
  'repl-diskless-sync': 'yes',
  'repl-diskless-sync-delay': '0',
  'repl-diskless-load': 'swapdb',
}).flatMap(([name, value]) => [`--${name}`, value]);
/** It begins anew within this. */
const START_MS = 10_000;

export class Broker {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #server;
  /** @type {readonly string[]} */
  #settings;
  /** @type {string | undefined} */
  #password;

  /** `settings`: as on its command line. @param {number} port @param {readonly string[]} [settings] */
  static async start(port, settings = []) {
    const broker = new Broker(port, settings);
    await broker.start();
    return broker;
  }

  /** @param {number} port @param {readonly string[]} settings @private */
  constructor(port, settings) {
    this.port = port;
    this.#settings = settings;
    process.on('exit', this.#kill);
  }

  get pid() {
    return this.#server?.pid ?? 0;
  }

  /** Resolves when it takes connections. */
  async start() {
    const own = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--daemonize', 'no'];
    const settings = [...own, ...WITHOUT_DISK, ...this.#settings];
    const server = spawn(PROGRAM, settings, { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
    this.#server = server;
    const [failed, tooLong] = [once(server, 'error'), AbortSignal.timeout(START_MS)];
    const begun = (async () => {
      for await (const line of createInterface({ input: server.stdout, signal: tooLong }))
        if (/ready to accept connections/i.test(line)) return true;
      return false;
    })();
    const isUp = await Promise.race([begun, failed.then(([error]) => Promise.reject(error))]);
    if (!isUp) throw new Error(`${PROGRAM} did not start`);
    server.stdout.resume();
  }

  /** A replica is the broker itself from now on, also where it starts anew. */
  async promote() {
    this.#settings = [];
    await this.ask('REPLICAOF', 'NO', 'ONE');
  }

  /** Whoever connects from now on needs this password, or none. @param {string | undefined} password */
  async demand(password) {
    await this.ask('CONFIG', 'SET', 'requirepass', password ?? '');
    this.#password = password;
  }

  /** Stands still, with its connections open. */
  freeze() {
    this.#server?.kill('SIGSTOP');
  }

  thaw() {
    this.#server?.kill('SIGCONT');
  }

  /** At once, as if its machine had failed. Idempotent. */
  async kill() {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.kill('SIGKILL');
    await gone;
  }

  /** For good. */
  async close() {
    await this.kill();
    process.off('exit', this.#kill);
  }

  /** Has it answer one command. @param {readonly string[]} args @returns {Promise<any>} */
  async ask(...args) {
    const { createClient } = await import('@redis/client');
    const url = `redis://127.0.0.1:${this.port}`;
    const password = this.#password === undefined ? {} : { password: this.#password };
    const client = createClient({ url, RESP: 2, socket: { reconnectStrategy: false }, ...password });
    client.on('error', () => {});
    await client.connect();
    try {
      return await client.sendCommand([...args]);
    } finally {
      client.destroy();
    }
  }

  #kill = () => void this.#server?.kill('SIGKILL');
}

/** A Redis that is too old, as far as a server can see. */
export class OldBroker {
  /** @type {Set<import('node:net').Socket>} */
  #sockets = new Set();
  #server = createServer((socket) => {
    const about = ['server', 'redis', 'version', '6.0.16', 'proto', '2'];
    const answer = `*${about.length}\r\n${about.map((each) => `$${each.length}\r\n${each}\r\n`).join('')}`;
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', () => void socket.write(answer));
  });

  static async start() {
    const old = new OldBroker();
    old.#server.listen(0, '127.0.0.1');
    await once(old.#server, 'listening');
    return old;
  }

  get port() {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return address.port;
  }

  close() {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
