// Who has had the caller, and to whom they may be handed over next. Pure, plain data.
import { MAX_HANDOFFS } from '../contract/call-record.js';

/** Of one call. Null is the name of an agent without one. */
export interface Handoffs {
  readonly count: number;
  /** Who has had the caller since they last said something; who talks to them now is the last. */
  readonly since: readonly (string | null)[];
  /** What that one says before it answers, while the caller has not heard it. @default nothing */
  readonly say?: string | undefined;
}

export function withAgent(agent: string | null): Handoffs {
  return { count: 0, since: [agent] };
}

/** Who talks to the caller. */
export function agentOf({ since }: Handoffs): string | null {
  return since.at(-1) ?? null;
}

/** The caller has said or pressed something. */
export function callerActed(handoffs: Handoffs): Handoffs {
  return handoffs.since.length > 1 ? { ...handoffs, since: [agentOf(handoffs)] } : handoffs;
}

export function handedOver({ count, since }: Handoffs, to: string, say?: string): Handoffs {
  return { count: count + 1, since: [...since, to], ...(say !== undefined && { say }) };
}

/** The caller has heard what the agent says first, or has interrupted it. */
export function hasSaid({ say: _, ...handoffs }: Handoffs): Handoffs {
  return handoffs;
}

/** Why the caller is not handed over to `to`, as the model is told; undefined where they may be. */
export function refusalOf({ count, since }: Handoffs, to: string): string | undefined {
  if (count >= MAX_HANDOFFS)
    return 'Not done: the caller was handed over too often. Help them yourself, as far as you can.';
  if (since.includes(to))
    return 'Not done: that agent has just had the caller, who has said nothing since. Help them yourself, or ask what they want.';
  return undefined;
}

/** A stored one may be damaged. */
export function isHandoffs(value: unknown): value is Handoffs {
  const { count, since, say = '' } = (value ?? {}) as Partial<Handoffs>;
  const isName = (each: unknown) => each === null || typeof each === 'string';
  const isNamed = Array.isArray(since) && since.length > 0 && since.every(isName);
  return Number.isInteger(count) && isNamed && typeof say === 'string';
}
