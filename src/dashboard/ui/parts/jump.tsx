// A time in a call that leads there.
import { formatPlace } from '../format.js';
import type { Playhead } from '../state/playhead.js';

/** `at`, `zero`: epoch milliseconds. */
export function Jump({ at, zero, head }: { at: number; zero: number; head: Playhead }) {
  const time = formatPlace(at - zero);
  return (
    <button
      type="button"
      class="jump"
      aria-label={`Go to ${time}`}
      // The mouse leaves the keyboard where it was: the next Space pauses.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => head.jump(at - zero)}
    >
      <time>{time}</time>
    </button>
  );
}
