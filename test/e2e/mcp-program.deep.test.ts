// An MCP server that is a program, in a whole call by the real clock: it is killed in the middle, and started again.
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import {
  type LanguageModel,
  type LanguageModelEvent,
  type LanguageModelRequest,
  mcp,
} from '../../src/index.js';
import type { CallerStep } from '../../src/testing/index.js';
import { startCarrierPhone } from '../support/carrier-phone.js';

const PROGRAM = fileURLToPath(new URL('../support/mcp-program.mjs', import.meta.url));
const ASKS: CallerStep = { type: 'say', text: 'Please do it for me now.' };
const WAITS: CallerStep = { type: 'wait-for-agent' };

/** Has the server die at the first question, and then asks it for its folder. */
class DeadlyModel implements LanguageModel {
  readonly name = 'deadly';
  readonly results: string[] = [];

  async *respond({ messages }: LanguageModelRequest): AsyncGenerator<LanguageModelEvent> {
    const last = messages.at(-1);
    if (last?.role === 'tool') {
      this.results.push(last.content);
      yield { type: 'text', delta: 'That is what I know.' };
      return;
    }
    const name = this.results.length === 0 ? 'die' : 'folder';
    yield { type: 'tool-call', id: `call_${messages.length}`, name, arguments: {}, argumentsText: '{}' };
  }
}

it('goes on when the program is gone, and has it back', async () => {
  const llm = new DeadlyModel();
  const tools = [mcp({ command: process.execPath, args: [PROGRAM] })];
  await using running = await startCarrierPhone('carrier-a', { llm, tools });
  const script: readonly CallerStep[] = [WAITS, ASKS, WAITS, ASKS, WAITS, { type: 'hang-up' }];
  const report = await running.simulator.call({ script, maxDurationMs: 150_000 });
  const record = await running.record(report.carrierCallId);
  expect(llm.results).toEqual([
    '{"error":"The server of the tool was lost before it answered. It may have been done."}',
    process.cwd(),
  ]);
  expect(record).toMatchObject({ error: null, endReason: 'caller-hangup' });
  await running.phone.disconnect();
  expect(process.getActiveResourcesInfo()).not.toContain('ProcessWrap');
});
