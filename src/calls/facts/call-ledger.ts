// The facts of one call, from its first to those that come after its end. Keeps what later facts build on: cost, keys, recording.
import { type Clock, steadyClock } from '../../base/clock.js';
import { maskPhone } from '../../base/redact.js';
import type { TransferResult } from '../../carriers/carrier.js';
import type { CallFact } from '../../contract/call-event.js';
import type {
  CallDirection,
  CallPhase,
  CallRecord,
  HangUpState,
  LocalRecording,
  Recording,
  TranscriptEntry,
  TranscriptRole,
} from '../../contract/call-record.js';
import type { EngineFact, EngineRecipe } from '../../engines/engine.js';
import type { CallEnvironment } from '../call-environment.js';
import { FactStamp } from './fact-stamp.js';
import { ToolTexts } from './tool-texts.js';
import { type CostState, RunningCost } from '../money/running-cost.js';
import type { RedactorState } from '../privacy/call-redactor.js';
import { FactPrivacy } from '../privacy/fact-privacy.js';
import { KEYS_LEFT_OUT, type PrivacyPolicy, SENT_KEYS } from '../privacy/private-facts.js';

/** Notes of one call beyond this are not told: the record keeps no more. */
const MAX_NOTES = 100;

const APOLOGY_SPOKEN = {
  agent: 'The agent has told the caller that something went wrong.',
  carrier: 'The carrier has taken the order to tell the caller that something went wrong.',
};

const OTHER_LEG =
  'The carrier bills the leg to the number that the caller was handed over to apart: it is not in the cost.';

const TRANSFER_ID = 'transfer-';
const SENT_KEYS_ID = 'sent-keys-';
const APOLOGY_CODE = 'apology-spoken';
const ALL_KEPT: PrivacyPolicy = { transcript: 'full', keys: 'full' };

/** What a process that takes the call up goes on from, beside the record. Plain JSON. */
export interface LedgerState {
  readonly cost: CostState;
  readonly turnIndex: number;
  readonly keySequences: number;
  readonly transfers: number;
  readonly notes: number;
  readonly hasApologized: boolean;
  /** What was said last, where private numbers are looked for. @default nothing */
  readonly words?: RedactorState | undefined;
}

/** A call that another process had. */
export interface ResumedCall {
  /** All that is known of it. */
  readonly record: CallRecord;
  /** When the process that had it stated its last fact, at the earliest. */
  readonly at: number;
  /** Undefined where it is lost: then the record tells. */
  readonly state: LedgerState | undefined;
  /** The process before has handed it over, and told all that it used. @default false: its use may have been told in part */
  readonly wasLetGo?: boolean;
  /** As in `LeftCall`. */
  readonly aheadMs?: number | undefined;
}

export class CallLedger {
  /** Dates everything in the record of the call. */
  readonly clock: Clock;
  readonly #stamp: FactStamp;
  readonly #cost: RunningCost;
  readonly #policy: PrivacyPolicy;
  readonly #privacy: FactPrivacy;
  readonly #toolTexts: ToolTexts;
  /** The last turn, and who talks to the caller: null for one without a name. */
  #turn: { readonly index: number; readonly agent: string | null } = { index: 0, agent: null };
  #phase: CallPhase | undefined;
  #direction: CallDirection = 'inbound';
  #recording: Recording['status'] | undefined;
  #language: string | null = null;
  #keySequences = 0;
  #transfers = 0;
  #notes = 0;
  /** The carrier bills a leg to another number beside the call. */
  #hasOtherLeg = false;
  #hasApologized = false;
  /** Where the end is told long after it was. */
  #endedAt: number | undefined;
  #hangUp: HangUpState | null = null;

  constructor(
    callId: string,
    environment: Pick<CallEnvironment, 'nodeId' | 'bus' | 'clock' | 'carrier' | 'pricing' | 'privacy'>,
    resumed?: ResumedCall,
    term?: number,
  ) {
    const { nodeId, bus, pricing, carrier } = environment;
    // That of the process before may have been ahead: what comes now comes after all that is known.
    const earliest = resumed === undefined ? 0 : Math.max(resumed.at, lastTimeIn(resumed.record));
    const clock = steadyClock(environment.clock, { aheadMs: resumed?.aheadMs, earliest });
    this.clock = clock;
    this.#policy = environment.privacy ?? ALL_KEPT;
    this.#privacy = new FactPrivacy(this.#policy, resumed?.state?.words);
    this.#toolTexts = new ToolTexts(resumed?.record);
    this.#stamp = new FactStamp(callId, { nodeId, bus, clock }, { ...resumed, term });
    const tell = (fact: CallFact) => this.#stamp.publish(fact, this.#endedAt);
    this.#cost = new RunningCost({ pricing, carrier, clock, tell }, resumed && costBefore(resumed));
    if (resumed !== undefined) this.#goOn(resumed);
  }

