// A session with an agent on a socket that the test speaks through, and what it told, one line for each event.
import type { AudioFormat } from '../../../../src/audio/format.js';
import type { ChatMessage, ToolDefinition } from '../../../../src/providers/language-model.js';
import { ElevenLabsAgentsSession } from '../../../../src/providers/realtime/elevenlabs-agents/session.js';
import type { AgentSettings } from '../../../../src/providers/realtime/elevenlabs-agents/settings.js';
import { FakeVendor } from '../../fake-vendor-socket.js';
import { recordCall } from '../recorded-call.js';

export interface SceneOptions {
  readonly interruptible?: boolean;
  readonly instructions?: string;
  readonly language?: string;
  readonly history?: readonly ChatMessage[];
  readonly tools?: readonly string[];
  readonly overrides?: Partial<AgentSettings['overrides']>;
  readonly dynamicVariables?: AgentSettings['dynamicVariables'];
  readonly greeting?: string;
  /** Runs in the middle of an event. */
  readonly on?: (line: string, session: () => ElevenLabsAgentsSession) => void;
}

const OVERRIDES = { prompt: true, firstMessage: true, language: true, voice: undefined };

export function openScene(options: SceneOptions = {}) {
  const vendor = new FakeVendor();
  const tool = (name: string): ToolDefinition => ({ name, description: '', parameters: { type: 'object' } });
  const { context, ...call } = recordCall({
    language: options.language,
    instructions: options.instructions ?? '',
    tools: (options.tools ?? ['look_up', 'end_call']).map(tool),
    interruptible: options.interruptible ?? true,
    history: () => options.history ?? [],
    on: (line) => options.on?.(line, () => session),
    events: (note) => ({
      ready: ({ input, output }) => note(`ready ${shown(input)} ${shown(output)}`),
      formatsChanged: ({ input, output }) => note(`formats ${shown(input)} ${shown(output)}`),
      heardText: ({ itemId, text }) => note(`heard ${itemId} ${text}`),
      usage: (usage) => note(usage.kind === 'session' ? `usage ${usage.seconds}` : 'usage of another kind'),
    }),
  });
  const session: ElevenLabsAgentsSession = new ElevenLabsAgentsSession(context, {
    target: {
      url: new URL('ws://127.0.0.1/v1/convai/conversation'),
      headers: {},
      names: { vendor: 'ElevenLabs Agents', keyVariables: ['ELEVENLABS_API_KEY'] },
    },
    settings: {
      overrides: { ...OVERRIDES, ...options.overrides },
      dynamicVariables: options.dynamicVariables ?? {},
    },
    open: vendor.open,
  });
  if (options.greeting !== undefined) session.say(options.greeting);
  const says = (type: string, name: string, event: object) => vendor.socket.says({ type, [name]: event });
  const agent = {
    begins: (input = 'ulaw_8000', output = 'ulaw_8000') =>
      says('conversation_initiation_metadata', 'conversation_initiation_metadata_event', {
        conversation_id: 'conv',
        user_input_audio_format: input,
        agent_output_audio_format: output,
      }),
    audio: (event_id: number, about: { bytes?: number; is_final?: boolean } = {}) => {
      const { bytes = 800, ...rest } = about;
      const audio_base_64 = Buffer.alloc(bytes).toString('base64');
      says('audio', 'audio_event', { event_id, audio_base_64, ...rest });
    },
    text: (event_id: number, agent_response: string) =>
      says('agent_response', 'agent_response_event', { event_id, agent_response }),
    complete: (event_id: number) =>
      says('agent_response_complete', 'agent_response_complete_event', { event_id }),
    /** A whole answer of one piece. */
    answers: (event_id: number, text: string) => {
      agent.text(event_id, text);
      agent.audio(event_id + 1);
      agent.complete(event_id + 2);
    },
    interrupted: (event_id: number) => says('interruption', 'interruption_event', { event_id }),
    corrects: (corrected_agent_response: string) =>
      says('agent_response_correction', 'agent_response_correction_event', { corrected_agent_response }),
    heard: (user_transcript: string, event_id = 0) =>
      says('user_transcript', 'user_transcription_event', { user_transcript, event_id }),
    hears: (user_transcript: string) =>
      says('tentative_user_transcript', 'tentative_user_transcription_event', { user_transcript }),
    scores: (vad_score: number) => says('vad_score', 'vad_score_event', { vad_score }),
    calls: (tool_call_id: string, about: object = {}) =>
      says('client_tool_call', 'client_tool_call', {
        tool_name: 'look_up',
        tool_call_id,
        parameters: { what: 'price' },
        ...about,
      }),
    pings: (event_id: number) => says('ping', 'ping_event', { event_id, ping_ms: 300 }),
    closes: (code: number, reason = '', error_type = '') => {
      if (error_type !== '') says('error', 'error_event', { code, error_type, message: reason });
      vendor.socket.ends(vendor.socket.options.readClose?.({ code, reason }));
    },
  };
  /** What was sent since the last time that this was asked, audio left out. */
  let seen = 0;
  const sent = () => {
    const all = vendor.sockets.flatMap(({ messages }) => messages);
    const fresh = all.slice(seen);
    seen = all.length;
    return fresh.filter((message) => !('user_audio_chunk' in message));
  };
  return { ...call, vendor, session, agent, sent };
}

const shown = ({ encoding, sampleRateHz }: AudioFormat) => `${encoding}${sampleRateHz}`;

/** The same, where the conversation has begun. */
export function beginScene(options: SceneOptions = {}) {
  const scene = openScene(options);
  scene.vendor.socket.opens();
  scene.agent.begins();
  scene.told.length = 0;
  scene.sent();
  return scene;
}
