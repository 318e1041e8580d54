import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../../src/base/log.js';
import { OpenAISpeechAudio } from '../../../../src/providers/tts/openai-speech/audio.js';
import { OpenAISpeech, type OpenAISpeechOptions } from '../../../../src/providers/tts/index.js';
import { WireError } from '../../../../src/providers/wire/failure.js';
import {
  emulateOpenAISpeech,
  type EmulateOpenAISpeechOptions,
  type OpenAISpeechEmulator,
} from '../../../../src/testing/index.js';
import type { Resampler } from '../../../../src/transcoder/backend.js';
import { transcoder } from '../../../../src/transcoder/select.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { passUntil } from '../../../support/pass-until.js';
import { soon } from '../../../support/soon.js';
import { closedAfterTest } from '../../../support/closed-after-test.js';
import { itRefuses } from '../../../support/refused-options.js';

let emulator: OpenAISpeechEmulator;

afterEach(() => vi.unstubAllEnvs());

const VOICE = { model: 'kokoro', voice: 'bella' };
async function start(options: EmulateOpenAISpeechOptions = {}, provider: Partial<OpenAISpeechOptions> = {}) {
  const clock = new FakeClock();
  emulator = closedAfterTest(await emulateOpenAISpeech({ clock, ...options }));
  const voice = new OpenAISpeech({
    ...VOICE,
    apiKey: 'test-key',
    baseUrl: `${emulator.url}/v1`,
    ...provider,
  });
  let characters = 0;
  const usage = (told: { characters: number }) => {
    characters += told.characters;
  };
  const gaps: number[] = [];
  const reconnected = ({ gapMs }: { gapMs: number }) => void gaps.push(gapMs);
  const session = closedAfterTest(
    voice.open({ logger: silentLogger, language: 'en', clock, events: { usage, reconnected } }),
  );
  const say = (text: string, signal = new AbortController().signal) => {
    const reading = { samples: [] as number[], over: false, error: undefined as unknown };
    void (async () => {
      try {
        for await (const chunk of session.synthesize(text, signal)) reading.samples.push(...chunk);
      } catch (error) {
        reading.error = error;
      }
      reading.over = true;
    })();
    return reading;
  };
  const spoken = async (reading: ReturnType<typeof say>, stepMs = 20) => {
    await passUntil(clock, stepMs, () => {
      expect(reading.over).toBe(true);
    });
    return reading;
  };
  return { clock, session, say, spoken, gaps, characters: () => characters };
}

describe('new OpenAISpeech()', () => {
  itRefuses(OpenAISpeech, [
    [{ voice: 'x' }, /needs model/],
    [{ model: 'x' }, /needs voice/],
    [{ ...VOICE, speed: 9 }, /speed/],
    [{ ...VOICE, voise: 'x' }, /Did you mean voice/],
  ]);

  it('demands a key at the vendor’s own address only', () => {
    expect(() => new OpenAISpeech(VOICE).assertConfigured()).toThrow(/OPENAI_API_KEY/);
    const own = new OpenAISpeech({ ...VOICE, baseUrl: 'http://127.0.0.1:8880/v1', service: 'kokoro' });
    expect(() => own.assertConfigured()).not.toThrow();
    expect(own.name).toBe('kokoro/kokoro');
  });
});

