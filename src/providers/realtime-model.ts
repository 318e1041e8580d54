// Contract of a realtime model: one service that hears the caller and speaks. A provider object is an immutable recipe; every call
// opens a session of its own.
import type { AudioFormat } from '../audio/format.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import type { CallContext } from '../contract/call-context.js';
import type { ModelRetirement } from '../contract/model-retirement.js';
import type { ModelPrice } from '../contract/price.js';
import type { SessionHandle } from '../contract/session-handle.js';
import type { ChatMessage, ModelToolCall, ReplyEnd, ToolDefinition } from './language-model.js';
import type { Recovery } from './remedy.js';

/** Formats of a session: what it takes of the caller, and what it gives of the agent. */
export interface RealtimeFormats {
  readonly input: AudioFormat;
  readonly output: AudioFormat;
}

/**
 * What was used since the last time this was told, each kind apart because each has its own price. `response`: tokens; cached ones
 * are part of their input. `transcription`: the caller's text, which another model makes. `session`: time that is paid for.
 */
export type RealtimeUsage =
  | {
      readonly kind: 'response';
      readonly inputTextTokens: number;
      readonly cachedTextTokens: number;
      readonly inputAudioTokens: number;
      readonly cachedAudioTokens: number;
      readonly outputTextTokens: number;
      readonly outputAudioTokens: number;
      /** The service did not say: the response ended before. @default false */
      readonly isGuess?: boolean;
    }
  | {
      readonly kind: 'transcription';
      readonly model: string;
      readonly seconds: number;
      readonly inputTokens: number;
      readonly outputTokens: number;
    }
  | { readonly kind: 'session'; readonly seconds: number };

export type ResponseUsage = Extract<RealtimeUsage, { kind: 'response' }>;

/**
 * What a session tells. Whatever the service says, a response is what follows between `responseStarted` and `responseEnded`, at most
 * one at a time, and an item is a piece of speech in it, with its own text. A service without such ids is given some: its adapter
 * counts answers, and drops what comes late of the one that was interrupted until the service says that this one is over. A service
 * whose audio carries a number (and whose interruption names the last one that counts) is read into responses by that number.
 */
export interface RealtimeEvents {
  /** The first time: the caller can be heard, and the model can be asked to speak. Told once, with the formats as they really are. */
  ready(formats: RealtimeFormats): void;
  /**
   * The formats are others than `ready` told, or than were told last: what follows is in these, and the caller is sent in these. Before
   * `reconnected` where both come.
   */
  formatsChanged?(formats: RealtimeFormats): void;
  /** The caller has begun to speak. May be missing. */
  speechStarted(): void;
  /**
   * The caller takes the floor: what the model has said and the caller has not heard is stale, here and on the way. The service has
   * ended, or ends, its response by itself. Not told while the session is not interruptible.
   */
  interrupted(): void;
  /** The caller has finished, and is answered next. The last sound was `agoMs` ago, as the audio tells. Its text is that of `itemId`. */
  speechEnded(speech: { readonly itemId: string; readonly agoMs: number }): void;
  /** What the caller said. Comes when it likes: before the answer, in it, or after it. An empty final: there were no words. */
  userText(text: { readonly itemId: string; readonly text: string; readonly final: boolean }): void;
  responseStarted(responseId: string): void;
  /** Encoded in the output format, cut anywhere. Comes faster than it is heard. The receiver's until the call returns. */
  audio(chunk: { readonly responseId: string; readonly itemId: string; readonly audio: Uint8Array }): void;
  /** Words of the audio. They may come ahead of it or behind. */
  text(piece: { readonly responseId: string; readonly itemId: string; readonly delta: string }): void;
  /** The service's own word on how much of an item was heard, for one that keeps account itself. Replaces its text. */
  heardText?(heard: { readonly itemId: string; readonly text: string }): void;
  /** No more of it comes. Every one of `toolCalls` needs a result, whatever becomes of it: `giveResults`. */
  responseEnded(end: {
    readonly responseId: string;
    readonly reason: ReplyEnd;
    readonly toolCalls: readonly ModelToolCall[];
  }): void;
  usage(usage: RealtimeUsage): void;
  /**
   * From now on another process could go on with the session by `handle`: the service remembers what the engine was told, and nothing
   * that nobody heard. Undefined: it no longer does, because anything was said or cut off since. A handle of before counts no more then.
   */
  resumable?(handle: SessionHandle | undefined): void;
  /**
   * The connection was lost behind `ready`, and another one is being made: `reconnected` follows, or `failed`. Once for each gap. What
   * the caller has said and not finished, or has finished without any words yet and no answer, the session sends once more over the next
   * connection, the last five seconds of it: nothing more is told of its item. `agoMs`: how long nothing had come of the connection when
   * that was found. @default 0
   */
  lost?(loss?: { readonly agoMs: number }): void;
  /**
   * The connection was lost and is back after `gapMs`, its conversation made anew from `history`. What was under way is gone: no event
   * of an earlier response, item or tool call follows. `isPlanned`: nothing had gone wrong, the session was nearly over. `hearsAgain`:
   * what the caller has said and nobody has answered is heard there once more, and answered by itself.
   */
  reconnected(
    gap: Recovery & { readonly isPlanned?: boolean | undefined; readonly hearsAgain?: boolean | undefined },
  ): void;
  /** The session cannot go on. Told once; nothing follows. */
  failed(error: Error): void;
}

