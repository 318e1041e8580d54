// Facts of the bus -> a dashboard in another process. Never in the way of a call: facts are held, bounded, and sent when it works.
import type { Clock, Timer } from '../../base/clock.js';
import { describeError, type Logger } from '../../base/log.js';
import type { CallEvent } from '../../contract/call-event.js';
import type {
  IngestAnswer,
  IngestBatch,
  IngestEvent,
  IngestQuestion,
  IngestRefusalReason,
} from '../../contract/ingest.js';
import type { EventBus } from '../bus.js';
import { Archive, type FactSource } from './archive.js';
import { Backlog, type BacklogBounds } from './backlog.js';
import { type CallLog, callKey } from './call-log.js';
import { type DashboardLink, LinkError } from './link.js';

/** Facts that come close together go together. */
const GATHER_MS = 50;
/** A dashboard takes a server for dead that it does not hear from for 45 seconds. */
const SIGN_OF_LIFE_MS = 10_000;
const FIRST_RETRY_MS = 500;
/** One that is only looked for is asked for more often: the socket of the user costs nothing. */
const MAX_RETRY_MS = { named: 30_000, automatic: 5_000 };
/** Characters of JSON in a batch, and of one call in it: no call keeps the others waiting. */
const BATCH_LENGTH = 256 * 1024;
const CALL_LENGTH = 64 * 1024;
const MAX_EVENTS = 1000;
const MAX_QUESTIONS = 500;
/** What a shutdown waits for the last facts, in milliseconds. */
const FLUSH_MS = 2000;

export interface ForwarderParts {
  bus: EventBus;
  link: DashboardLink;
  /** This process. */
  nodeId: string;
  /** Where facts that are not held any more come from, if a store keeps them. */
  source?: FactSource | undefined;
  clock: Clock;
  logger: Logger;
  bounds?: Partial<BacklogBounds>;
  /** Spreads retries, 0 to 1. @default Math.random */
  random?: () => number;
}

