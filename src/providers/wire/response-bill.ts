// What responses of a realtime model cost that end before the service has said so: a moment's wait for its word when the call is over,
// and a guess where none comes.
import { grace, type Timer } from '../../base/clock.js';
import type { RealtimeContext, ResponseUsage } from '../realtime-model.js';
import { notTaken } from './not-taken.js';

export interface ResponseBillOptions {
  /** Tokens of a second that the model speaks. */
  readonly audioTokensPerSecond: number;
}

type BilledContext = Pick<RealtimeContext, 'callId' | 'clock' | 'logger' | 'instructions' | 'events'>;

/** How long the service has to tell what was used, when the call is over. */
const WAIT_MS = 1000;

/** A usual rule of thumb for English. */
const CHARACTERS_PER_TOKEN = 4;

/** One call's. */
export class ResponseBill {
  readonly #context: BilledContext;
  readonly #options: ResponseBillOptions;
  /** What the response before has read, which the next one reads as well. */
  #before: ResponseUsage;
  /** Of the response under way. */
  #open: { spokenMs: number; characters: number } | undefined;
  #waiting: Timer | undefined;
  #settled: (() => void) | undefined;

  constructor(context: BilledContext, options: ResponseBillOptions) {
    this.#context = context;
    this.#options = options;
    this.#before = {
      kind: 'response',
      inputTextTokens: Math.ceil(context.instructions.length / CHARACTERS_PER_TOKEN),
      cachedTextTokens: 0,
      inputAudioTokens: 0,
      cachedAudioTokens: 0,
      outputTextTokens: 0,
      outputAudioTokens: 0,
    };
  }

  /** A response is made, or was asked for: it has a price from now on. */
  begins(): void {
    this.#open ??= { spokenMs: 0, characters: 0 };
  }

  spoke(lengthMs: number): void {
    this.#open ??= { spokenMs: 0, characters: 0 };
    this.#open.spokenMs += lengthMs;
  }

  wrote(characters: number): void {
    this.#open ??= { spokenMs: 0, characters: 0 };
    this.#open.characters += characters;
  }

  /** The service has said what the response cost; undefined where it does not. */
  paid(usage: ResponseUsage | undefined): void {
    this.#open = undefined;
    if (usage !== undefined) {
      this.#before = usage;
      this.#tell(usage);
    }
    this.#settle();
  }

  /** The service does not say any more what the response under way has cost: tells a guess. Nothing where none is under way. */
  guess(): void {
    if (this.#open !== undefined) {
      const { spokenMs, characters } = this.#open;
      this.#open = undefined;
      this.#tell({
        ...this.#before,
        outputTextTokens: Math.ceil(characters / CHARACTERS_PER_TOKEN),
        outputAudioTokens: Math.ceil((spokenMs / 1000) * this.#options.audioTokensPerSecond),
        isGuess: true,
      });
    }
    this.#settle();
  }

  /** The call is over. `settled` runs once it is known what was used, or will not be: at once where nothing is open. */
  close(settled: () => void): void {
    this.#settled = settled;
    if (this.#open === undefined) this.#settle();
    else this.#waiting = grace(this.#context.clock, WAIT_MS, () => this.guess());
  }

  #settle(): void {
    this.#waiting?.cancel();
    const settled = this.#settled;
    this.#settled = undefined;
    settled?.();
  }

  /** Counts also when the call is over. */
  #tell(usage: ResponseUsage): void {
    try {
      this.#context.events.usage(usage);
    } catch (error) {
      notTaken(this.#context, error);
    }
  }
}
