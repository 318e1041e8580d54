import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConfigError } from '../../../src/base/errors.js';
import { silentLogger } from '../../../src/base/log.js';
import { CartesiaTextToSpeech, type CartesiaTextToSpeechOptions } from '../../../src/providers/tts/index.js';
import {
  type CartesiaEmulator,
  emulateCartesia,
  type EmulateCartesiaOptions,
} from '../../../src/testing/index.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';
import { collect, listen, never, pass, settle, soon, spoken } from './listener.js';

let emulator: CartesiaEmulator;
const close: (() => unknown)[] = [];

beforeEach(() => {
  for (const name of ['CARTESIA_API_KEY', 'CARTESIA_BASE_URL']) vi.stubEnv(name, '');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const task of close.splice(0).reverse()) await task();
});

async function start(
  options: {
    emulator?: EmulateCartesiaOptions;
    provider?: CartesiaTextToSpeechOptions;
    language?: string;
  } = {},
) {
  const clock = new FakeClock();
  emulator = await emulateCartesia({ clock, ...options.emulator });
  close.push(() => emulator.close());
  const logger = new RecordedLogger();
  const provider = new CartesiaTextToSpeech({
    apiKey: 'test-key',
    baseUrl: emulator.url,
    ...options.provider,
  });
  const session = provider.open({ clock, logger, language: options.language });
  close.push(() => session.close());
  return { clock, logger, session };
}

describe('new CartesiaTextToSpeech()', () => {
  it.each([
    [{ voice: 'x' }, /Did you mean voiceId/],
    [{ voiceId: 'Some Body' }, /voiceId/],
    [{ model: ' ' }, /model/],
    [{ speed: 3 }, /speed/],
    [{ apiKey: 'a b' }, /key/],
    [{ baseUrl: 'nowhere' }, /base URL/],
  ])('refuses %j', (options, sentence) => {
    const make = () => new CartesiaTextToSpeech(options as CartesiaTextToSpeechOptions);
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(sentence);
  });

  it('demands a key when a call opens, not before', () => {
    const provider = new CartesiaTextToSpeech();
    expect(provider.name).toBe('cartesia/sonic-3.5');
    expect(() => provider.assertConfigured()).toThrow(/CARTESIA_API_KEY/);
    expect(() => provider.open({ logger: silentLogger, language: undefined })).toThrow(ConfigError);
  });
});

