// From what an engine knows of its call to what application code and providers are told of it.
import type { CallContext, Variables } from '../contract/call-context.js';
import type { PreparationContext } from './engine.js';

/** What a recipe knows of the call beside what its options make of it. */
export interface RecipeIdentity {
  /** Name of the agent. @default it has none */
  readonly name?: string | undefined;
  /** Of the agent and the call. @default {} */
  readonly variables?: Variables | undefined;
}

export function toCallContext(
  {
    callId,
    direction,
    caller,
    callee,
  }: Pick<PreparationContext, 'callId' | 'direction' | 'caller' | 'callee'>,
  { name, variables }: RecipeIdentity,
): CallContext {
  // Many hands hold it, for as long as the call lives.
  return Object.freeze({
    callId,
    direction,
    caller,
    callee,
    agent: name ?? null,
    variables: Object.freeze({ ...variables }),
  });
}
