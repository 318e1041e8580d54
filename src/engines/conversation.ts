// The conversation of one call in the hands of an engine: the value, the time on its clock, and one timer for whatever it says is due next.
// What happens is told here; what follows from it is decided by `conversation/step`, and done by the driver of the voice mode.
import type { Clock } from '../base/clock.js';
import type { CallPhase } from '../contract/call-record.js';
import { hangUpIn, isHeld } from '../conversation/floor.js';
import { type AgentEnd, isOutside } from '../conversation/outside.js';
import type { VoiceView } from '../conversation/phase.js';
import { begun, type ConversationState, deadlineOf } from '../conversation/state.js';
import {
  type Effect,
  type Input,
  isLeaving,
  type Live,
  phaseIn,
  type Policy,
  step,
} from '../conversation/step.js';
import type { Moment } from '../conversation/tools.js';
import type { Recourse } from '../conversation/trouble.js';
import type { TurnFact, Turns } from '../conversation/turns.js';
import { Deadline } from './deadline.js';
import type { EngineContext, EngineFact } from './engine.js';

/** A voice mode, as the machine knows it. */
export interface Driver {
  /** The same object each time; what it says is looked up as it is asked for. */
  readonly live: Live;
  readonly sound: VoiceView;
  /** Does what the machine has decided. May tell what comes of it in the same tick. */
  perform(effect: DriverEffect): void;
}

/** What is left to a voice mode. The rest is the same in each. */
export type DriverEffect = Exclude<
  Effect,
  { type: 'facts' | 'requested' | 'hang-up' | 'silent' | 'recourse' | 'tell-phase' }
>;

/** Who has the driver at work. */
export interface DriverOwner {
  /** Runs what a timer rings for, or what had to be written down first. */
  readonly attempt: (task: () => void) => void;
  readonly context: Pick<EngineContext, 'beforeOutside' | 'requested'>;
  /** The call is to end: with what was said last, or because the caller says nothing. */
  readonly ends: (reason: AgentEnd) => void;
  /** Whoever answers by itself gives nothing. @default nobody does */
  readonly silent?: () => void;
  /** What follows on a failure. @default nothing is told of any */
  readonly recourse?: (recourse: Recourse, options: { readonly isFirst: boolean }) => void;
}

export interface ConversationOptions {
  readonly clock: Clock;
  readonly policy: Policy;
  /** What is gone on with. @default nothing has happened */
  readonly state?: ConversationState;
  readonly fact: (fact: TurnFact | Extract<EngineFact, { type: 'phase.changed' }>) => void;
}

/** Before there is a driver. */
const NOBODY: Live = { hasVoice: false, isCaughtUp: true, awaitsTools: false };

/** One per engine. */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #deadline: Deadline;
  #state: ConversationState;
  /** To be told: who is told of one may cause the next, and end the call, with which all are told that are left. */
  readonly #facts: TurnFact[] = [];
  /** Nobody listens. Written here alone: a plain field, because it is asked for every frame. */
  isHeld: boolean;
  /** The trouble of a provider, or the end, is all that is still looked at. The same. */
  isTroubled: boolean;
  /** What the state is still to be told. */
  #pending: (() => void) | undefined;
  #driver: Driver | undefined;
  #owner: DriverOwner | undefined;
  /** The last that was told. */
  #phase: CallPhase | undefined;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#state = options.state ?? begun({ hasGreeting: false });
    this.isHeld = isHeld(this.#state.floor);
    this.isTroubled = this.#state.trouble.phase !== 'none';
    this.#deadline = new Deadline(options.clock, () => this.#ring());
  }

  drivenBy(driver: Driver, owner: DriverOwner): void {
    this.#driver = driver;
    this.#owner = owner;
  }

  /** All of it. Plain data. */
  get state(): ConversationState {
    this.#settle();
    return this.#state;
  }

  get floor(): ConversationState['floor'] {
    return this.#state.floor;
  }

  get turns(): Turns {
    return this.#state.turns;
  }

  get untaken(): ConversationState['untaken'] {
    return this.#state.untaken;
  }

  get policy(): Policy {
    return this.#options.policy;
  }

  /** The call is to be hung up, in a moment. */
  get hangsUp(): boolean {
    return hangUpIn(this.#state.floor.floor) !== undefined;
  }

  /** True while the agent says what the call ends with, and nobody has to be heard before it does. */
  get isLeaving(): boolean {
    return isLeaving(this.#state, this.#options.policy);
  }

  /** On the clock. */
  get now(): number {
    return this.#options.clock.now();
  }

  /** Something has happened. What follows is done in this tick. */
  tell(input: Input): void {
    this.#settle();
    const { clock, policy } = this.#options;
    const at: Moment = { now: clock.now(), wall: clock.wallNow() };
    const { state, effects } = step(this.#state, input, { at, live: this.#live, policy });
    this.change(state);
    for (const effect of effects)
      try {
        this.#carryOut(effect);
      } catch (error) {
        // What is decided is done: nothing that fails behind it would end the call any more.
        const hangUp = effects.slice(effects.indexOf(effect) + 1).find(({ type }) => type === 'hang-up');
        if (hangUp !== undefined) this.#carryOut(hangUp);
        throw error;
      }
  }

  /** Something has changed that the machine is not told of, and the phase depends on. */
  look(): void {
    const driver = this.#driver;
    if (driver === undefined) return;
    const { fact, policy } = this.#options;
    const phase = phaseIn(this.#state, { sound: driver.sound, policy });
    if (phase === undefined || phase === this.#phase) return;
    this.#phase = phase;
    fact({ type: 'phase.changed', phase });
  }

  /** The state of now on. */
  change(state: ConversationState): void {
    this.#state = state;
    this.isHeld = isHeld(state.floor);
    this.isTroubled = state.trouble.phase !== 'none';
    this.#deadline.set(deadlineOf(state));
  }

  /** For what comes with every frame and can only put off what is due: `task` tells of it, once, before the state is read, changed or due again. */
  defer(task: () => void): void {
    this.#pending = task;
  }

  get #live(): Live {
    return this.#driver?.live ?? NOBODY;
  }

  #carryOut(effect: Effect): void {
    const written = isOutside(effect) ? this.#owner?.context.beforeOutside?.(effect) : undefined;
    if (written === undefined) {
      this.#perform(effect);
      return;
    }
    const perform = () => this.#owner?.attempt(() => this.#perform(effect));
    void written.then(perform, perform);
  }

  #perform(effect: Effect): void {
    const owner = this.#owner;
    switch (effect.type) {
      case 'facts':
        this.#tellFacts(effect.facts);
        break;
      case 'requested':
        owner?.context.requested?.(effect.id, effect.outcome);
        break;
      case 'hang-up':
        owner?.ends(effect.reason);
        break;
      case 'silent':
        owner?.silent?.();
        break;
      case 'recourse':
        owner?.recourse?.(effect.recourse, effect);
        break;
      case 'tell-phase':
        this.look();
        break;
      default:
        this.#driver?.perform(effect);
    }
  }

  #tellFacts(facts: readonly TurnFact[]): void {
    this.#facts.push(...facts);
    for (let fact = this.#facts.shift(); fact !== undefined; fact = this.#facts.shift())
      this.#options.fact(fact);
  }

  #settle(): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.();
  }

  #ring(): void {
    const due = () => this.tell({ type: 'due' });
    if (this.#owner === undefined) due();
    else this.#owner.attempt(due);
    this.#deadline.set(deadlineOf(this.#state));
  }
}
