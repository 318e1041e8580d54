// A call whose process died, until it is up again here: asks the carrier for it and for what it needs, and gives it up where it is gone.
import { describeError } from '../../base/log.js';
import type { CallRecord } from '../../contract/call-record.js';
import type { CallReport } from '../call-desk.js';
import type { CallEnvironment } from '../call-environment.js';
import type { SessionContext } from '../session-context.js';
import type { CallStanding } from '../call-standing.js';
import type { CarrierAnnouncement } from '../ending/carrier-announcement.js';
import type { Loss } from '../ending/lost-call.js';
import type { MachineWatch } from '../outbound/machine-watch.js';
import { answerRinging } from '../ringing-call.js';
import type { CallMedia } from '../streams/call-media.js';
import type { CallTransfer } from '../transfer/transfer.js';
import type { CallConversation } from '../voice/call-conversation.js';
import type { LeftCall } from './call-state.js';

const DIED = 'The server process died, and another one took the call up.';
const HANDED_OVER = 'Another server process took the call over.';

/** A call is gone on with so long after its process was there last, in milliseconds. A carrier that waits for instructions has ended it before. */
const RESUMABLE_MS = 60_000;
/** A stream for which a call was given is up by then. */
const AT_HAND_MS = 3000;
/** Pause before a carrier is asked again that has not answered. */
const ASK_AGAIN_MS = 1000;

/**
 * Why a call cannot be gone on with; undefined for one that may be up, and of which enough is known. Without a secret nobody may take a call over
 * by knowing its ID.
 */
export function lossOf(
  { record, state, lastAliveAt, aheadMs = 0 }: LeftCall,
  { carrier, clock }: CallEnvironment,
): Loss | undefined {
  if (carrier.streamTokenKey === undefined) return 'not-kept';
  if (record.carrier !== carrier.id) return 'other-carrier';
  if (clock.wallNow() + aheadMs - lastAliveAt > RESUMABLE_MS) return 'late';
  if (state?.outbound != null) return undefined;
  if (record.carrierCallId === null) return 'unplaced';
  return isUpHere(record) ? undefined : 'unreadable';
}

/** Nothing has to be known of how it was placed. */
function isUpHere({ answeredAt, direction }: CallRecord): boolean {
  return answeredAt !== null || direction === 'inbound';
}

/** True for a report that no call sends which is over. */
export function showsLife(report: CallReport): boolean {
  switch (report.type) {
    case 'status':
      return report.status !== 'completed';
    case 'transfer':
      return report.result !== 'connected';
    case 'resume':
    case 'machine-detection':
    case 'dtmf':
    case 'hold':
    case 'speech-ended':
      return true;
    default:
      return false;
  }
}

export interface ResumptionParts {
  readonly media: CallMedia;
  readonly conversation: CallConversation;
  readonly transfer: CallTransfer;
  readonly announcement: CarrierAnnouncement;
  readonly standing: CallStanding;
  readonly machine: MachineWatch | undefined;
}

export interface ResumptionEvents {
  /** Whoever is on the line, or will be, is to be connected. */
  connect(): void;
  /** The call ended with its process, or is given up: `at` tells when, in epoch milliseconds; undefined for now. */
  lost(loss: Loss, at: number | undefined): void;
}

export class CallResumption {
  readonly #context: SessionContext;
  readonly #left: LeftCall;
  readonly #parts: ResumptionParts;
  readonly #events: ResumptionEvents;
  #isProven = false;
  #isTold = false;
  #isPending = true;
  #hasBegun = false;

  constructor(context: SessionContext, left: LeftCall, parts: ResumptionParts, events: ResumptionEvents) {
    this.#context = context;
    this.#left = left;
    this.#parts = parts;
    this.#events = events;
  }

  /** True until a stream is up, or something else shows that none is needed. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** Since when nobody has had the call, in epoch milliseconds; null once a stream is up. */
  get awaitedSince(): number | null {
    const { state, lastAliveAt } = this.#left;
    return this.#isPending ? (state?.awaitedSince ?? lastAliveAt) : null;
  }

