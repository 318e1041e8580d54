import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConfigError } from '../../../src/base/errors.js';
import { silentLogger } from '../../../src/base/log.js';
import { DeepgramAura, type DeepgramAuraOptions } from '../../../src/providers/tts/index.js';
import {
  type AuraEmulator,
  emulateDeepgramAura,
  type EmulateDeepgramAuraOptions,
} from '../../../src/testing/index.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';
import { collect, listen, never, pass, settle, soon, spoken } from './listener.js';

let emulator: AuraEmulator;
const close: (() => unknown)[] = [];

beforeEach(() => {
  for (const name of ['DEEPGRAM_API_KEY', 'DEEPGRAM_BASE_URL']) vi.stubEnv(name, '');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const task of close.splice(0).reverse()) await task();
});

async function start(
  options: { emulator?: EmulateDeepgramAuraOptions; provider?: DeepgramAuraOptions } = {},
) {
  const clock = new FakeClock();
  emulator = await emulateDeepgramAura({ clock, ...options.emulator });
  close.push(() => emulator.close());
  const logger = new RecordedLogger();
  const provider = new DeepgramAura({ apiKey: 'test-key', baseUrl: emulator.url, ...options.provider });
  const session = provider.open({ clock, logger, language: 'en' });
  close.push(() => session.close());
  return { clock, logger, session };
}

describe('new DeepgramAura()', () => {
  it.each([
    [{ voice: 'x' }, /no option "voice"/],
    [{ model: 'flux-alexis-en' }, /Aura family/],
    [{ model: ' ' }, /model/],
    [{ mipOptOut: 1 }, /mipOptOut/],
    [{ apiKey: 'a b' }, /key/],
    [{ baseUrl: 'nowhere' }, /base URL/],
  ])('refuses %j', (options, sentence) => {
    const make = () => new DeepgramAura(options as DeepgramAuraOptions);
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(sentence);
  });

  it('demands a key when a call opens, not before', () => {
    const provider = new DeepgramAura();
    expect(provider.name).toBe('deepgram/aura-2-thalia-en');
    expect(() => provider.assertConfigured()).toThrow(/DEEPGRAM_API_KEY/);
    expect(() => provider.open({ logger: silentLogger, language: undefined })).toThrow(ConfigError);
  });
});

describe('DeepgramAura', () => {
  it('connects when a call opens, with key and address of the environment', async () => {
    const clock = new FakeClock();
    emulator = await emulateDeepgramAura({ clock });
    close.push(() => emulator.close());
    vi.stubEnv('DEEPGRAM_API_KEY', 'test-key');
    vi.stubEnv('DEEPGRAM_BASE_URL', `${emulator.url}?tag=mine`);
    const provider = new DeepgramAura({ model: 'aura-2-andromeda-en', mipOptOut: true });
    const session = provider.open({ clock, logger: silentLogger, language: undefined });
    close.push(() => session.close());
    await soon(() => expect(emulator.openSockets).toBe(1));
    expect(Object.fromEntries(emulator.requests[0]?.url.searchParams ?? [])).toEqual({
      tag: 'mine',
      model: 'aura-2-andromeda-en',
      encoding: 'linear16',
      sample_rate: '16000',
      mip_opt_out: 'true',
    });
    expect(emulator.requests[0]?.headers.authorization).toBe('Token test-key');
  });

  it.each<[string, EmulateDeepgramAuraOptions, AuraEmulator['troubles']]>([
    ['as it is', {}, {}],
    ['cut in half samples', { chunkBytes: 333 }, {}],
    ['in split frames', {}, { split: true }],
  ])('speaks sentence after sentence, %s', async (_, options, troubles) => {
    const { session } = await start({ emulator: options });
    emulator.troubles = troubles;
    for (const text of ['Hello there.', 'How are you?', 'Grüße!'])
      expect(await collect(session.synthesize(text, never))).toEqual(spoken(text));
    expect(emulator.connections[0]?.texts).toEqual(['Hello there.', 'How are you?', 'Grüße!']);
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
    expect(emulator.connections).toHaveLength(1);
    expect(emulator.connections[0]?.types).toEqual(['Speak', 'Flush', 'Clear', 'Speak', 'Flush']);
  });

  it('takes another connection before the vendor refuses to flush', async () => {
    const { clock, session } = await start();
    for (let count = 0; count < 45; count += 1) {
      clock.advance(100);
      const reading = listen(session, 'Yes.');
      await soon(() => {
        clock.advance(0);
        expect(reading.over).toBe(true);
      });
      expect(reading).toMatchObject({ samples: spoken('Yes.'), error: undefined });
    }
    expect(emulator.connections).toHaveLength(3);
    expect(emulator.violations).toEqual([]);
  });

  it('says a text that is longer than a message allows', async () => {
    const { session } = await start({ emulator: { msPerCharacter: 1 } });
    const text = `${'word '.repeat(900)}${'👋'.repeat(1500)}.`;
    await collect(session.synthesize(text, never));
    expect(emulator.connections[0]?.texts).toEqual([text]);
    expect(emulator.violations).toEqual([]);
  });

  it('stays connected through a long silence', async () => {
    const { clock, session } = await start();
    await soon(() => expect(emulator.openSockets).toBe(1));
    await pass(clock, 300_000);
    expect(await collect(session.synthesize('Still here.', never))).toEqual(spoken('Still here.'));
    expect(emulator.connections).toHaveLength(1);
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
    expect(emulator.connections).toHaveLength(2);
  });

  it('ends a sentence whose end is not told, and goes on over another connection', async () => {
    const { clock, session } = await start({ emulator: { withoutFlushed: true } });
    for (const text of ['One.', 'Two.']) {
      const reading = listen(session, text);
      await soon(() => expect(reading.samples).toEqual(spoken(text)));
      clock.advance(3000);
      await soon(() => expect(reading.over).toBe(true));
      clock.advance(0);
    }
    expect(emulator.connections.length).toBeGreaterThan(1);
  });

  it.each([
    [401, 'Deepgram refused the key (HTTP 401, SOME_CODE).', false],
    [400, 'Deepgram refused the request (HTTP 400, SOME_CODE).', false],
    [429, 'Deepgram is asked for too much at a time (HTTP 429, SOME_CODE).', true],
    [500, 'Deepgram cannot answer now (HTTP 500, SOME_CODE).', true],
  ])('says what a handshake answered with %i means', async (status, message, retryable) => {
    const { clock, session, logger } = await start();
    await soon(() => expect(emulator.openSockets).toBe(1));
    emulator.refuseNext({ status, times: 20, headers: { 'dg-error': 'SOME_CODE' } });
    emulator.disconnectAll();
    const reading = listen(session, 'Hello.');
    await soon(() => {
      clock.advance(300);
      expect(reading.error).toMatchObject({ message, retryable });
    });
    expect(logger.text + String(reading.error)).not.toContain('test-key');
  });

  it('says goodbye at the end of the call', async () => {
    const { session } = await start();
    await collect(session.synthesize('Bye.', never));
    session.close();
    await soon(() => expect(emulator.openSockets).toBe(0));
    expect(emulator.connections[0]?.types).toEqual(['Speak', 'Flush', 'Close']);
  });
});
