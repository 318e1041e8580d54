// What ElevenLabs writes on its multi-context socket. Requests say `context_id`, answers `contextId`.
// Source: ElevenLabs, text-to-speech multi-context WebSocket reference.
import { fatalFailure, toShownCode, transientFailure, type WireFailure } from '../wire/failure.js';
import { parseObject, toText } from '../wire/json.js';
import type { SocketClose } from '../wire/vendor-socket.js';
import { type Alignment, readAlignment } from './elevenlabs-alignment.js';

export interface ElevenLabsMessage {
  /** '' when it is of no context. */
  readonly contextId: string;
  /** Raw audio, undefined when there is none: it may be null or absent beside an alignment. */
  readonly audio: Uint8Array | undefined;
  /** What the audio says, and when: in the spelling of the request, and as the vendor has spelled it out. */
  readonly alignment: Alignment;
  readonly normalizedAlignment: Alignment;
  readonly isFinal: boolean;
  /** Code of an error, '' when it is none. */
  readonly error: string;
}

/** Reads one message; undefined for what is no JSON object. Never throws. */
export function readElevenLabsMessage(text: string): ElevenLabsMessage | undefined {
  const message = parseObject(text);
  if (message === undefined) return undefined;
  const audio = toText(message.audio);
  return {
    // The error messages of this socket use the other spelling.
    contextId: toText(message.contextId) || toText(message.context_id),
    audio: audio === '' ? undefined : Buffer.from(audio, 'base64'),
    alignment: readAlignment(message.alignment),
    normalizedAlignment: readAlignment(message.normalizedAlignment),
    isFinal: message.isFinal === true,
    error: typeof message.error === 'string' ? message.error : '',
  };
}

/** This vendor closes with 1008 for what cannot work and for what can; the code in the reason tells which. */
export function readElevenLabsClose({ code, reason }: SocketClose): WireFailure | undefined {
  if (code !== 1008) return undefined;
  const shown = [String(code), ...toShownCode(/[a-z]+(?:_[a-z]+)+/.exec(reason)?.[0])].join(', ');
  const sentence = `closed the connection (${shown})`;
  if (/input_timeout|timeout|inactiv/i.test(reason)) return transientFailure(sentence);
  if (/concurrent|busy|rate/i.test(reason))
    return { ...transientFailure(sentence), kind: 'throttled' as const };
  return fatalFailure(sentence);
}
