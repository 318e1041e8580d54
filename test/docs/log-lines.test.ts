// Log lines that the documentation quotes: whoever searches for one finds it in the log.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const ROOT = new URL('../../', import.meta.url);

/** Nothing but words, and more than one: what reads like that is quoted from the log, or a command. */
const SENTENCE = /`([a-z]+(?:,? [a-zA-Z()]+)+(?:: [a-z ]+)?)`/g;

function quoted(): string[] {
  const page = readFileSync(new URL('docs/troubleshooting.md', ROOT), 'utf8');
  return [...page.matchAll(SENTENCE)].map(([, text = '']) => text);
}

it('every log line that troubleshooting quotes is in the code', () => {
  const code = readdirSync(new URL('src', ROOT), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(new URL(`src/${path}`, ROOT), 'utf8'))
    .join('\n');
  const lines = quoted();
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.filter((line) => !code.includes(line))).toEqual([]);
});
