// One streamed reply in the Chat Completions dialect: what its chunks add up to. Knows no network.
import type { LanguageModelEvent, ReplyEnd, TokenUsage } from '../language-model.js';
import {
  fatalFailure,
  type FailureKind,
  kindOfStatus,
  toShownCode,
  transientFailure,
  type WireFailure,
} from '../wire/failure.js';
import { type Json, parseObject, toArray, toCount, toNumber, toObject, toText } from '../wire/json.js';
import { ToolCallAssembly } from './tool-call-assembly.js';

/** A usual rule of thumb for English. */
const CHARACTERS_PER_TOKEN = 4;

const ENDS: Readonly<Record<string, ReplyEnd>> = {
  stop: 'complete',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  length: 'length',
  content_filter: 'filtered',
};

export class ChatReply {
  readonly #calls = new ToolCallAssembly();
  readonly #inputCharacters: number;
  #outputCharacters = 0;
  #finishReason: string | undefined;
  #usage: TokenUsage | undefined;
  #done = false;
  #failure: WireFailure | undefined;

  /** `inputCharacters`: length of what was sent, for an estimate where the vendor tells no usage. */
  constructor(options: { inputCharacters: number }) {
    this.#inputCharacters = options.inputCharacters;
  }

  /** True once there is text or a tool call: from here on nothing may be tried again. */
  get started(): boolean {
    return this.#outputCharacters > 0 || this.#calls.started;
  }

  /** The model is done; only usage may still come. */
  get finished(): boolean {
    return this.#finishReason !== undefined;
  }

  /** Nothing more will come. */
  get done(): boolean {
    return this.#done;
  }

  /** An error that came inside the stream. */
  get failure(): WireFailure | undefined {
    return this.#failure;
  }

  /** Takes the data of one event and returns the text in it, which may be empty. Never throws. */
  take(data: string): string {
    if (this.#done) return '';
    if (data.trim() === '[DONE]') {
      this.#done = true;
      return '';
    }
    const chunk = parseObject(data);
    if (chunk === undefined) return '';
    if (chunk.error !== undefined && chunk.error !== null) {
      this.#failure = toStreamFailure(chunk.error);
      this.#done = true;
      return '';
    }
    this.#usage = readUsage(chunk.usage) ?? readUsage(toObject(chunk.x_groq)?.usage) ?? this.#usage;
    const choice = toObject(toArray(chunk.choices)[0]);
    return choice === undefined ? '' : this.#choice(choice);
  }

  #choice(choice: Json): string {
    const delta = toObject(choice.delta) ?? toObject(choice.message) ?? {};
    if (!this.finished) this.#calls.push(delta.tool_calls);
    const reason = toText(choice.finish_reason);
    // A refusal is what the model says.
    const text = this.finished ? '' : toText(delta.content) + toText(delta.refusal);
    if (reason !== '') this.#finishReason ??= reason;
    this.#outputCharacters += text.length;
    return text;
  }

  /** What follows the text: tool calls, usage, end. After an abort, or a stream that just stopped, it was interrupted. */
  conclude(options: { aborted: boolean }): LanguageModelEvent[] {
    const calls = this.#calls.finish();
    const reason = options.aborted ? 'interrupted' : this.#reason(calls);
    const told = reason === 'tool-calls' ? calls : [];
    const events = told.map((call): LanguageModelEvent => ({ type: 'tool-call', ...call }));
    const argumentsLength = calls.reduce((sum, { argumentsText }) => sum + argumentsText.length, 0);
    const usage = this.#usage ?? this.#estimate(argumentsLength);
    return [...events, { type: 'usage', usage }, { type: 'end', reason }];
  }

  /** The presence of calls decides, whatever the server calls the end; but a call that the limit cut off is none. */
  #reason(calls: readonly { arguments: unknown }[]): ReplyEnd {
    if (this.#finishReason === undefined) return 'interrupted';
    const reason = ENDS[this.#finishReason] ?? 'complete';
    if (reason === 'filtered') return reason;
    const isCut = reason === 'length' && calls.some((call) => call.arguments === null);
    if (calls.length > 0 && !isCut) return 'tool-calls';
    return reason === 'tool-calls' ? 'complete' : reason;
  }

  #estimate(argumentsLength: number): TokenUsage {
    return {
      inputTokens: Math.ceil(this.#inputCharacters / CHARACTERS_PER_TOKEN),
      cachedTokens: 0,
      outputTokens: Math.ceil((this.#outputCharacters + argumentsLength) / CHARACTERS_PER_TOKEN),
      estimated: true,
    };
  }
}

function readUsage(value: unknown): TokenUsage | undefined {
  const usage = toObject(value);
  if (usage === undefined || toNumber(usage.prompt_tokens) === undefined) return undefined;
  const inputTokens = toCount(usage.prompt_tokens);
  const cached = toCount(toObject(usage.prompt_tokens_details)?.cached_tokens);
  return {
    inputTokens,
    cachedTokens: Math.min(cached, inputTokens),
    outputTokens: toCount(usage.completion_tokens),
  };
}

/** Codes that say that the same again would fail again, or that it is too much. Everything else may pass. */
const FATAL_CODE = /invalid|auth|permission|quota|billing|not_found|unsupported|context_length/i;
const THROTTLED_CODE = /rate_limit|overloaded|too_many/i;

/** What a code of the vendor means, undefined when it says nothing. A quota that is used up is answered with 429, but waiting does not help. */
export function kindOfCode(code: string): FailureKind | undefined {
  if (FATAL_CODE.test(code)) return 'fatal';
  return THROTTLED_CODE.test(code) ? 'throttled' : undefined;
}

/** The code in an error object of the dialect, '' when there is none. */
export function errorCode(error: unknown): string {
  const object = toObject(error);
  return toText(object?.code) || toText(object?.type);
}

function toStreamFailure(error: unknown): WireFailure {
  const code = errorCode(error);
  const status = toNumber(toObject(error)?.code);
  const shown = toShownCode(status === undefined ? code : String(status)).map((each) => ` (${each})`);
  const reason = `broke off its answer${shown.join('')}`;
  const kind = kindOfCode(code) ?? (status === undefined ? 'transient' : kindOfStatus(status));
  if (kind === 'fatal') return fatalFailure(reason);
  return { ...transientFailure(reason), kind };
}
