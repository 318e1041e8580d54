// What becomes of a caller whose transfer came to nothing, and of an agent that wanted to hang up meanwhile.
import { endWait } from '../../conversation/wait.js';
import { type CallEnding, NORMAL_CLOSE } from '../ending/call-ending.js';
import type { CallConversation } from '../voice/call-conversation.js';
import type { SessionContext } from '../session-context.js';
import type { CallMedia } from '../streams/call-media.js';
import type { CallStanding } from '../call-standing.js';
import type { StreamLoss } from '../streams/call-stream.js';

export interface ReturnParts {
  readonly media: CallMedia;
  readonly conversation: CallConversation;
  readonly standing: CallStanding;
}

export interface ReturnEvents {
  /** The agent ends the call after all. */
  agentEnds(ending: CallEnding): void;
  /** The stream went while the order was given, and nothing else explains it. */
  gone(loss: StreamLoss): void;
}

export class CallerReturn {
  readonly #context: SessionContext;
  readonly #parts: ReturnParts;
  readonly #events: ReturnEvents;
  #deferred: CallEnding | undefined;

  constructor(context: SessionContext, parts: ReturnParts, events: ReturnEvents) {
    this.#context = context;
    this.#parts = parts;
    this.#events = events;
  }

  /** The agent wants the end while the caller is being handed over, who is not the agent's to hang up on then. */
  defer(ending: CallEnding): void {
    const { wait } = ending;
    this.#deferred = { ...ending, wait: wait && endWait(wait, this.#context.environment.clock.now()) };
  }

  /** The number was not reached. `news`: what the agent says of that, where nobody else tells it. */
  back(news: string | undefined): void {
    const { media, conversation, standing } = this.#parts;
    conversation.release('transfer', news);
    const deferred = this.#deferred;
    const isCommanded = this.#context.environment.carrier.commands !== undefined;
    if (standing.over !== undefined) this.#context.end({ reason: 'caller-hangup', close: NORMAL_CLOSE });
    // A carrier that waits for the reply to its report cannot be told to speak meanwhile.
    else if (deferred !== undefined && !isCommanded) this.#context.end(deferred);
    else if (deferred !== undefined) this.#events.agentEnds(deferred);
    else if (!isCommanded) media.expect();
    else if (media.isUp) return;
    else if (media.canOpen) media.open();
    else this.#context.end({ reason: 'stream-lost', carrier: 'hang-up' });
  }

  /** The carrier did not take the order, as far as we know. `loss`: how the stream went meanwhile. `news` as in `back`. */
  stayed(loss: StreamLoss | undefined, news: string | undefined): void {
    this.#parts.conversation.release('transfer', news);
    const deferred = this.#deferred;
    this.#deferred = undefined;
    // A stop says that the caller has left.
    if (deferred !== undefined && loss?.type !== 'stop') this.#events.agentEnds(deferred);
    else if (loss !== undefined) this.#events.gone(loss);
  }
}
