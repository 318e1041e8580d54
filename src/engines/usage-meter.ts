// What a call has used of its providers, as the record's usage. What it costs is not known here.
import type { Cost, Usage } from '../contract/call-record.js';
import type { TokenUsage } from '../providers/language-model.js';
import type { EngineFact } from './engine.js';

const UNKNOWN_COST: Cost = {
  stt: null,
  llm: null,
  tts: null,
  telephony: null,
  total: 0,
  currency: 'USD',
  estimated: true,
};

/** Adds up what the stages tell. Numbers that are none, of a provider that miscounts, are left out. */
export class UsageMeter {
  readonly #fact: (fact: EngineFact) => void;
  readonly #usage: Usage = {
    sttSeconds: 0,
    llmInputTokens: 0,
    llmCachedTokens: 0,
    llmOutputTokens: 0,
    ttsCharacters: 0,
    telephonySeconds: 0,
  };
  #changed = false;
  #closed = false;

  constructor(fact: (fact: EngineFact) => void) {
    this.#fact = fact;
  }

  heard(usage: { readonly seconds: number }): void {
    this.#add('sttSeconds', usage.seconds);
  }

  spoke(usage: { readonly characters: number }): void {
    this.#add('ttsCharacters', usage.characters);
  }

  thought(usage: TokenUsage): void {
    if (typeof usage !== 'object' || usage === null) return;
    this.#add('llmInputTokens', usage.inputTokens);
    this.#add('llmCachedTokens', usage.cachedTokens);
    this.#add('llmOutputTokens', usage.outputTokens);
    if (this.#closed) this.state();
  }

  /** The call is over: states the sums, and again whatever still comes. Replies that were given up are told late. */
  close(): void {
    this.#closed = true;
    this.state();
  }

  /** States the sums, if they have changed since the last time. */
  state(): void {
    if (!this.#changed) return;
    this.#changed = false;
    this.#fact({ type: 'cost.updated', cost: { ...UNKNOWN_COST }, usage: { ...this.#usage } });
  }

  #add(name: keyof Usage, amount: unknown): void {
    if (typeof amount !== 'number' || !Number.isFinite(amount) || amount <= 0) return;
    this.#usage[name] += amount;
    this.#changed = true;
  }
}
