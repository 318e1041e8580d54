// One session with an MCP server, from the handshake to the end: how the SDK is used, and what becomes of its errors.
import type { CallToolResult, Client, PriorDiscovery, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../../base/clock.js';
import { OffhookError } from '../../../base/errors.js';
import type { Logger } from '../../../base/log.js';
import { PACKAGE_VERSION } from '../../../base/package-version.js';
import { pause, within } from '../../../base/pause.js';
import { ToolError } from '../tool.js';
import { McpFailure } from './failure.js';
import type { McpHeaders } from './headers.js';
import { createMcpFetch } from './http-fetch.js';
import type { McpHttpServer, McpProgram } from './options.js';
import { toPlainLine, toPlainText } from './plain-text.js';
import type { McpSdk } from './sdk.js';
import { StdioTransport } from './stdio-transport.js';

/** The SDK has time limits, too. Ours are on the clock of the server, and abort: its own must not be first. */
const NEVER_MS = 2 ** 31 - 1;

/** How long a program may say nothing to the question which revision of the protocol it speaks: older ones may never answer it. */
const PROBE_MS = 2000;

/** How long a server may take to confirm that it lives, or that a session is over, in milliseconds. */
const PING_MS = 5000;
const GOODBYE_MS = 1000;

/** What a program writes on its standard error is shown for so many lines, in so many characters each. */
const MAX_SHOWN_LINES = 100;
const MAX_SHOWN_CHARS = 500;

/** Longest complaint of a server about a call that is told to the model, in characters. */
const MAX_COMPLAINT_CHARS = 1000;

/** Source: the specification of MCP, transports, session management: the session is not known any more. */
const NO_SESSION = 404;

export interface SessionOptions {
  readonly sdk: McpSdk;
  readonly server: McpHttpServer | McpProgram;
  /** Of every request; of no use to a program. */
  readonly headers: McpHeaders;
  /** Which revision the server is known to speak, which spares the question. */
  readonly prior: PriorDiscovery | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Puts the server's name on lines of the log. */
  readonly name: string;
  /** Told each line of a program's standard error. */
  wrote(line: string): void;
  /** Nobody waits for it any more: what was begun is closed. */
  readonly signal: AbortSignal;
}

/** A tool as the server describes it. Nothing of it was checked. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export class McpSession {
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #options: SessionOptions;
  /** Called when it is over by itself: the program has ended. */
  onLost: () => void = () => {};
  #closing: Promise<void> | undefined;
  #isPinged = false;

  private constructor(client: Client, transport: Transport, options: SessionOptions) {
    this.#client = client;
    this.#transport = transport;
    this.#options = options;
    client.onclose = () => {
      if (this.#closing === undefined) this.onLost();
    };
  }

  /** Shakes hands. Nothing is left where it rejects. @throws McpFailure, ToolError, ConfigError */
  static async open(options: SessionOptions): Promise<McpSession> {
    const { sdk, signal, prior } = options;
    const transport = createTransport(options);
    const client = new sdk.Client(
      { name: 'offhook', version: PACKAGE_VERSION },
      {
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: PROBE_MS } },
        // A schema of the server's would have us compile and run whatever it says, for a result that is text to us.
        jsonSchemaValidator: {
          getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
        },
        inputRequired: { autoFulfill: false },
      },
    );
    const session = new McpSession(client, transport, options);
    const cancel = () => void transport.close();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      if (signal.aborted) throw new McpFailure('unreachable');
      await client.connect(transport, {
        timeout: NEVER_MS,
        signal,
        ...(prior === undefined ? {} : { prior }),
      });
      return session;
    } catch (error) {
      const failure = session.#toFailure(error);
      await session.close();
      throw failure;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  /** For the next session with the same server. */
  get discovered(): PriorDiscovery {
    const discover = this.#client.getDiscoverResult();
    return discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover };
  }

  /** One page of the tools that the server has. @throws McpFailure, ToolError */
  async list(
    cursor: string | undefined,
    signal: AbortSignal,
  ): Promise<{ tools: readonly ListedTool[]; next: string | undefined }> {
    try {
      const params = cursor === undefined ? {} : { cursor };
      const page = await this.#client.request(
        { method: 'tools/list', params },
        { signal, timeout: NEVER_MS },
      );
      return { tools: page.tools, next: page.nextCursor };
    } catch (error) {
      throw this.#toFailure(error);
    }
  }

  /** @throws McpFailure, ToolError with the complaint of the server */
  async call(tool: ListedTool, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult> {
    try {
      const { name, inputSchema } = tool;
      return await this.#client.callTool(
        { name, arguments: args },
        {
          signal,
          timeout: NEVER_MS,
          toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' } },
        },
      );
    } catch (error) {
      throw this.#toFailure(error);
    }
  }

  /** Resolves true when the server lives. Never rejects; one question at a time. */
  async isAlive(): Promise<boolean> {
    if (this.#isPinged) return true;
    this.#isPinged = true;
    const over = new AbortController();
    const late = pause(this.#options.clock, PING_MS, over.signal).then(() => false);
    const options = { signal: over.signal, timeout: NEVER_MS };
    const asked =
      this.discovered.kind === 'legacy' ? this.#client.ping(options) : this.#client.discover(options);
    // Any answer is a sign of life.
    const answered = asked.then(
      () => true,
      (error: unknown) =>
        error instanceof this.#options.sdk.ProtocolError && McpFailure.fromAnswer(error.data) === undefined,
    );
    const isAlive = await Promise.race([answered, late]);
    over.abort();
    this.#isPinged = false;
    return isAlive;
  }

  /** Tells the server, if there is a session to end, and leaves neither socket nor process. Idempotent, never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { sdk, clock } = this.#options;
    if (
      this.#transport instanceof sdk.StreamableHTTPClientTransport &&
      this.#transport.sessionId !== undefined
    )
      await within(
        clock,
        GOODBYE_MS,
        this.#transport.terminateSession().catch(() => {}),
      );
    await this.#transport.close().catch(() => {});
  }

  #toFailure(error: unknown): McpFailure | ToolError | OffhookError {
    const { sdk } = this.#options;
    if (error instanceof McpFailure || error instanceof ToolError || OffhookError.isInstance(error))
      return error;
    if (this.#transport instanceof StdioTransport && this.#transport.failure !== undefined)
      return this.#transport.failure;
    if (error instanceof sdk.ProtocolError)
      return McpFailure.fromAnswer(error.data) ?? toComplaint(error.message);
    if (error instanceof sdk.SdkHttpError)
      return new McpFailure('refused', { status: error.status ?? null, cause: error });
    if (error instanceof sdk.SdkError && error.code === sdk.SdkErrorCode.ConnectionClosed)
      return new McpFailure('ended', { cause: error });
    const nested = error instanceof Error ? error.cause : undefined;
    return nested instanceof McpFailure ? nested : new McpFailure('unreadable', { cause: error });
  }
}

/** The session is not known to the server, which has done nothing therefore. */
export function isForgotten(error: unknown): boolean {
  return error instanceof McpFailure && error.status === NO_SESSION;
}

function createTransport({ sdk, server, headers, clock, logger, name, wrote }: SessionOptions): Transport {
  if (server.type === 'http') {
    const transport = new sdk.StreamableHTTPClientTransport(server.url, {
      requestInit: { headers: { ...headers } },
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 0,
        maxReconnectionDelay: 0,
        reconnectionDelayGrowFactor: 1,
      },
      fetch: createMcpFetch({
        streamEnded(id, failure) {
          if (typeof id === 'number' || typeof id === 'string') transport.onmessage?.(failure.toAnswer(id));
        },
      }),
    });
    return transport;
  }
  let shown = 0;
  return new StdioTransport({
    ...server,
    clock,
    parse: (value) => sdk.parseJSONRPCMessage(value),
    wrote(line) {
      wrote(line);
      shown += 1;
      if (shown > MAX_SHOWN_LINES) return;
      const fields = { server: name, line: toPlainLine(line, MAX_SHOWN_CHARS) };
      logger.debug(fields, 'an MCP server wrote to its standard error');
    },
  });
}

/** What the server says about a call that it does not carry out, for the model alone. */
function toComplaint(message: string): ToolError {
  return new ToolError('The server of the tool refused the call.', 'mcp', {
    told: toPlainText(message, MAX_COMPLAINT_CHARS),
  });
}
