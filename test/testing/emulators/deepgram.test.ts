import { describe, expect, it } from 'vitest';
import {
  emulateDeepgram,
  type DeepgramEmulator,
  type EmulateDeepgramOptions,
} from '../../../src/testing/index.js';
import { makeEmulatedSpeech } from '../../../src/testing/emulators/emulated-speech.js';
import { FakeClock } from '../../support/fake-clock.js';
import { openRaw } from './raw-socket.js';
import { closedAfterTest } from '../../support/closed-after-test.js';
import { soon } from '../../support/soon.js';

const QUERY = 'model=nova-3&encoding=linear16&sample_rate=16000&interim_results=true&vad_events=true';
const KEY = { authorization: 'Token test-key' };

const start = async (options: EmulateDeepgramOptions = {}) => closedAfterTest(await emulateDeepgram(options));

async function connect(emulator: DeepgramEmulator, query = QUERY, headers: Record<string, string> = KEY) {
  const socket = await openRaw(`${emulator.url}/v1/listen?${query}`, headers);
  return socket;
}

const sound = (durationMs: number) =>
  new Uint8Array(makeEmulatedSpeech({ durationMs, sampleRateHz: 16_000 }).buffer);
const silence = (durationMs: number) => new Uint8Array(durationMs * 32);

interface HeardAlternative {
  readonly transcript: string;
  readonly languages?: string[];
  readonly languages_hinted?: string[];
  readonly words: { readonly language?: string }[];
}

