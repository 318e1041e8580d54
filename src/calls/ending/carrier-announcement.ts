// The end of a call that the carrier's own voice announces: a message on a machine, or an apology when the agent has no voice.
import { describeError } from '../../base/log.js';
import { NOBODY_WAITS, silentMs, waitsAlready } from '../../conversation/wait.js';
import type { CallEnding } from './call-ending.js';
import { type SessionContext, onceKept } from '../session-context.js';

/** The longest time that a text may take: the carrier may begin late, and its voice speak slowly. */
const BASE_MS = 15_000;
const MS_PER_CHAR = 120;
/** A carrier that need not tell when it has said the text is asked this often whether the call is over with it. */
const LOOK_EVERY_MS = 4000;

/** What the carrier's voice says. */
export interface Announcement {
  readonly text: string;
  /** BCP 47 tag. @default the carrier's choice */
  readonly language: string | undefined;
  /** The caller is told that something went wrong. @default false */
  readonly isApology?: boolean;
}

/** An announcement that is on, as another process can go on with it. */
export interface AnnouncementState extends Announcement {
  readonly ending: CallEnding;
  /** The carrier has taken the order to say it. */
  readonly isTaken: boolean;
}

export class CarrierAnnouncement {
  readonly #context: SessionContext;
  #ending: CallEnding | undefined;
  #announcement: Announcement | undefined;
  /** What the transcript does not have yet. */
  #untold: string | undefined;

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** How the call ends whatever ends it, once the announcement has begun. */
  get ending(): CallEnding | undefined {
    return this.#ending;
  }

  /** Null while none is on. */
  get state(): AnnouncementState | null {
    if (this.#ending === undefined || this.#announcement === undefined) return null;
    // Times on the clock mean nothing to another process.
    const { wait: _, ...ending } = this.#ending;
    return { ...this.#announcement, ending, isTaken: this.#untold === undefined };
  }

  /** Goes on with one that another process began. What nobody knows to be taken is said, perhaps once more. */
  restore({ ending, isTaken, ...announcement }: AnnouncementState): void {
    if (!isTaken) {
      this.say(announcement, ending);
      return;
    }
    this.#follow(announcement, ending);
  }

  /** The carrier is told to say it in the reply to a webhook, and hangs up afterwards. */
  instructed(announcement: Announcement, ending: CallEnding): void {
    this.#follow(announcement, ending);
    this.#context.ledger.phase('ending');
    this.#context.ledger.spokenByCarrier(announcement.text);
  }

  /** Ends the call when the carrier has said what it was told to say. */
  #follow(announcement: Announcement, ending: CallEnding): void {
    const { carrierCallId } = this.#context.identity;
    this.#ending = ending;
    this.#announcement = announcement;
    this.#await(announcement);
    if (carrierCallId !== null) this.#lookLater(carrierCallId);
  }

  /**
   * Has the carrier say it and ends the call when that is said. Without a way to say it the call ends at once. A caller who waited for
   * nothing waits for it from now on.
   */
  say(announcement: Announcement, ending: CallEnding): void {
    if (this.#ending !== undefined) return;
    const { text, language, isApology = false } = announcement;
    const { environment, identity, ledger } = this.#context;
    const { rest } = environment.carrier;
    const { carrierCallId } = identity;
    this.#ending = ending;
    this.#announcement = announcement;
    if (!rest.configured || carrierCallId === null) {
      this.#finish('hang-up');
      return;
    }
    this.#untold = text;
    ledger.phase('ending');
    this.#await(announcement);
    this.#lookLater(carrierCallId);
    const { clock } = environment;
    const at = clock.now();
    const wait = waitsAlready(ending.wait ?? NOBODY_WAITS, { since: at, at });
    onceKept(this.#context, async () => {
      if (!this.#context.isOver) await rest.speak(carrierCallId, text, { language });
    }).then(
      () => {
        this.#isSpoken();
        if (isApology && !this.#context.isOver) ledger.apologySpoken('carrier', silentMs(wait, clock.now()));
      },
      (error: unknown) => {
        if (this.#context.isOver) return;
        const { callId } = this.#context;
        environment.logger.warn(
          { callId, ...describeError(error) },
          'the carrier did not speak the announcement',
        );
        ledger.note('CARRIER_FAILED', 'The carrier did not speak the announcement at the end of the call.');
        this.#finish('hang-up');
      },
    );
  }

  /** The carrier has said it and left the line open. */
  said(): void {
    if (this.#ending === undefined) return;
    this.#isSpoken();
    this.#finish('hang-up');
  }

  #await({ text }: Announcement): void {
    this.#context.timers.set('announcement', BASE_MS + MS_PER_CHAR * text.length, () =>
      this.#finish('check'),
    );
  }

  /** The carrier has the text: its answer shows that, or the end of its speech, which may be faster. */
  #isSpoken(): void {
    const text = this.#untold;
    this.#untold = undefined;
    if (text !== undefined && !this.#context.isOver) this.#context.ledger.spokenByCarrier(text);
  }

  #lookLater(carrierCallId: string): void {
    const { environment, identity, timers } = this.#context;
    // Who is steered by commands tells that it has spoken, and of a call that we have dialed every carrier tells the end.
    if (environment.carrier.commands !== undefined || identity.direction === 'outbound') return;
    timers.set('look', LOOK_EVERY_MS, () => {
      void this.#isGone(carrierCallId).then((isGone) => {
        if (isGone) this.#finish(undefined);
        else this.#lookLater(carrierCallId);
      });
    });
  }

  /** False when the carrier cannot be asked: the longest time still ends the call. */
  async #isGone(carrierCallId: string): Promise<boolean> {
    try {
      return (await this.#context.environment.carrier.rest.lookUp(carrierCallId)).isOver;
    } catch {
      return false;
    }
  }

  #finish(carrier: 'hang-up' | 'check' | undefined): void {
    if (this.#ending !== undefined) this.#context.end({ ...this.#ending, carrier });
  }
}
