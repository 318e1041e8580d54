// What an agent is made of in every voice mode.
import type { RecipeIdentity } from './call-context.js';
import type { WordsOptions } from './languages/agent-words.js';
import type { HandoffOffers, TransferTargets } from './tools/built-in-tools.js';
import type { AgentTool } from './tools/tool.js';
import type { TurnTakingSettings } from './turn-taking.js';

export interface RecipeOptions extends RecipeIdentity, WordsOptions {
  readonly systemPrompt?: string | undefined;
  /** Said when the call connects. Without it the agent waits for the caller. */
  readonly firstMessage?: string | undefined;
  /** False lets the agent finish whatever the caller says meanwhile; that is answered afterwards. @default true */
  readonly interruptible?: boolean | undefined;
  /** A realtime model decides most of it: what is left are keys, and whether the greeting can be interrupted. */
  readonly turnTaking?: TurnTakingSettings | undefined;
  /** What the model may call beside the tools that every agent has. Read for each call. */
  readonly tools?: readonly AgentTool[] | undefined;
  /** Whom the model may hand the caller over to. @default nobody */
  readonly transferTargets?: TransferTargets | undefined;
  /** Which other agents the model may hand the caller over to. @default none */
  readonly handoffs?: HandoffOffers | undefined;
}