  /** For another process that takes the call up. */
  get state(): LedgerState {
    return {
      cost: this.#cost.state,
      turnIndex: this.#turn.index,
      keySequences: this.#keySequences,
      transfers: this.#transfers,
      notes: this.#notes,
      hasApologized: this.#hasApologized,
      words: this.#privacy.state,
    };
  }

  /** In which its facts are stated. */
  get term(): number {
    return this.#stamp.term;
  }

  /** As `FactStamp.raise`. */
  raiseTerm(term: number): void {
    this.#stamp.raise(term);
  }

  /** What the caller experiences now; undefined before agent and caller talk. */
  get currentPhase(): CallPhase | undefined {
    return this.#phase;
  }

  /** The language that the call is in, a BCP 47 tag; null where none is known. */
  get language(): string | null {
    return this.#language;
  }

  get isChargeKnown(): boolean {
    return this.#cost.isChargeKnown;
  }

  /** How the hang-up at the carrier stands; null where none was asked for. */
  get hangUp(): HangUpState | null {
    return this.#hangUp;
  }

  /** Who will talk to the caller. To be said before that is told as a fact. */
  pays(recipe: Pick<EngineRecipe, 'agentName' | 'payees' | 'providers'>): void {
    this.#turn = { ...this.#turn, agent: recipe.agentName ?? null };
    this.#cost.pays(recipe);
  }

  /** Another process has the call: states what has not been told, and nothing more. */
  letGo(): void {
    this.#cost.ended();
    this.close();
  }

  /** What comes of the call is not for this process to say any more. Idempotent. */
  close(): void {
    this.#stamp.close();
  }

  /** As `FactStamp.hold`. */
  hold(): void {
    this.#stamp.hold();
  }

  /** As `FactStamp.release`. */
  release(): void {
    this.#stamp.release();
  }

  /** As `FactStamp.drop`. */
  drop(): boolean {
    return this.#stamp.drop();
  }

