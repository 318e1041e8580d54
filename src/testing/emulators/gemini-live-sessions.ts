// Sessions as the emulated Live API keeps them behind its connections: a conversation that another connection can go on with.
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

export class LiveSessions {
  readonly #saved = new Map<string, { readonly id: string; readonly items: readonly EmulatedItem[] }>();
  #conversations = 0;
  #handles = 0;

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

  /** Undefined for a handle that is not known. */
  resume(handle: string): LiveConversation | undefined {
    const saved = this.#saved.get(handle);
    return saved === undefined ? undefined : new LiveConversation(saved.id, saved.items);
  }

  /** From now on no handle is known. */
  forget(): void {
    this.#saved.clear();
  }
}
