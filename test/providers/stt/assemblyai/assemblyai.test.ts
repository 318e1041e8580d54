import { afterEach, describe, expect, it, vi } from 'vitest';
import { ConfigError } from '../../../../src/base/errors.js';
import {
  AssemblyAISpeechToText,
  type AssemblyAISpeechToTextOptions,
} from '../../../../src/providers/stt/index.js';
import {
  type AssemblyAIEmulator,
  emulateAssemblyAI,
  type EmulateAssemblyAIOptions,
} from '../../../../src/testing/index.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { listenWith, pause, speak } from '../ear.js';
import { untilQuiet } from '../../../support/virtual/quiet.js';
import { passUntil } from '../../../support/pass-until.js';
import { soon } from '../../../support/soon.js';
import { closedAfterTest } from '../../../support/closed-after-test.js';
import { itRefuses } from '../../../support/refused-options.js';

let emulator: AssemblyAIEmulator;

afterEach(() => vi.unstubAllEnvs());

async function start(
  options: { emulator?: EmulateAssemblyAIOptions; provider?: AssemblyAISpeechToTextOptions } = {},
) {
  const clock = new FakeClock();
  emulator = closedAfterTest(await emulateAssemblyAI({ clock, ...options.emulator }));
  const provider = new AssemblyAISpeechToText({
    apiKey: 'test-key',
    baseUrl: emulator.url,
    ...options.provider,
  });
  return listenWith(provider, { clock, language: 'en' });
}

/** Lets the time pass in steps of a frame, and the network answer, until `check` holds. */
const inTime = (clock: FakeClock, check: () => unknown) => passUntil(clock, 20, check);

describe('new AssemblyAISpeechToText()', () => {
  itRefuses(AssemblyAISpeechToText, [
    [{ modell: 'x' }, /Did you mean model/],
    [{ model: '' }, /model/],
    [{ minTurnSilenceMs: 5 }, /minTurnSilenceMs/],
    [{ minTurnSilenceMs: 900, maxTurnSilenceMs: 800 }, /must not be more than maxTurnSilenceMs/],
    [{ ownsTurnTaking: 'yes' }, /ownsTurnTaking/],
    [{ keyterms: 'one' }, /keyterms/],
    [{ baseUrl: 'nowhere' }, /base URL/],
  ]);

  it('demands a key when a call opens, not before', () => {
    const provider = new AssemblyAISpeechToText();
    expect(provider).toMatchObject({
      name: 'assemblyai/universal-3-6-pro',
      ownsTurnTaking: true,
      paidWhileOpen: true,
    });
    expect(() => provider.assertConfigured()).toThrow(/ASSEMBLYAI_API_KEY/);
    expect(() => listenWith(provider)).toThrow(ConfigError);
  });
});

