// What ElevenLabs writes on its multi-context socket. Requests say `context_id`, answers `contextId`.
// Source: ElevenLabs, text-to-speech multi-context WebSocket reference.
import { parseObject, toArray, toText } from '../wire/json.js';

export interface ElevenLabsMessage {
  /** '' when it is of no context. */
  readonly contextId: string;
  /** Raw audio, undefined when there is none: it may be null or absent beside an alignment. */
  readonly audio: Uint8Array | undefined;
  /** The characters that the audio says, in the spelling of the request. */
  readonly characters: string;
  readonly isFinal: boolean;
  /** Code of an error, '' when it is none. */
  readonly error: string;
}

/** Reads one message; undefined for what is no JSON object. Never throws. */
export function readElevenLabsMessage(text: string): ElevenLabsMessage | undefined {
  const message = parseObject(text);
  if (message === undefined) return undefined;
  const audio = toText(message.audio);
  const alignment = message.alignment;
  const chars =
    typeof alignment === 'object' && alignment !== null && 'chars' in alignment ? alignment.chars : [];
  return {
    // The error messages of this socket use the other spelling.
    contextId: toText(message.contextId) || toText(message.context_id),
    audio: audio === '' ? undefined : Buffer.from(audio, 'base64'),
    characters: toArray(chars).map(toText).join(''),
    isFinal: message.isFinal === true,
    error: typeof message.error === 'string' ? message.error : '',
  };
}
