// The agents of one call: who has the caller, and to whom that one may hand them over.
import {
  agentOf,
  callerActed,
  type Handoffs,
  handedOver,
  hasSaid,
  refusalOf,
  withAgent,
} from '../../conversation/handoffs.js';
import type { CallLanguage } from '../../conversation/language.js';
import type { VoiceMode } from '../../contract/call-record.js';
import type { EngineFact, EngineRecipe, HandoffOrder } from '../engine.js';
import { ToolError } from '../tools/tool.js';
import type { FallbackChoice } from './choice.js';

/** An agent that the caller may be handed over to. */
export interface NextAgent {
  readonly name: string;
  /** As it is told. */
  readonly recipe: EngineRecipe;
  /** In the order in which they are tried; one at least. */
  readonly choices: readonly FallbackChoice[];
  /** What it says as it takes over, before it answers, in the language that the call goes on in. */
  readonly say: string | undefined;
  readonly handoffs: NextAgents | undefined;
}

/** The agent of a name that a model has chosen, for a call in `language`; undefined where there is none. @throws ConfigError for one that cannot talk any more */
export type NextAgents = (name: string, language: CallLanguage) => NextAgent | undefined;

/** One per call. */
export class CallAgents {
  #handoffs: Handoffs;
  #next: NextAgents | undefined;

  /** `left`: of a call that another process had. */
  constructor({
    left,
    name = null,
    handoffs,
  }: {
    left: Handoffs | undefined;
    name?: string | null | undefined;
    handoffs?: NextAgents | undefined;
  }) {
    this.#handoffs = left ?? withAgent(name);
    this.#next = handoffs;
  }

  /** The caller may be handed over. */
  get mayChange(): boolean {
    return this.#next !== undefined;
  }

  /** Undefined while the caller is with the agent that the call began with. */
  get state(): Handoffs | undefined {
    return this.#handoffs.count === 0 ? undefined : this.#handoffs;
  }

  get current(): string | null {
    return agentOf(this.#handoffs);
  }

  /** The caller has pressed something. */
  acted(): void {
    this.#handoffs = callerActed(this.#handoffs);
  }

  /** A model that hears the caller by itself may tell no words of it. */
  hear(fact: EngineFact, mode: VoiceMode): void {
    const isWords =
      fact.type === 'transcript.segment' && fact.entry.role === 'user' && fact.entry.text !== '';
    const isSound = fact.type === 'phase.changed' && fact.phase === 'hearing' && mode === 'realtime';
    if (isWords || isSound) this.acted();
  }

  /** Whom an order is to. @throws ToolError, ConfigError */
  find({ to }: Pick<HandoffOrder, 'to'>, language: CallLanguage): NextAgent {
    const next = this.#next?.(to, language);
    if (next === undefined) throw new ToolError('There is nobody of that name.', 'arguments');
    const refusal = refusalOf(this.#handoffs, next.name);
    if (refusal !== undefined) throw new ToolError(refusal, 'refused');
    return next;
  }

  /** It has the caller. */
  change({ name, say, handoffs }: NextAgent): void {
    this.#handoffs = handedOver(this.#handoffs, name, say);
    this.#next = handoffs;
  }

  /** The caller has heard what it says first, or has interrupted it. */
  said(): void {
    this.#handoffs = hasSaid(this.#handoffs);
  }
}
