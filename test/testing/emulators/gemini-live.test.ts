import { describe, expect, it } from 'vitest';
import { makeEmulatedSpeech } from '../../../src/testing/emulators/emulated-speech.js';
import {
  emulateGeminiLive,
  type EmulateGeminiLiveOptions,
  type GeminiLiveEmulator,
} from '../../../src/testing/index.js';
import { openRaw } from './raw-socket.js';
import { closedAfterTest } from '../../support/closed-after-test.js';
import { FakeClock } from '../../support/fake-clock.js';
import { soon } from '../../support/soon.js';

const KEY = { 'x-goog-api-key': 'test-key' };
const PATH = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
const SETUP = {
  model: 'models/gemini-3.8-live',
  generationConfig: { responseModalities: ['AUDIO'] },
  outputAudioTranscription: {},
  inputAudioTranscription: {},
};

const start = async (options: EmulateGeminiLiveOptions = {}) =>
  closedAfterTest(await emulateGeminiLive(options));

async function connect(emulator: GeminiLiveEmulator, path = PATH, headers: Record<string, string> = KEY) {
  const socket = await openRaw(`${emulator.url}${path}`, headers);
  // The vendor sends its JSON in binary messages.
  const received = (): Record<string, unknown>[] => socket.audio.map((bytes) => JSON.parse(String(bytes)));
  return Object.assign(socket, {
    received,
    say: (message: object) => socket.send(JSON.stringify(message)),
    names: () =>
      received().flatMap((message) =>
        Object.entries(message).flatMap(([name, value]) =>
          name === 'serverContent' ? Object.keys(value as object) : [name],
        ),
      ),
  });
}

async function connectReady(emulator: GeminiLiveEmulator, setup: object = SETUP) {
  const socket = await connect(emulator);
  socket.say({ setup });
  await soon(() => expect(socket.names()).toEqual(['setupComplete']));
  return socket;
}

/** 16 kHz PCM as a message. */
function sound(durationMs: number, silenceMs = 0, mimeType = 'audio/pcm;rate=16000'): object {
  const speech = makeEmulatedSpeech({ durationMs, sampleRateHz: 16_000 });
  const samples = new Int16Array(speech.length + silenceMs * 16);
  samples.set(speech);
  return { realtimeInput: { audio: { data: Buffer.from(samples.buffer).toString('base64'), mimeType } } };
}

const TOOLS = [{ functionDeclarations: [{ name: 'find', behavior: 'BLOCKING' }] }];
const ASK = { clientContent: { turnComplete: true } };

