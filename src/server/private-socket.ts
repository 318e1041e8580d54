// A socket for programs of the same user on this machine. The folder it stands in lets nobody else near it, so nobody is asked for a token.
import { chmod, open, rm, stat } from 'node:fs/promises';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { ConfigError } from '../base/errors.js';
import type { SocketPlace } from '../base/dashboard-socket.js';
import { openPrivateFolder } from '../base/user-folder.js';

/** Longest path of a Unix domain socket that every system takes, in bytes. Source: sockaddr_un of macOS, 104 with the end. */
const MAX_PATH_BYTES = 103;
const PROBE_MS = 1000;

/** A socket that listens. */
export interface PrivateSocket {
  readonly path: string;
  /** Ends every connection. Idempotent. */
  close(): Promise<void>;
}

/** What an operator is told whose socket cannot be had. */
export interface SocketAdvice {
  /** Who listens there already, and what to do. */
  readonly inUse: string;
  /** How to have it elsewhere. */
  readonly elsewhere: string;
}

/**
 * `http` listens. A socket that a dead process left is replaced.
 * @throws ConfigError CONFIG_CONFLICT when another process of the user listens there, CONFIG_INVALID when nobody can.
 */
export async function openPrivateSocket(
  place: SocketPlace,
  http: Server,
  advice: SocketAdvice,
): Promise<PrivateSocket> {
  const { path, folder } = place;
  if (folder !== null) await prepare(path, folder, advice);
  await listen(http, place, advice);
  if (folder !== null) await chmod(path, 0o600);
  let closing: Promise<void> | undefined;
  return {
    path,
    close() {
      closing ??= new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      });
      return closing;
    },
  };
}

async function prepare(path: string, folder: string, { elsewhere }: SocketAdvice): Promise<void> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new ConfigError('CONFIG_INVALID', `The path ${path} is too long for a socket: ${elsewhere}.`);
  }
  try {
    await openPrivateFolder(folder);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new ConfigError(
      'CONFIG_INVALID',
      `The folder ${folder} cannot be created (${code}): ${elsewhere}.`,
      { cause: error },
    );
  }
}

async function listen(http: Server, { path, folder }: SocketPlace, advice: SocketAdvice): Promise<void> {
  try {
    await bindTo(http, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw toConfigError(error, path, advice);
    if (folder === null || (await isAlive(path))) throw inUse(error, path, advice);
    await replaceDead(http, path, advice).catch((again: unknown) => {
      if (again instanceof ConfigError) throw again;
      throw (again as NodeJS.ErrnoException).code === 'EADDRINUSE'
        ? inUse(again, path, advice)
        : toConfigError(again, path, advice);
    });
  }
}

/** Who takes away a dead process's socket holds this beside it: two that start at the same time find the same dead one. */
const LOCK_SUFFIX = '.lock';
/** A lock is held for milliseconds. One that is older was left by a process that died with it. */
const LOCK_STALE_MS = 5000;
const LOCK_LOOK_MS = 20;

/** Takes the place of a socket of which nobody listens. Only who holds the lock takes a socket away, so none that was just opened is. */
async function replaceDead(http: Server, path: string, advice: SocketAdvice): Promise<void> {
  const lock = path + LOCK_SUFFIX;
  await acquire(lock);
  try {
    if (await isAlive(path)) throw inUse(undefined, path, advice);
    await rm(path, { force: true });
    await bindTo(http, path);
  } finally {
    await rm(lock, { force: true });
  }
}

async function acquire(lock: string): Promise<void> {
  for (;;) {
    try {
      await (await open(lock, 'wx', 0o600)).close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const heldSince = await stat(lock).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - heldSince > LOCK_STALE_MS) await rm(lock, { force: true });
    // By real time: it is another process that holds it, and the system that dates it.
    else await setTimeout(LOCK_LOOK_MS);
  }
}

function bindTo(http: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', reject);
    http.listen(path, () => {
      http.off('error', reject);
      resolve();
    });
  });
}

/** A socket file outlives its process: only a connection tells whether somebody is there. */
export function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const done = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.setTimeout(PROBE_MS, () => done(true));
    socket.once('connect', () => done(true));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      done(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT');
    });
  });
}

function inUse(cause: unknown, path: string, advice: SocketAdvice): ConfigError {
  return new ConfigError('CONFIG_CONFLICT', `${advice.inUse.replace('{path}', path)}.`, { cause });
}

function toConfigError(cause: unknown, path: string, { elsewhere }: SocketAdvice): ConfigError {
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
  return new ConfigError('CONFIG_INVALID', `The socket ${path} cannot be opened (${code}): ${elsewhere}.`, {
    cause,
  });
}
