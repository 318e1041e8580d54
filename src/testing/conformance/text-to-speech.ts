// What every voice must do, as a list of named checks that any test runner can run.
import { equal, ok } from 'node:assert/strict';
import { silentLogger } from '../../base/log.js';
import type { SpokenPiece, TextToSpeech, TextToSpeechSession } from '../../providers/text-to-speech.js';
import { type ProviderCheck, type ProviderSetup, providerCheck, until, wait } from './provider-check.js';

export interface TextToSpeechSetup extends ProviderSetup {
  readonly provider: TextToSpeech;
}

const SHORT = 'Good day.';
const LONG = 'This is a longer sentence, which takes a while until it has been said to its very end.';
const never = new AbortController().signal;

/** Two renderings of one text differ in length by no more than this share. */
const SAME_LENGTH = 0.25;

/** The last time that is told may lie this much behind the end of the audio: vendors round. */
const ROUNDING_MS = 100;

/** The checks for a voice. */
export function testTextToSpeech(
  create: () => TextToSpeechSetup | Promise<TextToSpeechSetup>,
): ProviderCheck[] {
  const check = (name: string, body: (voice: Voice, setup: TextToSpeechSetup) => Promise<void>) =>
    providerCheck(name, create, async (setup) => {
      const voice = new Voice(setup.provider);
      try {
        await body(voice, setup);
      } finally {
        voice.close();
      }
    });
  return [
    check('speaks at 16 kHz, longer for a longer text, and loud enough', async (voice) => {
      const [short, long] = [await voice.say(SHORT), await voice.say(LONG)];
      ok(seconds(short) > 0.2 && seconds(short) < 4, `It took ${seconds(short)} s for two words.`);
      ok(seconds(long) > 1.5 && seconds(long) < 20, `It took ${seconds(long)} s for a sentence.`);
      ok(long.some((sample) => Math.abs(sample) > 1000));
    }),
    check('says nothing where there is nothing to say', async (voice) => {
      for (const text of ['', '   ']) equal((await voice.say(text)).length, 0);
    }),
    check('speaks sentence after sentence in one session', async (voice) => {
      const first = await voice.say(SHORT);
      for (let count = 0; count < 6; count += 1) sameLength(await voice.say(SHORT), first);
    }),
    check('hands out audio that is the receiver’s to change', async (voice) => {
      const first = await voice.say(SHORT, { spoil: true });
      sameLoudness(await voice.say(SHORT), first);
    }),
    check('ends soon after an abort, and nothing of it comes out later', async (voice) => {
      const alone = await voice.say(SHORT);
      for (let count = 0; count < 6; count += 1) {
        const abort = new AbortController();
        const reading = voice.start(LONG, abort.signal);
        await until('first audio', () => reading.samples.length > 0 || reading.over);
        abort.abort();
        const { length } = reading.samples;
        await until('end after the abort', () => reading.over);
        equal(reading.samples.length, length);
        equal(reading.error, undefined);
      }
      sameLength(await voice.say(SHORT), alone);
    }),
    check('says nothing when it was aborted before', async (voice) => {
      equal((await voice.say(LONG, { signal: AbortSignal.abort() })).length, 0);
    }),
    check('keeps sessions apart', async (voice, { provider }) => {
      const other = new Voice(provider);
      const [short, long] = [voice.start(SHORT), other.start(LONG)];
      await until('two sentences', () => short.over && long.over);
      other.close();
      ok(long.samples.length > 2 * short.samples.length);
    }),
    check('ends what it is speaking when it is closed, and closes more than once', async (voice) => {
      const reading = voice.start(LONG);
      await wait(1);
      voice.close();
      voice.close();
      await until('end after the close', () => reading.over);
      equal((await voice.say(SHORT)).length, 0);
    }),
    check('counts the characters that it was given, if it counts at all', async (voice) => {
      await voice.say(SHORT);
      await voice.say('Grüße 👋');
      if (voice.characters !== undefined) equal(voice.characters, [...SHORT].length + 7);
    }),
    check('tells times that are in the order of text and audio, if it tells any', async (voice) => {
      const text = `  ${LONG} `;
      for (let count = 0; count < 2; count += 1) {
        const reading = await voice.read(text);
        if (reading.pieces.length > 0) trueTimes(text, reading);
      }
    }),
    check('says a sentence once, and whole, when the connection was lost before it', async (voice, setup) => {
      if (setup.breakConnections === undefined) return;
      const before = await voice.say(SHORT);
      setup.breakConnections();
      sameLength(await voice.say(SHORT), before);
    }),
  ];
}