  /** To be called once the carrier can reach this process. */
  begin(): void {
    if (this.#context.isOver || this.#hasBegun) return;
    this.#hasBegun = true;
    this.#seek();
  }

  #seek(): void {
    const { media, standing } = this.#parts;
    const { environment, identity } = this.#context;
    const { carrierCallId, direction } = identity;
    if (carrierCallId !== null && environment.carrier.rest.configured) void this.#ask(carrierCallId);
    if (this.#isStreamDue) {
      // It may have come by itself, or been told that it may.
      if (!media.isThere && !media.isExpected) this.#events.connect();
      return;
    }
    const rings =
      direction === 'inbound' && !standing.isAnswered && environment.carrier.commands !== undefined;
    if (rings) answerRinging(this.#context, { lost: () => this.#events.connect() });
  }

  /** The stream is there already that the process before has asked for. */
  beginWithStream(): void {
    if (this.#context.isOver || this.#hasBegun) return;
    this.#hasBegun = true;
    const { media } = this.#parts;
    // The carrier may have given it up meanwhile, or the caller.
    media.expect(AT_HAND_MS, () => {
      media.unexpect();
      this.#seek();
    });
  }

  /** The caller was not handed over after all. */
  stayed(): void {
    const { media } = this.#parts;
    const isMissed = !media.isThere && !media.isExpected;
    if (isMissed && !this.#context.isOver && this.#isStreamDue && media.canOpen) media.open();
  }

  /** Something shows that the carrier has the call: that it goes on here is a fact, unless another process has it. */
  proven(): void {
    const { isOver, environment, callId } = this.#context;
    if (this.#isProven || isOver) return;
    this.#isProven = true;
    if (environment.others === undefined) this.#tell();
    else void environment.others.asked(callId).then(() => this.#tell());
  }

  #tell(): void {
    if (this.#isTold || this.#context.isOver) return;
    this.#isTold = true;
    this.#parts.standing.tell();
    if (this.#isStreamDue || !this.#isPending) return;
    this.#isPending = false;
    this.#note({});
  }

  /** A stream is up. */
  attached(): void {
    if (!this.#isPending) return;
    this.#isProven = true;
    this.#tell();
    // One that died before it had a stream took the call up for nobody.
    const { awaitedSince } = this;
    if (awaitedSince === null) return;
    this.#isPending = false;
    // Its first stream has come to this process, and nobody has noticed anything.
    if (this.#left.wasLetGo === true && this.#left.record.mode === null) return;
    const gapMs = Math.max(0, this.#context.ledger.clock.wallNow() - awaitedSince);
    this.#note({ durationMs: Math.round(gapMs) });
  }

  /** No stream has come in time. */
  missing(): void {
    this.#events.lost('no-stream', this.#isProven ? undefined : this.#left.lastAliveAt);
  }

  get #isStreamDue(): boolean {
    const { conversation, transfer, announcement, standing, machine } = this.#parts;
    const isTalking = conversation.isStarted || standing.isAnswered;
    const isElsewhere =
      transfer.isPending || announcement.ending !== undefined || machine?.isMachine === true;
    return isTalking && !isElsewhere;
  }

  #note(about: { readonly durationMs?: number }): void {
    const sentence = this.#left.wasLetGo === true ? HANDED_OVER : DIED;
    this.#context.ledger.note('process-replaced', sentence, about);
  }

  /** Until the carrier says whether it has the call, or something else shows it. */
  async #ask(carrierCallId: string): Promise<void> {
    const { environment, timers, callId } = this.#context;
    const { carrier, clock, logger } = environment;
    const until = clock.now() + RESUMABLE_MS;
    while (!this.#parts.media.isThere && !this.#context.isOver && clock.now() < until) {
      try {
        const { isOver } = await carrier.rest.lookUp(carrierCallId);
        if (this.#parts.media.isThere || this.#context.isOver) return;
        if (isOver) this.#events.lost('hung-up', this.#left.lastAliveAt);
        else this.proven();
        return;
      } catch (error) {
        logger.warn(
          { callId, ...describeError(error) },
          'the carrier did not say whether the call is still up',
        );
        await new Promise<void>((resolve) => timers.set('resumption', ASK_AGAIN_MS, resolve));
      }
    }
  }
}
