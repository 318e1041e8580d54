// One streamed reply in the Chat Completions dialect: what its chunks add up to. Knows no network. A `finish_reason` says that the model is
// done, and so does `[DONE]` behind an answer: some servers send the one without the other. One that sent neither broke off.
import type { LanguageModelEvent, ReplyEnd, TokenUsage } from '../../language-model.js';
import type { WireFailure } from '../../wire/failure.js';
import { type Json, parseObject, toArray, toCount, toNumber, toObject, toText } from '../../wire/json.js';
import { toStreamFailure } from '../reply-errors.js';
import type { StreamedReply } from '../reply-stream.js';
import { estimateUsage } from '../token-estimate.js';
import { ToolCallAssembly } from '../tool-call-assembly.js';

const ENDS: Readonly<Record<string, ReplyEnd>> = {
  stop: 'complete',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  length: 'length',
  content_filter: 'filtered',
  // In the words of routers: the server behind them failed.
  error: 'interrupted',
};

export class ChatReply implements StreamedReply {
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

  get started(): boolean {
    return this.#outputCharacters > 0 || this.#calls.started;
  }

  get finished(): boolean {
    return this.#finishReason !== undefined;
  }

  get done(): boolean {
    return this.#done;
  }

  get failure(): WireFailure | undefined {
    return this.#failure;
  }

  take(data: string): string {
    if (this.#done) return '';
    if (data.trim() === '[DONE]') {
      this.#done = true;
      if (this.started) this.#finishReason ??= 'stop';
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

  conclude(options: { aborted: boolean }): LanguageModelEvent[] {
    const calls = this.#calls.finish();
    const reason = options.aborted ? 'interrupted' : this.#reason(calls);
    const told = reason === 'tool-calls' ? calls : [];
    const events = told.map((call): LanguageModelEvent => ({ type: 'tool-call', ...call }));
    const argumentsLength = calls.reduce((sum, { argumentsText }) => sum + argumentsText.length, 0);
    const usage =
      this.#usage ??
      estimateUsage({ input: this.#inputCharacters, output: this.#outputCharacters + argumentsLength });
    return [...events, { type: 'usage', usage }, { type: 'end', reason }];
  }

  /** The presence of calls decides, whatever the server calls the end; a call that the token limit cut off does not count. */
  #reason(calls: readonly { arguments: unknown }[]): ReplyEnd {
    if (this.#finishReason === undefined) return 'interrupted';
    const reason = ENDS[this.#finishReason] ?? 'complete';
    if (reason === 'filtered' || reason === 'interrupted') return reason;
    const isCut = reason === 'length' && calls.some((call) => call.arguments === null);
    if (calls.length > 0 && !isCut) return 'tool-calls';
    return reason === 'tool-calls' ? 'complete' : reason;
  }
}

function readUsage(value: unknown): TokenUsage | undefined {
  const usage = toObject(value);
  if (usage === undefined || toNumber(usage.prompt_tokens) === undefined) return undefined;
  const inputTokens = toCount(usage.prompt_tokens);
  const details = toObject(usage.prompt_tokens_details);
  const cachedTokens = Math.min(toCount(details?.cached_tokens), inputTokens);
  const written = Math.min(toCount(details?.cache_write_tokens), inputTokens - cachedTokens);
  return {
    inputTokens,
    cachedTokens,
    ...(written > 0 ? { cacheWrittenTokens: written } : {}),
    outputTokens: toCount(usage.completion_tokens),
  };
}
