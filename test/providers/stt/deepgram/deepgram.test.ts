import { afterEach, describe, expect, it, vi } from 'vitest';
import { ConfigError } from '../../../../src/base/errors.js';
import {
  DeepgramSpeechToText,
  type DeepgramSpeechToTextOptions,
} from '../../../../src/providers/stt/index.js';
import {
  type DeepgramEmulator,
  emulateDeepgram,
  type EmulateDeepgramOptions,
} from '../../../../src/testing/index.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { RecordedLogger } from '../../../support/recorded-logger.js';
import { Listener, listenWith, pause, speak } from '../ear.js';
import { passUntil } from '../../../support/pass-until.js';
import { untilQuiet } from '../../../support/virtual/quiet.js';
import { soon } from '../../../support/soon.js';
import { closedAfterTest } from '../../../support/closed-after-test.js';
import { itRefuses } from '../../../support/refused-options.js';

let emulator: DeepgramEmulator;

afterEach(() => vi.unstubAllEnvs());

async function start(
  options: {
    emulator?: EmulateDeepgramOptions;
    provider?: DeepgramSpeechToTextOptions;
    language?: string;
  } = {},
) {
  const clock = new FakeClock();
  emulator = closedAfterTest(await emulateDeepgram({ clock, ...options.emulator }));
  const provider = new DeepgramSpeechToText({
    apiKey: 'test-key',
    baseUrl: emulator.url,
    ...options.provider,
  });
  const logger = new RecordedLogger();
  const events = new Listener();
  const open = () => closedAfterTest(provider.open({ clock, logger, language: options.language, events }));
  return { clock, provider, logger, events, told: events.told, open };
}

/** What it is told, also where other events are put beside it. */
const listening = (events: Listener) => ({
  partial: (text: string) => events.partial(text),
  final: (text: string) => events.final(text),
  failed: (error: Error) => events.failed(error),
});

