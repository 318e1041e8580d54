// Keeps a foreign program from outliving us: between it and us stands a small process that ends it when our end of a pipe closes,
// which the system does for us whatever becomes of us.
import { type ChildProcess, spawn } from 'node:child_process';

/** How long the program has to end by itself, in milliseconds of real time: it knows no clock of ours. */
const GRACE_MS = 5000;
/** The process between needs a moment, too. */
const LEASH_GRACE_MS = 1000;

/** What the process between does. Its first argument is the time to end in. An interrupt at the terminal is ours to handle: the program goes when we let go of it. */
const LEASH = `
const [graceMs, program, ...args] = process.argv.slice(1);
const child = require('node:child_process').spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], windowsHide: true });
child.on('error', () => process.exit(127));
child.on('exit', (code) => process.exit(code ?? 1));
const stop = () => { child.kill(); setTimeout(() => child.kill('SIGKILL'), Number(graceMs)); };
process.stdin.on('close', stop).on('error', stop).resume();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
`;

/** A command line that runs `program` on a leash: the pipe on its standard input must stay open. */
export function leashed(
  program: string,
  args: readonly string[],
  graceMs = GRACE_MS,
): { file: string; args: string[] } {
  return { file: process.execPath, args: ['-e', LEASH, '--', String(graceMs), program, ...args] };
}

/** A program at work. Its standard output and standard error are ours to read. */
export interface LeashedProgram {
  readonly output: readonly NodeJS.ReadableStream[];
  /** Resolves with the exit code, null after a signal, when the program is gone. Never rejects. */
  readonly ended: Promise<number | null>;
  /** Ends it, at once after some seconds. Resolves when it is gone. Idempotent, never rejects. */
  stop(): Promise<void>;
}

/** Starts `program` on a leash, in a process group of its own, with nothing in its environment but `env`. */
export function startLeashed(
  program: string,
  args: readonly string[],
  { env, graceMs = GRACE_MS }: { env: Readonly<Record<string, string>>; graceMs?: number },
): LeashedProgram {
  const command = leashed(program, args, graceMs);
  const child = spawn(command.file, command.args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    windowsHide: true,
    env,
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code));
    child.once('error', () => resolve(null));
  });
  return {
    output: [child.stdout, child.stderr],
    ended,
    async stop() {
      child.stdin.end();
      const cut = setTimeout(() => kill(child), graceMs + LEASH_GRACE_MS);
      await ended;
      clearTimeout(cut);
    },
  };
}

/** The whole process group, where there are such. */
function kill(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}
