// What the emulated Realtime service is told to hear and to say, and what it shows of its connections.
import type { EmulatedRealtimeReply } from './openai-realtime-reply.js';
import type { EmulatorRequest } from './vendor-peer.js';
import type { EmulatorOptions } from './vendor-server.js';

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

export interface EmulateOpenAIRealtimeOptions extends EmulatorOptions {
  /** What is heard: one text for each stretch of sound. A list is worked off by all connections together. */
  readonly utterances?: readonly string[] | ((request: EmulatorRequest) => readonly string[]);
  /** The answers in order, or one for each time that the model is asked. What it is told to say it says. @default repeats what the caller said */
  readonly replies?: readonly EmulatedRealtimeReply[] | ((ask: RealtimeAsk) => EmulatedRealtimeReply);
  /** Length of the audio, in milliseconds per character. @default 60 */
  readonly msPerCharacter?: number;
  /** Bytes of a piece of audio. An odd number cuts samples in half. @default 4800 */
  readonly chunkBytes?: number;
  /** Leaves out the padding of base64. @default false */
  readonly withoutPadding?: boolean;
  /** How long after the caller's turn the text of it comes; null: never. @default 0 */
  readonly transcriptAfterMs?: number | null;
  /** `full` is the vendor; `subset` leaves out whatever servers of this wire leave out. @default 'full' */
  readonly dialect?: 'full' | 'subset';
  /** Length of a session, in milliseconds: then it expires. @default an hour */
  readonly sessionMs?: number;
}

/** What one connection was sent, and made of it. */
export interface OpenAIRealtimeConnection {
  readonly url: URL;
  /** The session as it is now. */
  readonly session: Readonly<Record<string, unknown>>;
  readonly events: readonly Readonly<Record<string, unknown>>[];
  readonly items: readonly EmulatedItem[];
  /** Audio of the caller, in milliseconds. */
  readonly audioMs: number;
  /** Codes of the errors that were told. */
  readonly errors: readonly string[];
}

/** The same for one connection. */
export interface RealtimeScript extends EmulateOpenAIRealtimeOptions {
  readonly hear: () => string;
  readonly answer: (ask: RealtimeAsk) => EmulatedRealtimeReply;
}