/** Moves the clock in small steps and lets the network answer in between. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 500) {
    clock.advance(Math.min(left, 500));
    await untilQuiet();
  }
}

describe('new DeepgramSpeechToText()', () => {
  itRefuses(DeepgramSpeechToText, [
    [{ modell: 'nova-3' }, /Did you mean model/],
    [{ model: '' }, /model/],
    [{ model: 'flux-general-en' }, /nova-3/],
    [{ endpointingMs: 5 }, /endpointingMs/],
    [{ utteranceEndMs: 500 }, /utteranceEndMs/],
    [{ ownsTurnTaking: 'yes' }, /ownsTurnTaking/],
    [{ keyterms: 'one' }, /keyterms/],
    [{ parameters: { encoding: 'opus' } }, /encoding/],
    [{ parameters: { tag: null } }, /parameters\.tag/],
    [{ baseUrl: 'nowhere' }, /base URL/],
  ]);

  it('demands a key when a call opens, not before', () => {
    const provider = new DeepgramSpeechToText();
    expect(provider.name).toBe('deepgram/nova-3');
    expect(() => provider.assertConfigured()).toThrow(/DEEPGRAM_API_KEY/);
    expect(() => listenWith(provider)).toThrow(ConfigError);
  });

  it('shows its key to nobody', () => {
    const provider = new DeepgramSpeechToText({ apiKey: 'very-secret' });
    expect(JSON.stringify(provider) + Object.values(provider).join()).not.toContain('very-secret');
  });
});

describe('DeepgramSpeechToText', () => {
  it('asks for what a telephone needs', async () => {
    const { open } = await start({ language: 'de', provider: { keyterms: ['Offhook', 'two words'] } });
    open();
    await soon(() => expect(emulator.connections).toHaveLength(1));
    expect(Object.fromEntries(emulator.connections[0]?.url.searchParams ?? [])).toMatchObject({
      model: 'nova-3',
      language: 'de',
      encoding: 'linear16',
      sample_rate: '16000',
      interim_results: 'true',
      endpointing: '25',
      vad_events: 'true',
      smart_format: 'true',
    });
    expect(emulator.connections[0]?.url.searchParams.getAll('keyterm')).toEqual(['Offhook', 'two words']);
    expect(emulator.requests[0]?.headers.authorization).toBe('Token test-key');
  });

  it('finds another address, key and language in the environment and the options', async () => {
    const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';
    const { clock } = await start({ emulator: { apiKey: jwt } });
    vi.stubEnv('DEEPGRAM_API_KEY', jwt);
    vi.stubEnv('DEEPGRAM_BASE_URL', `${emulator.url}?tag=mine`);
    const provider = new DeepgramSpeechToText({
      language: 'multi',
      ownsTurnTaking: true,
      parameters: { mip_opt_out: true },
    });
    listenWith(provider, { clock, language: 'de' });
    await soon(() => expect(emulator.connections).toHaveLength(1));
    expect(emulator.requests[0]?.headers.authorization).toBe(`Bearer ${jwt}`);
    expect(Object.fromEntries(emulator.connections[0]?.url.searchParams ?? [])).toMatchObject({
      tag: 'mine',
      language: 'multi',
      endpointing: '300',
      utterance_end_ms: '1000',
      mip_opt_out: 'true',
    });
  });

  it('listens in several languages at once, which has a price of its own', async () => {
    const { clock, provider, logger, events } = await start({ emulator: { utterances: ['Guten Tag.'] } });
    const paid: unknown[] = [];
    const usage = (used: object) => void paid.push(used);
    const told = { ...listening(events), usage };
    const languages = ['en', 'de-CH'];
    const session = closedAfterTest(
      provider.open({ clock, logger, language: 'en', languages, events: told }),
    );
    speak(session, 1000);
    pause(session, 500);
    await soon(() => expect(events.finals).toEqual(['Guten Tag.']));
    session.close();
    const asked = emulator.connections[0]?.url.searchParams;
    expect([asked?.get('language'), asked?.getAll('language_hint')]).toEqual(['multi', languages]);
    const payee = { name: 'deepgram/nova-3', price: { perAudioMinute: 0.0058 } };
    expect(paid.at(-1)).toMatchObject({ payee });
    expect(provider.price).toMatchObject({ perAudioMinute: 0.0048 });
  });

  it.each<[DeepgramSpeechToTextOptions, string[]]>([
    [{ language: 'multi' }, ['en', 'es']],
    [{ model: 'nova-2' }, []],
    [{ parameters: { language_hint: 'es' } }, ['es']],
  ])(
    'hears them with %o, and gives hints where the model and the application leave it to it',
    async (options, hints) => {
      const { clock, logger, events } = await start();
      const provider = new DeepgramSpeechToText({ ...options, apiKey: 'test-key', baseUrl: emulator.url });
      const languages = ['en', 'es'];
      closedAfterTest(provider.open({ clock, logger, language: 'en', languages, events: listening(events) }));
      await soon(() => expect(emulator.connections).toHaveLength(1));
      const asked = emulator.connections[0]?.url.searchParams;
      expect([asked?.get('language'), asked?.getAll('language_hint')]).toEqual(['multi', hints]);
    },
  );

  it.each<[DeepgramSpeechToTextOptions, string[], RegExp | undefined]>([
    [{}, ['en', 'de-CH'], undefined],
    [{ language: 'multi' }, ['en', 'de'], undefined],
    [{ language: 'de' }, ['en', 'de'], /hears de alone/],
    [{ model: 'nova-2' }, ['en', 'es'], undefined],
    [{ model: 'nova-2' }, ['en', 'de'], /de among several/],
    [{ model: 'base' }, ['en', 'es'], /nova-3/],
    [{ model: 'nova-3-general' }, ['en', 'sv'], undefined],
    [{ model: 'nova-3-medical' }, ['en', 'sv'], /nova-3/],
    [{}, ['en', 'tlh'], /tlh among several/],
  ])('%o tells %s apart, or says why not', (options, languages, obstacle) => {
    const found = new DeepgramSpeechToText(options).languageObstacle(languages);
    if (obstacle === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(obstacle);
  });

  it('recognizes utterances, one after the other', async () => {
    const { events, told, open } = await start({
      emulator: { utterances: ['Good morning to you.', 'Goodbye.'] },
    });
    const session = open();
    speak(session, 1000);
    pause(session, 500);
    await soon(() => expect(events.finals).toEqual(['Good morning to you.']));
    expect(told.slice(0, 5)).toEqual([
      '> 0',
      '~Good',
      '~Good morning',
      '~Good morning to',
      '~Good morning to you.',
    ]);
    speak(session, 300);
    pause(session, 500);
    await soon(() => expect(events.finals).toEqual(['Good morning to you.', 'Goodbye.']));
    session.close();
    await soon(() => expect(emulator.connections[0]?.controls).toEqual(['CloseStream']));
    expect(events.seconds).toBeCloseTo(2.3, 5);
    expect(emulator.violations).toEqual([]);
  });

  it('gets the open text at once when the agent has heard enough', async () => {
    const { events, open } = await start({ emulator: { utterances: ['Yes please.'] } });
    const session = open();
    speak(session, 500);
    pause(session, 100);
    session.finishUtterance();
    await soon(() => expect(events.finals).toEqual(['Yes please.']));
    expect(emulator.connections[0]?.controls).toEqual(['Finalize']);
  });

  it('tells the ends of turns when it owns them', async () => {
    const { told, events, open } = await start({
      emulator: { utterances: ['One.', 'Two.'] },
      provider: { ownsTurnTaking: true },
    });
    const session = open();
    for (const finals of [['One.'], ['One.', 'Two.']]) {
      speak(session, 400);
      pause(session, 1500);
      await soon(() => expect(events.finals).toEqual(finals));
    }
    expect(told.filter((line) => line === '|' || /^\w/.test(line))).toEqual(['One.', '|', 'Two.', '|']);
  });

  it('ends a turn by the gap alone when noise hides the pause', async () => {
    const { told, open } = await start({ provider: { ownsTurnTaking: true } });
    open();
    await soon(() => expect(emulator.openSockets).toBe(1));
    const alternatives = [{ transcript: 'Are you there?', words: [] }];
    const piece = { type: 'Results', start: 0, duration: 1, is_final: true, channel: { alternatives } };
    emulator.sendAll(JSON.stringify(piece));
    emulator.sendAll(JSON.stringify({ type: 'UtteranceEnd', last_word_end: 0.9 }));
    await soon(() => expect(told).toEqual(['Are you there?', '|']));
  });

  it('stays connected through a long silence', async () => {
    const { clock, told, open } = await start();
    open();
    await soon(() => expect(emulator.connections).toHaveLength(1));
    await pass(clock, 60_000);
    expect(emulator.openSockets).toBe(1);
    expect(emulator.connections).toHaveLength(1);
    expect(emulator.connections[0]?.controls.filter((type) => type === 'KeepAlive').length).toBeGreaterThan(
      10,
    );
    expect(told).toEqual([]);
  });

  it.each([
    [{ split: true }],
    [{ duplicateEvery: 2 }],
    [{ reorderEvery: 3 }],
    [{ split: true, duplicateEvery: 3, reorderEvery: 4 }],
  ])('gets every word once in spite of %j', async (troubles) => {
    const utterances = ['Grüße aus Köln.', 'Zweitens.', 'Drittens und letztens.'];
    const { events, open } = await start({ emulator: { utterances } });
    emulator.troubles = troubles;
    const session = open();
    for (let count = 0; count < utterances.length; count += 1) {
      speak(session, 700);
      pause(session, 600);
      await soon(() => expect(emulator.connections[0]?.audioMs).toBe((count + 1) * 1300));
    }
    session.finishUtterance();
    await soon(() => expect(events.finals.join(' ')).toBe(utterances.join(' ')));
  });

  it('ignores what it does not know, and lets nothing be put into its mouth twice', async () => {
    const { told, open } = await start();
    open();
    await soon(() => expect(emulator.openSockets).toBe(1));
    for (const text of ['nonsense', '[]', '{"type":"Weather"}', '{"type":"Results"}', '{"type":"Error"}'])
      emulator.sendAll(text);
    emulator.sendAll('{"type":"SpeechStarted","timestamp":1}');
    await soon(() => expect(told).toEqual(['> 1000']));
  });

  it('reconnects in the middle of an utterance and loses no word', async () => {
    const { clock, events, told, logger, open } = await start({
      emulator: { utterances: ['The first one.', 'A second one comes after it.'] },
    });
    const session = open();
    speak(session, 800);
    pause(session, 400);
    await soon(() => expect(events.finals).toEqual(['The first one.']));
    clock.advance(1000);
    speak(session, 600);
    await soon(() => expect(told.at(-1)).toMatch(/^~A second/));
    emulator.disconnectAll(1011, 'NET-0000');
    await soon(() => expect(logger.sentences('warn')).toHaveLength(1));
    speak(session, 600);
    clock.advance(0);
    await soon(() => expect(told).toContain('back 0'));
    pause(session, 400);
    await soon(() => expect(events.finals).toEqual(['The first one.', 'A second one comes after it.']));
    expect(emulator.connections).toHaveLength(2);
    expect(logger.text).not.toContain('test-key');
  });

  it('notices a connection that is dead and not closed', async () => {
    const { clock, told, open } = await start();
    open();
    await soon(() => expect(emulator.openSockets).toBe(1));
    emulator.freeze();
    await pass(clock, 21_000);
    await soon(() => expect(told).toEqual(['back 0']));
    expect(emulator.connections).toHaveLength(2);
  });

  it.each([
    [401, /refused the key \(HTTP 401, INVALID_AUTH\)/],
    [400, /HTTP 400, INVALID_AUTH/],
    [403, /HTTP 403/],
  ])('fails at once when the handshake is answered with %i', async (status, sentence) => {
    const { told, open, logger } = await start();
    emulator.refuseNext({ status, headers: { 'dg-error': 'INVALID_AUTH' } });
    open();
    await soon(() => expect(told).toHaveLength(1));
    expect(told[0]).toMatch(sentence);
    expect(emulator.requests).toHaveLength(1);
    expect(told.join() + logger.text).not.toContain('test-key');
  });

  it('fails at once for a model that is not known', async () => {
    const { told, open } = await start({ provider: { model: 'no-such-model' } });
    open();
    await soon(() => expect(told[0]).toMatch(/INVALID_MODEL/));
  });

  it.each([429, 503])('comes through a few answers of %i', async (status) => {
    const { clock, events, open } = await start({ emulator: { utterances: ['Here I am.'] } });
    emulator.refuseNext({ status, times: 2 });
    const session = open();
    speak(session, 700);
    pause(session, 400);
    await passUntil(clock, 20, () => {
      expect(events.finals).toEqual(['Here I am.']);
    });
    expect(emulator.requests).toHaveLength(3);
  });

  it('gives up after three tries', async () => {
    const { clock, told, open } = await start();
    emulator.refuseNext({ status: 503, times: 10 });
    open();
    await passUntil(clock, 20, () => {
      expect(told).toEqual(['failed: Deepgram cannot answer now (HTTP 503).']);
    });
    expect(emulator.requests).toHaveLength(3);
  });

  it('takes a close for bad audio as the end, and any other as a pause', async () => {
    const { told, open } = await start();
    open();
    await soon(() => expect(emulator.openSockets).toBe(1));
    emulator.disconnectAll(1008, 'DATA-0000: not decodable');
    await soon(() => expect(told).toEqual(['failed: Deepgram closed the connection (1008, DATA-0000).']));
  });

  it('fails when nobody answers', async () => {
    const { clock } = await start();
    await emulator.close();
    const provider = new DeepgramSpeechToText({ apiKey: 'k', baseUrl: emulator.url });
    const { told } = listenWith(provider, { clock });
    await passUntil(clock, 20, () => {
      expect(told).toEqual([
        expect.stringMatching(/^failed: Deepgram could not be reached \(127\.0\.0\.1:\d+, ECONN\w+\)\.$/),
      ]);
    });
  });
});
