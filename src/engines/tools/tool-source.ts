// Tools that are known once somebody was asked for them: what an agent is made with, and what a server opens when it starts.
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import type { AgentTool } from './tool.js';

export interface ToolSourceContext {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when nobody waits for the tools any more. */
  readonly signal: AbortSignal;
}

/** A source at work, for one server. */
export interface OpenToolSource {
  /** The same from now on. */
  readonly tools: readonly AgentTool[];
  /** Nothing is left of it when this resolves. Idempotent, never rejects. */
  close(): Promise<void>;
}

/** Where tools come from, as an agent has it: a recipe without state, for any number of agents and servers. */
export abstract class ToolSource {
  /** What logs and errors call it. */
  abstract readonly name: string;

  /** Asks for the tools, and keeps what is needed to run them. Nothing is left where it rejects. @throws ConfigError */
  abstract open(context: ToolSourceContext): Promise<OpenToolSource>;
}

/** Those among the `tools` of an agent, of which nothing was checked yet. */
export function toolSourcesIn(tools: unknown): readonly ToolSource[] {
  return Array.isArray(tools) ? tools.filter((each) => each instanceof ToolSource) : [];
}
