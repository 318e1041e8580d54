// The end of a call that the carrier's own voice announces: a message on a machine, or an apology when the agent has no voice.
import { describeError } from '../../base/log.js';
import { NOBODY_WAITS, silentMs, waitsAlready } from '../../conversation/wait.js';
import type { CallEnding } from './call-ending.js';
import type { CallLine } from '../call-line.js';

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

export class LastWords {
  readonly #line: CallLine;
  #ending: CallEnding | undefined;
  /** What the transcript does not have yet. */
  #untold: string | undefined;

  constructor(line: CallLine) {
    this.#line = line;
  }

  /** How the call ends whatever ends it, once the last words have begun. */
  get ending(): CallEnding | undefined {
    return this.#ending;
  }

  /**
   * Has the carrier say it and ends the call when that is said. Without a way to say it the call ends at once. A caller who waited for
   * nothing waits for it from now on.
   */
  say({ text, language, isApology = false }: Announcement, ending: CallEnding): void {
    if (this.#ending !== undefined) return;
    const { environment, identity, timers, ledger } = this.#line;
    const { rest } = environment.carrier;
    const { carrierCallId } = identity;
    this.#ending = ending;
    if (!rest.configured || carrierCallId === null) {
      this.#finish('hang-up');
      return;
    }
    ledger.phase('ending');
    timers.set('words', BASE_MS + MS_PER_CHAR * text.length, () => this.#finish('check'));
    this.#lookLater(carrierCallId);
    const { clock } = environment;
    const at = clock.now();
    const wait = waitsAlready(ending.wait ?? NOBODY_WAITS, { since: at, at });
    this.#untold = text;
    (async () => rest.speak(carrierCallId, text, { language }))().then(
      () => {
        this.#isSpoken();
        if (isApology && !this.#line.isOver) ledger.sorrySpoken('carrier', silentMs(wait, clock.now()));
      },
      (error: unknown) => {
        if (this.#line.isOver) return;
        const { callId } = this.#line;
        environment.logger.warn(
          { callId, ...describeError(error) },
          'the carrier did not speak the announcement',
        );
        ledger.note('CARRIER_FAILED', 'The carrier did not speak the last words of the call.');
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

  /** The carrier has the text: its answer shows that, or the end of its speech, which may be faster. */
  #isSpoken(): void {
    const text = this.#untold;
    this.#untold = undefined;
    if (text !== undefined && !this.#line.isOver) this.#line.ledger.spokenByCarrier(text);
  }

  #lookLater(carrierCallId: string): void {
    const { environment, identity, timers } = this.#line;
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
      return (await this.#line.environment.carrier.rest.lookUp(carrierCallId)).isOver;
    } catch {
      return false;
    }
  }

  #finish(carrier: 'hang-up' | 'check' | undefined): void {
    if (this.#ending !== undefined) this.#line.end({ ...this.#ending, carrier });
  }
}
