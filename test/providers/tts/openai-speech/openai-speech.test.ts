import { describe, expect, it } from 'vitest';
import { OpenAISpeechAudio } from '../../../../src/providers/tts/openai-speech/audio.js';
import { OpenAISpeech } from '../../../../src/providers/tts/index.js';
import { WireError } from '../../../../src/providers/wire/failure.js';
import { itRefuses } from '../../../support/refused-options.js';
import { start, VOICE } from './rig.js';

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
    const { emulator, say, spoken, characters } = await start({}, { speed: 1.2, instructions: 'Softly.' });
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

  it.each([
    [
      'an error under a good status',
      { headers: { 'content-type': 'application/json' }, body: '{"error":{}}' },
    ],
    ['another kind of audio', { headers: { 'content-type': 'audio/mpeg' }, body: 'ID3' }],
    ['a WAV file of another kind', { body: `RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0${'\0'.repeat(12)}` }],
  ])('plays no %s', async (_, answer) => {
    const { emulator, say, spoken } = await start();
    emulator.refuseNext({ status: 200, ...answer });
    const reading = await spoken(say('Hi.'));
    expect([reading.samples, reading.error]).toEqual([[], expect.objectContaining({ retryable: false })]);
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
