// One streamed reply of the Messages API: what its events add up to. Knows no network. A `stop_reason` says that the model is done, and so
// does `message_stop` behind an answer. A stream without either broke off.
import { randomBytes } from 'node:crypto';
import type { LanguageModelEvent, ModelToolCall, ReplyEnd, TokenUsage } from '../../language-model.js';
import type { WireFailure } from '../../wire/failure.js';
import { type Json, parseObject, toCount, toNumber, toObject, toText } from '../../wire/json.js';
import { readArguments, textOfArguments } from '../../wire/tool-arguments.js';
import { toStreamFailure } from '../reply-errors.js';
import type { StreamedReply } from '../reply-stream.js';
import { estimateUsage, toTokens } from '../token-estimate.js';

const ENDS: Readonly<Record<string, ReplyEnd>> = {
  end_turn: 'complete',
  stop_sequence: 'complete',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'filtered',
  // Only with tools that the vendor runs itself: the reply was to go on.
  pause_turn: 'interrupted',
};

interface ToolUse {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  /** Input that came with the start of the block. */
  readonly input: unknown;
  json: string;
}

/** A model that calls more than this at once has lost its way. */
const MAX_CALLS = 64;

export class AnthropicReply implements StreamedReply {
  readonly #uses: ToolUse[] = [];
  readonly #inputCharacters: number;
  #outputCharacters = 0;
  #stopReason: string | undefined;
  #counts: Record<string, number> = {};
  #outputCounted = false;
  #done = false;
  #failure: WireFailure | undefined;

  /** `inputCharacters`: length of what was sent, for an estimate where the vendor tells no usage. */
  constructor(options: { inputCharacters: number }) {
    this.#inputCharacters = options.inputCharacters;
  }

  get started(): boolean {
    return this.#outputCharacters > 0 || this.#uses.length > 0;
  }

  get finished(): boolean {
    return this.#stopReason !== undefined;
  }

  get done(): boolean {
    return this.#done;
  }

  get failure(): WireFailure | undefined {
    return this.#failure;
  }

  take(data: string): string {
    const event = this.#done ? undefined : parseObject(data);
    switch (event?.type) {
      case 'message_start':
        this.#count(toObject(event.message)?.usage);
        return '';
      case 'content_block_start':
        return this.#begin(event.index, toObject(event.content_block) ?? {});
      case 'content_block_delta':
        return this.#grow(event.index, toObject(event.delta) ?? {});
      case 'message_delta':
        this.#count(event.usage);
        this.#outputCounted ||= toNumber(toObject(event.usage)?.output_tokens) !== undefined;
        this.#stopReason ??= toText(toObject(event.delta)?.stop_reason) || undefined;
        return '';
      case 'message_stop':
        this.#done = true;
        if (this.started) this.#stopReason ??= 'end_turn';
        return '';
      case 'error':
        this.#failure = toStreamFailure(event.error);
        this.#done = true;
        return '';
      default:
        return '';
    }
  }

  conclude(options: { aborted: boolean }): LanguageModelEvent[] {
    const calls = this.#uses.map(toCall);
    const reason = options.aborted ? 'interrupted' : this.#reason(calls);
    const told = reason === 'tool-calls' ? calls : [];
    const events = told.map((call): LanguageModelEvent => ({ type: 'tool-call', ...call }));
    return [...events, { type: 'usage', usage: this.#usage() }, { type: 'end', reason }];
  }

  /** Thinking and blocks of kinds that we do not know are not spoken. */
  #begin(index: unknown, block: Json): string {
    if (this.finished) return '';
    if (block.type === 'text') return this.#say(block.text);
    if (block.type === 'tool_use' && toText(block.name) !== '' && this.#uses.length < MAX_CALLS)
      this.#uses.push({
        index: toNumber(index),
        id: toText(block.id),
        name: toText(block.name),
        input: block.input,
        json: '',
      });
    return '';
  }

  #grow(index: unknown, delta: Json): string {
    if (this.finished) return '';
    if (delta.type === 'text_delta') return this.#say(delta.text);
    const use = this.#uses.findLast((each) => each.index === toNumber(index));
    if (delta.type === 'input_json_delta' && use !== undefined)
      use.json += textOfArguments(delta.partial_json);
    return '';
  }

  #say(value: unknown): string {
    const text = toText(value);
    this.#outputCharacters += text.length;
    return text;
  }

  /** Counters are cumulative: the newest number of each counts. */
  #count(value: unknown): void {
    for (const [name, number] of Object.entries(toObject(value) ?? {}))
      if (toNumber(number) !== undefined) this.#counts[name] = toCount(number);
  }

  /** A call that the token limit cut off does not count. */
  #reason(calls: readonly ModelToolCall[]): ReplyEnd {
    if (this.#stopReason === undefined) return 'interrupted';
    const reason = ENDS[this.#stopReason] ?? 'complete';
    if (reason === 'filtered' || reason === 'interrupted') return reason;
    const isCut = reason === 'length' && calls.some((call) => call.arguments === null);
    if (calls.length > 0 && !isCut) return 'tool-calls';
    return reason === 'tool-calls' ? 'complete' : reason;
  }

  /** The vendor's input leaves out what it read from its cache or wrote there; ours has all of it. */
  #usage(): TokenUsage {
    const outputCharacters = this.#uses.reduce((sum, { json }) => sum + json.length, this.#outputCharacters);
    const { input_tokens, output_tokens = 0 } = this.#counts;
    if (input_tokens === undefined)
      return estimateUsage({ input: this.#inputCharacters, output: outputCharacters });
    const { cache_read_input_tokens = 0, cache_creation_input_tokens = 0 } = this.#counts;
    const usage = {
      inputTokens: input_tokens + cache_read_input_tokens + cache_creation_input_tokens,
      cachedTokens: cache_read_input_tokens,
      ...(cache_creation_input_tokens > 0 ? { cacheWrittenTokens: cache_creation_input_tokens } : {}),
    };
    if (this.#outputCounted) return { ...usage, outputTokens: output_tokens };
    return { ...usage, outputTokens: Math.max(output_tokens, toTokens(outputCharacters)), estimated: true };
  }
}

function toCall({ id, name, input, json }: ToolUse): ModelToolCall {
  const made = id === '' ? `toolu_${randomBytes(9).toString('base64url')}` : id;
  return { id: made, name, ...readArguments(json.trim() === '' ? input : json) };
}
