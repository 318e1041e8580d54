// Processes of the bench: servers, services and carriers, each fresh and none left behind.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { LIFETIME_MS } from './lifetime.mjs';

const OPEN_MS = 15_000;
const LOOK_AGAIN_MS = 50;
/** A process that is told to go has so long. */
const GO_MS = 2000;

/** @param {string} file in this folder */
const pathOf = (file) => fileURLToPath(new URL(file, import.meta.url));

/** @param {number} ms @returns {Promise<void>} */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** @param {number} port */
async function isOpen(port) {
  const socket = connect(port, '127.0.0.1');
  const opened = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return opened;
}

/** @typedef {{ pid: number, port: number, stop: () => Promise<void> }} Server */

/**
 * A file of this folder as a server of its own, told its port and then `args`. Resolves when it can be connected to.
 * @param {string} file @param {readonly string[]} [args] @returns {Promise<Server>}
 */
export async function startServer(file, args = []) {
  const port = await freePort();
  const child = spawn(process.execPath, [pathOf(file), String(port), ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const gone = once(child, 'exit');
  const isUp = () => child.exitCode === null && child.signalCode === null;
  const stop = async () => {
    if (!isUp()) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), GO_MS);
    await gone;
    clearTimeout(timer);
  };
  const { pid } = child;
  const deadline = Date.now() + OPEN_MS;
  while (pid !== undefined && isUp() && Date.now() < deadline) {
    if (await isOpen(port)) return { pid, port, stop };
    await pause(LOOK_AGAIN_MS);
  }
  await stop();
  throw new Error(`${file} does not listen`);
}

const execute = promisify(execFile);

/** What a file of this folder prints as JSON. @param {string} file @param {readonly string[]} [args] @returns {Promise<any>} */
export async function runToEnd(file, args = []) {
  const { stdout, stderr } = await execute(process.execPath, [pathOf(file), ...args], {
    timeout: LIFETIME_MS,
  });
  if (stderr !== '') console.error(stderr.trim());
  return JSON.parse(stdout);
}