describe('CartesiaTextToSpeech', () => {
  it('asks for what a telephone needs, with key and address of the environment', async () => {
    const clock = new FakeClock();
    emulator = await emulateCartesia({ clock });
    close.push(() => emulator.close());
    vi.stubEnv('CARTESIA_API_KEY', 'test-key');
    vi.stubEnv('CARTESIA_BASE_URL', emulator.url);
    const provider = new CartesiaTextToSpeech({ voiceId: 'voice1', speed: 1.2 });
    const session = provider.open({ clock, logger: silentLogger, language: 'de-AT' });
    close.push(() => session.close());
    await collect(session.synthesize('Guten Tag.', never));
    expect(emulator.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer test-key',
      'cartesia-version': '2026-08-14',
    });
    expect(emulator.connections[0]?.messages).toEqual([
      {
        model_id: 'sonic-3.5',
        voice: { mode: 'id', id: 'voice1' },
        language: 'de',
        output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
        max_buffer_delay_ms: 0,
        add_timestamps: true,
        generation_config: { speed: 1.2 },
        context_id: 's1',
        transcript: 'Guten Tag.',
        continue: false,
      },
    ]);
  });

  it.each<[string, EmulateCartesiaOptions, CartesiaEmulator['troubles']]>([
    ['as it is', {}, {}],
    ['cut in half samples', { chunkBytes: 333 }, {}],
    ['without timestamps', { withoutTimestamps: true }, {}],
    ['in split frames', {}, { split: true }],
  ])('speaks sentence after sentence, %s', async (_, options, troubles) => {
    const { session } = await start({ emulator: options });
    emulator.troubles = troubles;
    for (const text of ['Hello there.', 'How are you?', 'Grüße!'])
      expect(await collect(session.synthesize(text, never))).toEqual(spoken(text));
    expect([...(emulator.connections[0]?.texts.values() ?? [])]).toEqual([
      'Hello there.',
      'How are you?',
      'Grüße!',
    ]);
    expect(emulator.violations).toEqual([]);
  });

  it('keeps late audio of a sentence that was cut off out of the next one', async () => {
    const { clock, session } = await start({
      emulator: { chunkEveryMs: 50, lateChunks: 3, chunkBytes: 333 },
    });
    const abort = new AbortController();
    const first = listen(session, 'A story that goes on for long.', abort.signal);
    await soon(() => {
      clock.advance(10);
      expect(first.samples.length).toBeGreaterThan(0);
    });
    abort.abort();
    const second = listen(session, 'Sorry.');
    await soon(() => {
      clock.advance(50);
      expect(second.over).toBe(true);
    });
    expect(second.samples).toEqual(spoken('Sorry.'));
    expect(emulator.connections[0]?.messages[1]).toEqual({ context_id: 's1', cancel: true });
    expect(emulator.violations).toEqual([]);
  });

  it('goes on with the rest of a sentence when the connection breaks in it', async () => {
    const { clock, session } = await start({ emulator: { chunkEveryMs: 100 } });
    const text = 'This is a sentence, that is long enough to break.';
    const reading = listen(session, text);
    await soon(() => {
      clock.advance(10);
      expect(reading.samples.length).toBeGreaterThan(16_000);
    });
    emulator.disconnectAll();
    await soon(() => {
      clock.advance(100);
      expect(reading.over).toBe(true);
    });
    const rest = [...(emulator.connections[1]?.texts.values() ?? [])][0] ?? '';
    expect(text.endsWith(rest)).toBe(true);
    expect(rest).toMatch(/^\w/);
    expect(rest.length).toBeLessThan(text.length);
    expect(reading.samples.length).toBeLessThanOrEqual(spoken(text).length);
    expect(reading.samples.length).toBeGreaterThan(spoken(text).length - 12 * 960);
  });

  it('comes back after the vendor has closed an idle socket', async () => {
    const { clock, session } = await start();
    await collect(session.synthesize('Hello.', never));
    // Nothing that the protocol knows keeps it open.
    await pass(clock, 310_000);
    const reading = listen(session, 'Here again.');
    await soon(() => {
      clock.advance(10);
      expect(reading.over).toBe(true);
    });
    expect(reading.samples).toEqual(spoken('Here again.'));
    expect(emulator.connections.length).toBeGreaterThan(1);
  });

  it('speaks over another connection when one is dead and not closed', async () => {
    const { clock, session } = await start();
    expect(await collect(session.synthesize('One.', never))).toEqual(spoken('One.'));
    emulator.freeze();
    const reading = listen(session, 'Two.');
    await settle();
    clock.advance(2500);
    await soon(() => {
      clock.advance(0);
      expect(reading).toMatchObject({ over: true, samples: spoken('Two.') });
    });
  });

  it('takes a sentence as said whose end is not told', async () => {
    const { clock, session } = await start({ emulator: { withoutDone: true } });
    const reading = listen(session, 'One.');
    await soon(() => expect(reading.samples).toEqual(spoken('One.')));
    clock.advance(3000);
    await soon(() => expect(reading).toMatchObject({ over: true, error: undefined }));
  });

  it.each([
    [
      { voiceId: 'no-such-voice' },
      'Cartesia knows no such address, model or voice (HTTP 404, voice_not_found).',
    ],
    [{ model: 'no-such-model' }, 'Cartesia refused the request (HTTP 400, model_not_found).'],
  ])('says what is wrong with %j, once', async (provider, message) => {
    const { session } = await start({ provider });
    await expect(collect(session.synthesize('Hello.', never))).rejects.toMatchObject({
      message,
      retryable: false,
    });
    expect(emulator.violations).toHaveLength(1);
  });

  it('waits a moment when too much is generated at a time, once', async () => {
    const { clock, session } = await start({ emulator: { maxGenerating: 0 } });
    const reading = listen(session, 'Hello.');
    await soon(() => {
      clock.advance(20);
      expect(reading.error).toMatchObject({
        message: 'Cartesia is asked for too much at a time (HTTP 429, concurrency_limited).',
        status: 429,
        retryable: true,
      });
    });
    expect(emulator.connections[0]?.messages).toHaveLength(2);
  });

  it.each([
    [401, 'Cartesia refused the key (HTTP 401).', false],
    [429, 'Cartesia is asked for too much at a time (HTTP 429).', true],
    [500, 'Cartesia cannot answer now (HTTP 500).', true],
  ])('says what a handshake answered with %i means', async (status, message, retryable) => {
    const { clock, session, logger } = await start();
    await soon(() => expect(emulator.openSockets).toBe(1));
    emulator.refuseNext({ status, times: 20 });
    emulator.disconnectAll();
    const reading = listen(session, 'Hello.');
    await soon(() => {
      clock.advance(300);
      expect(reading.error).toMatchObject({ message, retryable });
    });
    expect(logger.text + String(reading.error)).not.toContain('test-key');
  });

  it('closes the socket at the end of the call', async () => {
    const { session } = await start();
    await collect(session.synthesize('Bye.', never));
    session.close();
    await soon(() => expect(emulator.openSockets).toBe(0));
  });
});