describe('AssemblyAISpeechToText', () => {
  it('asks for what a telephone needs, with key and address of the environment', async () => {
    const clock = new FakeClock();
    emulator = closedAfterTest(await emulateAssemblyAI({ clock }));
    vi.stubEnv('ASSEMBLYAI_API_KEY', 'test-key');
    vi.stubEnv('ASSEMBLYAI_BASE_URL', emulator.url);
    listenWith(new AssemblyAISpeechToText({ keyterms: ['Offhook', 'two words'] }), { clock });
    await soon(() => expect(emulator.connections).toHaveLength(1));
    expect(Object.fromEntries(emulator.requests[0]?.url.searchParams ?? [])).toEqual({
      speech_model: 'universal-3-6-pro',
      sample_rate: '16000',
      encoding: 'pcm_s16le',
      format_turns: 'true',
      min_turn_silence: '100',
      max_turn_silence: '1000',
      keyterms_prompt: '["Offhook","two words"]',
    });
    expect(emulator.requests[0]?.headers.authorization).toBe('test-key');
  });

  it.each([[{}], [{ split: true }], [{ duplicateEvery: 2 }]])(
    'tells turns, once each, with their ends, in spite of %j',
    async (troubles) => {
      const { clock, events, told, session } = await start({
        emulator: { utterances: ['Good morning.', 'Grüße aus Köln.'], formatsLater: true },
      });
      emulator.troubles = troubles;
      for (const finals of [['Good morning.'], ['Good morning.', 'Grüße aus Köln.']]) {
        speak(session, 700);
        pause(session, 500);
        await inTime(clock, () => expect(events.finals).toEqual(finals));
      }
      await untilQuiet();
      expect(told.filter((line) => !/^[~>]/.test(line))).toEqual([
        'Good morning.',
        '|',
        'Grüße aus Köln.',
        '|',
      ]);
      expect(told[0]).toBe('> 0');
      expect(told).toContain('~Good');
      expect(emulator.violations).toEqual([]);
    },
  );

  it('gets the open text at once when the agent has heard enough, and ends no turn of its own', async () => {
    const { clock, events, told, session } = await start({
      emulator: { utterances: ['Yes please.'] },
      provider: { ownsTurnTaking: false },
    });
    speak(session, 540);
    pause(session, 120);
    session.finishUtterance();
    await inTime(clock, () => expect(events.finals).toEqual(['Yes please.']));
    expect(emulator.connections[0]?.controls).toEqual(['ForceEndpoint']);
    expect(told).not.toContain('|');
  });

  it('reconnects in the middle of a turn, loses no word, and never sends faster than real time', async () => {
    const { clock, events, told, session } = await start({
      emulator: { utterances: ['The first one.', 'A second one comes after it.'] },
    });
    speak(session, 800);
    pause(session, 400);
    await inTime(clock, () => expect(events.finals).toEqual(['The first one.']));
    speak(session, 600);
    await inTime(clock, () => expect(told.at(-1)).toMatch(/^~A second/));
    emulator.disconnectAll(1011);
    speak(session, 600);
    await inTime(clock, () => expect(told).toContain('back 0'));
    pause(session, 400);
    await inTime(clock, () =>
      expect(events.finals).toEqual(['The first one.', 'A second one comes after it.']),
    );
    expect(emulator.connections).toHaveLength(2);
    expect(emulator.violations).toEqual([]);
  });

  it('counts the time for which sessions are open, and ends the last one', async () => {
    const { clock, events, session } = await start();
    await soon(() => expect(clock.pending).toBeGreaterThan(1));
    await soon(() => expect(emulator.openSockets).toBe(1));
    for (let count = 0; count < 12; count += 1) {
      clock.advance(1000);
      await untilQuiet();
    }
    expect(events.seconds).toBeGreaterThanOrEqual(10);
    session.close();
    expect(events.seconds).toBeGreaterThan(11);
    expect(events.seconds).toBeLessThanOrEqual(12);
    await soon(() => expect(emulator.connections[0]?.controls.at(-1)).toBe('Terminate'));
  });

  it.each<[number, string]>([
    [4001, 'failed: AssemblyAI refused the key (4001): check ASSEMBLYAI_API_KEY, or the option apiKey.'],
    [4002, 'failed: AssemblyAI wants to be paid first (4002).'],
    [4003, 'failed: AssemblyAI wants to be paid first (4003).'],
    [3006, 'failed: AssemblyAI refused the request (3006).'],
    [4000, 'failed: AssemblyAI refused the request (4000).'],
    [4100, 'failed: AssemblyAI refused the request (4100).'],
    [4101, 'failed: AssemblyAI refused the request (4101).'],
    [4104, 'failed: AssemblyAI refused the request (4104).'],
  ])('takes a close with %i as the end', async (code, line) => {
    const { told } = await start();
    await soon(() => expect(emulator.openSockets).toBe(1));
    emulator.disconnectAll(code, 'A sentence');
    await soon(() => expect(told).toEqual([line]));
  });

  it.each([3005, 3008, 4029, 4031, 1006])('comes back after a close with %i', async (code) => {
    const { clock, told, session } = await start();
    pause(session, 60);
    await soon(() => expect(emulator.connections[0]?.audioMs).toBe(60));
    emulator.disconnectAll(code);
    await inTime(clock, () => expect(told).toEqual(['back 0']));
    expect(emulator.connections).toHaveLength(2);
  });

  it('refuses a wrong key in words of ours, without the key', async () => {
    const { told, logger } = await start({ provider: { apiKey: 'secret-key' } });
    await soon(() =>
      expect(told).toEqual([
        'failed: AssemblyAI refused the key (4001): check ASSEMBLYAI_API_KEY, or the option apiKey.',
      ]),
    );
    expect(logger.text + told.join()).not.toContain('secret-key');
  });

  it.each([429, 503])('comes through a few handshakes answered with %i', async (status) => {
    const { clock, session, events } = await start({ emulator: { utterances: ['Here I am.'] } });
    emulator.refuseNext({ status, times: 2 });
    emulator.disconnectAll();
    speak(session, 700);
    pause(session, 500);
    await inTime(clock, () => expect(events.finals).toEqual(['Here I am.']));
  });
});
