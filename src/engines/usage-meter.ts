// What a call uses of its providers, as facts for the owner of the call: quantities in the units that are paid for, each of its turn.
import type { TokenUsage } from '../providers/language-model.js';
import type { Payee } from '../providers/remedy.js';
import type { RecognitionUsage } from '../providers/speech-to-text.js';
import type { SynthesisUsage } from '../providers/text-to-speech.js';
import type { UsageFact, UsageQuantities } from './engine.js';

/** More than this in one report is no use but a mistake: a day of audio, ten million tokens, a million characters. */
const LIMITS = { seconds: 86_400, tokens: 1e7, characters: 1e6 };

/** Whom it is told. */
export interface UsageContext {
  fact(fact: UsageFact): void;
}

/** Turns what the stages tell into facts. Numbers that are none, of a provider that miscounts, are left out, and the rest is a guess. */
export class UsageMeter {
  readonly #context: UsageContext;
  readonly #turnIndex: () => number | null;

  /** `turnIndex`: the turn that use without one of its own belongs to; null for none. */
  constructor(context: UsageContext, turnIndex: () => number | null) {
    this.#context = context;
    this.#turnIndex = turnIndex;
  }

  heard(usage: RecognitionUsage): void {
    const count = new Count(LIMITS.seconds);
    const audioSeconds = count.take(usage?.seconds);
    this.#tell('stt', { audioSeconds }, { isGuess: count.isBroken, payee: usage?.payee });
  }

  /** Time for which a model that hears and speaks was there. */
  attended(usage: { readonly seconds: number }): void {
    const count = new Count(LIMITS.seconds);
    const audioSeconds = count.take(usage?.seconds);
    this.#tell('llm', { audioSeconds }, { isGuess: count.isBroken });
  }

  spoke(usage: SynthesisUsage): void {
    const count = new Count(LIMITS.characters);
    const characters = count.take(usage?.characters);
    this.#tell('tts', { characters }, { isGuess: count.isBroken, payee: usage?.payee });
  }

  /** `turnIndex`: the turn that the reply was for, which may be over by now. `payee`: undefined for the stage's own. */
  thought(usage: TokenUsage, turnIndex: number | null = this.#turnIndex(), payee?: Payee): void {
    if (typeof usage !== 'object' || usage === null) return;
    const count = new Count(LIMITS.tokens);
    const input = count.take(usage.inputTokens);
    const output = count.take(usage.outputTokens);
    const cached = Math.min(count.take(usage.cachedTokens), input);
    const audioInput = Math.min(count.take(usage.audioInputTokens), input);
    const audioOutput = Math.min(count.take(usage.audioOutputTokens), output);
    // Cached audio is a part of both; what is left of either is at least nothing.
    const cachedAudio = Math.max(
      Math.min(count.take(usage.cachedAudioTokens), cached, audioInput),
      cached - (input - audioInput),
    );
    const fresh = input - audioInput - (cached - cachedAudio);
    const written = Math.min(count.take(usage.cacheWrittenTokens), fresh);
    const quantities = {
      inputTokens: fresh - written,
      cachedInputTokens: cached - cachedAudio,
      cacheWrittenTokens: written,
      outputTokens: output - audioOutput,
      audioInputTokens: audioInput - cachedAudio,
      cachedAudioInputTokens: cachedAudio,
      audioOutputTokens: audioOutput,
    };
    const isGuess = count.isBroken || usage.estimated === true;
    this.#tell('llm', quantities, { isGuess, turnIndex, payee });
  }

  #tell(
    stage: UsageFact['stage'],
    quantities: UsageQuantities,
    about: { isGuess: boolean; turnIndex?: number | null; payee?: Payee | undefined },
  ): void {
    const used = Object.fromEntries(Object.entries(quantities).filter(([, amount]) => amount > 0));
    if (Object.keys(used).length === 0 && !about.isGuess) return;
    const { isGuess, turnIndex = this.#turnIndex(), payee } = about;
    const paid = payee === undefined ? {} : { payee };
    this.#context.fact({ type: 'usage.measured', stage, turnIndex, quantities: used, isGuess, ...paid });
  }
}

/** Takes numbers of one report. */
class Count {
  readonly #limit: number;
  /** One of them was no number, below nothing or beyond the limit. */
  isBroken = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  take(amount: unknown): number {
    if (amount === undefined || amount === null) return 0;
    if (typeof amount === 'number' && amount >= 0 && amount <= this.#limit) return amount;
    this.isBroken = true;
    return 0;
  }
}
