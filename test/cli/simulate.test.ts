import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createScript } from '../../src/cli/simulate-command.js';
import { writeWav } from '../../src/testing/wav.js';
import { itRefusesArguments, runCommand } from './run-command.js';

const run = (...args: string[]) => runCommand(args);

describe('offhook simulate', () => {
  itRefusesArguments(
    (...args) => run('simulate', ...args),
    [
      [['--carrier', 'carrier-c'], /carrier-a, carrier-b/],
      [['--carrier', 'carrier-b', '--auth-token', 'x'], /--auth-token belongs to --carrier carrier-a/],
      [['--api-port', '8011'], /--api-port belongs to --carrier carrier-b/],
      [['--private-key', 'x'], /--private-key belongs to --carrier carrier-b/],
      [['--carrier', 'carrier-b', '--api-key', 'x', '--private-key', 'short'], /32 bytes in base64/],
      [['--carrier', 'carrier-b'], /--api-key, or CARRIER_B_API_KEY/],
      [['--carrier', 'carrier-b', '--settings', '/does/not/exist'], /exist cannot be read \(ENOENT\)/],
      [['--carrier', 'carrier-b', '--api-port', '0'], /from 1 to 65535/],
    ],
  );

  it('says what either carrier takes', async () => {
    expect((await run('simulate', '--help')).out).toMatch(/--carrier[\s\S]*--auth-token[\s\S]*--api-port/);
  });
});

describe('the caller of offhook simulate', () => {
  const wait = (timeoutMs: number) => ({ type: 'wait-for-agent', timeoutMs });

  it('plays tones where nothing is said of it, and may talk over the agent', async () => {
    const [first, tones] = await createScript({ text: [], interrupt: 500 });
    expect(first).toEqual({ type: 'interrupt', afterMs: 500 });
    expect(tones).toMatchObject({ type: 'play', sampleRateHz: 8000 });
  });

  it('says its texts one after another, each when the agent has spoken', async () => {
    expect(await createScript({ text: [' One. ', '', 'Two.'], voice: 'rms' })).toEqual([
      wait(4000),
      { type: 'say', text: 'One.', voice: 'rms' },
      wait(15_000),
      { type: 'say', text: 'Two.', voice: 'rms' },
    ]);
  });

  it('says them in a language, which it tells', async () => {
    const german = { type: 'say', text: 'Guten Tag.', language: 'de' };
    expect(await createScript({ text: ['Guten Tag.'], language: 'de' })).toEqual([wait(4000), german]);
    await expect(createScript({ text: [], language: 'de' })).rejects.toThrow('--language belongs to --text');
    await expect(createScript({ wav: 'a.wav', text: ['Hallo.'], language: 'de' })).rejects.toThrow(
      'without --wav',
    );
  });

  it.each([
    ['alone', [], {}],
    ['with the words in it', ['One.', 'Two.'], { text: 'One. Two.' }],
  ])('plays a recording, %s', async (_, text, words) => {
    const folder = await mkdtemp(join(tmpdir(), 'offhook-simulate-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const wav = join(folder, 'caller.wav');
    const samples = Int16Array.of(1, -1, 2);
    await writeFile(wav, writeWav({ channels: [samples], sampleRateHz: 16_000 }));
    expect(await createScript({ wav, text })).toEqual([
      wait(4000),
      { type: 'play', samples, sampleRateHz: 16_000, ...words },
    ]);
  });
});
