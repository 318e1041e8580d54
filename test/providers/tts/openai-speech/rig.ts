import { expect } from 'vitest';
import { silentLogger } from '../../../../src/base/log.js';
import { OpenAISpeech, type OpenAISpeechOptions } from '../../../../src/providers/tts/index.js';
import { emulateOpenAISpeech, type EmulateOpenAISpeechOptions } from '../../../../src/testing/index.js';
import { closedAfterTest } from '../../../support/closed-after-test.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { passUntil } from '../../../support/pass-until.js';

export const VOICE = { model: 'kokoro', voice: 'bella' };

/** A call's voice at an emulated server; `say` reads a sentence as it comes. */
export async function start(
  options: EmulateOpenAISpeechOptions = {},
  provider: Partial<OpenAISpeechOptions> = {},
) {
  const clock = new FakeClock();
  const emulator = closedAfterTest(await emulateOpenAISpeech({ clock, ...options }));
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
  return { emulator, clock, session, say, spoken, gaps, characters: () => characters };
}