  /** `at`: when it was, in epoch milliseconds. @default now. Never throws. */
  publish(fact: CallFact, at = this.#endedAt): void {
    if ('direction' in fact) this.#direction = fact.direction;
    if ('language' in fact) this.#language = fact.language ?? this.#language;
    if (fact.type === 'transfer.updated') this.#handedOver(fact.result);
    if (fact.type === 'hangup.updated') this.#hangUp = fact.state;
    if (fact.type === 'call.ended') {
      this.#hangUp = fact.hangUp ?? null;
      this.#endedAt = at;
      if (this.#hasOtherLeg) this.note('cost-incomplete', OTHER_LEG);
      // Nothing here has seen the answer, and the carrier has counted from it on.
      if (fact.durationMs !== undefined) this.#cost.lasted(this.#direction, fact.durationMs);
      this.#cost.ended({ agoMs: at === undefined ? 0 : Math.max(0, this.clock.wallNow() - at) });
    }
    for (const told of this.#privacy.tell(fact)) this.#stamp.publish(this.#toolTexts.bound(told), at);
    if (fact.type === 'call.ended') this.#endedAt = undefined;
    const direction = answeredDirection(fact);
    if (direction !== undefined) this.#cost.answered(direction);
  }

  /** Publishes a fact of the engine, which knows no prices. */
  take(fact: EngineFact): void {
    if (fact.type === 'usage.measured') {
      this.#cost.used(fact);
      return;
    }
    if (fact.type === 'apology.spoken') {
      this.apologySpoken('agent', fact.waitedMs);
      return;
    }
    if (fact.type === 'caller.handed-over') {
      const { from, to, summary, language, provider, recipe } = fact;
      this.#turn = { ...this.#turn, agent: to };
      this.publish({
        type: 'agent.changed',
        from,
        to,
        summary,
        ...(language !== undefined && { language }),
        mode: recipe.mode,
        provider,
      });
      return;
    }
    if (fact.type === 'phase.changed') {
      this.phase(fact.phase);
      return;
    }
    if (fact.type === 'turn.started') this.#turn = { ...this.#turn, index: fact.turnIndex };
    if (fact.type !== 'turn.completed') {
      this.publish(fact);
      return;
    }
    const { turn } = fact;
    this.publish({
      ...fact,
      turn: { ...turn, agent: this.#turn.agent, ...this.#cost.completed(turn.index) },
    });
  }

  /** What the caller experiences now, whichever engine says so. Told where that is news; a call that is ending has no other phase any more. */
  phase(phase: CallPhase): void {
    const previous = this.#phase;
    if (phase === previous || previous === 'ending') return;
    this.#phase = phase;
    this.publish({ type: 'phase.changed', phase, ...(previous && { previous }) });
  }

  /** The carrier's figure, in US dollars. */
  charged(costUsd: number): void {
    this.#cost.charged(costUsd);
  }

  /** `durationMs`: how long it took. `at`: see `publish`. */
  note(
    code: string,
    message: string,
    { at, ...about }: { readonly durationMs?: number; readonly at?: number | undefined } = {},
  ): void {
    this.#notes += 1;
    if (this.#notes <= MAX_NOTES) this.publish({ type: 'incident.noted', code, message, ...about }, at);
  }

  /** The caller was told that something went wrong, for which they had waited so long. The first time counts. */
  apologySpoken(by: keyof typeof APOLOGY_SPOKEN, waitedMs: number): void {
    if (this.#hasApologized) return;
    this.#hasApologized = true;
    this.note(APOLOGY_CODE, APOLOGY_SPOKEN[by], { durationMs: Math.round(waitedMs) });
  }

  /** Keys that were sent are in the transcript like those that were received. */
  keysSent(digits: string): void {
    this.#keySequences += 1;
    this.#enter(
      `${SENT_KEYS_ID}${this.#keySequences}`,
      `${SENT_KEYS}${this.#policy.keys === 'none' ? KEYS_LEFT_OUT : digits}`,
      'system',
    );
  }

  /** What became of a transfer is in the transcript, too, which shows of a number its last four digits. */
  transferred(to: string, result: TransferResult): void {
    this.#transfers += 1;
    const text = `Transfer to ${maskPhone(to)}: ${result.replace('-', ' ')}`;
    this.#enter(`${TRANSFER_ID}${this.#transfers}`, text, 'system');
    this.publish({ type: 'transfer.updated', to, result });
  }

  hungUp(state: HangUpState): void {
    if (state !== this.#hangUp) this.publish({ type: 'hangup.updated', state });
  }

  /** What the carrier's own voice was told to say for the agent. */
  spokenByCarrier(text: string): void {
    this.#enter('carrier-words', text, 'agent');
  }

  /** What is not known yet may turn out to have been a talk. */
  #handedOver(result: TransferResult | null): void {
    this.#hasOtherLeg = result === null || result === 'connected';
    this.#cost.hasOtherLeg(this.#hasOtherLeg);
  }

  /** The record has every fact that was told, which may be more than the state knew. */
  #goOn({ record, state }: ResumedCall): void {
    const { direction, phase, recording, transfer, transcript, turnCount, incidents } = record;
    this.#direction = direction;
    // It may be older than the field.
    this.#language = record.language ?? null;
    this.#phase = phase?.name;
    this.#recording = recording?.status;
    if (transfer !== null) this.#handedOver(transfer.result);
    this.#turn = { ...this.#turn, index: Math.max(state?.turnIndex ?? 0, turnCount - 1) };
    this.#keySequences = Math.max(state?.keySequences ?? 0, lastNumber(transcript, SENT_KEYS_ID));
    this.#transfers = Math.max(state?.transfers ?? 0, lastNumber(transcript, TRANSFER_ID));
    this.#notes = Math.max(state?.notes ?? 0, incidents.length);
    this.#hasApologized =
      state?.hasApologized === true || incidents.some(({ code }) => code === APOLOGY_CODE);
  }

  #enter(id: string, text: string, role: TranscriptRole): void {
    const at = this.clock.wallNow();
    const { index: turnIndex } = this.#turn;
    this.publish({
      type: 'transcript.segment',
      entry: { id, turnIndex, role, text, at, final: true },
    });
  }

  recordedLocally(recording: LocalRecording): void {
    this.publish({ type: 'local-recording.updated', recording });
  }

  /** A recording that is there is told once; that there is none may be corrected. */
  recorded(recording: Recording): void {
    if (this.#recording === 'completed' || this.#recording === recording.status) return;
    this.#recording = recording.status;
    this.publish({ type: 'recording.completed', recording });
  }
}

/** Direction of a call of which the fact says that it is answered. */
function answeredDirection(fact: CallFact): CallDirection | undefined {
  const isAnswered =
    fact.type === 'call.started' || (fact.type === 'call.status' && fact.status === 'active');
  return isAnswered ? fact.direction : undefined;
}

function costBefore({ record, state, wasLetGo = false }: ResumedCall) {
  return { record, state: state?.cost, isComplete: wasLetGo };
}

/** Of a call that is up. What else has a time was told with one of these. */
function lastTimeIn({ startedAt, answeredAt, phase, transcript, incidents, transfer }: CallRecord): number {
  const times = [phase?.since, transcript.at(-1)?.at, incidents.at(-1)?.at, transfer?.startedAt, answeredAt];
  return times.reduce((last: number, at) => Math.max(last, at ?? 0), startedAt);
}

/** The highest number behind `prefix` in the ids of `entries`; 0 without any. */
function lastNumber(entries: readonly TranscriptEntry[], prefix: string): number {
  const numbers = entries.map(({ id }) => (id.startsWith(prefix) ? Number(id.slice(prefix.length)) : 0));
  return Math.max(0, ...numbers.filter(Number.isInteger));
}
