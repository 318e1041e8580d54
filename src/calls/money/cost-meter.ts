// What one call has cost so far, by component and by turn. Knows no clock and no carrier.
import type { CallRecord, Cost, TurnTokens, Usage } from '../../contract/call-record.js';
import type { PaidStage, Payees, UsageFact, UsageQuantities } from '../../engines/engine.js';
import type { Payee } from '../../providers/remedy.js';
import { addNanos, charge, toDollars, toMicros, toNanos } from './money.js';
import type { Pricing } from './pricing.js';
import { mostTokens, type TokenCount, tokensOf, withTokens } from './turn-tokens.js';

const STAGES = ['stt', 'llm', 'tts'] as const satisfies readonly PaidStage[];

/** What has been used, in nano-dollars. */
interface Spent {
  nanos: number;
  /** False once anything of it had no price. */
  isKnown: boolean;
}

interface TurnSpent extends Spent {
  tokens: TokenCount;
}

interface StageCost extends Spent {
  readonly payee: Payee | undefined;
  readonly price: ReturnType<Pricing['model']>;
  /** Whoever is paid now has a price, or nobody is paid. */
  readonly isPriced: boolean;
}

/** What a meter of another process goes on from. Plain JSON. */
export interface MeterState {
  readonly stages: Readonly<Record<PaidStage, Readonly<Spent & { isPriced: boolean }>>>;
  /** `tokens`: missing in a state of before they were counted. */
  readonly turns: readonly Readonly<Spent & { index: number; tokens?: TokenCount }>[];
  readonly usage: ModelUsage;
  readonly hasUsage: boolean;
  readonly isPriced: boolean;
  readonly isGuess: boolean;
}

/** All but the line. */
type ModelUsage = Omit<Usage, 'telephonySeconds'>;

/** The carrier's part: nano-dollars, null while unknown. */
export interface LineCost {
  readonly nanos: number | null;
  readonly billedSeconds: number;
  /** All of it is what the carrier itself says. */
  readonly isFinal: boolean;
}

const NOTHING: Readonly<Spent> = { nanos: 0, isKnown: true };
const UNUSED_TURN: Readonly<TurnSpent> = { ...NOTHING, tokens: null };
const UNUSED: ModelUsage = {
  sttSeconds: 0,
  llmInputTokens: 0,
  llmCachedTokens: 0,
  llmOutputTokens: 0,
  ttsCharacters: 0,
};
const QUANTITIES = Object.keys(UNUSED) as (keyof ModelUsage)[];

export class CostMeter {
  readonly #pricing: Pricing;
  #stages: Readonly<Record<PaidStage, StageCost>>;
  readonly #turns: Map<number, TurnSpent>;
  /** Of those who are paid beside the payees of the stages: by name, with what the payee says itself, since one name can have several prices. */
  readonly #otherPrices = new Map<string, { said: Payee['price']; price: ReturnType<Pricing['model']> }>();
  readonly #usage: ModelUsage;
  /** True once it is known who is paid, and each of them has a price. */
  #isPriced: boolean;
  #hasUsage: boolean;
  #isGuess: boolean;

