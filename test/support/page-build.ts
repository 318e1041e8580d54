// The page as it is built from today's sources.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const script = fileURLToPath(new URL('../../scripts/build-dashboard.mjs', import.meta.url));

let built: Promise<unknown> | undefined;

/** Builds `dist/dashboard/page.html`, once in a process; takes about a second. */
export async function buildPage(): Promise<void> {
  built ??= promisify(execFile)(process.execPath, [script]);
  await built;
}
