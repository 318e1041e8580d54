// A session of Gemini Live on a socket that the test speaks through.
import { PCM_16K, PCM_24K } from '../../../../src/audio/format.js';
import type { SessionHandle } from '../../../../src/contract/session-handle.js';
import type { ChatMessage } from '../../../../src/providers/language-model.js';
import { GeminiLiveSession } from '../../../../src/providers/realtime/gemini-live/session.js';
import type { LiveSettings } from '../../../../src/providers/realtime/gemini-live/settings.js';
import { FakeVendor } from '../../fake-vendor-socket.js';
import { recordCall } from '../recorded-call.js';

export interface SceneOptions {
  readonly interruptible?: boolean;
  readonly history?: readonly ChatMessage[];
  readonly settings?: Partial<LiveSettings>;
  readonly instructions?: string;
  readonly handle?: SessionHandle | undefined;
}

/** A session on a socket that the test speaks through, and what it told, one line for each event. */
export function open({
  interruptible = true,
  history = [],
  settings = {},
  instructions = 'You bake.',
  handle,
}: SceneOptions = {}) {
  const vendor = new FakeVendor();
  /** What the engine does when the caller has finished, and when they can be heard. */
  const scene = { onSpoke: () => {}, onReady: () => {} };
  /** What another process could go on with, as it was told. */
  const handles: (SessionHandle | undefined)[] = [];
  const { context, ...call } = recordCall({
    formats: { input: PCM_16K, output: PCM_24K },
    interruptible,
    history: () => history,
    instructions,
    handle,
    on: (line) => {
      if (line === 'ready') scene.onReady();
      if (line.startsWith('spoke ')) scene.onSpoke();
    },
    events: (note) => ({
      formatsChanged: ({ output }) => note(`formats ${output.encoding}${output.sampleRateHz / 1000}`),
      audio: ({ responseId, audio: { length } }) => note(`audio ${responseId} ${length}`),
      text: ({ responseId, delta }) => note(`text ${responseId} ${delta}`),
      resumable: (told) => void handles.push(told),
    }),
  });
  const session = new GeminiLiveSession(context, {
    target: {
      url: new URL('ws://127.0.0.1/live'),
      headers: {},
      names: { vendor: 'Gemini Live', keyVariables: ['GEMINI_API_KEY'] },
    },
    settings: {
      model: 'gemini-3.8-live',
      voice: 'Kore',
      language: undefined,
      startSensitivity: 'high',
      endSensitivity: 'high',
      prefixPaddingMs: 200,
      silenceMs: 500,
      compression: true,
      transcription: true,
      toolBehavior: 'blocking',
      ...settings,
    },
    open: vendor.open,
  });
  const sent = () => vendor.socket.messages;
  /** What was told and sent since the last time. */
  const news = () => call.told.splice(0);
  const says = (message: object) => vendor.socket.says(message);
  /** The connection is closed with a code of the vendor. */
  const closes = (code: number, reason = '') =>
    vendor.socket.ends(vendor.socket.options.readClose?.({ code, reason }) ?? { reason: `${code}` });
  return Object.assign(scene, { ...call, vendor, session, sent, news, says, closes, handles });
}

export function openReady(options: SceneOptions = {}) {
  const scene = open(options);
  scene.vendor.socket.opens();
  scene.says({ setupComplete: {} });
  scene.news();
  scene.vendor.socket.sent.length = 0;
  return scene;
}

const AUDIO = Buffer.alloc(960).toString('base64');
export const inlineData = { data: AUDIO, mimeType: 'audio/pcm;rate=24000' };
export const content = (serverContent: object) => ({ serverContent });
export const audio = content({ modelTurn: { parts: [{ inlineData }] } });
export const words = (text: string, finished?: boolean) =>
  content({ outputTranscription: { text, finished } });
export const heard = (text: string, finished?: boolean) =>
  content({ inputTranscription: { text, finished } });
export const generated = content({ generationComplete: true });
export const complete = content({ turnComplete: true });
export const interrupted = content({ interrupted: true });
export const call = (id: string) => ({
  toolCall: { functionCalls: [{ id, name: 'find', args: { day: 'Friday' } }] },
});
export const resumable = (newHandle: string) => ({ sessionResumptionUpdate: { newHandle, resumable: true } });

/** The first sample of each message of caller audio among what was sent. */
export function samplesIn(sent: readonly unknown[]): number[] {
  return sent.flatMap((message) => {
    const { realtimeInput } = message as { realtimeInput?: { audio?: { data: string } } };
    const { audio: piece } = realtimeInput ?? {};
    return piece === undefined ? [] : [Buffer.from(piece.data, 'base64').readInt16LE(0)];
  });
}

/** The same, once where several messages in a row begin alike. */
export function levelsIn(sent: readonly unknown[]): number[] {
  return samplesIn(sent).filter((sample, index, samples) => sample !== samples[index - 1]);
}

/** Milliseconds of the caller: loud, or silent. */
export function sound(ms: number, level: number): Uint8Array {
  return new Uint8Array(new Int16Array(ms * 16).fill(level).buffer);
}
