// What each chain is made of.
import type { Clock } from '../../base/clock.js';
import type { Circuits } from '../circuits.js';
import type { Members } from './chain-order.js';

export interface ChainOptions<T> {
  /** The first is the one that is meant; each of the others is asked when those before it fail. */
  readonly members: Members<T>;
  /** Shared by all chains of a process. */
  readonly circuits: Circuits;
  readonly clock: Clock;
}

/** All of them, because what is missing shall be known before it is needed. @throws ConfigError */
export function assertAllConfigured(members: Members<{ assertConfigured?(): void }>): void {
  for (const member of members) member.assertConfigured?.();
}
