// One call's recognition over the members of a chain: one session at a time, and no word lost between two of them.
import { KEPT_AUDIO_MS } from '../../audio/kept-audio.js';
import type { Clock, Timer } from '../../base/clock.js';
import { ProviderError } from '../../base/errors.js';
import type {
  PieceLanguage,
  SpeechToText,
  SpeechToTextContext,
  SpeechToTextEvents,
  SpeechToTextSession,
  SpokenText,
} from '../speech-to-text.js';
import { toPayee } from '../remedy.js';
import { toSeconds } from '../wire/audio-backlog.js';
import type { ChainOptions } from './chain-options.js';
import { opened } from '../../base/opened.js';
import { endSession } from './end-session.js';
import { ChainOrder } from './chain-order.js';
import { UnansweredSound } from './unanswered-sound.js';
import { UnsettledAudio } from './unsettled-audio.js';

export interface CallRecognizerOptions extends ChainOptions<SpeechToText> {
  readonly ownsTurnTaking: boolean;
}

/** So long a recognizer may be without a connection, as long as there is another one. */
const CONNECTION_MS = 2000;

/** A finished utterance is answered within this. Shorter than an agent waits for the rest of what it has in part. */
const ANSWER_MS = 800;

/** What was told at most so long before the caller had finished has all of their words. */
const FRESH_MS = 1500;

const SAMPLES_PER_MS = 16;

/** One member's session. */
interface Leg {
  readonly member: SpeechToText;
  readonly openedAt: number;
  /** Where its audio begins. */
  start: number;
  session: SpeechToTextSession | undefined;
  /** It tells itself how much of the audio has its final text. */
  tellsSettled: boolean;
  /** What is played again has been heard by then, at the pace of speech. */
  caughtUpAt: number;
  /** When its trouble began, and by when it has to be over while there is another member. */
  troubledAt: number | undefined;
  allowedUntil: number | undefined;
  trouble: Error | undefined;
  patience: Timer | undefined;
  /** Its service has not answered, and it has given no sign since. */
  isMute: boolean;
  isOver: boolean;
}

export class CallRecognizer implements SpeechToTextSession {
  readonly #context: SpeechToTextContext;
  readonly #clock: Clock;
  readonly #ownsTurnTaking: boolean;
  readonly #chain: ChainOrder<SpeechToText>;
  readonly #audio = new UnsettledAudio();
  readonly #sound = new UnansweredSound();
  #leg: Leg | undefined;
  /** Text that is not final. */
  #partial = '';
  /** When text was told last, of which there may be none. */
  #textAt = Number.NEGATIVE_INFINITY;
  /** Where the audio ended when the rest was asked for, which has not come. */
  #asked: { readonly end: number; readonly at: number } | undefined;
  #answer: Timer | undefined;
  #closed = false;

