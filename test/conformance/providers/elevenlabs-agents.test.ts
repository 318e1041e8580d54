// The official client of ElevenLabs Agents against the emulated agent. Its conversation goes elsewhere by a signed address alone.
import { ElevenLabsClient } from '@elevenlabs/elevenlabs-js';
import { AudioInterface } from '@elevenlabs/elevenlabs-js/api/resources/conversationalAi/conversation/AudioInterface.js';
import { ClientTools } from '@elevenlabs/elevenlabs-js/api/resources/conversationalAi/conversation/ClientTools.js';
import { Conversation } from '@elevenlabs/elevenlabs-js/api/resources/conversationalAi/conversation/Conversation.js';
import { afterEach, describe, expect, it } from 'vitest';
import { type EmulateElevenLabsAgentsOptions, emulateElevenLabsAgents } from '../../../src/testing/index.js';
import { type Message, speechAndSilence } from './streams.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

/** What is said into the conversation, and comes out of it. */
class Line extends AudioInterface {
  say: (audio: Buffer) => void = () => {};
  bytes = 0;
  interruptions = 0;
  stops = 0;

  override start(say: (audio: Buffer) => void): void {
    this.say = say;
  }

  override stop(): void {
    this.stops += 1;
  }

  override output(audio: Buffer): void {
    this.bytes += audio.length;
  }

  override interrupt(): void {
    this.interruptions += 1;
  }
}

async function start(
  options: EmulateElevenLabsAgentsOptions,
  { apiKey = 'test-key', override = {} }: { apiKey?: string; override?: Message } = {},
) {
  const emulator = await emulateElevenLabsAgents({
    isPrivate: true,
    inputFormat: 'pcm_16000',
    outputFormat: 'pcm_16000',
    ...options,
  });
  open.push(emulator);
  const line = new Line();
  const clientTools = new ClientTools();
  const told: Message[] = [];
  const said: string[] = [];
  const corrections: string[] = [];
  const heard: string[] = [];
  const latencies: number[] = [];
  const ends: unknown[] = [];
  const conversation = new Conversation({
    conversationClient: new ElevenLabsClient({ apiKey, baseUrl: emulator.url, maxRetries: 0 }),
    agentId: 'agent-1',
    requiresAuth: true,
    audioInterface: line,
    clientTools,
    config: { conversationConfigOverride: override, dynamicVariables: { shop: 'Bakery' } },
    callbackAgentResponse: (text) => void said.push(text),
    callbackAgentResponseCorrection: (_, text) => void corrections.push(text),
    callbackUserTranscript: (text) => void heard.push(text),
    callbackLatencyMeasurement: (ms) => void latencies.push(ms),
    callbackMessageReceived: (message: Message) => void told.push(message),
  });
  conversation.on('session_ended', (_, code: unknown) => void ends.push(code));
  open.push({ close: () => conversation.endSession() });
  const hears = () => {
    for (const chunk of speechAndSilence(700, 900)) line.say(chunk);
  };
  return {
    emulator,
    conversation,
    line,
    clientTools,
    told,
    said,
    corrections,
    heard,
    latencies,
    ends,
    hears,
  };
}

describe('the official client of ElevenLabs Agents', () => {
  it('is greeted, hears, calls a tool, is interrupted, and ends', async () => {
    const long = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
    const scene = await start(
      {
        variables: ['shop'],
        pingEveryMs: 200,
        utterances: ['Is Friday free?', 'Wait.'],
        replies: [
          { toolCalls: [{ id: 'call_7', name: 'find_slot', arguments: '{"day":"Friday"}' }] },
          { text: 'At ten.' },
          { text: long, chunkEveryMs: 20 },
          { text: 'Yes?' },
        ],
      },
      { override: { agent: { first_message: 'Bakery, good day.', language: 'en' } } },
    );
    const { emulator, conversation, line, clientTools, said, corrections, heard, latencies } = scene;
    const asked: Message[] = [];
    clientTools.register('find_slot', (parameters: Message) => {
      asked.push(parameters);
      return '["10:00"]';
    });
    await conversation.startSession();
    await expect.poll(() => said).toEqual(['Bakery, good day.']);
    expect(conversation.getConversationId()).toBe('conv_1');
    await expect.poll(() => line.bytes).toBe('Bakery, good day.'.length * 60 * 32);
    scene.hears();
    await expect.poll(() => said).toEqual(['Bakery, good day.', 'At ten.']);
    expect(heard).toEqual(['Is Friday free?']);
    expect(asked).toEqual([{ tool_call_id: 'call_7', day: 'Friday' }]);
    conversation.sendContextualUpdate('The shop closes at six.');
    conversation.registerUserActivity();
    conversation.sendUserMessage('Tell me all.');
    await expect.poll(() => said.at(-1)).toBe(long);
    // What the agent said before is still heard, so that each turn of the caller interrupts it.
    const { interruptions } = line;
    scene.hears();
    await expect.poll(() => line.interruptions).toBe(interruptions + 1);
    await expect.poll(() => said.at(-1)).toBe('Yes?');
    expect(long.startsWith(corrections.at(-1) ?? 'none')).toBe(true);
    expect(latencies.length).toBeGreaterThan(1);
    expect(emulator.connections[0]?.context).toEqual(['The shop closes at six.']);
    expect(emulator.violations).toEqual([]);
    conversation.endSession();
    await expect.poll(() => emulator.openSockets).toBe(0);
    expect(line.stops).toBe(1);
  });

  it('is refused with a wrong key, and with an override that the agent does not allow', async () => {
    const unknown = await start({}, { apiKey: 'wrong' });
    await expect(unknown.conversation.startSession()).rejects.toMatchObject({ statusCode: 401 });
    const refused = await start(
      { allowedOverrides: [] },
      { override: { agent: { prompt: { prompt: 'You bake.' } } } },
    );
    await refused.conversation.startSession();
    await expect.poll(() => refused.ends).toEqual([1008]);
    expect(refused.told.at(-1)).toMatchObject({
      type: 'error',
      error_event: { code: 1008, error_type: 'override_error' },
    });
  });
});
