// A program named cloudflared in a folder of its own. It writes down how it was started, and does what a test says.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface FakeCloudflared extends Disposable {
  /** The folder, to be put on PATH. */
  readonly folder: string;
  readonly path: string;
  /** Resolves when it runs. */
  started(): Promise<{ pid: number; args: string[]; env: Record<string, string> }>;
  /** Resolves when the process is gone. */
  gone(pid: number): Promise<void>;
}

export const FAKE_HOST = 'seasonal-deck-organisms.trycloudflare.com';

/** What the real program writes before and with its host. */
export const REAL_OUTPUT = [
  '2026-01-01T00:00:00Z INF Thank you for trying Cloudflare Tunnel.',
  '2026-01-01T00:00:00Z INF Requesting new quick Tunnel on trycloudflare.com...',
  '2026-01-01T00:00:04Z INF |  https://Seasonal-Deck-Organisms.trycloudflare.com                 |',
];

/** `behavior` is JavaScript that runs after `lines` were written to standard error; by default it stays until it is ended. */
export function createFakeCloudflared(
  lines: readonly string[] = REAL_OUTPUT,
  behavior = 'setInterval(() => {}, 1000);',
): FakeCloudflared {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-tunnel-'));
  const path = join(folder, 'cloudflared');
  const note = join(folder, 'started.json');
  writeFileSync(
    path,
    `#!${process.execPath}
require('node:fs').writeFileSync(${JSON.stringify(note)}, JSON.stringify({ pid: process.pid, args: process.argv.slice(2), env: process.env }));
for (const line of ${JSON.stringify(lines)}) process.stderr.write(line + '\\n');
${behavior}
`,
  );
  chmodSync(path, 0o755);
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  return {
    folder,
    path,
    async started() {
      await until(() => existsSync(note) && readFileSync(note, 'utf8').endsWith('}'));
      return JSON.parse(readFileSync(note, 'utf8')) as never;
    },
    gone: (pid) => until(() => !isRunning(pid)),
    [Symbol.dispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
