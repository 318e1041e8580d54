// Recognizers hear the embedded voice say one sentence.
import { describe, expect } from 'vitest';
import {
  AssemblyAISpeechToText,
  DeepgramSpeechToText,
  OpenAITranscription,
} from '../../src/providers/stt/index.js';
import type { SpeechToText } from '../../src/providers/speech-to-text.js';
import { FliteTextToSpeech } from '../../src/providers/tts/index.js';
import { CONTEXT, live } from './vendor.js';

const SENTENCE = 'Good morning. I would like three loaves of bread, please.';
const FRAME = 320;

async function speech(): Promise<Int16Array> {
  const session = new FliteTextToSpeech().open(CONTEXT);
  const chunks: number[] = [];
  for await (const chunk of session.synthesize(SENTENCE, new AbortController().signal)) chunks.push(...chunk);
  session.close();
  return Int16Array.from(chunks);
}

const RECOGNISERS: readonly [string, () => SpeechToText][] = [
  ['DEEPGRAM_API_KEY', () => new DeepgramSpeechToText()],
  ['ASSEMBLYAI_API_KEY', () => new AssemblyAISpeechToText()],
  ['OPENAI_API_KEY', () => new OpenAITranscription({ model: 'gpt-transcribe' })],
];

describe('a recognizer hears a sentence', () => {
  for (const [key, create] of RECOGNISERS)
    live(key, create, async (provider, meter) => {
      const pcm = await speech();
      let heard = '';
      let failure: Error | undefined;
      const session = provider.open({
        ...CONTEXT,
        events: {
          partial() {},
          final: (text) => {
            heard = `${heard} ${text}`;
          },
          failed: (error) => {
            failure = error;
          },
          usage: (usage) => meter.heard(usage),
        },
      });
      // As a telephone line does: 20 ms at a time, and silence behind it.
      for (let at = 0; at < pcm.length + 16_000 && failure === undefined; at += FRAME) {
        const frame = new Int16Array(FRAME);
        frame.set(pcm.subarray(at, at + FRAME));
        session.pushAudio(frame);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      session.finishUtterance();
      await expect.poll(() => failure ?? heard).toMatch(/bread/i);
      session.close();
    });
});
