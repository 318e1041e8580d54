// Tools of an MCP server, as an agent has them: options that were checked, and nothing that runs.
import { type OpenToolSource, ToolSource, type ToolSourceContext } from '../tool-source.js';
import { type CheckedMcpOptions, checkMcpOptions, type McpOptions } from './options.js';

/**
 * Tools of an MCP server, for `tools` of an agent. Needs the package `@modelcontextprotocol/client`. Nothing is connected to before `phone.serve`,
 * which lists the tools once. @throws ConfigError
 */
export function mcp(options: McpOptions): ToolSource {
  return new McpToolSource(checkMcpOptions(options));
}

class McpToolSource extends ToolSource {
  readonly name: string;
  readonly #options: CheckedMcpOptions;

  constructor(options: CheckedMcpOptions) {
    super();
    this.name = options.name;
    this.#options = options;
    Object.freeze(this);
  }

  override async open(context: ToolSourceContext): Promise<OpenToolSource> {
    // With all that it needs of the SDK: who has no such tools does not load it.
    const { OpenMcpServer } = await import('./open-server.js');
    return OpenMcpServer.open(this.#options, context);
  }
}
