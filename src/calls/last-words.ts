// The end of a call that the carrier's own voice announces: a message on a machine, or a sorry when the agent has no voice.
import { describeError } from '../base/log.js';
import type { CallEnding } from './call-ending.js';
import type { CallLine } from './call-line.js';

/** Said when the agent's voice has failed, or never could be heard. English, whatever the agent speaks: so is its own apology. */
export const SORRY = 'I am sorry, something went wrong. Please call again later.';
/** Said when the money for the call is used up. */
export const GOODBYE = 'I am sorry, I have to end this call now. Goodbye.';
export const SORRY_LANGUAGE = 'en-US';

/** The longest time that a text may take: the carrier may begin late, and its voice speak slowly. */
const BASE_MS = 15_000;
const MS_PER_CHAR = 120;
/** A carrier that need not tell when it has said the text is asked this often whether the call is over with it. */
const LOOK_EVERY_MS = 4000;

export class LastWords {
  readonly #line: CallLine;
  #ending: CallEnding | undefined;

  constructor(line: CallLine) {
    this.#line = line;
  }

  /** How the call ends whatever ends it, once the last words have begun. */
  get ending(): CallEnding | undefined {
    return this.#ending;
  }

  /**
   * Has the carrier say `text` and ends the call when that is said. Without a way to say it the call ends at once. `waitedMs`: how long
   * the caller has waited for a sorry already.
   */
  say(
    text: string,
    options: { language: string | undefined; ending: CallEnding; waitedMs?: number | undefined },
  ): void {
    if (this.#ending !== undefined) return;
    const { environment, identity, timers, ledger } = this.#line;
    const { rest } = environment.carrier;
    const { carrierCallId } = identity;
    this.#ending = options.ending;
    if (!rest.configured || carrierCallId === null) {
      this.#finish('hang-up');
      return;
    }
    timers.set('words', BASE_MS + MS_PER_CHAR * text.length, () => this.#finish('check'));
    this.#lookLater(carrierCallId);
    const askedAt = environment.clock.now();
    (async () => rest.speak(carrierCallId, text, { language: options.language }))().then(
      () => {
        const waitedMs = (options.waitedMs ?? 0) + environment.clock.now() - askedAt;
        if (text === SORRY && !this.#line.isOver) ledger.sorrySpoken('carrier', waitedMs);
      },
      (error: unknown) => {
        if (this.#line.isOver) return;
        const { callId } = this.#line;
        environment.logger.warn({ callId, ...describeError(error) }, 'the carrier did not speak');
        ledger.note('CARRIER_FAILED', 'The carrier did not speak the last words of the call.');
        this.#finish('hang-up');
      },
    );
  }

  /** The carrier has said it and left the line open. */
  said(): void {
    if (this.#ending !== undefined) this.#finish('hang-up');
  }

  #lookLater(carrierCallId: string): void {
    const { environment, identity, timers } = this.#line;
    // Who is steered by commands tells that it has spoken, and of a call that we have dialled every carrier tells the end.
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
