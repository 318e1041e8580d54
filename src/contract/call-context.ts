// What an application's own code is told of the call that it works for.
import type { CallDirection } from './call-record.js';

/** Values by the name of their placeholder. */
export type Variables = Readonly<Record<string, string | number>>;

/**
 * The call that a tool, `onMessage`, a guardrail or a provider works for. The same in both voice modes, and when another process has taken
 * the call over.
 */
export interface CallContext {
  readonly callId: string;
  readonly direction: CallDirection;
  /** Number of who calls, in E.164; what the carrier says where it has none. */
  readonly caller: string;
  /** Number of who is called. */
  readonly callee: string;
  /** Name of the agent; null for one without. */
  readonly agent: string | null;
  /** Values of the agent, and over them those that the call was given. */
  readonly variables: Variables;
}
