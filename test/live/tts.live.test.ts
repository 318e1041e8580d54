// Voices say two words.
import { describe, expect } from 'vitest';
import type { TextToSpeech } from '../../src/providers/text-to-speech.js';
import { CartesiaTextToSpeech, DeepgramAura, ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';
import { findSpeech } from '../../src/testing/index.js';
import { CONTEXT, live } from './vendor.js';

const VOICES: readonly [string, () => TextToSpeech][] = [
  ['ELEVENLABS_API_KEY', () => new ElevenLabsTextToSpeech()],
  ['CARTESIA_API_KEY', () => new CartesiaTextToSpeech()],
  ['DEEPGRAM_API_KEY', () => new DeepgramAura()],
];

describe('a voice says two words', () => {
  for (const [key, create] of VOICES)
    live(key, create, async (voice, meter) => {
      const session = voice.open({ ...CONTEXT, events: { usage: (usage) => meter.spoke(usage) } });
      const samples: number[] = [];
      const { signal } = new AbortController();
      for await (const chunk of session.synthesize('Good day.', signal)) samples.push(...chunk);
      session.close();
      expect(samples.length / 16_000).toBeGreaterThan(0.3);
      expect(samples.length / 16_000).toBeLessThan(5);
      expect(findSpeech(Int16Array.from(samples), { sampleRateHz: 16_000 })).not.toEqual([]);
    });
});
