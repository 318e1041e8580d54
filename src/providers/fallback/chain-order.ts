// Who of a chain serves a call, and who comes next when that one fails. One per engine: whoever takes the call over begins anew. What is known
// of providers beyond it is with the circuits.
import { OffhookError } from '../../base/errors.js';
import { describeThrown, type Logger } from '../../base/log.js';
import { type Circuits, countsAgainst } from '../circuits.js';
import type { Payee, Replacement } from '../remedy.js';

/** Providers of one stage, in the order in which they are asked. */
export type Members<T> = readonly [T, ...T[]];

export interface ChainOrderOptions<T> {
  readonly members: Members<T>;
  readonly circuits: Circuits;
  readonly logger: Logger;
  /** Another one is asked from now on. */
  readonly replaced: (replacement: Replacement) => void;
}

export class ChainOrder<T extends Payee> {
  readonly #options: ChainOrderOptions<T>;
  /** Those that have failed since one of them has last done its work. */
  readonly #failed = new Set<T>();
  #current: T;

  constructor(options: ChainOrderOptions<T>) {
    const { members, circuits } = options;
    this.#options = options;
    this.#current = circuits.choose(members);
  }

  get current(): T {
    return this.#current;
  }

  /** True when there is somebody to ask in the place of the current one. */
  get hasNext(): boolean {
    return this.#next() !== undefined;
  }

  /** The call begins: says so where it is not with the first of the chain. */
  begin(): void {
    const [first] = this.#options.members;
    if (this.#current !== first) this.#replace(first, this.#current, { code: 'PROVIDER_FAILED', gapMs: 0 });
  }

  /** Who is asked now that `member` has failed, `gapMs` after it was asked; undefined when nobody is left, and it stays. */
  failed(member: T, { error, gapMs }: { error: unknown; gapMs: number }): T | undefined {
    // Another sentence or request has seen it before.
    if (member !== this.#current) return this.#current;
    const { circuits, logger } = this.#options;
    if (countsAgainst(error)) circuits.failed(member);
    this.#failed.add(member);
    const next = this.#next();
    const fields = { provider: member.name, ...describeThrown(error) };
    if (next === undefined) {
      logger.warn(fields, 'a provider failed, and no fallback is left');
      this.#failed.clear();
    } else {
      logger.warn({ ...fields, next: next.name }, 'a provider failed: the next fallback takes over');
      this.#replace(member, next, { code: codeOf(error), gapMs });
    }
    return next;
  }

  /** `member` has done what it was asked for. */
  worked(member: T): void {
    this.#options.circuits.worked(member);
    this.#failed.clear();
  }

  /** Behind the current one first, then from the beginning; one that fails in other calls only where there is no other. */
  #next(): T | undefined {
    const { members, circuits } = this.#options;
    const at = members.indexOf(this.#current);
    const order = [...members.slice(at + 1), ...members.slice(0, at)].filter(
      (each) => !this.#failed.has(each),
    );
    return order.find((each) => !circuits.isOpen(each)) ?? order[0];
  }

  #replace(from: T, to: T, why: { code: string; gapMs: number }): void {
    this.#current = to;
    this.#options.replaced({ from: from.name, to: to.name, ...why });
  }
}

function codeOf(error: unknown): string {
  return OffhookError.isInstance(error) ? error.code : 'PROVIDER_FAILED';
}
