// Whole calls over the telephone: the pipeline of real vendors, with emulators in the vendors' places.
import { describe, expect, it, onTestFinished } from 'vitest';
import { ChatCompletions } from '../../src/providers/llm/index.js';
import { DeepgramSpeechToText } from '../../src/providers/stt/index.js';
import { ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';
import {
  emulateChatCompletions,
  emulateDeepgram,
  emulateElevenLabs,
  type EmulatedReply,
} from '../../src/testing/index.js';
import { whenever } from '../support/whenever.js';
import { startPhone } from '../support/running-phone.js';
import { closedAfterTest } from '../support/closed-after-test.js';

const GREETING = 'Hello, this is the bakery.';
async function start(options: { utterances: readonly string[]; replies: readonly EmulatedReply[] }) {
  const ears = await emulateDeepgram({ utterances: options.utterances });
  const mind = await emulateChatCompletions({ replies: options.replies });
  const voice = await emulateElevenLabs({ firstAudioMs: 75, chunkEveryMs: 20 });
  for (const emulator of [ears, mind, voice]) closedAfterTest(emulator);
  const running = await startPhone({
    systemPrompt: 'You answer for a bakery.',
    firstMessage: GREETING,
    stt: new DeepgramSpeechToText({ apiKey: 'test-key', baseUrl: ears.url }),
    llm: new ChatCompletions({ apiKey: 'test-key', baseUrl: `${mind.url}/v1` }),
    tts: new ElevenLabsTextToSpeech({ apiKey: 'test-key', baseUrl: voice.url }),
  });
  onTestFinished(() => running[Symbol.asyncDispose]());
  return { ears, mind, voice, running };
}

// Calls in real time.
describe('a call over Deepgram, Chat Completions and ElevenLabs', { timeout: 60_000 }, () => {
  it('is heard, answered and spoken', async () => {
    const { ears, mind, voice, running } = await start({
      utterances: ['Three loaves of bread, please.'],
      replies: [{ text: 'Three loaves. Anything else?', firstTokenMs: 100, tokenMs: 10 }],
    });
    const { report, record } = await running.call([
      { type: 'wait-for-agent' },
      { type: 'say', text: 'Three loaves of bread, please.' },
      { type: 'wait-for-agent' },
      { type: 'hang-up' },
    ]);
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(record).toMatchObject({
      endReason: 'caller-hangup',
      error: null,
      provider: {
        stt: 'deepgram/nova-3',
        llm: 'openai/gpt-6-luna',
        tts: 'elevenlabs/eleven_flash_v2_5',
      },
    });
    expect(record.transcript.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      `agent: ${GREETING}`,
      'user: Three loaves of bread, please.',
      'agent: Three loaves. Anything else?',
    ]);
    expect(mind.exchanges[0]?.body.messages).toEqual([
      { role: 'developer', content: 'You answer for a bakery.' },
      { role: 'assistant', content: GREETING },
      { role: 'user', content: 'Three loaves of bread, please.' },
    ]);
    expect([...ears.violations, ...mind.violations, ...voice.violations]).toEqual([]);
    expect([ears.openSockets, voice.openSockets]).toEqual([0, 0]);
  });

  it('goes on when recognizer and voice lose their connections', async () => {
    const { ears, voice, running } = await start({
      utterances: ['Do you have bread?', 'Goodbye then.'],
      replies: [{ text: 'Yes, plenty of it.' }, { text: 'See you soon.' }],
    });
    const isHeard = () =>
      ears.openSockets === 1 && ears.connections.length === 1 && (ears.connections[0]?.audioMs ?? 0) > 3000;
    const stop = whenever(isHeard, () => {
      ears.disconnectAll(1011, 'NET-0000');
      voice.disconnectAll();
    });
    onTestFinished(stop);
    const { record } = await running.call([
      { type: 'wait-for-agent' },
      { type: 'say', text: 'Do you have bread?' },
      { type: 'wait-for-agent' },
      { type: 'say', text: 'Goodbye then.' },
      { type: 'wait-for-agent' },
      { type: 'hang-up' },
    ]);
    expect(ears.connections).toHaveLength(2);
    expect(voice.connections).toHaveLength(2);
    expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
    expect(record.transcript.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      `agent: ${GREETING}`,
      'user: Do you have bread?',
      'agent: Yes, plenty of it.',
      'user: Goodbye then.',
      'agent: See you soon.',
    ]);
  });

  it('apologizes and ends when a key is wrong', async () => {
    const { mind, running } = await start({ utterances: ['Hello?'], replies: [] });
    mind.refuseNext({ status: 401, times: 20 });
    const { record } = await running.call([
      { type: 'wait-for-agent' },
      { type: 'say', text: 'Hello?' },
      { type: 'wait-for-agent' },
      { type: 'pause', durationMs: 6000 },
    ]);
    expect(record.endReason).toBe('provider-failed');
    expect(record.error).toEqual({
      code: 'PROVIDER_FAILED',
      message: 'OpenAI refused the key (HTTP 401): check OPENAI_API_KEY, or the option apiKey.',
    });
    const message = 'The agent has told the caller that something went wrong.';
    expect(record.incidents).toEqual([
      { at: expect.any(Number), code: 'apology-spoken', message, durationMs: expect.any(Number) },
    ]);
    const read = async (path: string) => (await fetch(`${running.server.url}${path}`)).text();
    expect(await read('/api/dashboard/export/calls?format=csv')).toContain(',apology-spoken,');
    expect(await read('/metrics')).toContain('offhook_incidents_total{code="apology-spoken"} 1');
  });
});