interface Reading {
  readonly samples: number[];
  readonly pieces: SpokenPiece[];
  over: boolean;
  error: unknown;
}

class Voice {
  characters: number | undefined;
  readonly #session: TextToSpeechSession;

  constructor(provider: TextToSpeech) {
    const usage = ({ characters }: { characters: number }) => {
      this.characters = (this.characters ?? 0) + characters;
    };
    this.#session = provider.open({ logger: silentLogger, language: 'en', events: { usage } });
  }

  start(text: string, signal: AbortSignal = never, { spoil = false } = {}): Reading {
    const reading: Reading = { samples: [], pieces: [], over: false, error: undefined };
    const timed = (pieces: readonly SpokenPiece[]) => void reading.pieces.push(...pieces);
    void (async () => {
      try {
        for await (const chunk of this.#session.synthesize(text, signal, { timed })) {
          ok(chunk instanceof Int16Array, 'A chunk was no Int16Array.');
          for (const sample of chunk) reading.samples.push(sample);
          if (spoil) chunk.fill(0);
        }
      } catch (error) {
        reading.error = error;
      }
      reading.over = true;
    })();
    return reading;
  }

  async read(text: string, options: { signal?: AbortSignal; spoil?: boolean } = {}): Promise<Reading> {
    const reading = this.start(text, options.signal, options);
    await until('end of the sentence', () => reading.over);
    if (reading.error !== undefined) throw reading.error;
    return reading;
  }

  async say(
    text: string,
    options: { signal?: AbortSignal; spoil?: boolean } = {},
  ): Promise<readonly number[]> {
    return (await this.read(text, options)).samples;
  }

  close(): void {
    this.#session.close();
  }
}

function seconds(samples: readonly number[]): number {
  return samples.length / 16_000;
}

function trueTimes(text: string, { pieces, samples }: Reading): void {
  const audioMs = seconds(samples) * 1000;
  let last = { end: 0, startMs: 0 };
  for (const piece of pieces) {
    const { start, end, startMs, endMs } = piece;
    const told = `"${text.slice(start, end)}" from ${startMs} to ${endMs} ms`;
    ok(start >= last.end && end > start && end <= text.length, `${told} is out of order.`);
    ok(startMs >= last.startMs && endMs >= startMs, `${told} runs backwards.`);
    ok(endMs <= audioMs + ROUNDING_MS, `${told} lies behind the end of the audio, ${audioMs} ms.`);
    ok(text.slice(start, end).trim() !== '', `${told} says nothing.`);
    last = piece;
  }
  ok((pieces[0]?.startMs ?? 0) < audioMs / 2, 'The first piece is said in the second half of the audio.');
  ok((pieces.at(-1)?.endMs ?? 0) > audioMs / 2, 'The last piece is said in the first half of the audio.');
}

function sameLength(one: readonly number[], other: readonly number[]): void {
  const difference = Math.abs(one.length - other.length) / Math.max(1, other.length);
  ok(difference <= SAME_LENGTH, `${seconds(one)} s of audio, where ${seconds(other)} s were expected.`);
}

function sameLoudness(one: readonly number[], other: readonly number[]): void {
  const energy = (samples: readonly number[]) =>
    samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length);
  ok(
    energy(one) > energy(other) / 4,
    'The audio of an earlier sentence was changed, and a later one with it.',
  );
}
