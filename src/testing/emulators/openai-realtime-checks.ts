// What the Realtime socket of OpenAI looks at before it takes a message. Source: OpenAI, Realtime client events (GA).
import { type Fields, isFields, toFields } from './message-fields.js';

/** An error as the service words it. */
export interface Complaint {
  readonly type?: string;
  readonly code: string;
  readonly message: string;
}

const CLIENT_EVENTS: Readonly<Record<string, readonly string[]>> = {
  'session.update': ['session'],
  'input_audio_buffer.append': ['audio'],
  'input_audio_buffer.commit': [],
  'input_audio_buffer.clear': [],
  'conversation.item.create': ['item', 'previous_item_id'],
  'conversation.item.truncate': ['item_id', 'content_index', 'audio_end_ms'],
  'conversation.item.delete': ['item_id'],
  'conversation.item.retrieve': ['item_id'],
  'response.create': ['response'],
  'response.cancel': ['response_id'],
};

const SESSION =
  'type model output_modalities instructions audio tools tool_choice max_output_tokens truncation reasoning parallel_tool_calls tracing prompt include'.split(
    ' ',
  );
const INPUT = ['format', 'noise_reduction', 'transcription', 'turn_detection'];
const OUTPUT = ['format', 'voice', 'speed'];
const SERVER_VAD =
  'type threshold prefix_padding_ms silence_duration_ms idle_timeout_ms create_response interrupt_response'.split(
    ' ',
  );
const SEMANTIC_VAD = ['type', 'eagerness', 'create_response', 'interrupt_response'];
const RESPONSE =
  'instructions input conversation metadata output_modalities tools tool_choice max_output_tokens audio'.split(
    ' ',
  );

/** An event that is not known, or has a field that is not. */
export function checkClientEvent(event: Fields): Complaint | undefined {
  const { type } = event;
  const fields =
    typeof type === 'string' && Object.hasOwn(CLIENT_EVENTS, type) ? CLIENT_EVENTS[type] : undefined;
  if (fields === undefined) return invalid(`Invalid value: '${String(type)}'.`, 'invalid_value');
  return unknownField(event, ['type', 'event_id', ...fields], '');
}

export function checkSession(session: unknown): Complaint | undefined {
  if (!isFields(session) || session.type === undefined)
    return invalid("Missing required parameter: 'session.type'.", 'missing_required_parameter');
  if (session.type !== 'realtime')
    return invalid(`Invalid value: '${String(session.type)}'.`, 'invalid_value');
  if (session.model !== undefined) return invalid('The model of a session cannot change.', 'invalid_value');
  const audio = toFields(session.audio);
  const input = toFields(audio.input);
  const output = toFields(audio.output);
  return (
    unknownField(session, SESSION, 'session.') ??
    unknownField(audio, ['input', 'output'], 'session.audio.') ??
    unknownField(input, INPUT, 'session.audio.input.') ??
    unknownField(output, OUTPUT, 'session.audio.output.') ??
    checkFormat(input.format) ??
    checkFormat(output.format) ??
    checkDetection(input.turn_detection) ??
    checkTools(session.tools)
  );
}

export function checkResponse(response: unknown): Complaint | undefined {
  return response === undefined ? undefined : unknownField(toFields(response), RESPONSE, 'response.');
}

/** Encoding of a session's audio. */
export function encodingOf(format: unknown): 'pcm' | 'mulaw' | 'alaw' {
  const { type } = toFields(format);
  if (type === 'audio/pcmu') return 'mulaw';
  return type === 'audio/pcma' ? 'alaw' : 'pcm';
}

export function invalid(message: string, code: string): Complaint {
  return { type: 'invalid_request_error', code, message };
}

function checkFormat(format: unknown): Complaint | undefined {
  if (format === undefined) return undefined;
  const { type, rate } = toFields(format);
  const fits =
    type === 'audio/pcm'
      ? rate === 24_000
      : (type === 'audio/pcmu' || type === 'audio/pcma') && rate === undefined;
  return fits ? undefined : invalid(`Invalid audio format ${JSON.stringify(format)}.`, 'invalid_value');
}

function checkDetection(detection: unknown): Complaint | undefined {
  if (detection === undefined || detection === null) return undefined;
  const fields = toFields(detection);
  if (fields.type !== 'server_vad' && fields.type !== 'semantic_vad')
    return invalid(`Invalid value: '${String(fields.type)}'.`, 'invalid_value');
  const known = fields.type === 'server_vad' ? SERVER_VAD : SEMANTIC_VAD;
  return unknownField(fields, known, 'session.audio.input.turn_detection.');
}

function checkTools(tools: unknown): Complaint | undefined {
  if (tools === undefined) return undefined;
  const isTool = (tool: unknown) => {
    const { type, name } = toFields(tool);
    return type === 'function' && typeof name === 'string' && /^[\w-]{1,64}$/.test(name);
  };
  return Array.isArray(tools) && tools.every(isTool) ? undefined : invalid('Invalid tools.', 'invalid_value');
}

function unknownField(fields: Fields, known: readonly string[], where: string): Complaint | undefined {
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  return unknown === undefined
    ? undefined
    : invalid(`Unknown parameter: '${where}${unknown}'.`, 'unknown_parameter');
}
