// An MCP server's tools, opened as a phone server does it, and run as a call does.
import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server';
import type { CallContext } from '../../../../src/contract/call-context.js';
import { mcp } from '../../../../src/engines/tools/mcp/mcp.js';
import type { McpOptions } from '../../../../src/engines/tools/mcp/options.js';
import { ToolError } from '../../../../src/engines/tools/tool.js';
import type { OpenToolSource } from '../../../../src/engines/tools/tool-source.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { RecordedLogger } from '../../../support/recorded-logger.js';

export const CALL: CallContext = {
  callId: 'c1',
  direction: 'inbound',
  caller: '+15550100',
  callee: '+15550123',
  agent: null,
  variables: { customer: 4711 },
};

/** A tool that says what it was given. */
export function addEcho(server: McpServer, name = 'echo'): void {
  const inputSchema = fromJsonSchema<{ text: string }>({
    type: 'object',
    properties: { text: { type: 'string', format: 'uri-reference' } },
    required: ['text'],
  });
  server.registerTool(name, { description: 'Says it again.', inputSchema }, async ({ text }) => ({
    content: [{ type: 'text', text: `You said ${text}` }],
  }));
}

export interface McpRig extends AsyncDisposable {
  readonly opened: OpenToolSource;
  readonly clock: FakeClock;
  readonly logger: RecordedLogger;
  readonly names: readonly string[];
  /** What the model is told, and the sentence of the record where it failed. */
  run(
    name: string,
    args?: object,
    options?: { call?: Partial<CallContext>; signal?: AbortSignal },
  ): Promise<{ told: unknown; error: string | null }>;
}

export async function openMcp(
  options: McpOptions,
  {
    signal = new AbortController().signal,
    clock = new FakeClock(),
    logger = new RecordedLogger(),
  }: { signal?: AbortSignal; clock?: FakeClock; logger?: RecordedLogger } = {},
): Promise<McpRig> {
  const opened = await mcp(options).open({ clock, logger, signal });
  return {
    opened,
    clock,
    logger,
    names: opened.tools.map(({ definition }) => definition.name),
    async run(name, args = {}, { call, signal: aborted = new AbortController().signal } = {}) {
      const tool = opened.tools.find(({ definition }) => definition.name === name);
      if (tool === undefined) throw new Error(`there is no ${name}`);
      const context = {
        ...CALL,
        ...call,
        idempotencyKey: 'c1.tool-1',
        signal: aborted,
        pauseRecording() {},
        resumeRecording() {},
      };
      try {
        return { told: await tool.run(args, context), error: null };
      } catch (thrown) {
        if (thrown instanceof ToolError) return { told: thrown.told, error: thrown.message };
        throw thrown;
      }
    },
    [Symbol.asyncDispose]: () => opened.close(),
  };
}
