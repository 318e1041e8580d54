// One reply of an AI SDK model: what the parts of its stream add up to.
import { randomBytes } from 'node:crypto';
import type { LanguageModelEvent, ModelToolCall, ReplyEnd, TokenUsage } from '../../language-model.js';
import {
  fatalFailure,
  kindOfStatus,
  toShownCode,
  transientFailure,
  WireError,
  type WireFailure,
} from '../../wire/failure.js';
import { type Json, toCount, toNumber, toObject, toText } from '../../wire/json.js';
import { readArguments } from '../../wire/tool-arguments.js';
import { estimateUsage } from '../token-estimate.js';

const ENDS: Readonly<Record<string, ReplyEnd>> = {
  stop: 'complete',
  length: 'length',
  'content-filter': 'filtered',
  'tool-calls': 'tool-calls',
  interrupted: 'interrupted',
  error: 'interrupted',
};

export class AiSdkReply {
  readonly #calls: ModelToolCall[] = [];
  readonly #inputCharacters: number;
  #outputCharacters = 0;
  #begun = false;
  #finish: { reason: string; usage: TokenUsage | undefined } | undefined;
  #failure: WireFailure | undefined;

  /** `inputCharacters`: length of what was sent, for an estimate where the model tells no usage. */
  constructor(options: { inputCharacters: number }) {
    this.#inputCharacters = options.inputCharacters;
  }

  /** True once there is text or a tool call: from here on nothing may be tried again. */
  get started(): boolean {
    return this.#outputCharacters > 0 || this.#begun;
  }

  get finished(): boolean {
    return this.#finish !== undefined;
  }

  get failure(): WireFailure | undefined {
    return this.#failure;
  }

  /** Takes one part and returns the text in it, which may be empty. Reasoning is not spoken. Never throws. */
  take(value: unknown): string {
    const part = toObject(value);
    if (part === undefined || this.finished || this.#failure !== undefined) return '';
    switch (part.type) {
      case 'text-delta':
        return this.#say(toText(part.delta));
      case 'tool-input-start':
        this.#begun ||= part.providerExecuted !== true;
        return '';
      case 'tool-call':
        // What the vendor runs itself is answered by the vendor.
        if (part.providerExecuted !== true && toText(part.toolName) !== '') this.#call(part);
        return '';
      case 'finish':
        this.#finish = { reason: toReason(part.finishReason), usage: readUsage(part.usage) };
        return '';
      case 'error':
        this.#failure = toSdkFailure(part.error);
        return '';
      default:
        return '';
    }
  }

  conclude(options: { aborted: boolean }): LanguageModelEvent[] {
    const reason = options.aborted ? 'interrupted' : this.#reason();
    const told = reason === 'tool-calls' ? this.#calls : [];
    const events = told.map((call): LanguageModelEvent => ({ type: 'tool-call', ...call }));
    const characters = { input: this.#inputCharacters, output: this.#outputCharacters };
    const usage = this.#finish?.usage ?? estimateUsage(characters);
    return [...events, { type: 'usage', usage }, { type: 'end', reason }];
  }

  #say(text: string): string {
    this.#outputCharacters += text.length;
    return text;
  }

  #call({ toolCallId, toolName, input }: Json): void {
    const read = readArguments(input);
    this.#begun = true;
    this.#outputCharacters += read.argumentsText.length;
    this.#calls.push({
      id: toText(toolCallId) || `call_${randomBytes(9).toString('base64url')}`,
      name: toText(toolName),
      ...read,
    });
  }

  #reason(): ReplyEnd {
    if (this.#finish === undefined) return 'interrupted';
    const reason = ENDS[this.#finish.reason] ?? 'complete';
    if (reason === 'filtered' || reason === 'interrupted') return reason;
    const isCut = reason === 'length' && this.#calls.some((call) => call.arguments === null);
    if (this.#calls.length > 0 && !isCut) return 'tool-calls';
    return reason === 'tool-calls' ? 'complete' : reason;
  }
}

/** A text in v2, an object later. */
function toReason(value: unknown): string {
  return toText(value) || toText(toObject(value)?.unified);
}

/** Numbers in v2, objects later. The SDK's input has what was cached in it, like ours. */
function readUsage(value: unknown): TokenUsage | undefined {
  const usage = toObject(value);
  const input = toObject(usage?.inputTokens);
  const inputTokens = toNumber(input?.total) ?? toNumber(usage?.inputTokens);
  if (inputTokens === undefined) return undefined;
  const cached = toCount(input?.cacheRead ?? usage?.cachedInputTokens);
  const written = toCount(input?.cacheWrite);
  return {
    inputTokens,
    cachedTokens: Math.min(cached, inputTokens),
    ...(written > 0 ? { cacheWrittenTokens: written } : {}),
    outputTokens: toCount(toObject(usage?.outputTokens)?.total ?? usage?.outputTokens),
  };
}

/** What a model threw or told. Its sentence may quote what was sent, so only status and retry time are taken from it. */
export function toSdkFailure(error: unknown): WireFailure {
  if (error instanceof WireError) return error.failure;
  const { statusCode, isRetryable, responseHeaders, name } = toObject(error) ?? {};
  const status = toNumber(statusCode);
  const shown = status === undefined ? toShownCode(name) : [`HTTP ${status}`];
  const remedy = status === 401 || status === 403 ? ': check the key that its provider package takes' : '';
  const reason = `failed${shown.map((each) => ` (${each})`).join('')}${remedy}`;
  if (status !== undefined) {
    const seconds = Number(toText(toObject(responseHeaders)?.['retry-after']) || Number.NaN);
    const retryAfterMs = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null;
    return { kind: kindOfStatus(status), status, retryAfterMs, reason, cause: error };
  }
  return isRetryable === false ? fatalFailure(reason, error) : transientFailure(reason, error);
}
