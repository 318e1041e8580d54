// What a test does with a voice: reads it to the end, or in the background.
import type { TextToSpeechEvents, TextToSpeechSession } from '../../../src/providers/text-to-speech.js';
import { speakInTones } from '../../../src/testing/tone-voice.js';
import type { FakeClock } from '../../support/fake-clock.js';
import { untilQuiet } from '../../support/virtual/quiet.js';

export const never = new AbortController().signal;

export async function collect(audio: AsyncIterable<Int16Array>): Promise<number[]> {
  const samples: number[] = [];
  for await (const pcm of audio) samples.push(...pcm);
  return samples;
}

export function listen(session: TextToSpeechSession, text: string, signal = never) {
  const samples: number[] = [];
  const reading = { samples, over: false, error: undefined as unknown };
  void (async () => {
    try {
      for await (const pcm of session.synthesize(text, signal)) samples.push(...pcm);
    } catch (error) {
      reading.error = error;
    }
    reading.over = true;
  })();
  return reading;
}

/** Keeps what a voice tells beside its audio. */
export function recordEvents(): { told: string[]; events: TextToSpeechEvents } {
  const told: string[] = [];
  return {
    told,
    events: {
      usage: ({ characters }) => void told.push(`usage ${characters}`),
      reconnected: ({ gapMs }) => void told.push(`back ${gapMs}`),
    },
  };
}

export const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
/** Moves the clock in small steps and lets the network answer in between. */
export async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1000) {
    clock.advance(Math.min(left, 1000));
    await untilQuiet();
  }
}

/** What the emulators say for a text. */
export function spoken(text: string): number[] {
  return [...speakInTones(text, { sampleRateHz: 16_000 })];
}

export function toBytes(samples: number[]): Buffer {
  return Buffer.from(Int16Array.from(samples).buffer);
}
