// The loopback network of one process, without a kernel: servers and clients of `net`, `http`, `ws` and `fetch` meet in memory. What is on
// its way is known, so that a clock can wait for it, and a seed decides who comes first of those that send at once.
import { AsyncResource } from 'node:async_hooks';
import { Agent } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import tls from 'node:tls';
import { MemorySocket } from './memory-socket.js';
import { createRandom, seed, shuffle } from './random.js';

/** What `net.Server` needs to see below itself while it listens. */
interface ServerHandle {
  close(): void;
  getsockname(out: Record<string, unknown>): number;
  ref(): void;
  unref(): void;
}
interface ServerInside {
  _handle: ServerHandle | null;
  _connections: number;
  _emitCloseIfDrained(): void;
  allowHalfOpen?: boolean;
}
type ListenOptions = { port?: number | string; host?: string; path?: string };
type ConnectOptions = ListenOptions & {
  allowHalfOpen?: boolean;
  lookup?: net.LookupFunction;
  signal?: AbortSignal;
};

const FIRST_PORT = 20_000;
const LAST_PORT = 60_000;
const HOSTS = new Set(['127.0.0.1', 'localhost', '::1', '0.0.0.0', '::']);

const listening = new Map<number, { server: net.Server; resource: AsyncResource }>();
const random = createRandom(seed);
/** What each end has sent since the last turn of the event loop. */
let underWay = new Map<MemorySocket, (() => void)[]>();
let nextPort = FIRST_PORT;
let isInstalled = false;

/** True when something that was sent has not arrived. */
export function isUnderWay(): boolean {
  return underWay.size > 0;
}

function deliver(from: MemorySocket, task: () => void): void {
  if (underWay.size === 0) setImmediate(deliverAll);
  const tasks = underWay.get(from);
  if (tasks === undefined) underWay.set(from, [task]);
  else tasks.push(task);
}

function deliverAll(): void {
  const sent = underWay;
  underWay = new Map();
  const senders = [...sent.values()];
  for (const tasks of senders.length > 1 ? shuffle(senders, random) : senders)
    for (const task of tasks) task();
}

function freePort(): number {
  for (;;) {
    nextPort = nextPort === LAST_PORT ? FIRST_PORT : nextPort + 1;
    if (!listening.has(nextPort)) return nextPort;
  }
}

/** From now on ports of this process are in memory. Sockets with a path, and other hosts, stay as they were. */
export function installNetwork(): void {
  if (isInstalled) return;
  isInstalled = true;
  const realListen = net.Server.prototype.listen;
  const realConnect = net.connect;

  net.Server.prototype.listen = function (this: net.Server, ...args: unknown[]): net.Server {
    const { port, path, host } = optionsOf(args);
    // An encrypted connection has a socket of the kernel below it.
    if (port === undefined || path != null || this instanceof tls.Server)
      return realListen.apply(this, args as never);
    const done = args.at(-1);
    if (typeof done === 'function') this.once('listening', done as () => void);
    listen(this, Number(port), host);
    return this;
  } as typeof net.Server.prototype.listen;

  const connect = (...args: unknown[]): net.Socket => {
    const { port, path, host = 'localhost', allowHalfOpen = false, lookup, signal } = optionsOf(args);
    if (port === undefined || path != null || !HOSTS.has(host)) return realConnect(...(args as [never]));
    const socket = createClient(Number(port), allowHalfOpen);
    // Who looks names up in a way of their own may refuse what they find.
    if (lookup === undefined || net.isIP(host) !== 0) open(socket);
    else lookup(host, { all: true }, (error) => (error === null ? open(socket) : socket.destroy(error)));
    const done = args.at(-1);
    if (typeof done === 'function') socket.once('connect', done as () => void);
    signal?.addEventListener('abort', () => socket.destroy(signal.reason as Error), { once: true });
    return socket as unknown as net.Socket;
  };
  net.connect = connect as typeof net.connect;
  net.createConnection = connect as typeof net.createConnection;
  (Agent.prototype as unknown as { createConnection: unknown }).createConnection = connect;
  // Whoever looks whether it has a connection before it finds one in memory.
  Object.defineProperty(net.Socket, Symbol.hasInstance, {
    value: (value: unknown) =>
      value instanceof MemorySocket || Function.prototype[Symbol.hasInstance].call(net.Socket, value),
  });
  syncBuiltinESMExports();
}

function optionsOf([first, second]: unknown[]): ConnectOptions {
  if (typeof first === 'object' && first !== null) return first as ConnectOptions;
  const host = typeof second === 'string' ? { host: second } : {};
  if (typeof first === 'number' || (typeof first === 'string' && /^\d+$/.test(first)))
    return { port: first, ...host };
  return typeof first === 'string' ? { path: first } : { port: 0 };
}

function listen(server: net.Server, asked: number, host = '127.0.0.1'): void {
  const port = asked === 0 ? freePort() : asked;
  if (listening.has(port)) {
    const error = Object.assign(new Error(`listen EADDRINUSE: address already in use ${host}:${port}`), {
      code: 'EADDRINUSE',
      errno: -98,
      syscall: 'listen',
      address: host,
      port,
    });
    process.nextTick(() => server.emit('error', error));
    return;
  }
  const resource = new AsyncResource('TCPSERVERWRAP', { requireManualDestroy: true });
  listening.set(port, { server, resource });
  const address = host === 'localhost' ? '127.0.0.1' : host;
  const handle: ServerHandle = {
    close() {
      if (listening.delete(port)) resource.emitDestroy();
    },
    getsockname(out) {
      Object.assign(out, { address, family: 'IPv4', port });
      return 0;
    },
    ref() {},
    unref() {},
  };
  inside(server)._handle = handle;
  process.nextTick(() => {
    if (inside(server)._handle === handle) server.emit('listening');
  });
}

function createClient(port: number, allowHalfOpen: boolean): MemorySocket {
  const client = new MemorySocket({ local: freePort(), remote: port }, deliver, allowHalfOpen);
  client.connecting = true;
  return client;
}

function open(client: MemorySocket): void {
  const port = client.remotePort;
  deliver(client, () => {
    if (client.destroyed) return;
    const goal = listening.get(port);
    client.connecting = false;
    if (goal === undefined) {
      const error = new Error(`connect ECONNREFUSED 127.0.0.1:${port}`);
      const facts = { code: 'ECONNREFUSED', errno: -111, syscall: 'connect', address: '127.0.0.1', port };
      client.destroy(Object.assign(error, facts));
      return;
    }
    goal.resource.runInAsyncScope(accept, undefined, goal.server, client);
    client.runHere(() => {
      client.emit('connect');
      client.emit('ready');
    });
  });
}

function accept(server: net.Server, client: MemorySocket): void {
  const within = inside(server);
  const ports = { local: client.remotePort, remote: client.localPort };
  const accepted = new MemorySocket(ports, deliver, within.allowHalfOpen ?? false);
  accepted.join(client);
  client.join(accepted);
  within._connections += 1;
  accepted.once('close', () => {
    within._connections -= 1;
    within._emitCloseIfDrained();
  });
  server.emit('connection', accepted);
}

function inside(server: net.Server): ServerInside {
  return server as unknown as ServerInside;
}
