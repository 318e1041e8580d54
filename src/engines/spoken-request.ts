// What somebody outside the call wants the agent to say.
import type { Input } from '../conversation/step.js';

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

/** As the machine is told of it. */
export function toInput({ id, text, interrupts, interruptible }: SpokenRequest): Input {
  const manner = { request: id, ...(interruptible === undefined ? {} : { interruptible }) };
  return { type: 'request', text, manner, interrupts };
}
