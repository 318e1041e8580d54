// What the service writes, read into the few fields that are used. Source: OpenAI, Realtime server events (GA).
import type { ModelToolCall, ReplyEnd } from '../../language-model.js';
import type { RealtimeUsage, ResponseUsage } from '../../realtime-model.js';
import { type Json, parseObject, toArray, toCount, toNumber, toObject, toText } from '../../wire/json.js';
import { readArguments } from '../../wire/tool-arguments.js';
import { readFormats, type ToldFormats } from './formats.js';

/** Ids are '' where the service leaves them out. */
export type ServerMessage =
  | ({ readonly type: 'session-updated' } & ToldFormats)
  /** `expiresAt`: epoch seconds. */
  | { readonly type: 'session-created'; readonly expiresAt: number | undefined }
  | { readonly type: 'speech-started'; readonly itemId: string }
  | { readonly type: 'speech-stopped'; readonly itemId: string; readonly endMs: number | undefined }
  | { readonly type: 'committed'; readonly itemId: string }
  | { readonly type: 'user-delta'; readonly itemId: string; readonly delta: string }
  | {
      readonly type: 'user-text';
      readonly itemId: string;
      readonly text: string;
      readonly usage: Json | undefined;
    }
  | { readonly type: 'response-created'; readonly responseId: string }
  | ({ readonly type: 'audio'; readonly contentIndex: number; readonly audio: Uint8Array } & ItemIds)
  | ({ readonly type: 'text'; readonly text: string; readonly isWhole: boolean } & ItemIds)
  | { readonly type: 'tool-call'; readonly responseId: string; readonly call: ModelToolCall }
  | ResponseDone
  | {
      readonly type: 'error';
      readonly code: string;
      readonly message: string;
      readonly eventId: string;
    }
  | { readonly type: 'other'; readonly name: string };

interface ItemIds {
  readonly responseId: string;
  readonly itemId: string;
}

export interface ResponseDone {
  readonly type: 'response-done';
  readonly responseId: string;
  readonly end: ReplyEnd | 'failed';
  readonly errorCode: string;
  readonly calls: readonly ModelToolCall[];
  readonly usage: ResponseUsage | undefined;
}

/** Reads one message, and the id by which the service knows it. Never throws: what cannot be read is `other`. */
export function readServerEvent(text: string): { id: string; message: ServerMessage } {
  const usual = readUsual(text);
  if (usual !== undefined) return usual;
  const event = parseObject(text);
  if (event === undefined) return { id: '', message: { type: 'other', name: 'no JSON object' } };
  return { id: toText(event.event_id), message: readMessage(event) };
}

/** How services write a piece of speech up to its audio. */
const BEGIN =
  /\{"type":"response\.(?:output_)?audio\.delta",(?:"event_id":"([^"\\\p{Cc}]{1,128})",)?"response_id":"([^"\\\p{Cc}]{1,128})","item_id":"([^"\\\p{Cc}]{1,128})","output_index":(?:\d|[1-9]\d{1,3}),"content_index":(\d|[1-9]\d{1,3}),"delta":"/uy;
const END = '"}';
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** A longer text is read as a whole in the time in which it is looked through. */
const MAX_USUAL_CHARS = 4096;

/** A short piece of speech that is written as usual: what reading the whole of it gives, in half of the time. Undefined for any other message. */
function readUsual(text: string): { id: string; message: ServerMessage } | undefined {
  if (text.length > MAX_USUAL_CHARS) return undefined;
  BEGIN.lastIndex = 0;
  const begin = BEGIN.exec(text);
  const from = BEGIN.lastIndex;
  const to = text.length - END.length;
  if (begin === null || to < from || !text.endsWith(END)) return undefined;
  const audio = text.slice(from, to);
  if (!BASE64.test(audio)) return undefined;
  return {
    // By number: taken apart as a list, they are walked through with an iterator.
    id: begin[1] ?? '',
    message: {
      type: 'audio',
      responseId: begin[2] ?? '',
      itemId: begin[3] ?? '',
      contentIndex: Number(begin[4]),
      audio: Buffer.from(audio, 'base64'),
    },
  };
}

