// What somebody outside the call wants the agent to say.
import type { Manner } from '../conversation/floor.js';

/** Words that somebody outside wants the agent to say, as they are. */
export interface SpokenRequest {
  /** Unique in the call, whatever becomes of its process. */
  readonly id: string;
  readonly text: string;
  /** It cuts off what the agent says now. Otherwise it comes after that. */
  readonly interrupts: boolean;
  /** Whether the caller can interrupt it. @default as the agent's options say */
  readonly interruptible?: boolean | undefined;
}

/** How a request is to be taken. */
export function mannerOf({ id, interruptible }: Pick<SpokenRequest, 'id' | 'interruptible'>): Manner {
  return { request: id, ...(interruptible === undefined ? {} : { interruptible }) };
}
