// The tools of one MCP server while a phone server runs: listed once, and run in a session that all calls share, or in one for each call.
import type { PriorDiscovery } from '@modelcontextprotocol/client';
import { ConfigError, OffhookError } from '../../../base/errors.js';
import type { CallContext } from '../../../contract/call-context.js';
import type { AgentTool, ToolContext } from '../tool.js';
import type { OpenToolSource, ToolSourceContext } from '../tool-source.js';
import { McpFailure } from './failure.js';
import { checkHeaders, type McpHeaders } from './headers.js';
import { McpLink } from './link.js';
import { listTools, type OfferedTool, toOffered } from './listing.js';
import type { CheckedMcpOptions, McpProgram } from './options.js';
import { toModelText } from './result.js';
import { loadMcpSdk, type McpSdk } from './sdk.js';
import { McpSession } from './session.js';
import { StderrSummary } from './stderr-summary.js';

export class OpenMcpServer implements OpenToolSource {
  readonly #options: CheckedMcpOptions;
  readonly #context: ToolSourceContext;
  readonly #sdk: McpSdk;
  /** Which revision of the protocol the server speaks, as far as it is known. */
  #prior: PriorDiscovery | undefined;
  /** That of the listing, and of all calls where none has headers of its own. */
  readonly #shared: McpLink;
  readonly #ofCalls = new Map<string, McpLink>();
  readonly #ends = new Set<Promise<void>>();
  #tools: readonly AgentTool[] = [];
  /** Of a program. */
  readonly #stderr: StderrSummary | undefined;
  #isListed = false;
  #isClosed = false;

  private constructor(options: CheckedMcpOptions, context: ToolSourceContext, sdk: McpSdk) {
    this.#options = options;
    this.#context = context;
    this.#sdk = sdk;
    const { server } = options;
    const headers = server.type === 'http' ? server.startHeaders : {};
    this.#stderr = server.type === 'http' ? undefined : new StderrSummary(server);
    this.#shared = this.#link(async () => headers);
  }

  /** Connects, and lists the tools. Nothing is left where it rejects. @throws ConfigError */
  static async open(options: CheckedMcpOptions, context: ToolSourceContext): Promise<OpenMcpServer> {
    const sdk = await loadMcpSdk();
    const opened = new OpenMcpServer(options, context, sdk);
    try {
      await opened.#list();
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  get tools(): readonly AgentTool[] {
    return this.#tools;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const callId of [...this.#ofCalls.keys()]) this.#release(callId);
    await Promise.all([this.#shared.close(), ...this.#ends]);
  }

  async #list(): Promise<void> {
    const { name, startTimeoutMs } = this.#options;
    const { clock, logger, signal } = this.#context;
    const abort = new AbortController();
    let isLate = false;
    const giveUp = () => {
      abort.abort();
      void this.#shared.close();
    };
    const timer = clock.after(startTimeoutMs, () => {
      isLate = true;
      giveUp();
    });
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    try {
      const session = await this.#shared.session();
      const listed = await listTools(session, name, abort.signal);
      const offered = toOffered(listed, this.#options, logger);
      this.#tools = Object.freeze(offered.map((tool) => this.#toAgentTool(tool)));
      this.#isListed = true;
      const tools = offered.map(({ definition }) => definition.name);
      logger.info(
        { server: name, tools, leftOut: listed.length - tools.length },
        'MCP server listed its tools',
      );
    } catch (error) {
      throw isLate
        ? new ConfigError(
            'CONFIG_INVALID',
            `The MCP server ${name} did not list its tools within ${startTimeoutMs / 1000} s (startTimeoutMs).${this.#written}`,
          )
        : this.#toRefusal(error);
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', giveUp);
    }
    if (this.#hasCallHeaders) await this.#shared.close();
  }

  #toRefusal(error: unknown): OffhookError {
    if (OffhookError.isInstance(error)) return error;
    const { name, server } = this.#options;
    const what =
      error instanceof McpFailure && error.trouble === 'unreachable'
        ? 'cannot be reached'
        : 'did not list its tools';
    const status = error instanceof McpFailure && error.status !== null ? ` (status ${error.status})` : '';
    const hint = server.type === 'http' ? 'Check url and headers of mcp().' : toHint(error, server);
    // Without its cause: that may have more words of the server, or keys among the arguments.
    return new ConfigError(
      'CONFIG_INVALID',
      `The MCP server ${name} ${what}${status}. ${hint}${this.#written}`,
    );
  }

  /** What a program said of its failure, as a sentence behind another. */
  get #written(): string {
    const line = this.#stderr?.line;
    return line === undefined ? '' : ` It wrote: ${JSON.stringify(line)}`;
  }

  #toAgentTool({ definition, listed }: OfferedTool): AgentTool {
    return {
      definition,
      timeoutMs: this.#options.timeoutMs,
      isIdempotent: false,
      check: (value) => ({ value }),
      run: async (args, context) => {
        const result = await this.#linkOf(context).call(
          listed,
          args as Record<string, unknown>,
          context.signal,
        );
        return toModelText(result);
      },
      release: (callId) => this.#release(callId),
    };
  }

  get #hasCallHeaders(): boolean {
    const { server } = this.#options;
    return server.type === 'http' && typeof server.headers === 'function';
  }