describe('emulateDeepgram', () => {
  it.each([
    [QUERY, { authorization: 'Token wrong' }, '401 INVALID_AUTH'],
    [QUERY, {}, '401 INVALID_AUTH'],
    ['encoding=linear16&sample_rate=16000', KEY, '400 INVALID_MODEL'],
    ['model=nova-3', KEY, '400 INVALID_ENCODING'],
    ['model=nova-3&encoding=linear16', KEY, '400 INVALID_ENCODING'],
    [`${QUERY}&color=red`, KEY, '400 INVALID_QUERY_PARAMETER'],
    [`${QUERY}&language=de&language_hint=de`, KEY, '400 INVALID_QUERY_PARAMETER'],
    [
      'model=nova-2&encoding=linear16&sample_rate=16000&language=multi&language_hint=es',
      KEY,
      '400 INVALID_QUERY_PARAMETER',
    ],
    [`${QUERY}&utterance_end_ms=500`, KEY, '400 INVALID_QUERY_PARAMETER'],
    [`${QUERY}&endpointing=soon`, KEY, '400 INVALID_QUERY_PARAMETER'],
    [
      'model=nova-3&encoding=linear16&sample_rate=16000&utterance_end_ms=1000',
      KEY,
      '400 INVALID_QUERY_PARAMETER',
    ],
  ])('answers %s as the vendor would', async (query, headers, expected) => {
    const socket = await connect(await start(), query, headers as Record<string, string>);
    expect(socket.end()).toBe(expected);
  });

  it.each<[string, string | Uint8Array, string]>([
    ['an unknown message', '{"type":"Sing"}', '1008 DATA-0000: the message could not be read'],
    ['text that is not JSON', 'hello', '1008 DATA-0000: the message could not be read'],
    ['half a sample', new Uint8Array(641), '1008 DATA-0000: the audio could not be decoded'],
    ['an empty binary message', new Uint8Array(0), '1000'],
  ])('closes after %s', async (_, message, expected) => {
    const emulator = await start();
    const socket = await connect(emulator);
    socket.send(message);
    await soon(() => expect(socket.end()).toBe(expected));
    expect(emulator.violations).toHaveLength(1);
  });

  it.each(['multi', 'en'])('tells the language of each word where it is asked to: %s', async (language) => {
    const emulator = await start({ utterances: [{ text: 'Guten Tag.', language: 'de' }, 'Hello.'] });
    const hints = language === 'multi' ? '&language_hint=en-GB&language_hint=de' : '';
    const socket = await connect(emulator, `${QUERY}&language=${language}${hints}`);
    for (const _ of [1, 2]) {
      socket.send(sound(800));
      socket.send(silence(600));
    }
    const heard = () =>
      socket.messages.flatMap(({ is_final: isFinal, channel }) => {
        const [best] = (channel as { alternatives?: HeardAlternative[] }).alternatives ?? [];
        return isFinal !== true || best === undefined || best.transcript === '' ? [] : [best];
      });
    await soon(() => expect(heard()).toHaveLength(2));
    const languages = heard().map((each) => [each.languages, each.languages_hinted, each.words[0]?.language]);
    expect(languages).toEqual(
      language === 'multi'
        ? [
            [['de'], ['en', 'de'], 'de'],
            [['en'], ['en', 'de'], 'en'],
          ]
        : Array(2).fill([undefined, undefined, undefined]),
    );
  });

  it('takes a control message in a binary frame for audio, and complains', async () => {
    const emulator = await start();
    const socket = await connect(emulator);
    socket.send(Buffer.from('{"type":"KeepAlive" }'.padEnd(22)));
    await soon(() => expect(emulator.violations).toHaveLength(1));
    expect(emulator.connections[0]?.controls).toEqual([]);
  });

  it('closes after ten seconds without a sign of life', async () => {
    const clock = new FakeClock();
    const emulator = await start({ clock });
    const socket = await connect(emulator);
    await soon(() => expect(clock.pending).toBe(1));
    clock.advance(9000);
    socket.send('{"type":"KeepAlive"}');
    await soon(() => expect(emulator.connections[0]?.controls).toEqual(['KeepAlive']));
    clock.advance(9999);
    expect(socket.end()).toBeUndefined();
    clock.advance(1);
    await soon(() => expect(socket.end()).toBe('1011 NET-0001: no audio was received'));
  });

  it('hears one text of its script for each stretch of sound', async () => {
    const socket = await connect(
      await start({ utterances: ['One two.', 'Three.'] }),
      `${QUERY}&utterance_end_ms=1000`,
    );
    for (const bytes of [silence(200), sound(600), silence(1200), sound(400), silence(400)])
      socket.send(bytes);
    await soon(() => expect(socket.messages.filter(({ speech_final: end }) => end)).toHaveLength(2));
    const told = socket.messages.map(({ type, is_final: isFinal, channel }) => {
      const text = (channel as { alternatives?: { transcript: string }[] }).alternatives?.[0]?.transcript;
      return text === undefined ? type : `${isFinal === true ? '' : '~'}${text}`;
    });
    expect(told).toEqual([
      'SpeechStarted',
      '~One',
      '~One two.',
      'One two.',
      'UtteranceEnd',
      'SpeechStarted',
      '~Three.',
      'Three.',
    ]);
    const finals = socket.messages.filter(({ is_final: isFinal }) => isFinal === true);
    expect(finals[1]?.start).toBeCloseTo(Number(finals[0]?.start) + Number(finals[0]?.duration), 5);
  });

  it('answers Finalize with what it has, or not at all', async () => {
    const emulator = await start({ utterances: ['One two three four.'] });
    const socket = await connect(emulator);
    socket.send('{"type":"Finalize"}');
    socket.send(sound(400));
    socket.send('{"type":"Finalize"}');
    await soon(() => expect(socket.messages.filter(({ from_finalize: asked }) => asked)).toHaveLength(1));
    expect(JSON.stringify(socket.messages.at(-1))).toContain('"transcript":"One two"');
    socket.send(sound(300));
    socket.send('{"type":"CloseStream"}');
    await soon(() => expect(socket.end()).toBe('1000'));
    expect(JSON.stringify(socket.messages.at(-2))).toContain('"transcript":"three four."');
    expect(socket.messages.at(-1)?.type).toBe('Metadata');
  });

  it('gives every connection a script of its own when it is told to', async () => {
    const emulator = await start({
      utterances: ({ url }) => [`For ${url.searchParams.get('tag')}.`],
    });
    const sockets = [await connect(emulator, `${QUERY}&tag=a`), await connect(emulator, `${QUERY}&tag=b`)];
    for (const socket of sockets) for (const bytes of [sound(600), silence(400)]) socket.send(bytes);
    await soon(() => {
      expect(JSON.stringify(sockets[0]?.messages.at(-1))).toContain('"transcript":"For a."');
      expect(JSON.stringify(sockets[1]?.messages.at(-1))).toContain('"transcript":"For b."');
    });
  });

  it('sends what its timeline says', async () => {
    const clock = new FakeClock();
    const socket = await connect(
      await start({ clock, timeline: [{ atMs: 500, send: { type: 'Weather' } }] }),
    );
    await soon(() => expect(clock.pending).toBe(2));
    clock.advance(499);
    clock.advance(1);
    await soon(() => expect(socket.messages).toEqual([{ type: 'Weather' }]));
  });

  it('delays, drops, repeats and swaps messages on demand', async () => {
    const clock = new FakeClock();
    const emulator = await start({ clock });
    const socket = await connect(emulator);
    emulator.troubles = { dropEvery: 2 };
    for (const n of [1, 2, 3]) emulator.sendAll(`{"n":${n}}`);
    emulator.troubles = { duplicateEvery: 1 };
    emulator.sendAll('{"n":4}');
    emulator.troubles = { reorderEvery: 5 };
    for (const n of [5, 6]) emulator.sendAll(`{"n":${n}}`);
    emulator.troubles = { delayMs: 100, jitterMs: 50 };
    emulator.sendAll('{"n":7}');
    await soon(() => expect(socket.messages.map(({ n }) => n)).toEqual([1, 3, 4, 4, 6, 5]));
    clock.advance(99);
    clock.advance(60);
    await soon(() => expect(socket.messages.at(-1)).toEqual({ n: 7 }));
  });
});
