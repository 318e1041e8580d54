// The recogniser of a call that has not begun: connected, without a word to hear. To the engine it is the provider itself.
import type { ModelPrice } from '../contract/price.js';
import type {
  SpeechToText,
  SpeechToTextContext,
  SpeechToTextEvents,
  SpeechToTextSession,
} from '../providers/speech-to-text.js';
import { attemptAhead } from './attempt-ahead.js';
import type { PreparationContext } from './engine.js';

type EarsUsage = Parameters<NonNullable<SpeechToTextEvents['usage']>>[0];

export interface PreparedEarsOptions {
  readonly context: PreparationContext;
  readonly provider: SpeechToText;
  readonly language: string | undefined;
}

/** One call's. */
export class PreparedEars implements SpeechToText {
  readonly name: string;
  readonly price: ModelPrice | undefined;
  readonly ownsTurnTaking: boolean;
  readonly #options: PreparedEarsOptions;
  #session: SpeechToTextSession | undefined;
  /** Those of the engine, once there is one. */
  #events: SpeechToTextEvents | undefined;
  #usage: EarsUsage[] = [];
  /** Remedies of before, which the record shall have all the same. */
  #remedies: ((events: SpeechToTextEvents) => void)[] = [];
  #hasFailed = false;
  #isAsked = false;
  #isTaken = false;

  constructor(options: PreparedEarsOptions) {
    const { name, price, ownsTurnTaking = false } = options.provider;
    this.name = name;
    this.price = price;
    this.ownsTurnTaking = ownsTurnTaking;
    this.#options = options;
  }

  /** Connects, unless the wait would cost. Idempotent. */
  connect(): void {
    const { context, provider, language } = this.#options;
    if (this.#isAsked || this.#isTaken || provider.paidWhileOpen === true) return;
    this.#isAsked = true;
    const { clock, logger } = context;
    const events = this.#relay();
    this.#session = attemptAhead(context, () => provider.open({ clock, logger, language, events }));
  }

  /** Hands the session over, or opens one as if nothing had been prepared. */
  open(context: SpeechToTextContext): SpeechToTextSession {
    this.#isTaken = true;
    this.#events = context.events;
    for (const usage of this.takeUsage()) context.events.usage?.(usage);
    for (const tell of this.#remedies.splice(0)) tell(context.events);
    const session = this.#session;
    if (session === undefined) return this.#options.provider.open(context);
    if (!this.#hasFailed) return session;
    this.#events = undefined;
    attemptAhead(this.#options.context, () => session.close());
    return this.#options.provider.open(context);
  }

  /** What was used, and nobody was told of. */
  takeUsage(): readonly EarsUsage[] {
    return this.#usage.splice(0);
  }

  /** Closes what no engine has taken. Idempotent. */
  close(): void {
    if (this.#isTaken) return;
    this.#isTaken = true;
    attemptAhead(this.#options.context, () => this.#session?.close());
  }

  /** Before there is an engine nobody speaks: only a failure, what was used and who is asked by now mean anything. */
  #relay(): SpeechToTextEvents {
    return {
      partial: (text) => this.#events?.partial(text),
      final: (text) => this.#events?.final(text),
      failed: (error) => {
        this.#hasFailed = true;
        this.#events?.failed(error);
      },
      speechStarted: (atMs) => this.#events?.speechStarted?.(atMs),
      turnEnded: () => this.#events?.turnEnded?.(),
      usage: (usage) => {
        if (this.#events === undefined) this.#usage.push(usage);
        else this.#events.usage?.(usage);
      },
      troubled: (error) => this.#events?.troubled?.(error),
      settled: (untilMs) => this.#events?.settled?.(untilMs),
      unanswered: () => this.#events?.unanswered?.(),
      reconnected: (gap) => this.#remedied((events) => events.reconnected?.(gap)),
      replaced: (replacement) => this.#remedied((events) => events.replaced?.(replacement)),
    };
  }

  #remedied(tell: (events: SpeechToTextEvents) => void): void {
    if (this.#events === undefined) this.#remedies.push(tell);
    else tell(this.#events);
  }
}
