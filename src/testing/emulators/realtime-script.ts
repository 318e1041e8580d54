// What an emulated realtime model is told to hear and to say, whoever its vendor is: the same scripted call can run on each of them.
import type { EmulatedToolCall } from './chat-reply-encoding.js';
import { queueReplies } from './emulator-options.js';
import type { EmulatorRequest } from './vendor-peer.js';
import type { EmulatorOptions } from './vendor-server.js';

/** What the model says next, and how it is sent. */
export interface EmulatedRealtimeReply {
  /** What is spoken. */
  readonly text?: string;
  readonly toolCalls?: readonly EmulatedToolCall[];
  /** Time to the first audio. @default 0 */
  readonly firstAudioMs?: number;
  /** Time between two pieces of audio. @default 10, some ten times as fast as speech */
  readonly chunkEveryMs?: number;
  /** After so many pieces: the response fails, the connection is cut, or nothing more comes at all. */
  readonly failAfter?: number;
  /** Code of that failure. @default 'server_error' */
  readonly errorCode?: string;
  readonly cutAfter?: number;
  readonly hangAfter?: number;
  /** The model stops at its limit. */
  readonly isIncomplete?: boolean;
  /** What it sounds like. `tones` are read back from a recording by `readTones`. @default that of the emulator */
  readonly voice?: 'speech' | 'tones';
}

/** What the model is asked with. */
export interface RealtimeAsk {
  /** What the caller has said since the last response; '' when nothing. */
  readonly heard: string;
  /** What it was told to say, word for word. */
  readonly say: string | undefined;
  /** The conversation: texts, calls and results, in order. */
  readonly items: readonly EmulatedItem[];
}

/** An item of the conversation as the server has it. */
export interface EmulatedItem {
  readonly id: string;
  readonly kind: 'message' | 'function_call' | 'function_call_output';
  readonly role: string;
  /** Text; of speech what the server takes for said, which truncating takes away. */
  readonly text: string;
  /** Audio of it, in milliseconds; 0 for text. */
  readonly audioMs: number;
  readonly isTruncated: boolean;
}

export interface EmulateRealtimeOptions extends EmulatorOptions {
  /**
   * What is heard: one text for each stretch of sound, whatever it is. A list is worked off by all connections together.
   * @default the words of a tone voice, and no words in any other sound
   */
  readonly utterances?: readonly string[] | ((request: EmulatorRequest) => readonly string[]);
  /** The answers in order, or one for each time that the model is asked. What it is told to say it says. @default repeats what the caller said */
  readonly replies?: readonly EmulatedRealtimeReply[] | ((ask: RealtimeAsk) => EmulatedRealtimeReply);
  /** Length of the audio, in milliseconds per character. @default 60 */
  readonly msPerCharacter?: number;
  /** Bytes of a piece of audio. An odd number cuts samples in half. @default 4800 */
  readonly chunkBytes?: number;
  /** What the answers sound like. `tones` are read back from a recording by `readTones`. @default 'speech' */
  readonly voice?: 'speech' | 'tones';
}

/** What one connection hears and answers. */
export interface RealtimePart {
  /** Undefined where the words are those that are in the sound. */
  readonly hear: (() => string) | undefined;
  readonly answer: (ask: RealtimeAsk) => EmulatedRealtimeReply;
}

const REPLY_NAMES: Readonly<Record<keyof EmulatedRealtimeReply, true>> = {
  text: true,
  toolCalls: true,
  firstAudioMs: true,
  chunkEveryMs: true,
  failAfter: true,
  errorCode: true,
  cutAfter: true,
  hangAfter: true,
  isIncomplete: true,
  voice: true,
};

/** Hands the script out to the connections of one server. */
export function dealRealtimeScript({
  utterances,
  replies,
  voice = 'speech',
}: EmulateRealtimeOptions): (request: EmulatorRequest) => RealtimePart {
  const shared = typeof utterances === 'object' ? [...utterances] : undefined;
  const queue = queueReplies(replies, REPLY_NAMES);
  const next = (ask: RealtimeAsk): EmulatedRealtimeReply => {
    if (ask.say !== undefined) return { text: ask.say };
    if (typeof replies === 'function') return replies(ask);
    return queue.shift() ?? { text: `You said: ${ask.heard}` };
  };
  const answer = (ask: RealtimeAsk) => ({ voice, ...next(ask) });
  return (request) => {
    const own = typeof utterances === 'function' ? [...utterances(request)] : shared;
    return { hear: own && (() => own.shift() ?? ''), answer };
  };
}

/** The last text in quotation marks: what the model is told to say. Undefined where there is none at the end. */
export function readQuoted(instructions: string): string | undefined {
  if (!instructions.endsWith('"')) return undefined;
  for (let at = instructions.length - 2; at >= 0; at -= 1) {
    if (instructions[at] !== '"') continue;
    let escapes = 0;
    while (instructions[at - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return String(JSON.parse(instructions.slice(at)));
    at -= escapes;
  }
  return undefined;
}
