import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as entry from '../../src/transcoder/index.js';

const section = readFileSync(new URL('../../docs/reference/transcoder.md', import.meta.url), 'utf8');

it('names everything that the entry, a backend, a resampler and a voice detector have', () => {
  const resampler = entry.transcoder.createResampler(8000, 16000);
  const detector = entry.transcoder.createVoiceDetector();
  const methods = [resampler, detector]
    .flatMap((each) => Object.getOwnPropertyNames(Object.getPrototypeOf(each)))
    .filter((name) => name !== 'constructor');
  const names = [...Object.keys(entry), ...Object.keys(entry.transcoder), ...methods, 'delayMs', 'energy'];
  for (const name of names) expect(section).toMatch(new RegExp(`\\b${name}\\b`));
  resampler.free();
  detector.free();
});

it('shows code that runs', () => {
  const code = /```ts run\n(.*?)```/s.exec(section)![1]!.replace(/^import .*$/m, '');
  const logged: unknown[] = [];
  const run = new Function(...Object.keys(entry), 'console', `${code}; return { samples, frame, tail };`) as (
    ...values: unknown[]
  ) => Record<string, Int16Array>;
  const made = run(...Object.values(entry), { log: (...words: unknown[]) => logged.push(...words) });
  expect(Object.values(made).map(({ length }) => length)).toEqual([160, 320, 39]);
  expect(logged[0]).toBe('TRANSCODER_INPUT');
});
