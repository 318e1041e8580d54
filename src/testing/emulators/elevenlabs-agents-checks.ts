// What ElevenLabs Agents looks at before it takes a message. Source: ElevenLabs, Agents WebSocket (AsyncAPI document).
import type { AudioFormat } from '../../audio/format.js';
import type { AgentOverride } from './elevenlabs-agents-script.js';
import { type Fields, toFields } from './message-fields.js';

/** Why the vendor ends a conversation, in its own words. */
export interface AgentRefusal {
  readonly code: number;
  readonly type: string;
  readonly sentence: string;
}

const CLIENT_EVENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  pong: { event_id: 'number' },
  user_message: { text: 'string' },
  user_activity: {},
  contextual_update: { text: 'string' },
  client_tool_result: { tool_call_id: 'string', result: 'string', is_error: 'boolean' },
};

const INITIATION =
  'type conversation_config_override dynamic_variables user_id custom_llm_extra_body source_info'.split(' ');

/** The vendor's name of each override, as its refusals have it. */
const OVERRIDE_FIELDS: readonly (readonly [AgentOverride, string, (override: Fields) => unknown])[] = [
  ['prompt', 'prompt', (override) => toFields(toFields(override.agent).prompt).prompt],
  ['firstMessage', 'first_message', (override) => toFields(override.agent).first_message],
  ['language', 'language', (override) => toFields(override.agent).language],
  ['voice', 'voice_id', (override) => toFields(override.tts).voice_id],
];

const FORMATS: Readonly<Record<string, AudioFormat>> = {
  ulaw_8000: { encoding: 'mulaw', sampleRateHz: 8000 },
  pcm_8000: { encoding: 'pcm', sampleRateHz: 8000 },
  pcm_16000: { encoding: 'pcm', sampleRateHz: 16_000 },
  pcm_24000: { encoding: 'pcm', sampleRateHz: 24_000 },
};

/** A format that the emulator can play; others it only tells. */
export function toAudioFormat(name: string): AudioFormat {
  return FORMATS[name] ?? { encoding: 'pcm', sampleRateHz: 16_000 };
}

export function checkInitiation(
  message: Fields,
  agent: { allowed: readonly AgentOverride[]; variables: readonly string[] },
): AgentRefusal | undefined {
  const unknown = Object.keys(message).find((name) => !INITIATION.includes(name));
  if (unknown !== undefined) return invalid(`Unknown field ${unknown}.`);
  const override = toFields(message.conversation_config_override);
  for (const [name, field, read] of OVERRIDE_FIELDS)
    if (read(override) !== undefined && !agent.allowed.includes(name))
      return {
        code: 1008,
        type: 'override_error',
        sentence: `Override for field '${field}' is not allowed by config.`,
      };
  const given = toFields(message.dynamic_variables);
  const missing = agent.variables.filter((name) => given[name] === undefined);
  if (missing.length === 0) return undefined;
  const sentence = `Missing required dynamic variables: ${missing.join(', ')}`;
  return { code: 1008, type: 'missing_dynamic_variable', sentence };
}

export function checkClientEvent(message: Fields): AgentRefusal | undefined {
  const type = String(message.type);
  const fields = Object.hasOwn(CLIENT_EVENTS, type) ? CLIENT_EVENTS[type] : undefined;
  if (fields === undefined) return invalid(`Unknown message type ${type}.`);
  const unknown = Object.keys(message).find((name) => name !== 'type' && !Object.hasOwn(fields, name));
  if (unknown !== undefined) return invalid(`Unknown field ${unknown} of ${type}.`);
  const wrong = Object.entries(fields).find(([name, kind]) => typeof message[name] !== kind);
  return wrong === undefined ? undefined : invalid(`${type} needs ${wrong[0]}.`);
}

export function invalid(sentence: string): AgentRefusal {
  return { code: 1008, type: 'invalid_message', sentence };
}
