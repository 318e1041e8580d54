// What Deepgram writes on a listen socket, read into the few fields that are used. Source: Deepgram, live audio reference (v1).
import { parseObject, toArray, toNumber, toObject, toText } from '../../wire/json.js';

export interface DeepgramWord {
  readonly text: string;
  /** Seconds of the socket's audio. */
  readonly startS: number;
  /** BCP 47 tag; undefined where the vendor does not tell. */
  readonly language?: string | undefined;
}

/** A piece of transcript for a stretch of audio. Seconds count from the first audio on the socket. */
export interface DeepgramResults {
  readonly type: 'results';
  readonly text: string;
  readonly words: readonly DeepgramWord[];
  readonly startS: number;
  readonly endS: number;
  readonly isFinal: boolean;
  readonly speechFinal: boolean;
  readonly fromFinalize: boolean;
}

export type DeepgramMessage =
  | DeepgramResults
  | { readonly type: 'speech-started'; readonly atS: number }
  /** `lastWordEndS` is undefined when the vendor does not know it. */
  | { readonly type: 'utterance-end'; readonly lastWordEndS: number | undefined }
  /** Metadata, errors that the close after them repeats, and what is not known. */
  | { readonly type: 'other'; readonly name: string };

/** Reads one message. Never throws: what cannot be read is `other`. */
export function readDeepgramMessage(text: string): DeepgramMessage {
  const message = parseObject(text);
  if (message === undefined) return { type: 'other', name: 'no JSON object' };
  switch (message.type) {
    case 'Results': {
      const alternative = toObject(toArray(toObject(message.channel)?.alternatives)[0]) ?? {};
      const startS = toNumber(message.start) ?? 0;
      return {
        type: 'results',
        text: toText(alternative.transcript).trim(),
        words: toArray(alternative.words).flatMap(toWord),
        startS,
        endS: startS + Math.max(0, toNumber(message.duration) ?? 0),
        isFinal: message.is_final === true,
        speechFinal: message.speech_final === true,
        fromFinalize: message.from_finalize === true,
      };
    }
    case 'SpeechStarted':
      return { type: 'speech-started', atS: Math.max(0, toNumber(message.timestamp) ?? 0) };
    case 'UtteranceEnd': {
      const end = toNumber(message.last_word_end);
      return { type: 'utterance-end', lastWordEndS: end === undefined || end < 0 ? undefined : end };
    }
    default:
      return { type: 'other', name: toText(message.type).slice(0, 40) };
  }
}

function toWord(value: unknown): DeepgramWord[] {
  const word = toObject(value) ?? {};
  const text = toText(word.punctuated_word) || toText(word.word);
  const startS = toNumber(word.start);
  if (text === '' || startS === undefined) return [];
  const language = toText(word.language).slice(0, 40);
  return [language === '' ? { text, startS } : { text, startS, language }];
}
