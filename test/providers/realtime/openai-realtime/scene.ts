// A session of OpenAI Realtime on a socket that the test speaks through.
import type { AudioFormat } from '../../../../src/audio/format.js';
import type { ChatMessage } from '../../../../src/providers/language-model.js';
import { OpenAIRealtimeSession } from '../../../../src/providers/realtime/openai-realtime/session.js';
import { FakeVendor } from '../../fake-vendor-socket.js';
import { recordCall } from '../recorded-call.js';

export const B64 = Buffer.alloc(800).toString('base64');

/** A session on a socket that the test speaks through, and what it told, one line for each event. */
export function open(options: { interruptible?: boolean; history?: readonly ChatMessage[] } = {}) {
  const vendor = new FakeVendor();
  const { context, ...call } = recordCall({
    interruptible: options.interruptible ?? true,
    history: () => options.history ?? [],
    events: (note) => ({
      ready: ({ output }) => note(output.encoding === 'mulaw' ? 'ready' : `ready ${shown(output)}`),
      formatsChanged: ({ input, output }) => note(`formats ${shown(input)} ${shown(output)}`),
    }),
  });
  const session = new OpenAIRealtimeSession(context, {
    target: {
      url: new URL('ws://127.0.0.1/realtime'),
      headers: {},
      names: { vendor: 'OpenAI Realtime', keyVariables: ['OPENAI_API_KEY'] },
    },
    settings: {
      voice: 'marin',
      speed: undefined,
      language: undefined,
      turnDetection: {
        type: 'server_vad',
        threshold: 0.5,
        prefix_padding_ms: 300,
        silence_duration_ms: 500,
      },
      transcription: 'gpt-transcribe',
      noiseReduction: undefined,
      maxOutputTokens: 800,
      reasoningEffort: undefined,
      extraSession: {},
    },
    open: vendor.open,
  });
  const types = () => vendor.socket.messages.map(({ type }) => type);
  const last = () => vendor.socket.messages.at(-1) ?? {};
  return { ...call, vendor, session, types, last };
}

const shown = ({ encoding, sampleRateHz }: AudioFormat) => `${encoding}${sampleRateHz / 1000}`;

export function openReady(options: Parameters<typeof open>[0] = {}) {
  const scene = open(options);
  scene.vendor.socket.opens();
  scene.vendor.socket.says({ type: 'session.updated', session: {} });
  scene.told.length = 0;
  return scene;
}

export const created = (id: string) => ({ type: 'response.created', response: { id } });
export const audio = (id: string, delta = B64) => ({
  type: 'response.output_audio.delta',
  response_id: id,
  item_id: `item_${id}`,
  content_index: 0,
  delta,
});
export const done = (id: string, fields: object = {}) => ({
  type: 'response.done',
  response: { id, status: 'completed', output: [], ...fields },
});
export const error = (code: string, eventId: unknown = null, message = 'Do not show this.') => ({
  type: 'error',
  error: { type: 'invalid_request_error', code, message, event_id: eventId },
});
