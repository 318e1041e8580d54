// Ends a call in which the agent cannot, or shall not, have the last word: it is taken off the line, and the carrier's voice says why.
import type { SetPhrases } from '../../engines/languages/set-phrases.js';
import { phrasesIn } from '../../engines/languages/spoken-words.js';
import type { CallConversation } from '../voice/call-conversation.js';
import { type CallEnding, NORMAL_CLOSE } from './call-ending.js';
import type { SessionContext } from '../session-context.js';
import type { CallMedia } from '../streams/call-media.js';
import type { CallStanding } from '../call-standing.js';
import type { Announcement, CarrierAnnouncement } from './carrier-announcement.js';
import type { CallTransfer } from '../transfer/transfer.js';

export interface AnnouncedEndParts {
  readonly media: CallMedia;
  readonly conversation: CallConversation;
  readonly standing: CallStanding;
  readonly transfer: CallTransfer;
  readonly announcement: CarrierAnnouncement;
}

const OVER_BUDGET: CallEnding = { reason: 'budget', close: NORMAL_CLOSE, carrier: 'hang-up' };

export class AnnouncedEnd {
  readonly #context: SessionContext;
  readonly #parts: AnnouncedEndParts;

  constructor(context: SessionContext, parts: AnnouncedEndParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** The agent cannot say that something went wrong. */
  apologize(ending: CallEnding): void {
    const { call: text, language } = this.#setPhrases.apologies;
    this.#say({ text, language, isApology: true }, ending);
  }

  /** The call has used up its money. A caller who is being handed over is not hung up on; the next cost asks again. One who has left ends it. */
  overBudget(): void {
    const { standing, transfer, announcement } = this.#parts;
    // Who tells of the cost may be in the middle of it: the engine that used it is not closed under its own feet.
    this.#context.timers.set('budget', 0, () => {
      const isEnding = announcement.ending !== undefined || standing.over !== undefined;
      if (!isEnding && !transfer.isPending) this.#say(this.#setPhrases.overBudget, OVER_BUDGET);
    });
  }

  get #setPhrases(): SetPhrases {
    return phrasesIn(this.#context.recipe, this.#context.ledger.language);
  }

  #say(words: Announcement, ending: CallEnding): void {
    const { conversation, media, standing, announcement } = this.#parts;
    if (this.#context.isOver) return;
    if (standing.over !== undefined) {
      this.#context.end(ending);
      return;
    }
    conversation.close();
    media.unexpect();
    announcement.say(words, ending);
  }
}