export interface RealtimeContext {
  readonly callId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly language: string | undefined;
  /** The call it is. @default none, as in a test */
  readonly call?: CallContext | undefined;
  /** Who the agent is. */
  readonly instructions: string;
  readonly tools: readonly ToolDefinition[];
  /** Formats that the engine would like, of those that the model offers. `ready` tells what they are. */
  readonly formats: RealtimeFormats;
  /** False lets the model finish whatever the caller says. The engine then asks for the answer with `respond`, if none comes by itself. */
  readonly interruptible: boolean;
  /** The conversation so far as it was heard, without the instructions: what a new connection must be told. */
  history(): readonly ChatMessage[];
  /**
   * Of the session that another process had, in which `history` was heard. Where it is not of these settings, or the service refuses it,
   * the session begins anew with `history`. @default a session of its own
   */
  readonly handle?: SessionHandle | undefined;
  readonly events: RealtimeEvents;
}

/** No method throws. What a service has no means for is left undone. */
export interface RealtimeSession {
  /** Caller audio in the input format, any length. Copied. After `ready`: what is said before that the engine keeps. */
  pushAudio(audio: Uint8Array): void;
  /**
   * Has the model say exactly `text`, as an answer to nobody. Asked for before `ready` it is the greeting, for a service that can be
   * given one only at its start.
   */
  say(text: string): void;
  /**
   * Has the model say a few words while it waits for results of tools. Not there for a service that says nothing then, or gives the calls
   * up: its calls are given a first result that says so, and the model speaks.
   */
  fill?(text: string): void;
  /** Adds to the conversation what was not spoken: keys that the caller pressed, or a note of ours. Asks for no answer. */
  addText(message: { readonly role: 'user' | 'system'; readonly text: string }): void;
  /** Asks for an answer to what there is, as soon as no response is under way. */
  respond(): void;
  /**
   * Results of tools, in any order. Asks for no answer. Where a call is given a second one, the first said that it is not there yet: the
   * model is told the second as text.
   */
  giveResults(results: readonly { readonly toolCallId: string; readonly result: string }[]): void;
  /**
   * Stops the response that is under way, and answers that were asked for and have not begun. No `audio` and no `text` of it follow,
   * only `usage` and `responseEnded`. Idempotent. Where the service alone can stop it, the adapter drops what still comes.
   */
  cancel(): void;
  /** The caller has heard `heardMs` of an item and nothing behind that: the model forgets the rest, and all of it for 0. */
  truncate(item: { readonly itemId: string; readonly heardMs: number }): void;
  /** From now on the caller can, or cannot, interrupt. */
  update(change: { readonly interruptible: boolean }): void;
  /**
   * Idempotent. No event follows but `usage`, within a second: the service is waited for to tell what a response cost that was under way, and
   * where it does not, that is guessed. All other use is told before it returns.
   */
  close(): void;
}

export interface RealtimeModel {
  /** Lets options tell that it stands where another kind belongs. @default told by its methods, as far as they differ */
  readonly kind?: 'realtime' | undefined;
  /** `vendor/model`, as records show it. */
  readonly name: string;
  /** What it takes and gives, the best first. We offer mu-law or A-law of 8 kHz and PCM of 8, 16 or 24 kHz. */
  readonly inputFormats: readonly AudioFormat[];
  readonly outputFormats: readonly AudioFormat[];
  /** True when `userText` comes for each `speechEnded`. Otherwise nobody waits for it. */
  readonly transcribesCaller: boolean;
  /** What a response is charged with; undefined where that is not known. */
  readonly price?: ModelPrice | undefined;
  /** The vendor stops the model: until when it is there, and what to take instead. */
  readonly retirement?: ModelRetirement | undefined;
  /** Who writes the caller's words down, and what that costs; undefined where nobody does, or the model's price has it in it. */
  readonly transcription?:
    | {
        readonly name: string;
        readonly price?: ModelPrice | undefined;
        readonly retirement?: ModelRetirement | undefined;
      }
    | undefined;
  /** Connects already. @throws ConfigError when a setting is missing that is needed now. */
  open(context: RealtimeContext): RealtimeSession;
  /** @throws ConfigError for a setting, like a key, that every session needs and that is missing. */
  assertConfigured?(): void;
}
