import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConfigError } from '../../../src/base/errors.js';
import { silentLogger } from '../../../src/base/log.js';
import {
  ElevenLabsTextToSpeech,
  type ElevenLabsTextToSpeechOptions,
} from '../../../src/providers/tts/index.js';
import { speakInTones } from '../../../src/testing/tone-voice.js';
import {
  type ElevenLabsEmulator,
  emulateElevenLabs,
  type EmulateElevenLabsOptions,
} from '../../../src/testing/index.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

const never = new AbortController().signal;
let emulator: ElevenLabsEmulator;
const close: (() => unknown)[] = [];

beforeEach(() => {
  for (const name of ['ELEVENLABS_API_KEY', 'ELEVENLABS_BASE_URL']) vi.stubEnv(name, '');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const task of close.splice(0).reverse()) await task();
});

async function start(
  options: {
    emulator?: EmulateElevenLabsOptions;
    provider?: ElevenLabsTextToSpeechOptions;
    language?: string;
  } = {},
) {
  const clock = new FakeClock();
  emulator = await emulateElevenLabs({ clock, ...options.emulator });
  close.push(() => emulator.close());
  const logger = new RecordedLogger();
  const provider = new ElevenLabsTextToSpeech({
    apiKey: 'test-key',
    baseUrl: emulator.url,
    ...options.provider,
  });
  const session = provider.open({ clock, logger, language: options.language });
  close.push(() => session.close());
  return { clock, logger, provider, session };
}

async function collect(audio: AsyncIterable<Int16Array>): Promise<number[]> {
  const samples: number[] = [];
  for await (const pcm of audio) samples.push(...pcm);
  return samples;
}

const soon = <T>(check: () => T) => vi.waitFor(check, { interval: 2, timeout: 5000 });

