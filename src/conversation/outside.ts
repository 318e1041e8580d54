// What a conversation does beyond itself. It happens once, nobody can take it back, and the state does not tell whether it has happened: so
// whoever keeps the state may write such an effect down before it is done.
import type { ModelToolCall } from '../contract/chat-message.js';

/** Why the agent ends a call. `idle`: the caller says nothing. */
export type AgentEnd = 'agent-hangup' | 'idle';

export type OutsideEffect =
  /** A tool of the application is run, with arguments that fit. */
  | { readonly type: 'tool'; readonly isOutside: true; readonly call: ModelToolCall }
  /** The caller is handed over to this E.164 number. */
  | { readonly type: 'transfer'; readonly isOutside: true; readonly call: ModelToolCall; readonly to: string }
  /** Keys are played to the other side. */
  | { readonly type: 'keys'; readonly isOutside: true; readonly call: ModelToolCall; readonly digits: string }
  /** The agent ends the call: what it said last has been heard. */
  | { readonly type: 'hang-up'; readonly isOutside: true; readonly reason: AgentEnd };

/** True for an effect with consequences outside. */
export function isOutside<Effect extends { readonly type: string }>(
  effect: Effect | OutsideEffect,
): effect is OutsideEffect {
  return 'isOutside' in effect;
}
