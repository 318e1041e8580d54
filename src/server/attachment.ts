// A place on an HTTP server of the application's: what is ours is taken before its listeners hear of it, everything else is left to them.
import {
  type IncomingMessage,
  type RequestListener,
  Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { ConfigError } from '../base/errors.js';

/** A server of `node:http` or `node:https`. */
export type AttachableServer = HttpServer | HttpsServer;

/** What is answered in the place of the application's listeners. */
export interface OwnRequests {
  isOurs(request: IncomingMessage): boolean;
  answer: RequestListener;
  isOurUpgrade(request: IncomingMessage): boolean;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** The servers that are taken. */
const taken = new WeakSet<AttachableServer>();

/** Node looks for a listener before it tells of an upgrade. */
const listenForUpgrades = () => {};

/** @throws ConfigError for what is no HTTP server. */
export function checkServer(server: unknown): AttachableServer {
  if (server instanceof HttpServer || server instanceof HttpsServer) return server;
  const hint = typeof server === 'function' ? ' Give what createServer(app) or app.listen() returns.' : '';
  throw new ConfigError(
    'CONFIG_INVALID',
    `attach() takes a server of node:http or node:https, and options.${hint}`,
  );
}

/**
 * Stands before the listeners of `server`, those that come later included. Returns the function that gives it back, which is idempotent.
 * @throws ConfigError for a server that is taken.
 */
export function standBefore(server: AttachableServer, own: OwnRequests): () => void {
  if (taken.has(server))
    throw new ConfigError(
      'CONFIG_CONFLICT',
      'A phone is attached to this server already: disconnect it first.',
    );
  taken.add(server);
  let isOpen = true;
  const before = Object.getOwnPropertyDescriptor(server, 'emit');
  const emit = server.emit as (event: string | symbol, ...rest: unknown[]) => boolean;
  const emitOthers = function (this: AttachableServer, event: string | symbol, ...rest: unknown[]): boolean {
    if (!isOpen) return emit.call(this, event, ...rest);
    const [request, second, head] = rest;
    if (event === 'request' || event === 'checkContinue') {
      if (!own.isOurs(request as IncomingMessage)) return emit.call(this, event, ...rest);
      const response = second as ServerResponse & { req: IncomingMessage };
      // The caller holds its body back until it hears this.
      if (event === 'checkContinue') response.writeContinue();
      own.answer(request as IncomingMessage, response);
      return true;
    }
    if (event !== 'upgrade') return emit.call(this, event, ...rest);
    const upgrade = { request: request as IncomingMessage, socket: second as Duplex, head: head as Buffer };
    if (own.isOurUpgrade(upgrade.request)) own.upgrade(upgrade.request, upgrade.socket, upgrade.head);
    else if (own.isOurs(upgrade.request) || !hasOtherListener(this)) replay(this, upgrade);
    else return emit.call(this, event, ...rest);
    return true;
  };
  Object.defineProperty(server, 'emit', { value: emitOthers, configurable: true, writable: true });
  server.on('upgrade', listenForUpgrades);
  // Ours stays when the application removes all listeners of upgrades, which means its own.
  const stay = (event: string | symbol, listener: unknown) => {
    if (event === 'upgrade' && listener === listenForUpgrades) server.on('upgrade', listenForUpgrades);
  };
  server.on('removeListener', stay);
  return () => {
    if (!isOpen) return;
    isOpen = false;
    taken.delete(server);
    server.off('removeListener', stay);
    server.off('upgrade', listenForUpgrades);
    // Who has put something before us meanwhile keeps it, and we let everything through.
    if (server.emit !== emitOthers) return;
    if (before === undefined) Reflect.deleteProperty(server, 'emit');
    else Object.defineProperty(server, 'emit', before);
  };
}

function hasOtherListener(server: AttachableServer): boolean {
  return server.listeners('upgrade').some((listener) => listener !== listenForUpgrades);
}

/**
 * Without a listener for upgrades Node takes such a request for a plain one, body and all. With ours there it no longer does: so the
 * request is given to it once more, as if nothing had been offered.
 */
function replay(
  server: AttachableServer,
  upgrade: { request: IncomingMessage; socket: Duplex; head: Buffer },
): void {
  const { request, socket, head } = upgrade;
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(index, index + 2);
    if (/^(?:upgrade|http2-settings)$/i.test(name)) continue;
    const kept = /^connection$/i.test(name) ? withoutOffer(value) : value;
    if (kept !== '' || kept === value) lines.push(`${name}: ${kept}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit(server instanceof HttpsServer ? 'secureConnection' : 'connection', socket);
}

function withoutOffer(connection: string): string {
  const options = connection.split(',').map((option) => option.trim());
  return options.filter((option) => !/^(?:upgrade|http2-settings)$/i.test(option)).join(', ');
}
