// Where in an open call its reader or the player is. Parts look at it by themselves: it moves with every frame that is drawn, and the page does not.
import { useEffect, useState } from 'preact/hooks';

export class Playhead {
  /** Milliseconds on the axis of the call; null while nobody has chosen a place. */
  ms: number | null = null;
  readonly #listeners = new Set<() => void>();
  /** Moves what plays, when a reader chooses a place. */
  #player: ((ms: number) => void) | null = null;
  readonly #chosen: (ms: number) => void;

  /** `chosen` hears of each place that a reader chooses. */
  constructor(ms: number | null, chosen: (ms: number) => void) {
    this.ms = ms;
    this.#chosen = chosen;
  }

  /** It has come this far by itself. */
  move(ms: number): void {
    this.ms = ms;
    for (const listener of this.#listeners) listener();
  }

  /** A reader goes there. */
  jump(ms: number): void {
    const at = Math.max(0, ms);
    this.move(at);
    this.#player?.(at);
    this.#chosen(at);
  }

  /** It stands still there, which the address is to say. */
  stop(ms: number): void {
    this.move(ms);
    this.#chosen(ms);
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
