// Places of which all nodes together may take so many: leases in the broker, which this node renews for those that it has. While the broker is away, the node goes by
// its share: the places that it has, and its part of those that were free when the broker last said so.
import type { Clock, Timer } from '../base/clock.js';
import { toNextBeat, toNextRound } from '../base/pause.js';
import { BROKER_MS, type Coordinator, type Patience, type Pool } from './coordinator.js';

/** How long the place of a node is kept that says no more, in milliseconds. */
export const PLACE_MS = 15_000;
/** How often a place is renewed, in milliseconds: what a broker has lost is there again as soon. */
const RENEW_MS = 5000;
/** How often it is looked what is due, and whether the broker is there, in milliseconds. */
const BEAT_MS = 1000;
/** A broker that is back, or has lost what it had, is told every place of every node by then, in milliseconds: until then it knows too few. */
const SETTLE_MS = 3000;
/** It is found within this time, in milliseconds, that a broker has lost what it had. What it says before that is too little. */
const FOUND_MS = 2500;
/** No caller waits for it. */
const CALM: Patience = { isUnhurried: true };
/** Places that are renewed at once. */
const AT_ONCE = 500;
/** Who has a place keeps it, however many there are. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

export interface PlacePoolOptions extends Pool {
  /** False once `id` needs its place no more here: another node has it from then on, or it lapses. Asked as it is due. @default until it is given back */
  holds?(id: string): boolean;
  /** How many are taken is asked each second, also while this node takes none. @default false */
  readonly isWatched?: boolean;
}

export interface ClusterPlacesParts {
  readonly coordinator: Coordinator;
  readonly clock: Clock;
}

