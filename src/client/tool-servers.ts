// The tools of agents that come from elsewhere, while one server runs: asked for when it starts, the same until it stops.
import type { Clock } from '../base/clock.js';
import { ConfigError } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { MAX_TOOLS } from '../engines/tools/agent-tool.js';
import { BUILT_IN_NAMES } from '../engines/tools/built-in-tools.js';
import type { AgentTool } from '../engines/tools/tool.js';
import type { OpenToolSource, ToolSource } from '../engines/tools/tool-source.js';
import type { Agent } from '../options/agent.js';

export interface ToolServersOptions {
  /** Whose tools are asked for at start. */
  readonly agents: readonly Agent[];
  readonly clock: Clock;
  readonly logger: Logger;
}

export class ToolServers {
  readonly #options: ToolServersOptions;
  readonly #sources: ReadonlySet<ToolSource>;
  readonly #opened = new Map<ToolSource, OpenToolSource>();
  readonly #tools = new WeakMap<Agent, readonly AgentTool[]>();
  readonly #over = new AbortController();

  constructor(options: ToolServersOptions) {
    this.#options = options;
    this.#sources = new Set(options.agents.flatMap((agent) => agent.options.toolSources));
  }

  /** All are there when it resolves. @throws ConfigError; `close` then leaves nothing. */
  async open(): Promise<void> {
    const { clock, logger, agents } = this.#options;
    const { signal } = this.#over;
    const opening = [...this.#sources].map(async (source) => {
      this.#opened.set(source, await source.open({ clock, logger, signal }));
    });
    try {
      await Promise.all(opening);
    } catch (error) {
      this.giveUp();
      await Promise.allSettled(opening);
      throw error;
    }
    for (const agent of agents) this.of(agent);
  }

  /** Nobody waits for them any more. Idempotent. */
  giveUp(): void {
    this.#over.abort();
  }

  /** Refuses an agent whose tools are not asked for. @throws ConfigError */
  assertKnown({ options }: Agent): void {
    const stranger = options.toolSources.find((source) => !this.#sources.has(source));
    if (stranger === undefined) return;
    throw new ConfigError(
      'CONFIG_CONFLICT',
      `The tools of ${stranger.name} were not listed when serve() started: make the agent with phone.agent() before serve(), or give it the same mcp() as an agent that was.`,
    );
  }

  /** All tools of an agent: its own, and those of its sources as far as these are open. @throws ConfigError for two of one name, and too many */
  of(agent: Agent): readonly AgentTool[] {
    const known = this.#tools.get(agent);
    if (known !== undefined) return known;
    const { tools: own, toolSources } = agent.options;
    const foreign = toolSources.map((source) => ({ source, tools: this.#opened.get(source)?.tools }));
    const tools = [...own, ...foreign.flatMap((each) => each.tools ?? [])];
    const names = [...BUILT_IN_NAMES, ...tools.map(({ definition }) => definition.name)];
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined)
      throw new ConfigError(
        'CONFIG_CONFLICT',
        `An agent has two tools named ${twice}, one of them of ${foreign.findLast((each) => each.tools?.some(({ definition }) => definition.name === twice))?.source.name}: leave it out of allow, or set prefix.`,
      );
    if (tools.length > MAX_TOOLS)
      throw new ConfigError(
        'CONFIG_INVALID',
        `An agent has ${tools.length} tools, more than ${MAX_TOOLS}: name those that it needs in allow of mcp().`,
      );
    if (foreign.every((each) => each.tools !== undefined)) this.#tools.set(agent, tools);
    return tools;
  }

  /** Nothing is left of them when it resolves. Idempotent, never rejects. */
  async close(): Promise<void> {
    this.giveUp();
    await Promise.all([...this.#opened.values()].map((source) => source.close()));
  }
}
