// Tools with typed arguments in whole calls, over both carriers and in both voice modes.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { tool } from '../../src/index.js';
import { openToneVoice } from '../../src/testing/index.js';
import { ASKING_CASES, ASKING_MODES, ASKS } from '../support/asking-modes.js';
import { startCarrierPhone } from '../support/carrier-phone.js';

const description = 'Finds an order.';
const TOOLS = [
  [
    'a schema of zod',
    tool({
      name: 'find_order',
      description,
      parameters: z.object({ order: z.string().transform(Number) }),
      execute: ({ order }, { variables }) => `${order + 1} of ${variables.customer}`,
    }),
  ],
  [
    'a JSON Schema',
    tool({
      name: 'find_order',
      description,
      parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
      execute: ({ order }, { variables }) => `${Number(order) + 1} of ${variables.customer}`,
    }),
  ],
] as const;
const CALLS = ['{"order":"17"}', '{"order":17}', '{}'].map((text) => ({
  name: 'find_order',
  arguments: text,
}));

describe.concurrent.each(ASKING_CASES)('tool(), on $id with $mode', { timeout: 60_000 }, ({ id, mode }) => {
  it.each(TOOLS)('gets what %s makes of the arguments, and no others', async (_, typed) => {
    const made = await ASKING_MODES[mode](CALLS);
    await using running = await startCarrierPhone(
      id,
      { firstMessage: 'Hello.', variables: { customer: 4711 }, tools: [typed], ...made.agent },
      { simulator: { openVoice: openToneVoice } },
    );
    const report = await running.simulator.call({ script: ASKS, maxDurationMs: 40_000 });
    const record = await running.record(report.carrierCallId);
    const results = made.results().slice(0, CALLS.length);
    expect(results).toContain('18 of 4711');
    const refused = results.filter((each) => each !== '18 of 4711');
    expect(refused).toEqual([expect.stringContaining('order'), expect.stringContaining('order')]);
    expect(record).toMatchObject({ error: null, endReason: 'caller-hangup' });
    const errors = record.turns.flatMap(({ toolCalls }) => toolCalls.map(({ error }) => error));
    expect(errors.map((error) => error === null)).toEqual([true, false, false, true, false, false]);
    await made.close();
  });
});