  /** `before`: what was used already. It keeps the price that it had. */
  constructor(pricing: Pricing, before?: MeterState) {
    this.#pricing = pricing;
    const stage = (name: PaidStage): StageCost => {
      const { nanos, isKnown, isPriced } = before?.stages[name] ?? { ...NOTHING, isPriced: false };
      return { nanos, isKnown, isPriced, payee: undefined, price: undefined };
    };
    this.#stages = { stt: stage('stt'), llm: stage('llm'), tts: stage('tts') };
    this.#turns = new Map(
      before?.turns.map(({ index, nanos, isKnown, tokens = 'unknown' }) => [
        index,
        { nanos, isKnown, tokens },
      ]),
    );
    this.#usage = { ...(before?.usage ?? UNUSED) };
    this.#isPriced = before?.isPriced ?? false;
    this.#hasUsage = before?.hasUsage ?? false;
    this.#isGuess = before?.isGuess ?? false;
  }

  get state(): MeterState {
    const stage = ({ nanos, isKnown, isPriced }: StageCost) => ({ nanos, isKnown, isPriced });
    const { stt, llm, tts } = this.#stages;
    return {
      stages: { stt: stage(stt), llm: stage(llm), tts: stage(tts) },
      // Whoever goes on may have other prices.
      turns: Array.from(this.#turns, ([index, { nanos, isKnown, tokens }]) => ({
        index,
        nanos,
        isKnown: isKnown && this.#isPriced,
        tokens,
      })),
      usage: { ...this.#usage },
      hasUsage: this.#hasUsage,
      isPriced: this.#isPriced,
      isGuess: this.#isGuess,
    };
  }

  /** Who is paid from now on. Before that every stage is unknown. */
  pays(payees: Payees): void {
    const stage = (name: PaidStage): StageCost => {
      const payee = payees[name];
      const { nanos, isKnown } = this.#stages[name];
      const used = { nanos, isKnown };
      if (payee === 'application') return { ...used, payee: undefined, price: undefined, isPriced: false };
      const price = payee && this.#pricing.model(payee);
      return { ...used, payee, price, isPriced: payee === undefined || price !== undefined };
    };
    this.#stages = { stt: stage('stt'), llm: stage('llm'), tts: stage('tts') };
    this.#isPriced = Object.values(this.#stages).every(
      ({ payee, price }) => payee === undefined || price !== undefined,
    );
  }

  /** Takes what a stage has used. The order does not matter. */
  add({ stage, turnIndex, quantities, isGuess, payee: other }: UsageFact): void {
    const tokens = tokensOf(quantities);
    this.#count(stage, quantities, tokens);
    this.#isGuess ||= isGuess;
    const cost = this.#stages[stage];
    const turn = turnIndex === null ? undefined : this.#turn(turnIndex);
    if (turn !== undefined && stage === 'llm') turn.tokens = withTokens(turn.tokens, tokens, { isGuess });
    const { payee, price } = other === undefined ? cost : { payee: other, price: this.#priceOf(other) };
    // What the application spends is no part of the price of a turn; what nobody has a price for makes it unknown.
    if (payee === undefined) {
      cost.isKnown &&= cost.isPriced;
      return;
    }
    const { nanos, missing } = price === undefined ? { nanos: 0, missing: [] } : charge(quantities, price);
    for (const unit of missing) this.#pricing.lacks(payee, unit);
    const isKnown = price !== undefined && missing.length === 0;
    cost.nanos = addNanos(cost.nanos, nanos);
    cost.isKnown &&= isKnown;
    if (turn === undefined) return;
    turn.nanos = addNanos(turn.nanos, nanos);
    turn.isKnown &&= isKnown;
  }

  /** US dollars that a turn has cost, null when a part of it has no price; and its tokens, null when a part of them was not reported. */
  turn(index: number): { cost: number | null; tokens: TurnTokens | null } {
    const { nanos, isKnown, tokens } = this.#turns.get(index) ?? UNUSED_TURN;
    return {
      cost: isKnown && this.#isPriced ? toDollars(toMicros(nanos)) : null,
      tokens: tokens === 'unknown' ? null : tokens,
    };
  }

  /** The cost of the call: each component rounded, and the total the sum of what is rounded. */
  cost(line: LineCost): Cost {
    const [stt, llm, tts] = STAGES.map((stage) => {
      const { nanos, isKnown, isPriced } = this.#stages[stage];
      return isKnown && isPriced ? toMicros(nanos) : null;
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
    const known = this.#otherPrices.get(payee.name);
    if (known !== undefined && known.said === payee.price) return known.price;
    const price = this.#pricing.model(payee);
    this.#otherPrices.set(payee.name, { said: payee.price, price });
    return price;
  }

  #turn(index: number): TurnSpent {
    const turn = this.#turns.get(index) ?? { ...UNUSED_TURN };
    this.#turns.set(index, turn);
    return turn;
  }

  #count(stage: PaidStage, { characters = 0, audioSeconds = 0 }: UsageQuantities, tokens: TurnTokens): void {
    this.#hasUsage = true;
    this.#usage.ttsCharacters += characters;
    if (stage === 'stt') this.#usage.sttSeconds += audioSeconds;
    this.#usage.llmInputTokens += tokens.inputTokens;
    this.#usage.llmCachedTokens += tokens.cachedTokens;
    this.#usage.llmOutputTokens += tokens.outputTokens;
  }
}

/** Sums of fractions come with noise behind the digits that were measured. */
function toThousandths(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

function inDollars(micros: number | null): number | null {
  return micros === null ? null : toDollars(micros);
}

/** What a record tells of a meter whose state is lost. What was used last may be missing. */
export function meterStateOf({ cost, usage, turns }: CallRecord): MeterState {
  const { telephonySeconds: _line, ...used } = usage ?? { ...UNUSED, telephonySeconds: 0 };
  const isUsed: Readonly<Record<PaidStage, boolean>> = {
    stt: used.sttSeconds > 0,
    llm: used.llmInputTokens > 0 || used.llmOutputTokens > 0,
    tts: used.ttsCharacters > 0,
  };
  const stage = (name: PaidStage) => {
    const dollars = cost[name];
    const isPriced = dollars !== null;
    return { nanos: toNanos(dollars ?? 0), isKnown: isPriced || !isUsed[name], isPriced };
  };
  return {
    stages: { stt: stage('stt'), llm: stage('llm'), tts: stage('tts') },
    turns: turns.map((turn) => ({
      index: turn.index,
      nanos: toNanos(turn.cost ?? 0),
      isKnown: turn.cost !== null,
      tokens: turn.tokens ?? 'unknown',
    })),
    usage: used,
    hasUsage: STAGES.some((name) => isUsed[name]),
    isPriced: STAGES.every((name) => cost[name] !== null),
    isGuess: true,
  };
}

/** What was told after `state` was stored counts, too: none of it is less than the record says. */
export function atLeast(state: MeterState, record: CallRecord): MeterState {
  const told = meterStateOf(record);
  const stage = (name: PaidStage) => dearer(state.stages[name], told.stages[name]);
  const turns = new Map(state.turns.map((turn) => [turn.index, turn]));
  for (const turn of told.turns) {
    const exact = turns.get(turn.index) ?? turn;
    turns.set(turn.index, {
      ...dearer(exact, turn),
      tokens: mostTokens(exact.tokens ?? null, turn.tokens ?? null),
    });
  }
  const [usage, least] = [{ ...state.usage }, told.usage];
  for (const quantity of QUANTITIES) {
    // The record is rounded: an exact figure that comes to the same stays.
    const isBehind = toThousandths(usage[quantity]) < least[quantity];
    if (isBehind) usage[quantity] = least[quantity];
  }
  return {
    ...state,
    stages: { stt: stage('stt'), llm: stage('llm'), tts: stage('tts') },
    turns: [...turns.values()],
    usage,
    hasUsage: state.hasUsage || told.hasUsage,
  };
}

function dearer<T extends Readonly<Spent>>(exact: T, told: T): T {
  return told.isKnown && toMicros(exact.nanos) < toMicros(told.nanos)
    ? { ...exact, nanos: told.nanos }
    : exact;
}
