// What the service writes, read into the few fields that are used. Source: ElevenLabs, Agents WebSocket (AsyncAPI document).
import type { ModelToolCall } from '../../language-model.js';
import { type Json, parseObject, toCount, toNumber, toObject, toText } from '../../wire/json.js';
import { readArguments } from '../../wire/tool-arguments.js';

/** `eventId`: rises within a conversation. An interruption names the last one that counts. */
export type ServerMessage =
  | { readonly type: 'metadata'; readonly input: string; readonly output: string }
  | { readonly type: 'ping'; readonly eventId: number }
  | {
      readonly type: 'audio';
      readonly eventId: number;
      readonly audio: Uint8Array;
      readonly isFinal: boolean;
    }
  /** All that the agent says in an answer, or (not whole) a piece of it. */
  | {
      readonly type: 'agent-text';
      readonly eventId: number;
      readonly text: string;
      readonly isWhole: boolean;
    }
  /** What was heard of an answer, and all of that. */
  | { readonly type: 'correction'; readonly text: string; readonly original: string }
  /** No more comes of the answer. */
  | { readonly type: 'complete'; readonly eventId: number }
  | { readonly type: 'interruption'; readonly eventId: number }
  | { readonly type: 'user-text'; readonly eventId: number; readonly text: string; readonly final: boolean }
  /** How likely it is that the caller speaks now, 0 to 1. */
  | { readonly type: 'voice'; readonly score: number }
  | { readonly type: 'tool-call'; readonly call: ModelToolCall; readonly expectsResult: boolean }
  /** Comes before a close. `code` is a word of the service. */
  | { readonly type: 'error'; readonly code: string }
  | { readonly type: 'other'; readonly name: string };

/** Reads one message. Never throws: what cannot be read is `other`. */
export function readServerMessage(text: string): ServerMessage {
  const message = parseObject(text);
  if (message === undefined) return { type: 'other', name: 'no JSON object' };
  const type = toText(message.type);
  const event = (name: string): Json => toObject(message[name]) ?? {};
  switch (type) {
    case 'conversation_initiation_metadata': {
      const metadata = event('conversation_initiation_metadata_event');
      return {
        type: 'metadata',
        input: toText(metadata.user_input_audio_format),
        output: toText(metadata.agent_output_audio_format),
      };
    }
    case 'ping':
      return { type: 'ping', eventId: toEventId(event('ping_event')) };
    case 'audio': {
      const audio = event('audio_event');
      return {
        type: 'audio',
        eventId: toEventId(audio),
        audio: Buffer.from(toText(audio.audio_base_64), 'base64'),
        isFinal: audio.is_final === true,
      };
    }
    case 'agent_response': {
      const { agent_response: said, ...ids } = event('agent_response_event');
      return { type: 'agent-text', eventId: toEventId(ids), text: toText(said), isWhole: true };
    }
    case 'agent_chat_response_part': {
      const { text: said, ...ids } = event('text_response_part');
      return { type: 'agent-text', eventId: toEventId(ids), text: toText(said), isWhole: false };
    }
    case 'agent_response_correction': {
      const { corrected_agent_response: corrected, original_agent_response: original } = event(
        'agent_response_correction_event',
      );
      return { type: 'correction', text: toText(corrected), original: toText(original) };
    }
    case 'agent_response_complete':
      return { type: 'complete', eventId: toEventId(event('agent_response_complete_event')) };
    case 'interruption':
      return { type: 'interruption', eventId: toEventId(event('interruption_event')) };
    case 'user_transcript':
      return toUserText(event('user_transcription_event'), { final: true });
    case 'tentative_user_transcript':
      return toUserText(event('tentative_user_transcription_event'), { final: false });
    case 'vad_score':
      return { type: 'voice', score: toCount(event('vad_score_event').vad_score) };
    case 'client_tool_call': {
      const call = toCall(event('client_tool_call'));
      if (call === undefined) break;
      return { type: 'tool-call', call, expectsResult: event('client_tool_call').expects_response !== false };
    }
    case 'error':
    case 'client_error': {
      const error = event('error_event');
      return { type: 'error', code: toText(error.error_type) };
    }
  }
  return { type: 'other', name: type.slice(0, 60) };
}

function toEventId(event: Json): number {
  return toNumber(event.event_id) ?? 0;
}

/** The service writes dots for a turn in which nothing was said. */
function toUserText(event: Json, { final }: { final: boolean }): ServerMessage {
  const words = toText(event.user_transcript).trim();
  const text = /^[.…\s]*$/.test(words) ? '' : words;
  return { type: 'user-text', eventId: toEventId(event), text, final };
}

function toCall({ tool_call_id: id, tool_name: name, parameters }: Json): ModelToolCall | undefined {
  if (toText(id) === '' || toText(name) === '') return undefined;
  return { id: toText(id), name: toText(name), ...readArguments(parameters) };
}
