// Runs `npm start` as a new user would, waits until a simulated call has been answered and has ended, and stops it with Ctrl-C.
// Arguments: the transcoder backend that must be in use, and `--without-rust` to take cargo off the path.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { root } from './setup.mjs';

const DEADLINE_MS = 240_000;

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = address !== null && typeof address === 'object' ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** The path without the folders that hold cargo. */
function pathWithoutRust() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((folder) => !existsSync(join(folder, 'cargo'))).join(delimiter);
}

/** The calls of this run: the history holds those of earlier ones. @param {number} port @returns {Promise<{ status: string, endReason: string | null, turnCount: number }[]>} */
async function calls(port) {
  const response = await fetch(`http://127.0.0.1:${port}/api/dashboard/calls?from=${startedAt}`);
  const body = /** @type {{ calls: { status: string, endReason: string | null, turnCount: number }[] }} */ (
    await response.json()
  );
  return body.calls;
}

/** @param {number} port */
async function waitForCall(port) {
  const deadline = Date.now() + DEADLINE_MS;
  while (Date.now() < deadline) {
    const [call] = await calls(port).catch(() => []);
    if (call?.status === 'completed') return call;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error('no call came to an end');
}

const withoutRust = process.argv.includes('--without-rust');
const backend = process.argv.slice(2).find((argument) => !argument.startsWith('--'));
const port = await freePort();
const startedAt = Date.now();
const child = spawn('npm', ['start', '--', '--port', String(port)], {
  cwd: root,
  detached: true,
  stdio: ['ignore', 'inherit', 'inherit'],
  env: {
    ...process.env,
    ...(withoutRust ? { PATH: pathWithoutRust() } : {}),
    ...(backend === undefined ? {} : { TRANSCODER_BACKEND: backend }),
  },
});
/** @type {Promise<number | string | null>} npm itself dies of the signal that it passes on. */
const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(signal ?? code)));
try {
  const call = await Promise.race([
    waitForCall(port),
    ended.then((code) => {
      throw new Error(`npm start ended with ${code}`);
    }),
  ]);
  console.log(`a call ended: ${call.endReason}, turns: ${call.turnCount}`);
  if (call.turnCount < 2) throw new Error('the agent did not answer');
} finally {
  // As a terminal does: the whole group of processes gets the signal.
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGINT');
}
const code = await Promise.race([
  ended,
  new Promise((resolve) => setTimeout(resolve, 30_000, 'nothing within 30 s')),
]);
console.log(`npm start ended with ${code}`);
process.exit(code === 0 || code === 'SIGINT' ? 0 : 1);
