// Sessions as the emulated Live API keeps them behind its connections: a conversation that another connection can go on with.
import type { Clock } from '../../base/clock.js';
import type { EmulatedItem } from './realtime-script.js';

/** One conversation. */
export class LiveConversation {
  readonly id: string;
  #items: EmulatedItem[];
  #count: number;

  constructor(id: string, items: readonly EmulatedItem[] = []) {
    this.id = id;
    this.#items = [...items];
    this.#count = items.length;
  }

  get items(): readonly EmulatedItem[] {
    return this.#items;
  }

  /** Adds an item, or replaces the one that is `itemId`. Returns its id. */
  add(item: Pick<EmulatedItem, 'kind' | 'role' | 'text'> & { id?: string; audioMs?: number }): string {
    this.#count += 1;
    const id = item.id ?? `${this.id}-${this.#count}`;
    const whole: EmulatedItem = { audioMs: 0, isTruncated: false, ...item, id };
    const known = this.#items.findIndex((other) => other.id === id);
    if (known < 0) this.#items.push(whole);
    else this.#items[known] = whole;
    return id;
  }
}

/** How long a handle is good for, from the end of its session on. */
const VALID_MS = 2 * 60 * 60_000;

export class LiveSessions {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #saved = new Map<string, { readonly id: string; readonly items: readonly EmulatedItem[] }>();
  /** When the last connection of a session was closed, on the clock. */
  readonly #ends = new Map<string, number>();
  #conversations = 0;
  #handles = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  start(): LiveConversation {
    this.#conversations += 1;
    return new LiveConversation(`session-${this.#conversations}`);
  }

  /** The state of a conversation under a new handle. */
  save({ id, items }: LiveConversation): string {
    this.#handles += 1;
    const handle = `handle-${this.#handles}`;
    this.#saved.set(handle, { id, items: [...items] });
    return handle;
  }

  /** Undefined for a handle that is not known, or no longer. */
  resume(handle: string): LiveConversation | undefined {
    const saved = this.#saved.get(handle);
    if (saved === undefined) return undefined;
    const endedAt = this.#ends.get(saved.id) ?? Number.POSITIVE_INFINITY;
    return this.#clock.now() - endedAt >= VALID_MS ? undefined : new LiveConversation(saved.id, saved.items);
  }

  /** The connection of a session is closed. */
  ended({ id }: LiveConversation): void {
    this.#ends.set(id, this.#clock.now());
  }

  /** From now on no handle is known. */
  forget(): void {
    this.#saved.clear();
  }
}
