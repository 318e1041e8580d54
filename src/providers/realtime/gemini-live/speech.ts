// The model's turns, which have no ids: where a response begins and ends, what is late of one that was stopped, and words that came
// ahead of their audio. Responses are counted.
import type { Clock } from '../../../base/clock.js';
import { KEPT_CHARS } from '../../wire/bounds.js';

/**
 * `idle`: no turn is on. `speaking`: a response is being made. `closing`: it is complete but for words that may be late. `over`: it
 * has ended, and the turn has not. `calling`: the turn waits for results of tools. `late`: the turn was stopped, and its end was not
 * told.
 */
type Phase = 'idle' | 'speaking' | 'closing' | 'over' | 'calling' | 'late';

/** Words are ahead of their audio by less than this. */
const EARLY_MS = 1000;

export interface Response {
  readonly id: string;
  readonly itemId: string;
  /** Somebody listens. */
  isWanted: boolean;
  /** It was told. */
  readonly isTold: boolean;
}

export class GeminiLiveSpeech {
  readonly #clock: Clock;
  #phase: Phase = 'idle';
  #response: Response | undefined;
  #early = { text: '', at: 0 };
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The response that is under way. */
  get response(): Response | undefined {
    return this.#response;
  }

  get phase(): Phase {
    return this.#phase;
  }

  begin({ isWanted }: { isWanted: boolean }): Response {
    this.#count += 1;
    const id = `answer-${this.#count}`;
    this.#response = { id, itemId: `${id}-speech`, isWanted, isTold: isWanted };
    this.#phase = 'speaking';
    return this.#response;
  }

  /** All of it is there, but for words. */
  generated(): void {
    this.#phase = 'closing';
  }

  /** The response has ended. Where the turn has not: it waits for tools, or for nothing of interest. */
  end(phase: 'idle' | 'over' | 'calling'): void {
    this.#response = undefined;
    this.#phase = phase;
  }

  /** The turn was stopped by the other side. */
  stopped(): void {
    this.#response = undefined;
    this.#phase = 'late';
    this.#early = { text: '', at: 0 };
  }

  turnEnded(): void {
    this.#response = undefined;
    this.#phase = 'idle';
  }

  /** Words without audio: alone they are no answer. */
  keepWords(text: string): void {
    this.#early = { text: (this.takeWords() + text).slice(0, KEPT_CHARS), at: this.#clock.now() };
  }

  /** Words that were kept, unless they are old. */
  takeWords(): string {
    const { text, at } = this.#early;
    this.#early = { text: '', at: 0 };
    return this.#clock.now() - at > EARLY_MS ? '' : text;
  }
}
