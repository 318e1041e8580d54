// What Cartesia writes on its text-to-speech socket. Source: Cartesia, text-to-speech WebSocket reference.
import { refusalFailure, transientFailure, type WireFailure } from '../../wire/failure.js';
import { parseObject, toArray, toNumber, toObject, toText } from '../../wire/json.js';
import type { TimedWord } from '../../wire/voice-sentence.js';

export type CartesiaMessage = {
  /** '' when it is of no context. */
  readonly contextId: string;
} & (
  | { readonly type: 'chunk'; readonly audio: Uint8Array }
  | { readonly type: 'timestamps'; readonly words: readonly TimedWord[] }
  | { readonly type: 'done' }
  | { readonly type: 'error'; readonly failure: WireFailure }
  /** What needs no answer, and what is not known. */
  | { readonly type: 'other'; readonly name: string }
);

/** Reads one message. Never throws: what cannot be read is `other`. */
export function readCartesiaMessage(text: string): CartesiaMessage {
  const message = parseObject(text) ?? {};
  const contextId = toText(message.context_id);
  const type = toText(message.type);
  switch (type) {
    case 'chunk':
      return { contextId, type, audio: Buffer.from(toText(message.data), 'base64') };
    case 'timestamps':
      return { contextId, type, words: readWords(message.word_timestamps) };
    case 'done':
      return { contextId, type };
    case 'error':
      return { contextId, type, failure: readError(message.status_code, message.error_code) };
    default:
      return { contextId, type: 'other', name: type.slice(0, 40) };
  }
}

function readWords(value: unknown): TimedWord[] {
  const timestamps = toObject(value) ?? {};
  const [starts, ends] = [toArray(timestamps.start), toArray(timestamps.end)];
  return toArray(timestamps.words).flatMap((each, index) => {
    const [text, startS, endS] = [toText(each), toNumber(starts[index]), toNumber(ends[index])];
    return text === '' || startS === undefined || endS === undefined ? [] : [{ text, startS, endS }];
  });
}

function readError(status: unknown, code: unknown): WireFailure {
  const number = toNumber(status);
  if (number === undefined || number < 400) return transientFailure('could not speak a sentence');
  return refusalFailure({ status: number, code: toText(code) });
}
