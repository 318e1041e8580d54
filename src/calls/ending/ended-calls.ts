// The calls of this process that are over: what still comes of them, and what is still asked of the carrier.
import type { CallAnswer } from '../../carriers/carrier.js';
import type { CallRecord, LocalRecording } from '../../contract/call-record.js';
import type { CallReport } from '../call-desk.js';
import type { CallEnvironment } from '../call-environment.js';
import type { CallRegistry } from '../call-registry.js';
import type { CallLedger } from '../facts/call-ledger.js';
import { CostWatch } from '../money/cost-watch.js';
import type { CallRemains } from '../session-owner.js';
import { type BriefCall, type BriefEnding, recordBriefly } from './brief-call.js';
import { CarrierTeardowns } from './carrier-teardowns.js';
import { EndedCall } from './ended-call.js';
import { hangUpDueMs, isChargeDue, recallCall } from './recalled-call.js';

export class EndedCalls {
  readonly #env: CallEnvironment;
  readonly #registry: CallRegistry;
  readonly #teardowns: CarrierTeardowns;
  readonly #costs: CostWatch;
  /** Of calls that another process may have as well: nothing of their ends is stated yet. */
  readonly #closing = new Map<string, CallLedger>();
  readonly #left: (callId: string) => void;
  #isClosed = false;

  /** `left`: gets the ID of a call that is over here, and of which another process states the end. */
  constructor(environment: CallEnvironment, registry: CallRegistry, left: (callId: string) => void) {
    this.#env = environment;
    this.#registry = registry;
    this.#left = left;
    this.#teardowns = new CarrierTeardowns(environment);
    this.#costs = new CostWatch(environment);
  }

  /** The session of a call has ended. */
  add(remains: CallRemains): void {
    const call = new EndedCall(remains);
    this.#registry.end(call);
    if (remains.teardown !== undefined) this.#teardowns.keep(remains.teardown);
    if (!this.#isClosed) this.#costs.follow(call);
  }

  /** Of two processes that have a call, as one that was cut off and the one that has taken its place, one states the end. Here it is over, whichever that is. */
  async stateUnlessElsewhere(callId: string, ledger: CallLedger): Promise<void> {
    ledger.hold();
    this.#closing.set(callId, ledger);
    const isElsewhere = await this.#env.others?.haveTaken(callId, ledger.term);
    if (isElsewhere === true) this.#leave(callId, ledger);
    else ledger.release();
    if (this.#closing.get(callId) === ledger) this.#closing.delete(callId);
  }

  /** As in `CallDirectory`. */
  closingTerm(callId: string): number | undefined {
    return this.#closing.get(callId)?.term;
  }

  /** Another process states something of a call in this term. */
  learn(callId: string, term: number): void {
    const ledger = this.#closing.get(callId);
    if (ledger !== undefined && term > ledger.term) this.#leave(callId, ledger);
  }

  /** Nobody is asked any more who states an end. */
  stateAll(): void {
    for (const ledger of this.#closing.values()) ledger.release();
  }

  /** A call that never had a session. */
  record(call: BriefCall, ending: BriefEnding): void {
    this.#registry.end(recordBriefly(call, ending, this.#env));
  }

  /** As in `CallDirectory`. */
  recall(record: CallRecord): void {
    const call = recallCall(record, this.#env);
    this.#registry.end(call);
    if (isChargeDue(record, this.#env.clock)) this.#costs.follow(call);
    const askedMs = hangUpDueMs(record, this.#env);
    if (askedMs !== undefined) this.#teardowns.begin(call, 'check', { askedMs });
  }

  /** As in `CallDirectory`. */
  hasPending(record: CallRecord): boolean {
    const isPriced = this.#costs.canAsk && isChargeDue(record, this.#env.clock);
    return isPriced || hangUpDueMs(record, this.#env) !== undefined;
  }

  /** As in `CallDirectory`. */
  recordedLocally(record: CallRecord, recording: LocalRecording): void {
    const call = this.#registry.ended(record.callId) ?? recallCall(record, this.#env);
    call.ledger.recordedLocally(recording);
  }

  /** A late report of the carrier. */
  hear(call: EndedCall, report: CallReport): CallAnswer | undefined {
    if (call.provesOrphan(report)) this.#hangUpOrphan(call);
    // Elsewhere the reply to the report hangs up.
    else if (this.#env.carrier.commands !== undefined && call.leavesCallerAlone(report))
      this.#teardowns.begin(call, 'check');
    return call.hear(report);
  }

  /** As `CallDirectory.forgetEnded`. */
  forget(callId: string): void {
    const call = this.#registry.ended(callId);
    if (call === undefined) return;
    call.ledger.close();
    this.#costs.leave(call);
    this.#registry.forgetEnded(callId);
  }

  /** No price is asked for any more. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#costs.close();
  }

  /** Resolves when the carrier has been asked for everything, or after the time. */
  async finish(timeoutMs: number): Promise<void> {
    await this.#teardowns.finish(timeoutMs);
  }

  /** Another process has the call: nothing of it is for this one any more. */
  #leave(callId: string, ledger: CallLedger): void {
    if (!ledger.drop()) return;
    const call = this.#registry.ended(callId);
    call?.leave();
    if (call !== undefined) this.#costs.leave(call);
    this.#registry.leaveEnded(callId);
    this.#left(callId);
  }

  /** The call was given up because nothing showed that it exists, and it does. One that was called off only waited to be named. */
  #hangUpOrphan(call: EndedCall): void {
    this.#registry.end(call);
    if (call.isTakingLeave) return;
    call.ledger.note('CARRIER_FAILED', 'The carrier had placed the call after all; it was hung up.');
    this.#teardowns.begin(call, 'hang-up');
  }
}
