// How far a call has come, as its carrier reports it and as other signs show it.
import type { CallOutcome, CallStatus } from '../contract/call-record.js';
import type { CallReport } from './call-desk.js';
import type { ReportedEnd } from './ending/call-ending.js';
import type { SessionContext } from './session-context.js';
import { CallProgress } from './call-progress.js';

export interface StandingEvents {
  /** The carrier says that somebody is on the line. */
  answered(): void;
  /** The carrier says that the call is over. Once. */
  over(outcome: CallOutcome | null): void;
}

export class CallStanding {
  readonly #context: SessionContext;
  readonly #events: StandingEvents;
  readonly #progress = new CallProgress();
  #isAnswered = false;
  #over:
    | (ReportedEnd & { readonly durationMs: number | undefined; readonly at: number | undefined })
    | undefined;
  /** When the carrier says that the call was answered, on its clock. */
  #answeredAt: number | undefined;

  constructor(context: SessionContext, events: StandingEvents) {
    this.#context = context;
    this.#events = events;
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** What the carrier says became of the call; undefined until it says that it is over. */
  get over(): ReportedEnd | undefined {
    return this.#over;
  }

  /** How long the call was answered, as the carrier counts it; undefined where it does not say. */
  get durationMs(): number | undefined {
    const { durationMs, at } = this.#over ?? {};
    if (durationMs !== undefined || at === undefined || this.#answeredAt === undefined) return durationMs;
    return Math.max(0, at - this.#answeredAt);
  }

  /** What is known of a call that another process had. */
  restore({ isAnswered, hasRung }: { isAnswered: boolean; hasRung: boolean }): void {
    this.#isAnswered = isAnswered;
    if (hasRung || isAnswered) this.#progress.advance(isAnswered ? 'active' : 'ringing');
  }

  heard(report: Extract<CallReport, { type: 'status' }>): void {
    const news = this.#progress.hear(report);
    // Reports come in any order: that of the answer may follow that of the end.
    if (report.status === 'active') this.#answeredAt ??= report.occurredAt;
    if (news === 'completed') {
      const { outcome, endedBy, durationMs, occurredAt: at } = report;
      this.#over = { outcome, endedBy, durationMs, at };
      this.#events.over(report.outcome);
    } else if (news === 'ringing') this.tell();
    else if (news === 'active') this.#events.answered();
  }

  /** An inbound call rings here. */
  rings(): void {
    this.#progress.advance('ringing');
    this.tell();
  }

  /** The call is answered, whatever shows it. `isTold`: another fact says so. */
  isNowAnswered(options: { isTold: boolean } = { isTold: false }): void {
    const isNews = !this.#isAnswered;
    this.#isAnswered = true;
    this.#progress.advance('active');
    for (const timer of ['answer', 'ring'] as const) this.#context.timers.cancel(timer);
    if (isNews && !options.isTold) this.tell('active');
  }

  /** States where the call is, and who talks to whom as far as that is known. */
  tell(status: CallStatus = this.#progress.status): void {
    const { ledger, identity, isOver } = this.#context;
    if (!isOver && status !== 'completed') ledger.publish({ type: 'call.status', status, ...identity });
  }
}
