// What ElevenLabs writes on its multi-context socket. Requests say `context_id`, answers `contextId`.
// Source: ElevenLabs, text-to-speech multi-context WebSocket reference.
import { codedFailure, toShownCode, transientFailure, type WireFailure } from '../../wire/failure.js';
import { parseObject, toText } from '../../wire/json.js';
import type { SocketClose } from '../../wire/vendor-socket.js';
import { type Alignment, readAlignment } from './alignment.js';

export interface ElevenLabsMessage {
  /** '' when it is of no context. */
  readonly contextId: string;
  /** Raw audio, undefined when there is none: it may be null or absent beside an alignment. */
  readonly audio: Uint8Array | undefined;
  /** What the audio says, and when: in the spelling of the request, and as the vendor has spelled it out. */
  readonly alignment: Alignment;
  readonly normalizedAlignment: Alignment;
  readonly isFinal: boolean;
  /** Why its sentence is not said, or not to its end; undefined when it is no error. */
  readonly failure: WireFailure | undefined;
}

/** Reads one message; undefined for what is not a JSON object. Never throws. */
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
    failure: toText(message.error) === '' ? undefined : readError(toText(message.error)),
  };
}

/** Codes by which the vendor asks for less at a time, and those behind which the same again would fail again. */
const BUSY = /concurrent|busy|rate.?limit|too.?many/i;
const FATAL = /invalid|auth|permission|quota|not_found|reject|unsupported|character_limit|payment/i;

/** An error is of one sentence: the next one may be said, and this one, too, unless its code says that it never will be. */
function readError(code: string): WireFailure {
  const sentence = ['could not speak a sentence', ...toShownCode(code).map((each) => `(${each})`)].join(' ');
  if (BUSY.test(code)) return { ...transientFailure(sentence), kind: 'throttled' };
  return FATAL.test(code) ? codedFailure(sentence, code) : transientFailure(sentence);
}

/** This vendor closes with 1008 for what cannot work and for what can; the code in the reason tells which. */
export function readElevenLabsClose({ code, reason }: SocketClose): WireFailure | undefined {
  if (code !== 1008) return undefined;
  const word = /(?<![a-z])[a-z]+(?:_[a-z]+)+/.exec(reason)?.[0] ?? '';
  const shown = [String(code), ...toShownCode(word)].join(', ');
  const sentence = `closed the connection (${shown})`;
  if (/input_timeout|timeout|inactiv/i.test(reason)) return transientFailure(sentence);
  if (BUSY.test(reason)) return { ...transientFailure(sentence), kind: 'throttled' };
  return codedFailure(sentence, word);
}
