// The conversation of one call in the hands of an engine: the value, the time on its clock, and one timer for whatever it says is due next.
// What happens is told here; what the machine decides is done by the driver of the voice mode.
import type { Clock } from '../base/clock.js';
import type { CallPhase } from '../contract/call-record.js';
import type { FloorEffect, FloorInput, FloorPolicy, FloorState, View } from '../conversation/floor.js';
import { stepFloor } from '../conversation/floor-step.js';
import { type AgentEnd, isOutside } from '../conversation/outside.js';
import { phaseOf, type VoiceView } from '../conversation/phase.js';
import {
  begun,
  type ConversationState,
  deadlineOf,
  deadlineOfPart,
  type Part,
  PARTS,
} from '../conversation/state.js';
import type { Moment } from '../conversation/tools.js';
import type { Turns } from '../conversation/turns.js';
import { Deadline } from './deadline.js';
import type { EngineContext, EngineFact } from './engine.js';

/** A voice mode, as the machine knows it. */
export interface Driver {
  readonly policy: FloorPolicy;
  /** What stands beside the floor now. */
  readonly view: View;
  /** An answer is to come that has not begun, as the caller sees it. @default as `view` tells */
  readonly isAwaited?: boolean;
  readonly sound: VoiceView;
  /** Does what the machine has decided. May tell what comes of it in the same tick. */
  perform(effect: DriverEffect): void;
}

/** What is left to a voice mode. The rest is the same in each. */
export type DriverEffect = Exclude<FloorEffect, { type: 'requested' | 'hang-up' }>;

/** Who has the driver at work. */
export interface DriverOwner {
  readonly fact: (fact: Extract<EngineFact, { type: 'phase.changed' }>) => void;
  /** Runs what a timer rings for, or what had to be written down first. */
  readonly attempt: (task: () => void) => void;
  readonly context: Pick<EngineContext, 'beforeOutside' | 'requested'>;
  /** The call is to end: with what was said last, or because the caller says nothing. */
  readonly ends: (reason: AgentEnd) => void;
}

/** One per engine. Turns, wait and watch are changed by those that hold them: `TurnBook`, `CallerWait` and `RealtimeWatch`; trouble by who has the engine. */
export class Conversation {
  readonly #clock: Clock;
  readonly #deadline: Deadline;
  readonly #due = new Map<Part, () => void>();
  #state: ConversationState;
  /** Nobody listens. Written here alone: a plain field, because it is asked for every frame. */
  isHeld: boolean;
  /** What the state is still to be told. */
  #pending: (() => void) | undefined;
  #driver: Driver | undefined;
  #owner: DriverOwner | undefined;
  /** The last that was told. */
  #phase: CallPhase | undefined;

  /** `state`: what is gone on with. */
  constructor(clock: Clock, state = begun({ hasGreeting: false })) {
    this.#clock = clock;
    this.#state = state;
    this.isHeld = state.floor.floor.phase === 'held';
    this.#deadline = new Deadline(clock, () => this.#ring());
  }

  drivenBy(driver: Driver, owner: DriverOwner): void {
    this.#driver = driver;
    this.#owner = owner;
    this.whenDue('floor', () => owner.attempt(() => this.tell({ type: 'due' })));
  }

  /** All of it. Plain data. */
  get state(): ConversationState {
    this.#settle();
    return this.#state;
  }

  get floor(): FloorState {
    return this.#state.floor;
  }

  get turns(): Turns {
    return this.#state.turns;
  }

  /** On the clock. */
  get now(): number {
    return this.#clock.now();
  }

  get moment(): Moment {
    return { now: this.#clock.now(), wall: this.#clock.wallNow() };
  }

  /** Something has happened. What follows is done in this tick. */
  tell(input: FloorInput): void {
    const driver = this.#driver;
    if (driver === undefined) return;
    const step = stepFloor(this.#state.floor, { ...input, at: this.now }, driver.view, driver.policy);
    this.change({ floor: step.state });
    for (const effect of step.effects) {
      const written = isOutside(effect) ? this.#owner?.context.beforeOutside?.(effect) : undefined;
      if (written === undefined) this.#perform(effect);
      else void written.then(() => this.#owner?.attempt(() => this.#perform(effect)));
    }
    // What follows on these comes in the same tick: the floor is handed over, or the call ends.
    if (input.type !== 'finished' && input.type !== 'failing') this.look();
  }

  /** Something has changed that the machine is not told of, and the phase depends on. */
  look(): void {
    const driver = this.#driver;
    if (driver === undefined) return;
    const { view, isAwaited = view.isAwaited, sound } = driver;
    const phase = phaseOf(this.#state.floor, { caller: view.caller, isAwaited }, sound);
    if (phase === undefined || phase === this.#phase) return;
    this.#phase = phase;
    this.#owner?.fact({ type: 'phase.changed', phase });
  }

  change(part: Partial<Pick<ConversationState, Part | 'language' | 'session'>>): void {
    this.#settle();
    this.#state = { ...this.#state, ...part };
    this.isHeld = this.#state.floor.floor.phase === 'held';
    this.#deadline.set(deadlineOf(this.#state));
  }

  /**
   * For what comes with every frame and can only put off what is due: `task` changes the watch, once, before that is read, changed or due again.
   */
  defer(task: () => void): void {
    this.#pending = task;
  }

  /** `task` is run when the part says that it is due; it changes the part. */
  whenDue(part: Part, task: () => void): void {
    this.#due.set(part, task);
  }

  #perform(effect: FloorEffect): void {
    if (effect.type === 'requested') this.#owner?.context.requested?.(effect.id, effect.outcome);
    else if (effect.type === 'hang-up') this.#owner?.ends(effect.reason);
    else this.#driver?.perform(effect);
  }

  #settle(): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.();
  }

  #ring(): void {
    this.#settle();
    const isDue = (part: Part) => (deadlineOfPart(this.#state, part) ?? Number.POSITIVE_INFINITY) <= this.now;
    for (const part of PARTS.filter(isDue)) this.#due.get(part)?.();
    this.#deadline.set(deadlineOf(this.#state));
  }
}
