// What becomes of a caller whose transfer came to nothing, and of an agent that wanted to hang up meanwhile.
import { type CallEnding, NORMAL_CLOSE } from './call-ending.js';
import type { CallConversation } from './call-conversation.js';
import type { CallLine } from './call-line.js';
import type { CallMedia } from './call-media.js';
import type { CallStanding } from './call-standing.js';
import type { StreamLoss } from './call-stream.js';

export interface ReturnParts {
  readonly media: CallMedia;
  readonly conversation: CallConversation;
  readonly standing: CallStanding;
}

export interface ReturnEvents {
  /** The agent ends the call after all. */
  agentEnds(ending: CallEnding, options: { untold: boolean }): void;
  /** The stream went while the order was given, and nothing else explains it. */
  gone(loss: StreamLoss): void;
}

export class CallerReturn {
  readonly #line: CallLine;
  readonly #parts: ReturnParts;
  readonly #events: ReturnEvents;
  #deferred: { readonly ending: CallEnding; readonly untold: boolean } | undefined;

  constructor(line: CallLine, parts: ReturnParts, events: ReturnEvents) {
    this.#line = line;
    this.#parts = parts;
    this.#events = events;
  }

  /** The agent wants the end while the caller is being handed over, who is not the agent's to hang up on then. */
  defer(ending: CallEnding, { untold }: { untold: boolean }): void {
    this.#deferred = { ending, untold };
  }

  /** The number was not reached. */
  back(): void {
    const { media, conversation, standing } = this.#parts;
    conversation.release('transfer');
    const deferred = this.#deferred;
    const isCommanded = this.#line.environment.carrier.commands !== undefined;
    if (standing.over !== undefined) this.#line.end({ reason: 'caller-hangup', close: NORMAL_CLOSE });
    // A carrier that waits for the reply to its report cannot be told to speak meanwhile.
    else if (deferred !== undefined && !isCommanded) this.#line.end(deferred.ending);
    else if (deferred !== undefined) this.#events.agentEnds(deferred.ending, { untold: deferred.untold });
    else if (!isCommanded) media.expect();
    else if (media.isUp) return;
    else if (media.canOpen) media.open();
    else this.#line.end({ reason: 'stream-lost', carrier: 'hang-up' });
  }

  /** The carrier did not take the order, as far as we know. `loss`: how the stream went meanwhile. */
  stayed(loss: StreamLoss | undefined): void {
    this.#parts.conversation.release('transfer');
    const deferred = this.#deferred;
    this.#deferred = undefined;
    // A stop says that the caller has left.
    if (deferred !== undefined && loss?.type !== 'stop')
      this.#events.agentEnds(deferred.ending, { untold: deferred.untold });
    else if (loss !== undefined) this.#events.gone(loss);
  }
}