  #linkOf(context: ToolContext): McpLink {
    if (!this.#hasCallHeaders || this.#isClosed) return this.#shared;
    const { callId } = context;
    const known = this.#ofCalls.get(callId);
    if (known !== undefined) return known;
    const link = this.#link(() => this.#headersFor(context));
    this.#ofCalls.set(callId, link);
    return link;
  }

  #link(headers: () => Promise<McpHeaders>): McpLink {
    const { name, server, startTimeoutMs } = this.#options;
    const { clock, logger } = this.#context;
    return new McpLink({
      clock,
      onFailed: (failure) => {
        // What fails before, fails the start, with an error of its own.
        if (this.#isListed)
          logger.warn({ server: name, ...failure }, 'an MCP server failed: its tools are tried again later');
      },
      openWithinMs: startTimeoutMs,
      open: async (signal) => {
        const given = await headers();
        const prior = this.#prior;
        // Where it fails, the server may have become another one.
        this.#prior = undefined;
        const wrote = (line: string) => this.#stderr?.add(line);
        const parts = { sdk: this.#sdk, server, name, headers: given, prior, clock, logger, signal, wrote };
        const opening = McpSession.open(parts).then((session) => {
          this.#prior = session.discovered;
          return session;
        });
        return { opening };
      },
    });
  }

  async #headersFor({
    callId,
    direction,
    caller,
    callee,
    agent,
    variables,
  }: CallContext): Promise<McpHeaders> {
    const { server } = this.#options;
    if (server.type !== 'http' || typeof server.headers !== 'function') return {};
    const made = await server.headers({ callId, direction, caller, callee, agent, variables });
    return checkHeaders(made, 'headers');
  }

  #release(callId: string): void {
    const link = this.#ofCalls.get(callId);
    if (link === undefined) return;
    this.#ofCalls.delete(callId);
    const end = link.close().finally(() => this.#ends.delete(end));
    this.#ends.add(end);
  }
}

/** What to look at where a program does not list its tools. */
function toHint(error: unknown, { command, env }: McpProgram): string {
  const cause = error instanceof McpFailure ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  if (cause?.code !== 'ENOENT')
    return 'Check command, args and env of mcp(); its standard error is logged at level debug.';
  if (/\s/.test(command))
    return 'There is no such program (ENOENT). command is the program alone: put its arguments in args.';
  const isSearched = !/[\\/]/.test(command) && env.PATH === undefined;
  return isSearched
    ? 'There is no such program (ENOENT). It inherits no PATH: name PATH in env, or give the whole path as command.'
    : 'There is no such program, or no such folder (ENOENT). Check command and cwd of mcp().';
}