describe('OpenAISpeech', () => {
  it('asks for PCM, and gives it at 16 kHz to the last sample', async () => {
    const { say, spoken, characters } = await start({}, { speed: 1.2, instructions: 'Softly.' });
    const { samples, error } = await spoken(say('Grüße 👋'));
    expect(error).toBeUndefined();
    expect(emulator.exchanges[0]?.body).toEqual({
      ...VOICE,
      input: 'Grüße 👋',
      response_format: 'pcm',
      speed: 1.2,
      instructions: 'Softly.',
    });
    expect(samples).toHaveLength(7 * 60 * 16);
    expect(Math.max(...samples)).toBeGreaterThan(4000);
    expect(characters()).toBe(7);
    expect(emulator.violations).toEqual([]);
  });

  it.each([1, 3, 47, 100_000])(
    'hears the same in a WAV file, cut into pieces of %i bytes',
    async (chunkBytes) => {
      const plain = await start();
      const { samples } = await plain.spoken(plain.say('Hi.'));
      const wav = await start({ container: 'wav', chunkBytes });
      expect((await wav.spoken(wav.say('Hi.'))).samples).toEqual(samples);
    },
  );

  it('stops at once when it is aborted, closes the connection, and nothing comes later', async () => {
    const { clock, say, spoken } = await start({ chunkEveryMs: 10 });
    const abort = new AbortController();
    const reading = say('A long sentence that goes on and on.', abort.signal);
    await passUntil(clock, 10, () => {
      expect(reading.samples.length).toBeGreaterThan(0);
    });
    abort.abort();
    const { length } = reading.samples;
    await spoken(reading);
    expect([reading.samples.length, reading.error]).toEqual([length, undefined]);
    await soon(() => expect(emulator.exchanges[0]?.aborted).toBe(true));
  });

  it('closes the connection, too, where nobody reads on', async () => {
    const { clock, session } = await start({ chunkEveryMs: 10 });
    const reading = session
      .synthesize('A long sentence that goes on and on.', new AbortController().signal)
      [Symbol.asyncIterator]();
    let isHeard = false;
    void reading.next().then(() => {
      isHeard = true;
    });
    await passUntil(clock, 10, () => {
      expect(isHeard).toBe(true);
    });
    await reading.return?.();
    await soon(() => expect(emulator.exchanges[0]?.aborted).toBe(true));
  });

  it.each(['end', 'abort', 'cut'] as const)('frees what it converts with: %s', async (how) => {
    const create = vi.spyOn(transcoder, 'createResampler');
    const { clock, say, spoken } = await start({ chunkEveryMs: 10 });
    const abort = new AbortController();
    const reading = say('A long sentence that goes on and on.', abort.signal);
    await passUntil(clock, 10, () => {
      expect(reading.samples.length).toBeGreaterThan(8000);
    });
    if (how === 'abort') abort.abort();
    if (how === 'cut') emulator.cutRequests();
    await spoken(reading);
    expect(create.mock.results).toHaveLength(1);
    const { value } = create.mock.results[0] as { value: Resampler };
    expect(() => value.process(new Int16Array(1))).toThrow(/after free/);
  });

  it.each([429, 500, 503, 529])('tries again after %i', async (status) => {
    const { say, spoken, characters } = await start();
    emulator.refuseNext({ status });
    const reading = await spoken(say('Hi.'));
    expect([reading.error, reading.samples.length > 0, characters()]).toEqual([undefined, true, 3]);
  });

  it.each([400, 401, 404])('does not try again after %i', async (status) => {
    const { say, spoken } = await start();
    emulator.refuseNext({ status, body: '{"error":{"code":"x_y","message":"test-key"}}' });
    const { error } = await spoken(say('Hi.'));
    expect(error).toMatchObject({ code: 'PROVIDER_FAILED', status, retryable: false });
    expect(String(error)).not.toContain('test-key');
    expect(emulator.requests).toHaveLength(1);
  });

  it.each([
    [
      'an error under a good status',
      { headers: { 'content-type': 'application/json' }, body: '{"error":{}}' },
    ],
    ['another kind of audio', { headers: { 'content-type': 'audio/mpeg' }, body: 'ID3' }],
    ['a WAV file of another kind', { body: `RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0${'\0'.repeat(12)}` }],
  ])('plays no %s', async (_, answer) => {
    const { say, spoken } = await start();
    emulator.refuseNext({ status: 200, ...answer });
    const reading = await spoken(say('Hi.'));
    expect([reading.samples, reading.error]).toEqual([[], expect.objectContaining({ retryable: false })]);
  });

  it('gives a server up that is silent for ever, and tries an empty answer again', async () => {
    const { say, spoken, gaps } = await start();
    emulator.refuseNext({ status: 200, headers: { 'content-type': 'audio/pcm' } });
    expect((await spoken(say('Hi.'))).error).toBeUndefined();
    expect(gaps).toHaveLength(1);
    const hanging = await start({ firstAudioMs: 60_000 });
    const reading = await hanging.spoken(hanging.say('Hi.'));
    expect(reading.error).toMatchObject({ retryable: true, message: 'The voice did not go on in time.' });
    expect(hanging.clock.now()).toBeGreaterThanOrEqual(2500);
  });

  it('asks once more when the answer is late, and takes the one that comes', async () => {
    const { clock, say, spoken, gaps, characters } = await start();
    emulator.ignoreNext();
    const { samples, error } = await spoken(say('Hi.'));
    expect([samples.length, error]).toEqual([3 * 60 * 16, undefined]);
    expect(gaps).toEqual([expect.closeTo(2000, -3)]);
    expect(clock.now()).toBeLessThan(3000);
    expect([emulator.requests.length, characters()]).toEqual([1, 3]);
  });

  it('asks a server that is always slow twice for one sentence only, and pays for both', async () => {
    let asked = 0;
    const slow = createServer((request, response) => {
      asked += 1;
      request.resume();
      setup.clock.after(2300, () => response.end(Buffer.alloc(9600)));
    }).listen(0, '127.0.0.1');
    closedAfterTest(slow);
    await once(slow, 'listening');
    const { port } = slow.address() as AddressInfo;
    const setup = await start({}, { baseUrl: `http://127.0.0.1:${port}/v1` });
    for (const text of ['Hi.', 'Hello.', 'Bye.']) {
      const { samples, error } = await setup.spoken(setup.say(text));
      expect([samples.length > 0, error]).toEqual([true, undefined]);
    }
    expect([asked, setup.gaps.length]).toEqual([4, 0]);
    expect(setup.characters()).toBe(3 + 3 + 6 + 4);
  });

  it('says a sentence again of which less than a word was heard', async () => {
    const { clock, say, spoken } = await start({ firstAudioMs: 40, chunkEveryMs: 10 });
    const reading = say('A long sentence that goes on and on.');
    await passUntil(clock, 5, () => {
      expect(reading.samples.length).toBeGreaterThan(0);
    });
    expect(reading.samples.length).toBeLessThan(4000);
    emulator.cutRequests();
    expect((await spoken(reading)).error).toBeUndefined();
    expect(emulator.requests).toHaveLength(2);
  });

  it('does not say a sentence again of which a word was heard, and tells when it speaks again', async () => {
    const { clock, say, spoken, gaps } = await start({ firstAudioMs: 40, chunkEveryMs: 10 });
    const reading = say('A long sentence that goes on and on.');
    await passUntil(clock, 10, () => {
      expect(reading.samples.length).toBeGreaterThan(8000);
    });
    emulator.cutRequests();
    // The next one may be whole: the call goes on.
    expect((await spoken(reading)).error).toBeUndefined();
    expect(emulator.requests).toHaveLength(1);
    expect(gaps).toEqual([]);
    clock.advance(60_000);
    await spoken(say('Another one.'));
    expect(gaps).toEqual([expect.any(Number)]);
    // Without the time in which nobody asked.
    expect(gaps[0]).toBeGreaterThanOrEqual(40);
    expect(gaps[0]).toBeLessThan(5000);
    await spoken(say('And one more.'));
    expect(gaps).toHaveLength(1);
  });
});

