// The progress of one call as its carrier reports it: in any order, more than once, and never backwards.
import type { CallReport } from './call-desk.js';
import type { CallStatus } from '../contract/call-record.js';

type StatusReport = Extract<CallReport, { type: 'status' }>;

const ORDER: Readonly<Record<CallStatus, number>> = { initiated: 0, ringing: 1, active: 2, completed: 3 };

/** Orders reports by their sequence where they have one, and by what they say in any case. */
export class CallProgress {
  #status: CallStatus = 'initiated';
  #sequence = -1;

  get status(): CallStatus {
    return this.#status;
  }

  /** Returns the status that the report brings; undefined when it is late, repeated or says nothing new. */
  hear(report: Pick<StatusReport, 'status' | 'sequence'>): CallStatus | undefined {
    const { status, sequence } = report;
    if (sequence !== null && sequence <= this.#sequence) return undefined;
    if (sequence !== null) this.#sequence = sequence;
    return this.advance(status) ? status : undefined;
  }

  /** Something else than a report shows how far the call is. False when that is nothing new. */
  advance(status: CallStatus): boolean {
    if (ORDER[status] <= ORDER[this.#status]) return false;
    this.#status = status;
    return true;
  }
}
