// What one call has cost so far, by component and by turn. Knows no clock and no carrier.
import type { Cost, Usage } from '../../contract/call-record.js';
import type { PaidStage, Payees, UsageFact, UsageQuantities } from '../../engines/engine.js';
import type { Payee } from '../../providers/remedy.js';
import { addNanos, charge, toDollars, toMicros } from './money.js';
import type { Pricing } from './pricing.js';

const STAGES = ['stt', 'llm', 'tts'] as const satisfies readonly PaidStage[];

interface StageCost {
  nanos: number;
  /** False once anything of it has no price. */
  isKnown: boolean;
  readonly payee: Payee | undefined;
  readonly price: ReturnType<Pricing['model']>;
}

interface TurnCost {
  nanos: number;
  isKnown: boolean;
}

/** The carrier's part: nano-dollars, null while unknown. */
export interface LineCost {
  readonly nanos: number | null;
  readonly billedSeconds: number;
  /** All of it is what the carrier itself says. */
  readonly isFinal: boolean;
}

const NOTHING: Readonly<TurnCost> = { nanos: 0, isKnown: true };

export class CostMeter {
  readonly #pricing: Pricing;
  #stages: Readonly<Record<PaidStage, StageCost>>;
  readonly #turns = new Map<number, TurnCost>();
  /** Of those who are paid beside the payees of the stages, by name. */
  readonly #otherPrices = new Map<string, ReturnType<Pricing['model']>>();
  readonly #usage: Usage = {
    sttSeconds: 0,
    llmInputTokens: 0,
    llmCachedTokens: 0,
    llmOutputTokens: 0,
    ttsCharacters: 0,
    telephonySeconds: 0,
  };
  /** True once it is known who is paid, and each of them has a price. */
  #isPriced = false;
  #hasUsage = false;
  #isGuess = false;

  constructor(pricing: Pricing) {
    this.#pricing = pricing;
    const nobody = { nanos: 0, isKnown: false, payee: undefined, price: undefined };
    this.#stages = { stt: { ...nobody }, llm: { ...nobody }, tts: { ...nobody } };
  }

  /** Who is paid from now on. Before that every stage is unknown. */
  pays(payees: Payees): void {
    const stage = (name: PaidStage): StageCost => {
      const payee = payees[name];
      if (payee === 'application') return { nanos: 0, isKnown: false, payee: undefined, price: undefined };
      const price = payee && this.#pricing.model(payee);
      return { nanos: 0, isKnown: payee === undefined || price !== undefined, payee, price };
    };
    this.#stages = { stt: stage('stt'), llm: stage('llm'), tts: stage('tts') };
    this.#isPriced = Object.values(this.#stages).every(
      ({ payee, price }) => payee === undefined || price !== undefined,
    );
  }

  /** Takes what a stage has used. The order does not matter. */
  add({ stage, turnIndex, quantities, isGuess, payee: other }: UsageFact): void {
    this.#count(stage, quantities);
    this.#isGuess ||= isGuess;
    const cost = this.#stages[stage];
    const turn = turnIndex === null ? undefined : this.#turn(turnIndex);
    const { payee, price } = other === undefined ? cost : { payee: other, price: this.#priceOf(other) };
    // What the application spends is no part of the price of a turn; what nobody has a price for makes it unknown.
    if (payee === undefined) return;
    const { nanos, missing } = price === undefined ? { nanos: 0, missing: [] } : charge(quantities, price);
    for (const unit of missing) this.#pricing.lacks(payee, unit);
    const isKnown = price !== undefined && missing.length === 0;
    cost.nanos = addNanos(cost.nanos, nanos);
    cost.isKnown &&= isKnown;
    if (turn === undefined) return;
    turn.nanos = addNanos(turn.nanos, nanos);
    turn.isKnown &&= isKnown;
  }

  /** US dollars that a turn has cost; null when a part of it has no price. */
  turn(index: number): number | null {
    const { nanos, isKnown } = this.#turns.get(index) ?? NOTHING;
    return isKnown && this.#isPriced ? toDollars(toMicros(nanos)) : null;
  }

  /** The cost of the call: each component rounded, and the total the sum of what is rounded. */
  cost(line: LineCost): Cost {
    const [stt, llm, tts] = STAGES.map((stage) => {
      const { nanos, isKnown } = this.#stages[stage];
      return isKnown ? toMicros(nanos) : null;
    });
    const micros = { stt: stt ?? null, llm: llm ?? null, tts: tts ?? null };
    const telephony = line.nanos === null ? null : toMicros(line.nanos);
    const parts = [...Object.values(micros), telephony];
    return {
      stt: inDollars(micros.stt),
      llm: inDollars(micros.llm),
      tts: inDollars(micros.tts),
      telephony: inDollars(telephony),
      total: toDollars(parts.reduce<number>((sum, part) => sum + (part ?? 0), 0)),
      currency: 'USD',
      estimated: parts.includes(null) || !line.isFinal || this.#isGuess,
    };
  }

  /** Something has been measured. */
  get hasUsage(): boolean {
    return this.#hasUsage;
  }

  /** Null while nothing has been measured. */
  usage(line: LineCost): Usage | null {
    if (!this.#hasUsage && line.billedSeconds === 0) return null;
    const { sttSeconds } = this.#usage;
    return { ...this.#usage, sttSeconds: toThousandths(sttSeconds), telephonySeconds: line.billedSeconds };
  }

  #priceOf(payee: Payee): ReturnType<Pricing['model']> {
    if (!this.#otherPrices.has(payee.name)) this.#otherPrices.set(payee.name, this.#pricing.model(payee));
    return this.#otherPrices.get(payee.name);
  }

  #turn(index: number): TurnCost {
    const turn = this.#turns.get(index) ?? { ...NOTHING };
    this.#turns.set(index, turn);
    return turn;
  }

  #count(stage: PaidStage, quantities: UsageQuantities): void {
    const { inputTokens = 0, cachedInputTokens = 0, outputTokens = 0, audioSeconds = 0 } = quantities;
    const { cacheWrittenTokens = 0 } = quantities;
    const { audioInputTokens = 0, cachedAudioInputTokens = 0, audioOutputTokens = 0 } = quantities;
    this.#hasUsage = true;
    this.#usage.ttsCharacters += quantities.characters ?? 0;
    if (stage === 'stt') this.#usage.sttSeconds += audioSeconds;
    const textTokens = inputTokens + cachedInputTokens + cacheWrittenTokens;
    this.#usage.llmInputTokens += textTokens + audioInputTokens + cachedAudioInputTokens;
    this.#usage.llmCachedTokens += cachedInputTokens + cachedAudioInputTokens;
    this.#usage.llmOutputTokens += outputTokens + audioOutputTokens;
  }
}

/** Sums of fractions come with noise behind the digits that were measured. */
function toThousandths(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

function inDollars(micros: number | null): number | null {
  return micros === null ? null : toDollars(micros);
}
