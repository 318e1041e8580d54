import { describe, expect, it, vi } from 'vitest';
import type { LanguageModelEvent } from '../../../src/providers/language-model.js';
import type { Tool } from '../../../src/engines/tools/tool.js';
import { RecordedLogger } from '../../support/recorded-logger.js';
import { OperatorServer } from '../operator-server.js';
import { call, rigWith, SLOT } from './tools-rig.js';

const NOT_DONE = 'a tool did not do what the model asked for';

const NEVER = () => new Promise<never>(() => {});

async function linesOf(tool: Partial<Tool>, asked: LanguageModelEvent, transferTargets = {}) {
  const logger = new RecordedLogger();
  const own = { name: 'find_slot', description: 'Finds a slot.', parameters: SLOT, ...tool };
  const rig = await rigWith([own], { logger, transferTargets });
  rig.transfer = async () => 'busy';
  rig.model.answer(asked).answer('I see.');
  await rig.says('Is there a slot?');
  // The network has the time that it needs: only what hangs is waited for by the clock of the call.
  await vi.waitFor(
    async () => {
      if (tool.execute === NEVER) await rig.quiet(500);
      expect(logger.sentences('warn')).toHaveLength(1);
    },
    { timeout: 30_000, interval: 5 },
  );
  rig.engine.close();
  return { rig, logger };
}

const execute = () => 'free';
const MONDAY = call('find_slot', { day: 'Monday' });

describe('the log of a tool that did not do what it was to do', () => {
  it.each<[string, Partial<Tool>, LanguageModelEvent, string | null]>([
    ['arguments', { execute }, call('find_slot', { day: 5 }), 'find_slot'],
    ['arguments', { execute }, call('find_slot', 'no JSON'), 'find_slot'],
    ['timeout', { execute: NEVER }, MONDAY, 'find_slot'],
    ['unknown-tool', { execute }, call('make_coffee'), null],
    ['refused', { execute }, call('transfer_call', { to: 'the baker' }), 'transfer_call'],
  ])('has the reason: %s', async (reason, tool, asked, name) => {
    const { logger } = await linesOf(tool, asked, { 'the baker': '+15550123' });
    expect(logger.lines).toEqual([
      { level: 'warn', fields: { callId: 'call-1', tool: name, reason }, sentence: NOT_DONE },
    ]);
  });

  it('has the reason: http', async () => {
    await using server = await OperatorServer.start((response) => void response.writeHead(500).end());
    const { logger } = await linesOf({ url: server.url }, MONDAY);
    expect(logger.lines).toMatchObject([{ fields: { tool: 'find_slot', reason: 'http' } }]);
  });

  it('has the place where it threw, and at level debug the whole error', async () => {
    const { rig, logger } = await linesOf(
      {
        execute: () => {
          throw new RangeError('no such customer: +15550100');
        },
      },
      MONDAY,
    );
    const [warning, whole] = logger.lines;
    expect(logger.lines).toMatchObject([
      { level: 'warn', fields: { tool: 'find_slot', reason: 'threw', error: 'RangeError' } },
      { level: 'debug', fields: { thrown: expect.stringContaining('no such customer') } },
    ]);
    expect(warning?.fields.at).toContainEqual(expect.stringMatching(/tool-log\.test\.ts:\d+:\d+$/));
    expect(JSON.stringify(warning)).not.toMatch(/customer|15550100/);
    expect(whole?.sentence).toBe(NOT_DONE);
    expect(rig.turns[0]?.toolCalls[0]?.error).toBe('The tool failed.');
  });
});