/** One batch at a time. What of it was taken the dashboard says; so nothing is lost or doubled wherever a connection breaks. */
export class Forwarder {
  readonly #parts: ForwarderParts;
  readonly #backlog: Backlog;
  readonly #archive: Archive | undefined;
  readonly #unsubscribe: () => void;
  /** The dashboard that our knowledge is of. */
  #dashboardId: string | undefined;
  #failures = 0;
  #complaint = '';
  /** Reasons of refusals that were logged. */
  readonly #told = new Set<IngestRefusalReason>();
  #timer: Timer | undefined;
  #dueAt = 0;
  #turning: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: ForwarderParts) {
    this.#parts = parts;
    this.#backlog = new Backlog({ isStored: parts.source !== undefined, bounds: parts.bounds });
    this.#archive = parts.source === undefined ? undefined : new Archive(parts.source);
    this.#unsubscribe = parts.bus.subscribe((event) => this.#take(event));
    this.#arm(0);
  }

  /** Facts that are held, and those that were given up for want of room. */
  get counts(): { held: number; lost: number } {
    return { held: this.#backlog.size, lost: this.#backlog.lost };
  }

  /** Sends what is left, for at most two seconds, where a dashboard is there. Idempotent, never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #take(event: CallEvent): void {
    this.#backlog.append(event);
    if (this.#failures === 0) this.#arm(GATHER_MS);
  }

  async #close(): Promise<void> {
    const { clock, link } = this.#parts;
    this.#unsubscribe();
    this.#timer?.cancel();
    let isOver = false;
    const timeout = new Promise<void>((resolve) => {
      this.#timer = clock.after(FLUSH_MS, resolve);
    });
    const flush = async () => {
      await this.#turning;
      while (this.#failures === 0 && this.#hasNews && !isOver) await this.#turn();
    };
    await Promise.race([flush(), timeout]);
    isOver = true;
    this.#timer?.cancel();
    link.close();
  }

  /** Turns in at most `delayMs`, and not earlier than a turn that is due already. */
  #arm(delayMs: number): void {
    if (this.#closing !== undefined || this.#turning !== undefined) return;
    const { clock } = this.#parts;
    const dueAt = clock.now() + delayMs;
    if (this.#timer !== undefined && this.#dueAt <= dueAt) return;
    this.#timer?.cancel();
    this.#dueAt = dueAt;
    this.#timer = clock.after(delayMs, () => {
      this.#timer = undefined;
      this.#turning = this.#turn().finally(() => {
        this.#turning = undefined;
        this.#arm(this.#delay());
      });
    });
  }

  #delay(): number {
    if (this.#failures > 0) {
      const { named, automatic } = MAX_RETRY_MS;
      const longest = this.#parts.link.isNamed ? named : automatic;
      const wait = Math.min(longest, FIRST_RETRY_MS * 2 ** Math.min(this.#failures - 1, 10));
      return wait * (0.5 + (this.#parts.random ?? Math.random)() / 2);
    }
    if (this.#archive?.isBusy === true) return 0;
    return this.#hasNews ? GATHER_MS : SIGN_OF_LIFE_MS;
  }

  get #hasNews(): boolean {
    for (const log of this.#backlog.logs) if (log.isUnknown || log.isBehind) return true;
    return false;
  }

  /** One batch and its answer. Never rejects. */
  async #turn(): Promise<void> {
    try {
      const batch = await this.#gather();
      const answer = await this.#parts.link.send(JSON.stringify(batch));
      this.#digest(batch, answer);
      if (this.#complaint !== '') this.#parts.logger.info({}, 'the dashboard is back');
      this.#complaint = '';
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      this.#complain(error);
    }
  }

  async #gather(): Promise<IngestBatch> {
    const calls: IngestQuestion[] = [];
    const events: IngestEvent[] = [];
    let length = 0;
    for (const log of [...this.#backlog.logs]) {
      if (log.isUnknown && calls.length < MAX_QUESTIONS) calls.push(toQuestion(log));
      if (!log.isBehind || length >= BATCH_LENGTH || events.length >= MAX_EVENTS) continue;
      if (log.lacksFacts) this.#backlog.recover(log, await this.#parts.source?.events(log.callId));
      const next = log.next(CALL_LENGTH);
      events.push(...next.events);
      length += next.length;
    }
    if (this.#archive !== undefined && calls.length === 0 && events.length === 0) {
      await this.#gatherArchive(this.#archive, { calls, events });
    }
    return { nodeId: this.#parts.nodeId, calls, events };
  }

  /** What is of before waits for what is of now. */
  async #gatherArchive(archive: Archive, batch: Pick<IngestBatch, 'calls' | 'events'>): Promise<void> {
    const next = await archive.next();
    if (next !== undefined) {
      const log = this.#backlog.adopt(next.events);
      if (log !== undefined) this.#backlog.learn(log, next.position);
      if (log !== undefined) batch.events.push(...log.next(CALL_LENGTH).events);
      return;
    }
    const questions = await archive.questions((call) => this.#backlog.has(call));
    batch.calls.push(...questions.map(({ callId, nodeId, endedAt }) => ({ callId, nodeId, endedAt })));
  }

  #digest({ events }: IngestBatch, answer: IngestAnswer): void {
    for (const { index, reason, message } of answer.refused) {
      const event = events[index];
      const log = event === undefined || reason === 'gap' ? undefined : this.#backlog.find(event);
      if (event === undefined || log === undefined) continue;
      this.#backlog.skip(log, event);
      // A dashboard that never had the call has nothing to delete.
      if (event.type !== 'call.forgotten' || reason !== 'no-call') this.#tellRefusal(reason, message);
    }
    if (answer.dashboardId !== this.#dashboardId) {
      this.#dashboardId = answer.dashboardId;
      this.#backlog.forget();
      this.#archive?.start();
      this.#told.clear();
      this.#parts.logger.info({}, 'calls are also sent to a standalone dashboard');
    }
    const positions = new Map(answer.calls.map((position) => [callKey(position), position]));
    for (const position of answer.calls) {
      const log = this.#backlog.find(position);
      if (log === undefined) continue;
      this.#backlog.learn(log, position);
      this.#backlog.settle(log);
    }
    this.#archive?.learn(positions);
  }

  /** Once per reason and dashboard. */
  #tellRefusal(reason: IngestRefusalReason, message: string | undefined): void {
    if (this.#told.has(reason)) return;
    this.#told.add(reason);
    this.#parts.logger.warn({ reason, message }, 'the dashboard rejected some facts');
  }

  /** One line per trouble, not per attempt; none where no dashboard was asked for. */
  #complain(error: unknown): void {
    const { link, logger } = this.#parts;
    const isLink = error instanceof LinkError;
    if (isLink && !link.isNamed && error.kind !== 'refused') return;
    const complaint = isLink ? `${error.kind} ${error.status ?? ''}` : 'failed';
    if (complaint === this.#complaint) return;
    this.#complaint = complaint;
    if (!isLink) logger.error(describeError(error), 'failed to forward calls to the dashboard');
    else if (error.kind === 'refused') {
      logger.warn(
        { dashboard: link.address, status: error.status },
        'the dashboard refuses the calls: check that dashboardIngestToken is its token and dashboardUrl a standalone dashboard',
      );
    } else {
      logger.warn(
        {
          dashboard: link.address,
          ...(error.status === null ? describeError(error.cause) : { status: error.status }),
        },
        'the dashboard is not available: calls are kept until it is',
      );
    }
  }
}

function toQuestion({ callId, originId, endedAt }: CallLog): IngestQuestion {
  return { callId, nodeId: originId, endedAt };
}
