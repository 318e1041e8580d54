// What AssemblyAI writes on its streaming socket (v3), read into the few fields that are used. Source: AssemblyAI, streaming reference.
import { fatalFailure, transientFailure, type WireFailure } from '../../wire/failure.js';
import { parseObject, toArray, toNumber, toObject, toText } from '../../wire/json.js';
import type { SocketClose } from '../../wire/vendor-socket.js';

/** All of a turn so far, or all of it. */
export interface AssemblyAITurn {
  readonly type: 'turn';
  /** Counts up from 0 on each socket. */
  readonly order: number;
  readonly text: string;
  readonly isEnd: boolean;
  /** Where its last word ends, in milliseconds of the socket's audio; undefined without words. */
  readonly wordsEndMs: number | undefined;
}

export type AssemblyAIMessage =
  | AssemblyAITurn
  | { readonly type: 'begin' }
  | { readonly type: 'speech-started'; readonly atMs: number }
  | { readonly type: 'error'; readonly code: number | undefined }
  /** What needs no answer, and what is not known. */
  | { readonly type: 'other'; readonly name: string };

/** Reads one message. Never throws: what cannot be read is `other`. */
export function readAssemblyAIMessage(text: string): AssemblyAIMessage {
  const message = parseObject(text) ?? {};
  switch (message.type) {
    case 'Begin':
      return { type: 'begin' };
    case 'SpeechStarted':
      return { type: 'speech-started', atMs: Math.max(0, toNumber(message.timestamp) ?? 0) };
    case 'Turn':
      return {
        type: 'turn',
        order: toNumber(message.turn_order) ?? 0,
        text: toText(message.transcript).trim(),
        isEnd: message.end_of_turn === true,
        wordsEndMs: toNumber(toObject(toArray(message.words).at(-1))?.end),
      };
    case 'Error':
      return { type: 'error', code: toNumber(message.error_code) };
    default:
      return { type: 'other', name: toText(message.type).slice(0, 40) };
  }
}

const UNPAID_CLOSES = new Set([4002, 4003]);

/** What another connection would not change: parameters. */
const FATAL_CLOSES = new Set([3006, 4000, 4100, 4101, 4104]);

/** Too many sessions, or audio faster than it is spoken. */
const THROTTLED_CLOSES = new Set([3009, 4029, 4102]);

/** This vendor takes every handshake and says what is wrong with it by the code of the close. */
export function readAssemblyAIClose({ code }: SocketClose): WireFailure | undefined {
  if (code === 4001) return { ...fatalFailure(`refused the key (${code})`), status: 401, isAboutKey: true };
  if (UNPAID_CLOSES.has(code)) return fatalFailure(`wants to be paid first (${code})`);
  if (FATAL_CLOSES.has(code)) return fatalFailure(`refused the request (${code})`);
  if (!THROTTLED_CLOSES.has(code)) return undefined;
  return { ...transientFailure(`is asked for too much at a time (${code})`), kind: 'throttled' };
}
