// The conversation of one call in the hands of an engine: the value, the time on its clock, and one timer for whatever it says is due next.
import type { Clock } from '../base/clock.js';
import {
  begun,
  type ConversationState,
  deadlineOf,
  deadlineOfPart,
  type Part,
  PARTS,
} from '../conversation/state.js';
import type { Moment } from '../conversation/tools.js';
import { Deadline } from './deadline.js';

/** One per engine. Its parts are changed by those that hold them: `TurnBook`, the dialogues, `CallerWait` and `RealtimeWatch`. */
export class Conversation {
  readonly #clock: Clock;
  readonly #deadline: Deadline;
  readonly #due = new Map<Part, () => void>();
  #state: ConversationState;

  /** `state`: what is gone on with. */
  constructor(clock: Clock, state = begun({ hasGreeting: false })) {
    this.#clock = clock;
    this.#state = state;
    this.#deadline = new Deadline(clock, () => this.#ring());
  }

  /** All of it. Plain data. */
  get state(): ConversationState {
    return this.#state;
  }

  /** On the clock. */
  get now(): number {
    return this.#clock.now();
  }

  get moment(): Moment {
    return { now: this.#clock.now(), wall: this.#clock.wallNow() };
  }

  change(part: Partial<Pick<ConversationState, Part>>): void {
    this.#state = { ...this.#state, ...part };
    this.#deadline.set(deadlineOf(this.#state));
  }

  /** `task` is run when the part says that it is due; it changes the part. */
  whenDue(part: Part, task: () => void): void {
    this.#due.set(part, task);
  }

  #ring(): void {
    const isDue = (part: Part) => (deadlineOfPart(this.#state, part) ?? Number.POSITIVE_INFINITY) <= this.now;
    for (const part of PARTS.filter(isDue)) this.#due.get(part)?.();
    this.#deadline.set(deadlineOf(this.#state));
  }
}
