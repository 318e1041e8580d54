// What an application may decide on an inbound call that rings. Who asks it, and checks what it says, is the composition root's.
import type { EngineRecipe } from '../../engines/engine.js';
import type { OutboundRequest, WaitingCall } from '../call-desk.js';

/** The agent of one call. */
export interface ChosenAgent {
  readonly recipe: EngineRecipe;
  /** What another process makes `recipe` of, beside the name of the agent. */
  readonly texts: OutboundRequest['texts'];
}

/** How a call is answered that no agent talks to first. */
export type AgentlessAnswer =
  /** With the carrier's voice, which hangs up. */
  | {
      readonly type: 'say';
      readonly announcement: { readonly text: string; readonly language: string | undefined };
    }
  /** With another number (E.164). Should nobody answer there, the server's agent takes the call. */
  | { readonly type: 'transfer'; readonly to: string };

export type CallChoice =
  /** Undefined for the server's own. */
  | { readonly type: 'agent'; readonly agent: ChosenAgent | undefined }
  | { readonly type: 'reject'; readonly reason: 'busy' | 'rejected' }
  | AgentlessAnswer;

/** Decides on a call that rings, in bounded time. Never rejects. `signal`: the call is over, or decided otherwise. */
export type ChooseCall = (
  call: WaitingCall,
  context: { readonly signal: AbortSignal },
) => Promise<CallChoice>;
