// A call that is over: takes the facts that may still come, and answers a carrier that still asks about it.
import type { CallAnswer } from '../carriers/carrier.js';
import type { CallReport } from './call-desk.js';
import type { CallRemains } from './session-owner.js';

const HANG_UP: CallAnswer = { type: 'hang-up' };

export class EndedCall {
  readonly #remains: CallRemains;
  #carrierCallId: string | null;

  constructor(remains: CallRemains) {
    this.#remains = remains;
    this.#carrierCallId = remains.carrierCallId;
  }

  get callId(): string {
    return this.#remains.callId;
  }

  get carrierCallId(): string | null {
    return this.#carrierCallId;
  }

  get ledger(): CallRemains['ledger'] {
    return this.#remains.ledger;
  }

  identify(carrierCallId: string): void {
    this.#carrierCallId ??= carrierCallId;
  }

  /**
   * True for a report that shows a call of ours at the carrier which was given up before it was known to exist. It is then known,
   * and has to be hung up. True once.
   */
  provesOrphan(report: CallReport): boolean {
    const isOurs = report.callId === this.callId && report.type !== 'transfer';
    if (!isOurs || this.#carrierCallId !== null || this.#remains.direction !== 'outbound') return false;
    this.identify(report.carrierCallId);
    return !isFinal(report);
  }

  /** Takes what may come after the end. Returns what the carrier shall do where the report asks for it. */
  hear(report: CallReport): CallAnswer | undefined {
    const { ledger, farewell } = this.#remains;
    if (report.type === 'transfer') return HANG_UP;
    if (report.carrierCallId !== this.#carrierCallId) return undefined;
    if (report.type === 'recording') ledger.recorded(report.recording);
    if (report.type === 'cost') ledger.charged(report.costUsd);
    if (isFinal(report)) farewell?.carrierSaysOver();
    return undefined;
  }
}

function isFinal(report: CallReport): boolean {
  return report.type === 'status' && report.status === 'completed';
}
