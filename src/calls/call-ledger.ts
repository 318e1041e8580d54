// The facts of one call, from its first to those that come after its end. Keeps what later facts build on: cost, keys, recording.
import type { Clock } from '../base/clock.js';
import type { CallFact } from '../contract/call-event.js';
import type { Cost, Recording, Usage } from '../contract/call-record.js';
import type { EngineFact } from '../engines/engine.js';
import type { EventBus } from '../events/bus.js';
import { roundMoney } from '../events/summarize.js';
import { FactStamp } from './fact-stamp.js';

/** Notes of one call beyond this are not told: the record keeps no more. */
const MAX_NOTES = 100;

const UNKNOWN_COST: Cost = {
  stt: null,
  llm: null,
  tts: null,
  telephony: null,
  total: 0,
  currency: 'USD',
  estimated: true,
};

export class CallLedger {
  readonly #stamp: FactStamp;
  readonly #clock: Clock;
  #turnIndex = 0;
  #cost = UNKNOWN_COST;
  #usage: Usage | null = null;
  /** What the carrier charges, in US dollars. */
  #charge: number | undefined;
  #recording: Recording['status'] | undefined;
  #keySequences = 0;
  #notes = 0;

  constructor(callId: string, environment: { nodeId: string; bus: EventBus; clock: Clock }) {
    this.#stamp = new FactStamp(callId, environment);
    this.#clock = environment.clock;
  }

  get isChargeKnown(): boolean {
    return this.#charge !== undefined;
  }

  /** Never throws. */
  publish(fact: CallFact): void {
    this.#stamp.publish(fact);
  }

  /** A fact of the engine. Its cost knows nothing of what the carrier charges. */
  state(fact: EngineFact): void {
    if (fact.type === 'turn.started') this.#turnIndex = fact.turnIndex;
    if (fact.type !== 'cost.updated') {
      this.publish(fact);
      return;
    }
    this.#cost = fact.cost;
    this.#usage = fact.usage;
    this.#tellCost();
  }

  /** The carrier's figure takes the place of every estimate of it. The same figure again is no fact. */
  charged(costUsd: number): void {
    if (!Number.isFinite(costUsd) || costUsd < 0 || this.#charge === costUsd) return;
    this.#charge = costUsd;
    this.#tellCost();
  }

  note(code: string, message: string): void {
    this.#notes += 1;
    if (this.#notes <= MAX_NOTES) this.publish({ type: 'incident.noted', code, message });
  }

  /** Keys that were sent are in the transcript like those that were received. */
  keysSent(digits: string): void {
    this.#keySequences += 1;
    this.publish({
      type: 'transcript.segment',
      entry: {
        id: `sent-keys-${this.#keySequences}`,
        turnIndex: this.#turnIndex,
        role: 'system',
        text: `Sent keys ${digits}`,
        at: this.#clock.wallNow(),
        final: true,
      },
    });
  }

  /** A recording that is there is told once; that there is none may be corrected. */
  recorded(recording: Recording): void {
    if (this.#recording === 'completed' || this.#recording === recording.status) return;
    this.#recording = recording.status;
    this.publish({ type: 'recording.completed', recording });
  }

  #tellCost(): void {
    const charge = this.#charge;
    const cost = charge === undefined ? this.#cost : withCharge(this.#cost, charge);
    this.publish({ type: 'cost.updated', cost, usage: this.#usage });
  }
}

/** The same cost with the carrier's own figure. */
function withCharge(cost: Cost, chargeUsd: number): Cost {
  const telephony = roundMoney(chargeUsd);
  const { stt, llm, tts } = cost;
  const parts = [stt, llm, tts, telephony];
  const total = roundMoney(parts.reduce<number>((sum, part) => sum + (part ?? 0), 0));
  return { ...cost, telephony, total, estimated: parts.includes(null) };
}
