// What can go wrong with an MCP server, and what the model is told of it.
import type { JSONRPCErrorResponse } from '@modelcontextprotocol/client';
import { ToolError } from '../tool.js';

/**
 * `unreachable`: it could not be asked. `ended`: the connection, or the process, was gone before the answer. `refused`: an HTTP status that is none of
 * success. `too-large`: more bytes than are read. `unreadable`: no answer as the protocol has it.
 */
export type McpTrouble = 'unreachable' | 'ended' | 'refused' | 'too-large' | 'unreadable';

const SENTENCES: Readonly<Record<McpTrouble, string>> = {
  unreachable: 'The server of the tool cannot be reached.',
  ended: 'The server of the tool was lost before it answered. It may have been done.',
  refused: 'The server of the tool refused the request.',
  'too-large': 'The answer of the tool was too large.',
  unreadable: 'The server of the tool gave an answer that cannot be read.',
};

/** Source: JSON-RPC 2.0, section 5.1: codes that an implementation may define. */
const LOST = -32_000;
const MARK = 'offhook';

/** An MCP server did not do what it should. */
export class McpFailure extends Error {
  readonly trouble: McpTrouble;
  /** HTTP status; null where there was none. */
  readonly status: number | null;

  constructor(
    trouble: McpTrouble,
    { status = null, cause }: { status?: number | null; cause?: unknown } = {},
  ) {
    super(SENTENCES[trouble], { cause });
    this.trouble = trouble;
    this.status = status;
  }

  /**
   * In the place of an answer that does not come: so the SDK learns of it, which waits for each by its `id`. A server that writes the same by
   * itself chooses among our sentences.
   */
  toAnswer(id: string | number): JSONRPCErrorResponse {
    return {
      jsonrpc: '2.0',
      id,
      error: { code: LOST, message: this.trouble, data: { [MARK]: this.trouble } },
    };
  }

  /** What `toAnswer` has become on its way through the SDK; undefined for another error. */
  static fromAnswer(data: unknown): McpFailure | undefined {
    const trouble: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, MARK) : undefined;
    return typeof trouble === 'string' && Object.hasOwn(SENTENCES, trouble)
      ? new McpFailure(trouble as McpTrouble)
      : undefined;
  }

  /** For the model, and for the record. */
  toToolError(): ToolError {
    return new ToolError(this.message, 'mcp');
  }
}