/** The pools of a node. */
export class ClusterPlaces {
  readonly #parts: ClusterPlacesParts;
  readonly #pools = new Map<string, PlacePool>();
  #wasThere = false;
  /** The broker knew of places before. */
  #hasKnown = false;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(parts: ClusterPlacesParts) {
    this.#parts = parts;
    this.#await();
  }

  /** The pool of that name. One that is not watched is forgotten with its last place. */
  pool(options: PlacePoolOptions): PlacePool {
    const { name } = options;
    const known = this.#pools.get(name);
    if (known !== undefined) return known;
    const emptied = () => void (options.isWatched !== true && this.#pools.delete(name));
    const pool = new PlacePool(options, this.#parts, emptied);
    this.#pools.set(name, pool);
    return pool;
  }

  /** The broker has lost what it had. */
  tellAgain(): void {
    // Who is back is told in any case.
    this.#wasThere = false;
    for (const pool of this.#pools.values()) {
      pool.recallTaken();
      pool.distrust();
    }
  }

  /** The process stood still: others may have taken by now what was free. Without a broker, nobody would ever say how many are. */
  stoodStill(): void {
    if (!this.#parts.coordinator.isThere) return;
    for (const pool of this.#pools.values()) pool.forgetFree();
  }

  /** Before the coordinator: what other nodes have by now is not given back. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const pool of this.#pools.values()) pool.handOnUnneeded();
  }

  #await(): void {
    if (this.#isClosed) return;
    const { clock } = this.#parts;
    this.#timer = clock.after(toNextBeat(clock, BEAT_MS), () => void this.#beat().then(() => this.#await()));
  }

  async #beat(): Promise<void> {
    const { isThere, isReached } = this.#parts.coordinator;
    const isBack = isThere && !this.#wasThere;
    this.#wasThere = isThere;
    const pools = [...this.#pools.values()];
    if (!isThere || (isBack && this.#hasKnown)) for (const pool of pools) pool.distrust();
    this.#hasKnown ||= isThere;
    for (const pool of pools) {
      pool.handOnUnneeded();
      // Also where the broker is slow from here alone: to the others, these places would be free.
      if (isReached) await pool.renew({ isBack });
    }
  }
}

/** Places of one kind. */
export class PlacePool {
  readonly #options: PlacePoolOptions;
  readonly #parts: ClusterPlacesParts;
  readonly #emptied: () => void;
  /** Places of this node, by when they are due, on the clock. */
  readonly #held = new Map<string, number>();
  /** Those that are asked for. True: given back meanwhile. */
  readonly #asked = new Map<string, boolean>();
  /** Those of which a renewal may be under way. */
  readonly #handedOn = new Set<string>();
  /** When the broker last said it: how many were taken, and how many of them here. */
  #known = { taken: 0, held: 0 };
  /** The most that were taken of late, and when that was, on the clock. */
  #most = { taken: 0, at: Number.NEGATIVE_INFINITY };
  /** Until then the broker may know too few places, on the clock. */
  #distrustedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: PlacePoolOptions, parts: ClusterPlacesParts, emptied: () => void) {
    this.#options = options;
    this.#parts = parts;
    this.#emptied = emptied;
  }

  /** True while no further place is to be had, as far as it is known here. */
  get isFull(): boolean {
    return this.#isTrusted ? this.#known.taken >= this.#options.limit : this.#held.size >= this.#share;
  }

  /** Takes a place, or keeps the one that `id` has, here or elsewhere. Never rejects. `since`: when the webhook that it is for asked the broker first. @default now */
  async take(id: string, { since }: { readonly since?: number | undefined } = {}): Promise<boolean> {
    this.#asked.set(id, false);
    const hasPlace = await this.#decide(id, since);
    const isGivenBack = this.#asked.get(id) === true;
    this.#asked.delete(id);
    if (isGivenBack) this.giveBack(id);
    else if (!hasPlace) this.#forget();
    return hasPlace;
  }

  /** Goes by the share for a while, also where the broker is there. */
  distrust(): void {
    this.#distrustedUntil = this.#parts.clock.now() + SETTLE_MS;
  }

  /** The broker has lost what it had, and may have said since how little is left: the share is of what was free before. */
  recallTaken(): void {
    if (!this.#isTrusted || this.#parts.clock.now() > this.#most.at + FOUND_MS) return;
    this.#known = { taken: Math.max(this.#known.taken, this.#most.taken), held: this.#held.size };
  }

  /** The share of this node is what it has, until the broker says how many are taken. */
  forgetFree(): void {
    this.#known = { taken: this.#options.limit, held: this.#held.size };
  }

  /** Has the place of `id`, which is up and was taken elsewhere, however many are taken. Its part of the share comes with it. */
  keep(id: string): void {
    if (this.#held.has(id)) return;
    this.#known = { ...this.#known, held: this.#known.held + 1 };
    // Due at once, should the broker not hear of it.
    this.#held.set(id, this.#parts.clock.now());
    void this.#renew(id);
  }

  /** Idempotent. */
  giveBack(id: string): void {
    this.#handedOn.delete(id);
    if (this.#asked.has(id)) this.#asked.set(id, true);
    if (!this.#held.delete(id)) return;
    const { taken, held } = this.#known;
    // Where this node goes by its share, the place stays part of it.
    if (this.#isTrusted) this.#known = { taken: Math.max(0, taken - 1), held: Math.max(0, held - 1) };
    this.#tellGivenBack(id);
    this.#forget();
  }

  /** Places that nothing here needs any more are left to the node that has them by now, with their part of the share. */
  handOnUnneeded(): void {
    const { holds = () => true } = this.#options;
    for (const id of [...this.#held.keys()]) {
      if (holds(id)) continue;
      this.handOn(id);
      // Below none where the place was one of those that were free: they are one fewer here.
      this.#known = { ...this.#known, held: this.#known.held - 1 };
    }
  }

  /** Leaves a place to the node that has it by now. Where none does, it lapses. Idempotent. */
  handOn(id: string): void {
    if (!this.#held.delete(id)) return;
    this.#handedOn.add(id);
    this.#parts.coordinator.handOn(this.#options, id);
  }

  /** What is due; `isBack`: everything. Never rejects. */
  async renew({ isBack }: { isBack: boolean }): Promise<void> {
    const now = this.#parts.clock.now();
    const due = [...this.#held].filter(([, dueAt]) => isBack || dueAt <= now).map(([id]) => id);
    for (let first = 0; first < due.length; first += AT_ONCE)
      await Promise.all(due.slice(first, first + AT_ONCE).map((id) => this.#renew(id)));
    this.#handedOn.clear();
    if (this.#options.isWatched) await this.#count().catch(() => {});
    this.#forget();
  }

  async #decide(id: string, since: number | undefined): Promise<boolean> {
    if (this.#isTrusted) {
      try {
        return await this.#ask(this.#options.limit, id, this.#patience(since));
      } catch {
        // By the share, then.
      }
    }
    if (this.#held.has(id)) return true;
    if (this.#held.size >= this.#share) return false;
    // Due at once: the broker does not know of it.
    this.#held.set(id, this.#parts.clock.now());
    return true;
  }

  async #renew(id: string): Promise<void> {
    await this.#ask(NO_LIMIT, id, CALM).catch(() => {});
  }

  async #ask(limit: number, id: string, patience: Patience | undefined): Promise<boolean> {
    const { name } = this.#options;
    const isRenewal = this.#held.has(id);
    const { hasPlace, taken } = await this.#parts.coordinator.take({ name, limit }, id, PLACE_MS, patience);
    // It was handed on or given back while it was renewed.
    if (isRenewal && !this.#held.has(id)) {
      if (this.#handedOn.has(id)) this.#parts.coordinator.handOn(this.#options, id);
      else this.#tellGivenBack(id);
    } else if (hasPlace) this.#hold(id);
    this.#learn(taken);
    return hasPlace;
  }

  async #count(): Promise<void> {
    const taken = await this.#parts.coordinator.taken(this.#options, CALM);
    this.#learn(taken);
  }

  #learn(taken: number): void {
    if (!this.#isTrusted) return;
    this.#known = { taken, held: this.#held.size };
    const now = this.#parts.clock.now();
    if (taken >= this.#most.taken || now > this.#most.at + FOUND_MS) this.#most = { taken, at: now };
  }

  /** The broker knows every place. */
  get #isTrusted(): boolean {
    const { coordinator, clock } = this.#parts;
    return coordinator.isThere && clock.now() >= this.#distrustedUntil;
  }

  #hold(id: string): void {
    this.#handedOn.delete(id);
    const { clock } = this.#parts;
    // All at the same moments: they leave this node together.
    this.#held.set(id, clock.now() + toNextRound(clock, RENEW_MS));
  }

  #forget(): void {
    // What is known is the share while the broker is not trusted. Of an address of which nothing was taken, that is nothing: anybody may come from many.
    const { taken, held } = this.#known;
    const isKept = !this.#isTrusted && (taken !== 0 || held !== 0);
    if (!isKept && this.#held.size === 0 && this.#asked.size === 0) this.#emptied();
  }

  /** A place whose return the broker does not hear of lapses. */
  #tellGivenBack(id: string): void {
    void this.#parts.coordinator.giveBack(this.#options, id).catch(() => {});
  }

  /** What this node may have while the broker is away. */
  get #share(): number {
    const { taken, held } = this.#known;
    const free = Math.max(0, this.#options.limit - taken);
    return Math.max(0, held + Math.ceil(free / Math.max(1, this.#parts.coordinator.nodes().length)));
  }

  /** What is left of the time that a webhook has for the broker. Where that is over and the broker is there, it was another node that took it. */
  #patience(since: number | undefined): Patience {
    const by = since === undefined ? undefined : since + BROKER_MS;
    return by !== undefined && this.#parts.clock.now() < by ? { by } : {};
  }
}