describe('emulateGeminiLive', () => {
  it.each([
    ['/ws/other', KEY, /^404/],
    [PATH, { 'x-goog-api-key': 'wrong' }, /^1007 API key not valid/],
    [PATH, {}, /^1008 Method doesn't allow/],
  ])('answers %s %j as the vendor would', async (path, headers, expected) => {
    const socket = await connect(await start(), path, headers as Record<string, string>);
    await soon(() => expect(socket.end()).toMatch(expected));
  });

  it.each([
    ['/', '?key=test-key', {}],
    ['', '', KEY],
  ])(
    'takes the key in the query or a header, and every version of the path',
    async (slash, query, headers) => {
      const emulator = await start();
      const socket = await connect(emulator, slash + PATH.replace('v1beta', 'v1') + query, headers);
      socket.say({ setup: SETUP });
      await soon(() => expect(socket.names()).toEqual(['setupComplete']));
    },
  );

  it.each<[string, object]>([
    ['no model', { generationConfig: SETUP.generationConfig }],
    ['text in the place of audio', { ...SETUP, generationConfig: { responseModalities: ['TEXT'] } }],
    [
      'a field of another model',
      { ...SETUP, generationConfig: { ...SETUP.generationConfig, thinkingConfig: {} } },
    ],
    ['a field that is unknown', { ...SETUP, instructions: 'You bake.' }],
    [
      'a sensitivity that is unknown',
      {
        ...SETUP,
        realtimeInputConfig: { automaticActivityDetection: { startOfSpeechSensitivity: 'HIGH' } },
      },
    ],
    ['proactive audio switched off', { ...SETUP, proactivity: { proactiveAudio: false } }],
    ['a name that no function has', { ...SETUP, tools: [{ functionDeclarations: [{ name: 'a b' }] }] }],
    [
      'a JSON Schema',
      { ...SETUP, tools: [{ functionDeclarations: [{ name: 'a', parametersJsonSchema: {} }] }] },
    ],
    [
      'a keyword that it does not have',
      {
        ...SETUP,
        tools: [
          {
            functionDeclarations: [
              { name: 'a', parameters: { type: 'OBJECT', additionalProperties: false } },
            ],
          },
        ],
      },
    ],
    ['a handle that is unknown', { ...SETUP, sessionResumption: { handle: 'h' } }],
  ])('does not take settings with %s', async (_, setup) => {
    const socket = await connect(await start());
    socket.say({ setup });
    await soon(() => expect(socket.end()).toMatch(/^1007/));
    expect(socket.names()).toEqual([]);
  });

  it.each<[string, object | string]>([
    ['a text that is not JSON', 'hello'],
    ['two kinds at once', { ...ASK, realtimeInput: { text: 'x' } }],
    ['another set-up', { setup: SETUP }],
    ['audio of another rate', sound(20, 0, 'audio/pcm;rate=8000')],
    ['half a sample', { realtimeInput: { audio: { data: 'AAAA', mimeType: 'audio/pcm;rate=16000' } } }],
    ['a turn of an unknown role', { clientContent: { turns: [{ role: 'system', parts: [{ text: 'x' }] }] } }],
    ['a result that nobody asked for', { toolResponse: { functionResponses: [{ id: 'x', response: {} }] } }],
    ['a start of speech that is detected anyway', { realtimeInput: { activityStart: {} } }],
  ])('ends at %s', async (_, message) => {
    const emulator = await start();
    const socket = await connectReady(emulator);
    socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    await soon(() => expect(socket.end()).toMatch(/^1007/));
    expect(emulator.violations).toHaveLength(1);
    expect(emulator.connections[0]?.closes).toEqual([1007]);
  });

  it('ends at audio before the settings', async () => {
    const emulator = await start();
    const socket = await connect(emulator);
    socket.say(sound(20));
    await soon(() => expect(socket.end()).toMatch(/^1007/));
    expect(emulator.violations).toEqual(['The first message must be setup.']);
  });

  it('knows no model of that name', async () => {
    const socket = await connect(await start());
    socket.say({ setup: { ...SETUP, model: 'models/no-such-model' } });
    await soon(() => expect(socket.end()).toMatch(/^1008.*not found/));
  });

  it('hears a turn, answers it, tells what that cost, and how to go on with it', async () => {
    const emulator = await start({ utterances: ['One two.'], replies: [{ text: 'Three.' }] });
    const socket = await connectReady(emulator);
    socket.say(sound(600, 900));
    await soon(() => expect(socket.names()).toContain('sessionResumptionUpdate'));
    expect(socket.names().filter((name) => !/modelTurn|outputT/.test(name))).toEqual([
      'setupComplete',
      'inputTranscription',
      'inputTranscription',
      'generationComplete',
      'turnComplete',
      'usageMetadata',
      'sessionResumptionUpdate',
    ]);
    const { usageMetadata } = socket.received().find((message) => message.usageMetadata !== undefined) ?? {};
    expect(usageMetadata).toMatchObject({ promptTokenCount: 125 + 38, responseTokenCount: 9 });
  });

  it('stops when the caller speaks, and sends what was on the way before the turn is complete', async () => {
    const emulator = await start({ replies: [{ text: 'A long answer that is stopped.', chunkEveryMs: 50 }] });
    const socket = await connectReady(emulator);
    socket.say(ASK);
    await soon(() => expect(socket.names()).toContain('modelTurn'));
    socket.say(sound(100));
    await soon(() => expect(socket.names()).toContain('turnComplete'));
    const names = socket.names().slice(socket.names().indexOf('interrupted'));
    expect(names.filter((name) => name !== 'outputTranscription')).toEqual([
      'interrupted',
      'modelTurn',
      'modelTurn',
      'turnComplete',
      'usageMetadata',
    ]);
    expect(names).not.toContain('generationComplete');
  });

  it('waits for the results of its calls, and gives them up when something else comes', async () => {
    const call = { id: 'c1', name: 'find', arguments: '{}' };
    const emulator = await start({
      replies: [{ toolCalls: [call] }, { text: 'Ten.' }, { toolCalls: [call] }],
    });
    const socket = await connectReady(emulator, { ...SETUP, tools: TOOLS });
    socket.say(ASK);
    await soon(() => expect(socket.names()).toContain('toolCall'));
    expect(socket.names()).not.toContain('turnComplete');
    socket.say({ toolResponse: { functionResponses: [{ id: 'c1', name: 'find', response: { n: 10 } }] } });
    await soon(() => expect(socket.names()).toContain('turnComplete'));
    expect(emulator.connections[0]?.items.map(({ kind }) => kind)).toContain('function_call_output');
    socket.say(ASK);
    await soon(() => expect(socket.names().filter((name) => name === 'toolCall')).toHaveLength(2));
    socket.say(ASK);
    await soon(() => expect(socket.names()).toContain('toolCallCancellation'));
    expect(emulator.violations).toEqual([]);
  });

  it('goes on with a session on another connection, but not on two at a time', async () => {
    const emulator = await start({ replies: [{ text: 'One.' }], waitsForPlayback: false });
    const first = await connectReady(emulator);
    first.say(ASK);
    await soon(() => expect(first.names()).toContain('sessionResumptionUpdate'));
    const update = first.received().at(-1)?.sessionResumptionUpdate as { newHandle: string };
    const setup = { ...SETUP, sessionResumption: { handle: update.newHandle } };
    const early = await connect(emulator);
    early.say({ setup });
    await soon(() => expect(early.end()).toMatch(/^1011/));
    first.close();
    await soon(() => expect(emulator.openSockets).toBe(0));
    await connectReady(emulator, setup);
    expect(emulator.connections[2]?.items.map(({ text }) => text)).toEqual(['One.']);
  });

  it('has forgotten a session two hours after its last connection', async () => {
    const clock = new FakeClock();
    const emulator = await start({ clock, replies: [{ text: 'One.' }], waitsForPlayback: false });
    const first = await connectReady(emulator);
    first.say(ASK);
    await soon(() => {
      clock.advance(100);
      expect(first.names()).toContain('sessionResumptionUpdate');
    });
    const update = first.received().at(-1)?.sessionResumptionUpdate as { newHandle: string };
    const setup = { ...SETUP, sessionResumption: { handle: update.newHandle } };
    const HOUR_MS = 60 * 60_000;
    clock.advance(5 * HOUR_MS);
    first.close();
    await soon(() => expect(emulator.openSockets).toBe(0));
    clock.advance(1.9 * HOUR_MS);
    const second = await connectReady(emulator, setup);
    second.close();
    await soon(() => expect(emulator.openSockets).toBe(0));
    clock.advance(2 * HOUR_MS);
    const late = await connect(emulator);
    late.say({ setup });
    await soon(() => expect(late.end()).toMatch(/^1007/));
  });

  it.each<[string, EmulateGeminiLiveOptions, RegExp]>([
    ['fails', { replies: [{ text: 'A long answer.', failAfter: 1 }] }, /^1011/],
    ['is cut', { replies: [{ text: 'A long answer.', cutAfter: 1 }] }, /^1006/],
  ])('%s in the middle of an answer on demand', async (_, options, expected) => {
    const socket = await connectReady(await start(options));
    socket.say(ASK);
    await soon(() => expect(socket.end()).toMatch(expected));
  });
});