  constructor(context: SpeechToTextContext, { members, circuits, ownsTurnTaking }: CallRecognizerOptions) {
    const { clock, logger, events } = context;
    this.#context = context;
    this.#clock = clock;
    this.#ownsTurnTaking = ownsTurnTaking;
    this.#chain = new ChainOrder({
      members,
      circuits,
      logger,
      replaced: (replacement) => events.replaced?.(replacement),
    });
    this.#chain.begin();
    const error = this.#open({});
    if (error !== undefined) throw error.cause;
  }

  pushAudio(frame: Int16Array): void {
    if (this.#closed) return;
    this.#audio.push(frame);
    this.#sound.push(frame);
    this.#order((session) => session.pushAudio(frame));
    // Who tells the ends of turns is asked for nothing by the agent, and would be missed only after some seconds.
    if (this.#ownsTurnTaking && this.#sound.isOver && this.#asked === undefined) this.finishUtterance();
  }

  finishUtterance(): void {
    if (this.#closed) return;
    this.#asked = { end: this.#audio.end, at: this.#clock.now() };
    this.#ask();
  }

  pushSpokenText(segment: SpokenText): void {
    this.#order((session) => session.pushSpokenText?.(segment));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#answered();
    if (this.#leg !== undefined) this.#end(this.#leg);
  }

  readonly #isLast = () => !this.#chain.hasNext && this.#context.isLast?.() === true;

  /** Opens the first member that can be opened. Returns what the last one threw when none can. */
  #open(change: { readonly keptMs?: number }): { readonly cause: unknown } | undefined {
    for (;;) {
      const leg = this.#newLeg(this.#chain.current);
      const events = this.#eventsOf(leg);
      this.#leg = leg;
      try {
        const session = leg.member.open({ ...this.#context, ...change, isLast: this.#isLast, events });
        leg.session = opened(session, { provider: leg.member.name, method: 'pushAudio' });
        // It may have failed meanwhile, and another one be open.
        if (leg.isOver) this.#end(leg);
        return undefined;
      } catch (cause) {
        leg.isOver = true;
        const { member, openedAt } = leg;
        const gapMs = this.#clock.now() - openedAt;
        if (this.#chain.failed(member, { error: cause, gapMs }) === undefined) return { cause };
      }
    }
  }

  #newLeg(member: SpeechToText): Leg {
    return {
      member,
      openedAt: this.#clock.now(),
      start: this.#audio.end,
      session: undefined,
      tellsSettled: false,
      caughtUpAt: 0,
      troubledAt: undefined,
      allowedUntil: undefined,
      trouble: undefined,
      patience: undefined,
      isMute: false,
      isOver: false,
    };
  }

  #eventsOf(leg: Leg): SpeechToTextEvents {
    const { events } = this.#context;
    const payee = toPayee(leg.member);
    /** A sign of life, unless nobody listens to it any more. */
    const sign =
      <T extends unknown[]>(tell: (...event: T) => void) =>
      (...event: T) => {
        if (leg.isOver || this.#closed) return;
        this.#calm(leg);
        tell(...event);
      };
    const heard = sign((text: string, language?: PieceLanguage) => this.#heard(leg, text, language));
    return {
      partial: sign((text) => this.#heardPart(text)),
      final: (text, language) => {
        // That nothing is open is not what its service says.
        if (leg.isMute && text === '') this.#heardNothing(leg);
        else heard(text, language);
      },
      failed: (error) => this.#failed(leg, error),
      speechStarted: sign((atMs) => events.speechStarted?.(atMs + toSeconds(leg.start) * 1000)),
      turnEnded: sign(() => {
        if (this.#ownsTurnTaking) events.turnEnded?.();
      }),
      // A member may charge for some sessions otherwise than for others.
      usage: (usage) => events.usage?.({ ...usage, payee: usage.payee ?? payee }),
      troubled: (error, trouble) => this.#troubled(leg, error, trouble),
      reconnected: sign((gap) => {
        leg.caughtUpAt = this.#clock.now() + this.#audio.unsettledMs;
        events.reconnected?.({ provider: leg.member.name, ...gap });
      }),
      unanswered: () => {
        leg.isMute = true;
        if (this.#sound.isSpeech && this.#chain.hasNext) this.#unanswered(leg);
      },
      settled: (untilMs) => {
        leg.tellsSettled = true;
        if (!leg.isOver) this.#audio.settle(leg.start + Math.round(untilMs * SAMPLES_PER_MS));
      },
    };
  }

  #heardPart(text: string): void {
    this.#partial = text;
    this.#textAt = this.#clock.now();
    this.#context.events.partial(text);
  }

  #heard(leg: Leg, text: string, language: PieceLanguage | undefined): void {
    const end = this.#asked?.end ?? this.#audio.end;
    if (!leg.tellsSettled || text === '') this.#audio.settle(end);
    if (text !== '') this.#chain.worked(leg.member);
    if (text !== '') this.#textAt = this.#clock.now();
    this.#answered();
    this.#partial = '';
    this.#context.events.final(text, language);
  }

  #heardNothing(leg: Leg): void {
    if (leg.isOver || this.#closed) return;
    this.#answered();
    this.#context.events.unanswered?.();
    this.#context.events.final('');
  }

  /** Asks for the rest, and waits for it only as long as it may take. */
  #ask(): void {
    this.#answer?.cancel();
    this.#order((session) => session.finishUtterance());
    const leg = this.#leg;
    if (this.#asked === undefined || leg === undefined) return;
    if (!this.#chain.hasNext) {
      this.#limitLast(leg);
      return;
    }
    const behindMs = Math.max(0, leg.caughtUpAt - this.#clock.now());
    this.#answer = this.#clock.after(ANSWER_MS + behindMs, () => this.#unanswered(leg));
  }

  #answered(): void {
    this.#asked = undefined;
    this.#answer?.cancel();
    this.#answer = undefined;
  }

  /** It does not listen any more, whatever its connection says; unless there is nothing that it could say. */
  #unanswered(leg: Leg): void {
    const asked = this.#asked;
    const partial = this.#partial;
    if (leg.isOver || this.#closed || asked === undefined) return;
    const isFresh = asked.at - this.#textAt <= FRESH_MS;
    if (partial === '' && (isFresh || !this.#sound.isSpeech)) {
      this.#answered();
      return;
    }
    // Words that it had nearly all of are taken as they are, and heard by nobody else.
    const words = isFresh ? partial : '';
    if (words !== '') {
      this.#audio.settle(asked.end);
      this.#answered();
      this.#partial = '';
    }
    const source = `The recognizer ${leg.member.name}`;
    const error = new ProviderError(`${source} did not answer in time.`, { status: null, retryable: true });
    this.#moveOn(leg, { error, since: asked.at });
    if (words !== '' && !this.#closed) this.#context.events.final(words);
  }

  /** There is no connection: the member may try on for a while. */
  #troubled(leg: Leg, error: Error, { agoMs } = { agoMs: 0 }): void {
    if (leg.isOver || this.#closed) return;
    const now = this.#clock.now();
    const isFirst = now - leg.openedAt <= CONNECTION_MS;
    leg.troubledAt ??= isFirst ? leg.openedAt : now - agoMs;
    leg.allowedUntil ??= (isFirst ? leg.openedAt : now) + CONNECTION_MS;
    const since = leg.troubledAt;
    leg.trouble = error;
    this.#takeBack();
    leg.patience?.cancel();
    if (this.#chain.hasNext)
      leg.patience = this.#clock.after(leg.allowedUntil - now, () => this.#moveOn(leg, { error, since }));
    else this.#limitLast(leg);
  }

  /** The last one may try on as long as the caller can wait for it. */
  #limitLast(leg: Leg): void {
    const { troubledAt: since, trouble: error } = leg;
    const leftMs = this.#context.patience?.leftMs() ?? Number.POSITIVE_INFINITY;
    if (since === undefined || this.#asked === undefined || leftMs === Number.POSITIVE_INFINITY) return;
    leg.patience?.cancel();
    leg.patience = this.#clock.after(Math.max(0, leftMs), () => this.#moveOn(leg, { error, since }));
  }

  #calm(leg: Leg): void {
    leg.troubledAt = undefined;
    leg.allowedUntil = undefined;
    leg.patience?.cancel();
    leg.isMute = false;
    this.#sound.answered();
  }

  #failed(leg: Leg, error: unknown): void {
    this.#moveOn(leg, { error, since: leg.troubledAt ?? this.#clock.now() });
  }

  /** The next member listens, and first to what has no final text. */
  #moveOn(leg: Leg, { error, since }: { error: unknown; since: number }): void {
    if (leg.isOver || this.#closed) return;
    this.#end(leg);
    this.#answer?.cancel();
    const gapMs = this.#clock.now() - since;
    const next = this.#chain.failed(leg.member, { error, gapMs });
    if (next !== undefined) this.#takeBack();
    const failure = next === undefined ? { cause: error } : this.#open({ keptMs: KEPT_AUDIO_MS });
    if (failure !== undefined) {
      this.#closed = true;
      this.#context.events.failed(toError(failure.cause));
      return;
    }
    this.#playAgain();
    if (this.#asked !== undefined) this.#ask();
  }

  /** The next connection, or the next one, hears the words that are open again: they must not become a turn, which would have them twice. */
  #takeBack(): void {
    if (this.#partial === '') return;
    this.#partial = '';
    this.#context.events.withdrawn?.();
  }

  #playAgain(): void {
    const leg = this.#leg;
    if (leg === undefined) return;
    leg.caughtUpAt = this.#clock.now() + this.#audio.unsettledMs;
    // What the member tells of its audio refers to this.
    leg.start = this.#audio.rewind();
    for (const frame of this.#audio.replay()) {
      this.#order((session) => session.pushAudio(frame));
      // It has failed on the spot, and whoever came next has heard all of it.
      if (this.#leg !== leg) return;
    }
  }

  /** What it still tells is for nobody, but for what it costs. */
  #end(leg: Leg): void {
    leg.isOver = true;
    leg.patience?.cancel();
    endSession(leg.session);
  }

  /** A recognizer of the application may throw, or return a promise that rejects: it has failed then. */
  #order(task: (session: SpeechToTextSession) => unknown): void {
    const leg = this.#leg;
    if (this.#closed || leg?.session === undefined) return;
    try {
      const result = task(leg.session);
      if (result instanceof Promise) result.catch((error: unknown) => this.#failed(leg, error));
    } catch (error) {
      this.#failed(leg, error);
    }
  }
}

function toError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error('The recognizer failed.', { cause });
}
