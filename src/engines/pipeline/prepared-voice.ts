// The voice of a call that has not begun: connected, and with the greeting on its lips. To the engine it is the provider itself.
import type { CallContext } from '../../contract/call-context.js';
import type { ModelPrice } from '../../contract/price.js';
import { opened } from '../../base/opened.js';
import type { Patience } from '../../providers/patience.js';
import type {
  TextToSpeech,
  TextToSpeechContext,
  TextToSpeechEvents,
  TextToSpeechSession,
} from '../../providers/text-to-speech.js';
import { attemptAhead } from '../attempt-ahead.js';
import type { PreparationContext } from '../engine.js';
import { HeldReports } from '../fallback/held-reports.js';
import { SpeechAhead } from './speaking/speech-ahead.js';

type VoiceUsage = Parameters<NonNullable<TextToSpeechEvents['usage']>>[0];

export interface PreparedVoiceOptions {
  readonly context: PreparationContext;
  readonly provider: TextToSpeech;
  readonly language: string | undefined;
  readonly call: CallContext;
  readonly patience: Patience;
}

/** One call's. Connects when it is made. */
export class PreparedVoice implements TextToSpeech {
  readonly name: string;
  readonly price: ModelPrice | undefined;
  readonly #options: PreparedVoiceOptions;
  readonly #session: TextToSpeechSession | undefined;
  readonly #reports = new HeldReports<TextToSpeechEvents, VoiceUsage>();
  #ahead: SpeechAhead | undefined;
  #isTaken = false;
  #isLast: TextToSpeechContext['isLast'];

  constructor(options: PreparedVoiceOptions) {
    const { context, provider, language, call, patience } = options;
    const { clock, logger } = context;
    this.name = provider.name;
    this.price = provider.price;
    this.#options = options;
    const reports = this.#reports;
    const events: TextToSpeechEvents = {
      usage: (usage) => reports.add({ usage, tell: (engine) => engine.usage?.(usage) }),
      // A gap in which nobody listened was none.
      reconnected: (gap) => reports.events?.reconnected?.(gap),
      replaced: (replacement) => reports.add({ tell: (engine) => engine.replaced?.(replacement) }),
    };
    // One that fails before the call tries again with it.
    const isLast = () => this.#isLast?.() === true;
    this.#session = attemptAhead(context, () =>
      opened(provider.open({ clock, logger, language, call, patience, isLast, events }), {
        provider: provider.name,
        method: 'synthesize',
      }),
    );
  }

  /** Synthesizes the first sentence of the call. Does nothing once an engine has the voice. */
  say(text: string): void {
    const session = this.#session;
    if (session !== undefined && !this.#isTaken) this.#ahead = new SpeechAhead(session, text);
  }

  /** Hands the session over, or opens one as if nothing had been prepared. */
  open(context: TextToSpeechContext): TextToSpeechSession {
    // The call is back in the language that it began in.
    if (this.#isTaken) return this.#options.provider.open(context);
    this.#isTaken = true;
    this.#isLast = context.isLast;
    const { events = {} } = context;
    const [session, ahead] = [this.#session, this.#ahead];
    if (session !== undefined && ahead?.hasFailed !== true) {
      this.#reports.release(events);
      return toSession(session, ahead);
    }
    attemptAhead(this.#options.context, () => session?.close());
    this.#reports.settle(events);
    return this.#options.provider.open(context);
  }

  /** What was used, and nobody was told of. */
  takeUsage(): readonly VoiceUsage[] {
    return this.#reports.takeUsage();
  }

  /** Closes what no engine has taken. Idempotent. */
  close(): void {
    if (this.#isTaken) return;
    this.#isTaken = true;
    this.#ahead?.close();
    attemptAhead(this.#options.context, () => this.#session?.close());
  }
}

/** A session whose first sentence may be there already. When another one is asked for first, it is not wanted. */
function toSession(session: TextToSpeechSession, ahead: SpeechAhead | undefined): TextToSpeechSession {
  let first = ahead;
  return {
    synthesize(text, signal, events) {
      const said = first;
      first = undefined;
      if (said?.text === text && !said.hasFailed) return said.take(signal, events);
      said?.close();
      return session.synthesize(text, signal, events);
    },
    close() {
      first?.close();
      return session.close();
    },
  };
}
