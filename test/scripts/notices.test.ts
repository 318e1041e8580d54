import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const notices = readFileSync(join(root, 'NOTICE.md'), 'utf8');

/** The text of a package's license file. */
function licenseOf(name: string): string {
  const folder = join(root, 'node_modules', name);
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no license file`);
  return readFileSync(join(folder, file), 'utf8').trim();
}

it('NOTICE.md holds the license of every package whose code is in the dashboard page', () => {
  const script = join(root, 'scripts/build-dashboard.mjs');
  const printed = execFileSync(process.execPath, [script, '--packages'], { encoding: 'utf8' });
  const names = printed.trim().split('\n');
  expect(names).toContain('preact');
  expect(names.filter((name) => !notices.includes(licenseOf(name)))).toEqual([]);
});