function readMessage(message: Json): ServerMessage {
  const type = toText(message.type);
  const itemId = toText(message.item_id);
  const ids = { responseId: toText(message.response_id), itemId };
  switch (type) {
    case 'session.created':
      return { type: 'session-created', expiresAt: toNumber(toObject(message.session)?.expires_at) };
    case 'session.updated':
      return { type: 'session-updated', ...readFormats(toObject(message.session) ?? {}) };
    case 'input_audio_buffer.speech_started':
      return { type: 'speech-started', itemId };
    case 'input_audio_buffer.speech_stopped':
      return { type: 'speech-stopped', itemId, endMs: toNumber(message.audio_end_ms) };
    case 'input_audio_buffer.committed':
      return { type: 'committed', itemId };
    case 'conversation.item.input_audio_transcription.delta':
      return { type: 'user-delta', itemId, delta: toText(message.delta) };
    case 'conversation.item.input_audio_transcription.completed': {
      const usage = toObject(message.usage);
      return { type: 'user-text', itemId, text: toText(message.transcript), usage };
    }
    case 'conversation.item.input_audio_transcription.failed':
      return { type: 'user-text', itemId, text: '', usage: undefined };
    case 'response.created':
      return { type: 'response-created', responseId: toText(toObject(message.response)?.id) };
    // The second names are used by servers that have renamed only half of their events.
    case 'response.output_audio.delta':
    case 'response.audio.delta':
      return {
        type: 'audio',
        ...ids,
        contentIndex: toCount(message.content_index),
        audio: Buffer.from(toText(message.delta), 'base64'),
      };
    case 'response.output_audio_transcript.delta':
    case 'response.audio_transcript.delta':
      return { type: 'text', ...ids, text: toText(message.delta), isWhole: false };
    case 'response.output_audio_transcript.done':
    case 'response.audio_transcript.done':
      return { type: 'text', ...ids, text: toText(message.transcript), isWhole: true };
    case 'response.function_call_arguments.done': {
      const call = toCall(message);
      if (call === undefined) break;
      return { type: 'tool-call', responseId: ids.responseId, call };
    }
    case 'response.done':
      return readDone(toObject(message.response) ?? {});
    case 'error': {
      const error = toObject(message.error) ?? {};
      return {
        type: 'error',
        code: toText(error.code) || toText(error.type),
        message: toText(error.message),
        eventId: toText(error.event_id),
      };
    }
  }
  return { type: 'other', name: type.slice(0, 60) };
}

const ENDS: Readonly<Record<string, ResponseDone['end']>> = {
  completed: 'complete',
  cancelled: 'interrupted',
  failed: 'failed',
};

function readDone(response: Json): ResponseDone {
  const details = toObject(response.status_details) ?? {};
  const isFiltered = details.reason === 'content_filter';
  const calls = toArray(response.output).flatMap((item) => {
    const output = toObject(item) ?? {};
    const call = output.type === 'function_call' ? toCall(output) : undefined;
    return call === undefined ? [] : [call];
  });
  const status = toText(response.status);
  const incomplete = isFiltered ? 'filtered' : 'length';
  return {
    type: 'response-done',
    responseId: toText(response.id),
    end: status === 'incomplete' ? incomplete : (ENDS[status] ?? 'complete'),
    errorCode: toText(toObject(details.error)?.code) || toText(toObject(details.error)?.type),
    calls,
    usage: readUsage(toObject(response.usage)),
  };
}

function toCall({ call_id: id, name, arguments: args }: Json): ModelToolCall | undefined {
  if (toText(id) === '' || toText(name) === '') return undefined;
  return { id: toText(id), name: toText(name), ...readArguments(args) };
}

/** Cached tokens are part of the input of their kind. What is told without details counts as text, which costs least. */
function readUsage(usage: Json | undefined): ResponseUsage | undefined {
  if (usage === undefined) return undefined;
  const input = toObject(usage.input_token_details) ?? {};
  const output = toObject(usage.output_token_details) ?? {};
  const cached = toObject(input.cached_tokens_details) ?? {};
  const audioIn = toCount(input.audio_tokens);
  const audioOut = toCount(output.audio_tokens);
  const cachedAudio = Math.min(audioIn, toCount(cached.audio_tokens));
  const textIn = Math.max(toCount(input.text_tokens), toCount(usage.input_tokens) - audioIn);
  return {
    kind: 'response',
    inputTextTokens: textIn,
    cachedTextTokens: Math.min(textIn, Math.max(0, toCount(input.cached_tokens) - cachedAudio)),
    inputAudioTokens: audioIn,
    cachedAudioTokens: cachedAudio,
    outputTextTokens: Math.max(toCount(output.text_tokens), toCount(usage.output_tokens) - audioOut),
    outputAudioTokens: audioOut,
  };
}

/** Tokens, or seconds of audio; the other is 0. */
export function readTranscriptionUsage(usage: Json, model: string): RealtimeUsage {
  return {
    kind: 'transcription',
    model,
    seconds: toCount(usage.seconds),
    inputTokens: toCount(usage.input_tokens),
    outputTokens: toCount(usage.output_tokens),
  };
}
