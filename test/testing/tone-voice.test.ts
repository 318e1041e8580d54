import { describe, expect, it } from 'vitest';
import { readTones, speakInTones, ToneReader, toSound, type HeardWord } from '../../src/testing/index.js';
import { createVoiceActivity } from '../../src/engines/voice-activity.js';
import { transcoder } from '../../src/transcoder/select.js';

const TEXT = "Hello there, it's 27 mm-hm cookies. What next? Jazz quiz buzzing pizzazz!";
const words = (samples: Int16Array, sampleRateHz: number) =>
  readTones(samples, { sampleRateHz }).map(({ text }) => text);
const spoken = (text: string) => toSound(text).split(' ').filter(Boolean);

function onTelephone(text: string): Int16Array {
  const resampler = transcoder.createResampler(16_000, 8000);
  const narrow = resampler.process(speakInTones(text, { sampleRateHz: 16_000 })).slice();
  resampler.free();
  return transcoder.mulawDecode(transcoder.mulawEncode(narrow)).slice();
}

const mix = (samples: Int16Array, other: (index: number) => number) =>
  samples.map((sample, index) => Math.max(-32768, Math.min(32767, sample + other(index))));

describe('a tone voice', () => {
  it('is read back behind a resampler and mu-law', () => {
    expect(words(onTelephone(TEXT), 8000)).toEqual(spoken(TEXT));
    expect(spoken(TEXT).join(' ')).toBe(TEXT.toLowerCase());
  });

  it('is read back at a tenth of its level, and in noise 12 dB below it', () => {
    const samples = onTelephone(TEXT);
    const quiet = samples.map((sample) => Math.round(sample / 10));
    expect(words(quiet, 8000)).toEqual(spoken(TEXT));
    let seed = 1;
    const noise = () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return ((seed / 2_147_483_647) * 2 - 1) * 1700;
    };
    expect(words(mix(samples, noise), 8000)).toEqual(spoken(TEXT));
  });

  it('sounds like speech to a voice detector', () => {
    const detector = createVoiceActivity();
    const samples = speakInTones(TEXT.replaceAll(' ', ''), { sampleRateHz: 16_000 });
    let voiced = 0;
    for (let at = 0; at + 320 <= samples.length; at += 320) {
      const frame = samples.subarray(at, at + 320);
      if (detector.hear(frame).voiced) voiced += 1;
    }
    detector.close();
    // All but its softer characters.
    expect(voiced / (samples.length / 320)).toBeGreaterThan(0.6);
  });

  it('gives the part of a word that was left by a cut', () => {
    const samples = onTelephone('We have wonderful bread');
    const cutAtMs = 'We have wonder'.length * 60;
    expect(words(samples.subarray(0, cutAtMs * 8), 8000)).toEqual(['we', 'have', 'wonder']);
    expect(words(samples.subarray(0, (cutAtMs - 50) * 8), 8000)).toEqual(['we', 'have', 'wonde']);
  });

  it('tells where each word was, whatever pieces the sound comes in', () => {
    const samples = speakInTones('so far away', { sampleRateHz: 16_000 });
    const told: HeardWord[] = [];
    const reader = new ToneReader({ sampleRateHz: 16_000, onWord: (word) => told.push(word) });
    for (let at = 0; at < samples.length; at += 333) reader.push(samples.subarray(at, at + 333));
    reader.flush();
    expect(told).toEqual(readTones(samples, { sampleRateHz: 16_000 }));
    expect(told.map(({ text, startMs, endMs }) => [text, startMs, endMs])).toEqual([
      ['so', 0, 120],
      ['far', 180, 360],
      ['away', 420, 660],
    ]);
  });

  it('is slow or fast on demand', () => {
    const options = { sampleRateHz: 8000, msPerCharacter: 40 };
    const samples = speakInTones('so far away', options);
    expect(samples).toHaveLength(11 * 40 * 8);
    expect(readTones(samples, options).map(({ text }) => text)).toEqual(['so', 'far', 'away']);
  });

  it('says other scripts and accents in a way of its own, always the same', () => {
    expect(toSound('Grüße, Ängström’s')).toMatch(/^gru[a-z0-9]e, angstrom's$/);
    for (const text of ['Привет мир', '你好 世界', 'नमस्ते', '😀 ok'])
      expect(words(onTelephone(text), 8000)).toEqual(spoken(text));
  });

  it('hears no words in other sounds', () => {
    const tone = Int16Array.from({ length: 8000 }, (_, i) => 9000 * Math.sin(i * 0.3));
    let seed = 7;
    const noise = Int16Array.from({ length: 8000 }, () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return ((seed / 2_147_483_647) * 2 - 1) * 9000;
    });
    expect([words(tone, 8000), words(noise, 8000), words(new Int16Array(8000), 8000)]).toEqual([[], [], []]);
  });
});
