// The official client of Gemini against the emulated Live API.
import {
  Behavior,
  EndSensitivity,
  GoogleGenAI,
  type LiveConnectConfig,
  type LiveServerMessage,
  Modality,
  type Session,
  StartSensitivity,
  Type,
} from '@google/genai';
import { afterEach, describe, expect, it } from 'vitest';
import { type EmulateGeminiLiveOptions, emulateGeminiLive } from '../../../src/testing/index.js';
import { speechAndSilence } from '../providers/streams.js';

const MODEL = 'gemini-3.8-live';
const CONFIG = {
  responseModalities: [Modality.AUDIO],
  speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
  systemInstruction: 'You answer for a dentist.',
  inputAudioTranscription: {},
  outputAudioTranscription: {},
  sessionResumption: {},
  contextWindowCompression: { slidingWindow: {} },
  realtimeInputConfig: {
    automaticActivityDetection: {
      startOfSpeechSensitivity: StartSensitivity.START_SENSITIVITY_HIGH,
      endOfSpeechSensitivity: EndSensitivity.END_SENSITIVITY_HIGH,
      prefixPaddingMs: 200,
      silenceDurationMs: 500,
    },
  },
  tools: [
    {
      functionDeclarations: [
        {
          name: 'find_slot',
          description: 'Free slots',
          behavior: Behavior.BLOCKING,
          parameters: { type: Type.OBJECT, properties: { day: { type: Type.STRING } }, required: ['day'] },
        },
      ],
    },
  ],
} satisfies LiveConnectConfig;
const CALL = { id: 'call_7', name: 'find_slot', arguments: '{"day":"Friday"}' };

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function start(options: EmulateGeminiLiveOptions = {}) {
  const emulator = await emulateGeminiLive(options);
  open.push(emulator);
  return emulator;
}

interface Connecting {
  readonly apiKey?: string;
  readonly apiVersion?: 'v1alpha' | 'v1beta' | 'v1';
  readonly config?: LiveConnectConfig;
}

/** One session, and what it was told. */
async function connect(baseUrl: string, { apiKey = 'test-key', apiVersion, config }: Connecting = {}) {
  const messages: LiveServerMessage[] = [];
  const closes: { code: number; reason: string }[] = [];
  const httpOptions = { baseUrl, ...(apiVersion === undefined ? {} : { apiVersion }) };
  const session: Session = await new GoogleGenAI({ apiKey, httpOptions }).live.connect({
    model: MODEL,
    config: { ...CONFIG, ...config },
    callbacks: {
      onmessage: (message) => void messages.push(message),
      onclose: ({ code, reason }) => void closes.push({ code, reason }),
    },
  });
  open.push(session);
  const contents = () => messages.flatMap(({ serverContent }) => serverContent ?? []);
  const count = (happens: (message: LiveServerMessage) => unknown) => messages.filter(happens).length;
  return {
    session,
    messages,
    closes,
    audioBytes: () =>
      contents()
        .flatMap(({ modelTurn }) => modelTurn?.parts ?? [])
        .reduce((sum, { inlineData }) => sum + Buffer.from(inlineData?.data ?? '', 'base64').length, 0),
    heard: () =>
      contents()
        .map(({ inputTranscription }) => inputTranscription?.text ?? '')
        .join(''),
    said: () =>
      contents()
        .map(({ outputTranscription }) => outputTranscription?.text ?? '')
        .join(''),
    has: (happens: (message: LiveServerMessage) => unknown, times = 1) =>
      expect.poll(() => count(happens)).toBeGreaterThanOrEqual(times),
    hears: () => {
      for (const chunk of speechAndSilence(700, 1000))
        session.sendRealtimeInput({
          audio: { data: chunk.toString('base64'), mimeType: 'audio/pcm;rate=16000' },
        });
    },
  };
}

const isComplete = ({ serverContent }: LiveServerMessage) => serverContent?.turnComplete;

describe("the official client of Google's Live API", () => {
  it('hears, speaks, calls a tool, is interrupted, and resumes its session', async () => {
    const long = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ');
    const emulator = await start({
      utterances: ['Is Friday free?', 'Wait.'],
      replies: [
        { toolCalls: [CALL] },
        { text: 'At ten.' },
        { text: long, chunkEveryMs: 20 },
        { text: 'Yes?' },
      ],
    });
    const first = await connect(emulator.url);
    first.hears();
    await first.has(({ toolCall }) => toolCall);
    expect(first.heard()).toBe('Is Friday free?');
    const [call] = first.messages.flatMap(({ toolCall }) => toolCall?.functionCalls ?? []);
    expect(call).toMatchObject({ name: 'find_slot', args: { day: 'Friday' } });
    first.session.sendToolResponse({
      functionResponses: { id: call?.id ?? '', name: 'find_slot', response: { slots: ['10:00'] } },
    });
    await first.has(isComplete);
    expect(first.said().trim()).toBe('At ten.');
    expect(first.audioBytes()).toBeGreaterThan(0);
    expect(first.messages.findLast(isComplete)?.usageMetadata?.totalTokenCount).toBeGreaterThan(0);

    first.session.sendClientContent({ turns: [{ role: 'user', parts: [{ text: 'Tell me all.' }] }] });
    await first.has(({ serverContent }) => serverContent?.modelTurn, 3);
    first.hears();
    await first.has(({ serverContent }) => serverContent?.interrupted);
    await expect.poll(() => first.said()).toMatch(/Yes\?\s*$/);
    await first.has(({ sessionResumptionUpdate }) => sessionResumptionUpdate?.resumable);
    expect(first.closes).toEqual([]);

    await first.has(isComplete, 3);
    const handle = first.messages.findLast(({ sessionResumptionUpdate: update }) => update?.newHandle)
      ?.sessionResumptionUpdate?.newHandle;
    first.session.close();
    await expect.poll(() => emulator.openSockets).toBe(0);
    const second = await connect(emulator.url, { config: { sessionResumption: { handle: handle ?? '' } } });
    second.session.sendRealtimeInput({ text: 'Are you there?' });
    await second.has(isComplete);
    expect(second.said().trim()).toBe('You said: Are you there?');
    expect(emulator.connections[1]?.items.map(({ text }) => text)).toContain('Is Friday free?');
    expect(emulator.violations).toEqual([]);
  });

  it.each(['v1alpha', 'v1beta', 'v1'] as const)('finds %s', async (apiVersion) => {
    const emulator = await start();
    const { session, has } = await connect(emulator.url, { apiVersion });
    expect(session.setupComplete).toBeDefined();
    emulator.goAway();
    await has(({ goAway }) => goAway?.timeLeft);
    expect(emulator.connections[0]?.url.pathname).toContain(`.${apiVersion}.`);
    expect(emulator.violations).toEqual([]);
  });

  it('is refused with a wrong key, a model that is not there, and what the model cannot do', async () => {
    const emulator = await start();
    await expect(connect(emulator.url, { apiKey: 'wrong' })).rejects.toThrow(/1007.*API key not valid/);
    const wrong = { responseModalities: [Modality.TEXT] };
    await expect(connect(emulator.url, { config: wrong })).rejects.toThrow('1007');
    await expect(
      new GoogleGenAI({ apiKey: 'test-key', httpOptions: { baseUrl: emulator.url } }).live.connect({
        model: 'no-such-model',
        config: CONFIG,
        callbacks: { onmessage() {} },
      }),
    ).rejects.toThrow(/1008.*is not found/);
  });
});