describe('the audio of an answer', () => {
  /** A WAV file of 100 ms of silence. */
  function wavOf({ sampleRateHz = 24_000, channels = 1, bits = 16 } = {}): Buffer {
    const format = Buffer.alloc(24);
    format.write('fmt ');
    format.writeUInt32LE(16, 4);
    format.writeUInt16LE(1, 8);
    format.writeUInt16LE(channels, 10);
    format.writeUInt32LE(sampleRateHz, 12);
    format.writeUInt16LE(bits, 22);
    const data = Buffer.alloc(8 + sampleRateHz / 5);
    data.write('data');
    return Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), format, data]);
  }

  function read(file: Buffer): number {
    const audio = new OpenAISpeechAudio();
    try {
      return audio.push(file).length + audio.end().length;
    } finally {
      audio.close();
    }
  }

  it.each([8000, 24_000, 48_000])('is mono of 16 bits at %i Hz', (sampleRateHz) => {
    expect(read(wavOf({ sampleRateHz }))).toBe(1600);
  });

  it.each([{ channels: 2 }, { bits: 8 }, { sampleRateHz: 7990 }, { sampleRateHz: 48_010 }])(
    'is not %j',
    (kind) => {
      expect(() => read(wavOf(kind))).toThrow(WireError);
    },
  );
});
