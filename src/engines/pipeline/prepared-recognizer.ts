// The recognizer of a call that has not begun: connected, without a word to hear. To the engine it is the provider itself.
import type { ModelPrice } from '../../contract/price.js';
import { opened } from '../../base/opened.js';
import type { Patience } from '../../providers/patience.js';
import type {
  SpeechToText,
  SpeechToTextContext,
  SpeechToTextEvents,
  SpeechToTextSession,
} from '../../providers/speech-to-text.js';
import { attemptAhead } from '../attempt-ahead.js';
import type { PreparationContext } from '../engine.js';
import { HeldReports } from '../fallback/held-reports.js';

type RecognizerUsage = Parameters<NonNullable<SpeechToTextEvents['usage']>>[0];

export interface PreparedRecognizerOptions {
  readonly context: PreparationContext;
  readonly provider: SpeechToText;
  readonly language: string | undefined;
  readonly languages: readonly string[] | undefined;
  readonly patience: Patience;
}

/** One call's. */
export class PreparedRecognizer implements SpeechToText {
  readonly name: string;
  readonly price: ModelPrice | undefined;
  readonly ownsTurnTaking: boolean;
  readonly writesAfterwards: boolean;
  readonly #options: PreparedRecognizerOptions;
  readonly #reports = new HeldReports<SpeechToTextEvents, RecognizerUsage>();
  #session: SpeechToTextSession | undefined;
  #hasFailed = false;
  #isAsked = false;
  #isTaken = false;
  #isLast: SpeechToTextContext['isLast'];

  constructor(options: PreparedRecognizerOptions) {
    const { name, price, ownsTurnTaking = false, writesAfterwards = false } = options.provider;
    this.name = name;
    this.price = price;
    this.ownsTurnTaking = ownsTurnTaking;
    this.writesAfterwards = writesAfterwards;
    this.#options = options;
  }

  /** Connects, unless the wait would cost. Idempotent. */
  connect(): void {
    const { context, provider, language, languages, patience } = this.#options;
    if (this.#isAsked || this.#isTaken || provider.paidWhileOpen === true) return;
    this.#isAsked = true;
    const { clock, logger } = context;
    const events = this.#relay();
    // One that fails before the call is opened anew with it.
    const isLast = () => this.#isLast?.() === true;
    this.#session = attemptAhead(context, () =>
      opened(provider.open({ clock, logger, language, languages, patience, isLast, events }), {
        provider: provider.name,
        method: 'pushAudio',
      }),
    );
  }

  /** Hands the session over, or opens one as if nothing had been prepared. */
  open(context: SpeechToTextContext): SpeechToTextSession {
    this.#isTaken = true;
    this.#isLast = context.isLast;
    const session = this.#session;
    if (session !== undefined && !this.#hasFailed) {
      this.#reports.release(context.events);
      return session;
    }
    attemptAhead(this.#options.context, () => session?.close());
    this.#reports.settle(context.events);
    return this.#options.provider.open(context);
  }

  /** What was used, and nobody was told of. */
  takeUsage(): readonly RecognizerUsage[] {
    return this.#reports.takeUsage();
  }

  /** Closes what no engine has taken. Idempotent. */
  close(): void {
    if (this.#isTaken) return;
    this.#isTaken = true;
    attemptAhead(this.#options.context, () => this.#session?.close());
  }

  /** Before there is an engine nobody speaks: only a failure, what was used and who is asked by now mean anything. */
  #relay(): SpeechToTextEvents {
    const reports = this.#reports;
    return {
      partial: (text) => reports.events?.partial(text),
      final: (text, language) => reports.events?.final(text, language),
      failed: (error) => {
        if (this.#hasFailed) return;
        this.#hasFailed = true;
        reports.events?.failed(error);
      },
      speechStarted: (atMs) => reports.events?.speechStarted?.(atMs),
      turnEnded: () => reports.events?.turnEnded?.(),
      usage: (usage) => reports.add({ usage, tell: (engine) => engine.usage?.(usage) }),
      troubled: (error, trouble) => reports.events?.troubled?.(error, trouble),
      settled: (untilMs) => reports.events?.settled?.(untilMs),
      unanswered: () => reports.events?.unanswered?.(),
      withdrawn: () => reports.events?.withdrawn?.(),
      reconnected: (gap) => reports.events?.reconnected?.(gap),
      replaced: (replacement) => reports.add({ tell: (engine) => engine.replaced?.(replacement) }),
    };
  }
}