async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1000) {
    clock.advance(Math.min(left, 1000));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** What the emulator says for a text. */
function spoken(text: string): number[] {
  return [...speakInTones(text, { sampleRateHz: 16_000 })];
}

describe('new ElevenLabsTextToSpeech()', () => {
  it.each([
    [{ voice: 'x' }, /Did you mean voiceId/],
    [{ voiceId: 'Sarah Smith' }, /voiceId/],
    [{ model: ' ' }, /model/],
    [{ voiceSettings: { stabilty: 1 } }, /Did you mean stability/],
    [{ voiceSettings: { speed: 3 } }, /speed/],
    [{ voiceSettings: { useSpeakerBoost: 1 } }, /useSpeakerBoost/],
    [{ apiKey: 'a b' }, /key/],
  ])('refuses %j', (options, sentence) => {
    const make = () => new ElevenLabsTextToSpeech(options as ElevenLabsTextToSpeechOptions);
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(sentence);
  });

  it('demands a key when a call opens, not before', () => {
    const provider = new ElevenLabsTextToSpeech();
    expect(provider.name).toBe('elevenlabs/eleven_flash_v2_5');
    expect(() => provider.assertConfigured()).toThrow(/ELEVENLABS_API_KEY/);
    expect(() => provider.open({ logger: silentLogger, language: undefined })).toThrow(ConfigError);
  });
});

describe('ElevenLabsTextToSpeech', () => {
  it('connects when a call opens, with what a telephone needs', async () => {
    await start({
      language: 'en-GB',
      provider: { voiceId: 'voice1', voiceSettings: { speed: 1.1, similarityBoost: 0.75 } },
    });
    await soon(() => expect(emulator.connections[0]?.messages).toHaveLength(1));
    const [request] = emulator.requests;
    expect(request?.url.pathname).toBe('/v1/text-to-speech/voice1/multi-stream-input');
    expect(Object.fromEntries(request?.url.searchParams ?? [])).toEqual({
      model_id: 'eleven_flash_v2_5',
      output_format: 'pcm_16000',
      inactivity_timeout: '180',
      sync_alignment: 'true',
      auto_mode: 'true',
      language_code: 'en',
    });
    expect(request?.headers['xi-api-key']).toBe('test-key');
    expect(emulator.connections[0]?.messages[0]).toMatchObject({
      voice_settings: { speed: 1.1, similarity_boost: 0.75 },
    });
  });

  it('does not tell a language to a model that cannot be told', async () => {
    await start({ language: 'de', provider: { model: 'eleven_multilingual_v2' } });
    await soon(() => expect(emulator.requests).toHaveLength(1));
    expect(emulator.requests[0]?.url.searchParams.has('language_code')).toBe(false);
  });

  it.each<[string, EmulateElevenLabsOptions, ElevenLabsEmulator['troubles']]>([
    ['as it is', {}, {}],
    ['cut in half samples', { chunkBytes: 333 }, {}],
    ['with empty messages', { emptyMessages: true }, {}],
    ['without alignment', { withoutAlignment: true }, {}],
    ['in split frames', {}, { split: true }],
  ])('speaks sentence after sentence, %s', async (_, options, troubles) => {
    const { session } = await start({ emulator: options });
    emulator.troubles = troubles;
    for (const text of ['Hello there.', 'How are you?', 'Grüße!'])
      expect(await collect(session.synthesize(text, never))).toEqual(spoken(text));
    const [connection] = emulator.connections;
    expect([...(connection?.texts.values() ?? [])]).toEqual(['Hello there.', 'How are you?', 'Grüße!']);
    expect(connection?.openContexts).toBe(1);
    expect(connection?.mostContexts).toBe(2);
    expect(emulator.violations).toEqual([]);
  });

  it.each(['', '   '])('says nothing for %j', async (text) => {
    const { session } = await start();
    expect(await collect(session.synthesize(text, never))).toEqual([]);
  });

  it('keeps within five contexts when one sentence after the other is cut off', async () => {
    const { clock, session } = await start({ emulator: { firstAudioMs: 100, chunkEveryMs: 50 } });
    for (let count = 0; count < 12; count += 1) {
      const abort = new AbortController();
      const reading = collect(session.synthesize(`This is sentence number ${count}.`, abort.signal));
      await soon(() => {
        clock.advance(100);
        expect(emulator.connections[0]?.texts.size).toBe(count + 1);
      });
      abort.abort();
      await reading;
    }
    expect(emulator.connections).toHaveLength(1);
    expect(emulator.connections[0]?.mostContexts).toBeLessThanOrEqual(5);
    expect(emulator.violations).toEqual([]);
  });

  it('stays connected through a long silence, and speaks after it', async () => {
    const { clock, session } = await start();
    await soon(() => expect(emulator.openSockets).toBe(1));
    await pass(clock, 400_000);
    expect(emulator.connections).toHaveLength(1);
    expect(await collect(session.synthesize('Still here.', never))).toEqual(spoken('Still here.'));
    expect(emulator.violations).toEqual([]);
  });

  it('comes back after the vendor has closed an idle socket', async () => {
    const { clock, session } = await start();
    await soon(() => expect(emulator.openSockets).toBe(1));
    await pass(clock, 5000);
    emulator.disconnectAll(1008, 'input_timeout_exceeded');
    await soon(() => {
      clock.advance(10);
      expect(emulator.connections).toHaveLength(2);
    });
    expect(await collect(session.synthesize('Here again.', never))).toEqual(spoken('Here again.'));
  });

  it('speaks over another connection when one is dead and not closed', async () => {
    const { clock, session } = await start();
    expect(await collect(session.synthesize('One.', never))).toEqual(spoken('One.'));
    emulator.freeze();
    const reading = collect(session.synthesize('Two.', never));
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(2500);
    expect(await reading).toEqual(spoken('Two.'));
    expect(emulator.connections).toHaveLength(2);
  });

  it('goes on with the rest of a sentence when the connection breaks in it', async () => {
    const { clock, session } = await start({ emulator: { chunkEveryMs: 100 } });
    const text = 'This is a sentence that is long enough to break.';
    const reading = collect(session.synthesize(text, never));
    await soon(() => expect(emulator.connections[0]?.texts.size).toBe(1));
    await pass(clock, 1000);
    emulator.disconnectAll();
    await soon(() => {
      clock.advance(100);
      expect(emulator.connections[1]?.texts.size).toBe(1);
    });
    const rest = [...(emulator.connections[1]?.texts.values() ?? [])][0] ?? '';
    expect(text.endsWith(rest)).toBe(true);
    expect(rest.length).toBeLessThan(text.length);
    await soon(() => {
      clock.advance(100);
      expect(emulator.connections[1]?.openContexts).toBe(1);
    });
    const samples = await reading;
    // Not a word twice, and at most the broken one missing.
    expect(samples.length).toBeLessThanOrEqual(spoken(text).length);
    expect(samples.length).toBeGreaterThan(spoken(text).length - 12 * 960);
  });

  it.each([
    [401, 'ElevenLabs refused the key (HTTP 401).', false],
    [404, 'ElevenLabs knows no such address, model or voice (HTTP 404).', false],
    [429, 'ElevenLabs is asked for too much at a time (HTTP 429).', true],
    [500, 'ElevenLabs cannot answer now (HTTP 500).', true],
  ])('says what a handshake answered with %i means', async (status, message, retryable) => {
    const { clock, session, logger } = await start();
    await soon(() => expect(emulator.openSockets).toBe(1));
    emulator.refuseNext({ status, times: 20 });
    emulator.disconnectAll();
    const reading = collect(session.synthesize('Hello.', never)).catch((error: unknown) => error);
    let error: unknown;
    void reading.then((result) => {
      error = result;
    });
    await soon(() => {
      clock.advance(300);
      expect(error).toMatchObject({ message, retryable });
    });
    expect(logger.text + String(error)).not.toContain('test-key');
  });

  it('closes the socket at the end of the call', async () => {
    const { session } = await start();
    await soon(() => expect(emulator.connections[0]?.messages).toHaveLength(1));
    session.close();
    await soon(() => expect(emulator.openSockets).toBe(0));
    expect(emulator.connections[0]?.messages.at(-1)).toEqual({ close_socket: true });
  });
});
