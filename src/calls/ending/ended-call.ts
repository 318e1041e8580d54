// A call that is over: takes the facts that may still come, and answers a carrier that still asks about it.
import type { CallAnswer } from '../../carriers/carrier.js';
import type { HangUpState } from '../../contract/call-record.js';
import type { CallReport } from '../call-desk.js';
import type { CarrierTeardown } from './carrier-teardown.js';
import type { CallRemains } from '../session-owner.js';

const HANG_UP: CallAnswer = { type: 'hang-up' };

export class EndedCall {
  readonly callId: string;
  readonly ledger: CallRemains['ledger'];
  readonly #direction: CallRemains['direction'];
  #carrierCallId: string | null;
  /** Both know the whole session, and a call is remembered for hours: let go of as soon as the teardown is done. */
  #teardown: CarrierTeardown | undefined;
  #adopt: CallRemains['adopt'];

  constructor({ callId, carrierCallId, direction, ledger, teardown, adopt }: CallRemains) {
    this.callId = callId;
    this.ledger = ledger;
    this.#direction = direction;
    this.#carrierCallId = carrierCallId;
    if (teardown === undefined) return;
    this.#adopt = adopt;
    this.follow(teardown);
  }

  get carrierCallId(): string | null {
    return this.#carrierCallId;
  }

  /** True while the carrier is being asked for something, or will be. */
  get isTakingLeave(): boolean {
    return this.#teardown !== undefined;
  }

  identify(carrierCallId: string): void {
    this.#carrierCallId ??= carrierCallId;
  }

  /** Tries the hang-up that is pending at once. Resolves with how it stands then; undefined when none is pending. */
  hangUp(): Promise<HangUpState> | undefined {
    return this.#teardown?.tryNow();
  }

  /** Another process has the call: nothing is asked of the carrier for it any more. */
  leave(): void {
    this.#teardown?.carrierSaysOver();
  }

  /** The carrier asks about the call: it can be asked, too. */
  isHeardOf(): void {
    this.#teardown?.nudge();
  }

  /** Something is asked of the carrier, which a report of the end makes needless. */
  follow(teardown: CarrierTeardown): void {
    this.#teardown = teardown;
    void teardown.done.then(() => {
      if (this.#teardown !== teardown) return;
      this.#teardown = undefined;
      this.#adopt = undefined;
    });
  }

  /**
   * True for a report that shows a call of ours at the carrier which was given up before it was known to exist. It is then known,
   * and has to be hung up. True once.
   */
  provesOrphan(report: CallReport): boolean {
    const isOurs = report.callId === this.callId && report.type !== 'transfer';
    if (!isOurs || this.#carrierCallId !== null || this.#direction !== 'outbound') return false;
    this.identify(report.carrierCallId);
    this.#adopt?.(report.carrierCallId);
    return !isFinal(report);
  }

  /** True for a report that the number was not reached which the caller had been left to: nobody is there for the caller any more. */
  leavesCallerAlone(report: CallReport): boolean {
    return report.type === 'transfer' && report.result !== 'connected';
  }

  /** Takes what may come after the end. Returns what the carrier shall do where the report asks for it. */
  hear(report: CallReport): CallAnswer | undefined {
    const { ledger } = this;
    if (report.type === 'transfer') return HANG_UP;
    if (report.carrierCallId !== this.#carrierCallId) return undefined;
    if (report.type === 'recording') ledger.recorded(report.recording);
    if (report.type === 'cost') ledger.charged(report.costUsd);
    if (isFinal(report)) this.#isOverAtCarrier();
    else this.isHeardOf();
    return undefined;
  }

  /** Also a hang-up that the carrier has refused is done then. */
  #isOverAtCarrier(): void {
    this.#teardown?.carrierSaysOver();
    if (this.ledger.hangUp === 'failed') this.ledger.hungUp('done');
  }
}

function isFinal(report: CallReport): boolean {
  return report.type === 'status' && report.status === 'completed';
}
