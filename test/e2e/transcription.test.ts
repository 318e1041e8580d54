// A whole call whose recognizer takes recordings: the caller's own voice activity cuts them, and no silence is ever sent.
import { describe, expect, it, onTestFinished } from 'vitest';
import { ChatCompletions } from '../../src/providers/llm/index.js';
import { OpenAITranscription } from '../../src/providers/stt/index.js';
import { ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';
import {
  emulateChatCompletions,
  emulateElevenLabs,
  emulateOpenAITranscription,
} from '../../src/testing/index.js';
import { startPhone } from '../support/running-phone.js';
import { closedAfterTest } from '../support/closed-after-test.js';

describe('a call over a transcription server', { timeout: 60_000 }, () => {
  it('is heard, answered and paid for', async () => {
    const ears = await emulateOpenAITranscription({
      utterances: ['Three loaves of bread, please.', 'No, that is all.'],
      firstWordMs: 200,
    });
    const mind = await emulateChatCompletions({
      replies: [{ text: 'Three loaves. Anything else?' }, { text: 'See you.' }],
    });
    const voice = await emulateElevenLabs({ firstAudioMs: 75 });
    for (const emulator of [ears, mind, voice]) closedAfterTest(emulator);
    const running = await startPhone({
      systemPrompt: 'You answer for a bakery.',
      firstMessage: 'Hello, this is the bakery.',
      stt: new OpenAITranscription({
        apiKey: 'test-key',
        baseUrl: `${ears.url}/v1`,
        model: 'whisper-large',
        service: 'speaches',
      }),
      llm: new ChatCompletions({ apiKey: 'test-key', baseUrl: `${mind.url}/v1` }),
      tts: new ElevenLabsTextToSpeech({ apiKey: 'test-key', baseUrl: voice.url }),
    });
    onTestFinished(() => running[Symbol.asyncDispose]());
    const { report, record } = await running.call([
      { type: 'wait-for-agent' },
      { type: 'say', text: 'Three loaves of bread, please.' },
      { type: 'wait-for-agent' },
      { type: 'say', text: 'No, that is all.' },
      { type: 'wait-for-agent' },
      { type: 'hang-up' },
    ]);
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(record).toMatchObject({
      endReason: 'caller-hangup',
      error: null,
      provider: { stt: 'speaches/whisper-large' },
    });
    expect(record.transcript.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'agent: Hello, this is the bakery.',
      'user: Three loaves of bread, please.',
      'agent: Three loaves. Anything else?',
      'user: No, that is all.',
      'agent: See you.',
    ]);
    expect(ears.exchanges).toHaveLength(2);
    for (const { audioMs, soundMs } of ears.exchanges) expect(audioMs - soundMs).toBeLessThan(1500);
    expect(ears.violations).toEqual([]);
  });
});
