// Where in an open call its reader or the player is. Parts look at it by themselves: it moves with every frame that is drawn, and the page does not.
import { useEffect, useState } from 'preact/hooks';

export class Playhead {
  /** Milliseconds on the axis of the call; null while nobody has chosen a place. */
  ms: number | null = null;
  #lengthMs = Number.POSITIVE_INFINITY;
  readonly #listeners = new Set<() => void>();
  /** Moves what plays, when a reader chooses a place. */
  #player: ((ms: number) => void) | null = null;
  readonly #chosen: (ms: number) => void;

  /** `chosen` hears of each place that a reader chooses. */
  constructor(ms: number | null, chosen: (ms: number) => void) {
    this.ms = ms;
    this.#chosen = chosen;
  }

  /** The call is known to be as long as this: nothing is behind its end. */
  bound(lengthMs: number): void {
    this.#lengthMs = lengthMs;
    if (this.ms !== null && this.ms > lengthMs) this.jump(lengthMs);
  }

  /** It has come this far by itself. */
  move(ms: number): void {
    this.ms = Math.min(ms, this.#lengthMs);
    for (const listener of this.#listeners) listener();
  }

  /** A reader goes there. */
  jump(ms: number): void {
    const at = Math.max(0, Math.min(ms, this.#lengthMs));
    this.move(at);
    this.#player?.(at);
    this.#chosen(at);
  }

  /** It stands still there, which the address is to say. */
  stop(ms: number): void {
    this.move(ms);
    this.#chosen(this.ms ?? ms);
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Returns a function that takes it back. */
  moves(player: (ms: number) => void): () => void {
    this.#player = player;
    return () => {
      this.#player = null;
    };
  }
}

/** What `read` makes of the place; draws the calling part again when that changes. `of`: what else it depends on. */
export function usePlace<T>(head: Playhead, read: (ms: number | null) => T, of: readonly unknown[]): T {
  const [value, setValue] = useState(() => read(head.ms));
  useEffect(() => {
    const look = () => setValue(() => read(head.ms));
    look();
    return head.listen(look);
  }, [head, ...of]);
  return value;
}
