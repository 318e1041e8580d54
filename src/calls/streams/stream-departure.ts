// What becomes of a call when a stream of it is gone.
import { describeError } from '../../base/log.js';
import type { CallConversation } from '../voice/call-conversation.js';
import type { CallKeys } from '../keys/call-keys.js';
import type { SessionContext } from '../session-context.js';
import type { CallMedia } from './call-media.js';
import type { CallStanding } from '../call-standing.js';
import type { StreamLoss } from './call-stream.js';
import type { CarrierAnnouncement } from '../ending/carrier-announcement.js';
import type { StreamIntake } from './stream-intake.js';
import { judgeLoss } from './stream-loss.js';
import type { CallTransfer } from '../transfer/transfer.js';

/** What else of the call has a say in it. */
export interface DepartureParts {
  readonly media: CallMedia;
  readonly conversation: CallConversation;
  readonly intake: StreamIntake;
  readonly keys: CallKeys;
  readonly transfer: CallTransfer;
  readonly announcement: CarrierAnnouncement;
  readonly standing: CallStanding;
}

export class StreamDeparture {
  readonly #context: SessionContext;
  readonly #parts: DepartureParts;
  readonly #events: { reportedOver(): void };

  /** `reportedOver`: the call ends as its carrier has said. */
  constructor(context: SessionContext, parts: DepartureParts, events: { reportedOver(): void }) {
    this.#context = context;
    this.#parts = parts;
    this.#events = events;
  }

  /** `wasUp`: not a socket that went before it was the call's. */
  gone(loss: StreamLoss, { wasUp }: { wasUp: boolean }): void {
    const { media, intake } = this.#parts;
    if (this.#context.isOver) return;
    if (wasUp) this.#follow(loss);
    else if (!intake.isAll) media.retry();
    else if (loss.type === 'lost' && this.#isAsked && media.canOpen) media.open();
    else this.#end(loss);
  }

  /** The carrier asks what comes next, also behind a stream that went before it had said what it is. */
  get #isAsked(): boolean {
    const { standing } = this.#parts;
    return this.#context.environment.carrier.commands === undefined && standing.over === undefined;
  }

  #follow(loss: StreamLoss): void {
    const { media, conversation, keys, transfer, announcement, standing } = this.#parts;
    const { environment } = this.#context;
    const verdict = judgeLoss(loss.type, {
      isAnnounced: announcement.ending !== undefined,
      isReportedOver: standing.over !== undefined,
      isTransferring: transfer.isPending,
      isReplaced: media.isExpected,
      isInstructed: media.isInstructed,
      isDoubtful: environment.others?.mayHaveTaken() === true,
      isCommanded: environment.carrier.commands !== undefined,
      canReopen: media.canOpen,
    });
    if (verdict === 'end') {
      this.#end(loss);
      return;
    }
    if (verdict === 'as-reported') {
      this.#events.reportedOver();
      return;
    }
    conversation.detach();
    transfer.streamGone(loss);
    keys.streamGone(loss);
    // An agent whose voice broke in this moment has ended the call instead.
    if (verdict === 'wait' || this.#context.isOver || announcement.ending !== undefined) return;
    if (verdict === 'ask') {
      if (!media.isExpected) media.expect();
      void this.#ask(loss);
      return;
    }
    this.#context.ledger.note('stream-replaced', 'The media stream was lost, and another one was asked for.');
    media.open();
  }

  /** The caller has hung up, or another stream follows. Where the carrier does not say, the stream has its time to come. */
  async #ask(loss: StreamLoss): Promise<void> {
    const { environment, identity, callId } = this.#context;
    const { carrierCallId } = identity;
    if (carrierCallId === null) return;
    try {
      const { isOver } = await environment.carrier.rest.lookUp(carrierCallId);
      if (isOver && !this.#context.isOver && !this.#parts.media.isThere) this.#end(loss);
    } catch (error) {
      environment.logger.warn(
        { callId, ...describeError(error) },
        'the carrier did not say whether the call is over',
      );
    }
  }

  #end(loss: StreamLoss): void {
    const { conversation } = this.#parts;
    if (loss.type === 'broken') {
      const { failure, close } = loss;
      this.#context.end({ reason: 'protocol-error', failure, close, carrier: 'hang-up' });
    } else if (loss.type === 'lost') {
      this.#context.end({ ...conversation.endedBy('stream-lost'), carrier: 'check' });
    } else {
      // A carrier that is steered by commands keeps a call without a stream: it must be known to be over.
      const isKept = this.#context.environment.carrier.commands !== undefined;
      const carrier = isKept ? 'confirm' : undefined;
      this.#context.end({ ...conversation.endedBy('caller-hangup'), carrier });
    }
  }
}
