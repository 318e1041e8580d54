import { describe, expect, it } from 'vitest';
import { LimitError } from '../../src/base/errors.js';
import type { MetricsPayload } from '../../src/index.js';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { eventually, startCarrierPhone } from '../support/carrier-phone.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { startPhone } from '../support/running-phone.js';

const GOODBYE = 'I am sorry, I have to end this call now. Goodbye.';
const AGENT = { systemPrompt: 'You answer for a bakery.', firstMessage: 'Hello, this is the bakery.' };
const TALK = [
  { type: 'wait-for-agent' },
  { type: 'say', text: 'Three loaves of bread.' },
  { type: 'wait-for-agent' },
  { type: 'hang-up' },
] as const;

// Calls in real time.
const REAL_TIME = { timeout: 60_000 };

describe('money in a whole call', REAL_TIME, () => {
  it('is nothing for the local stack, and an estimate for the line', async () => {
    const metrics: MetricsPayload[] = [];
    await using running = await startPhone(AGENT, { onMetrics: (data) => void metrics.push(data) });
    const { record } = await running.call(TALK);
    expect(record.cost).toEqual({
      ...{ stt: 0, llm: 0, tts: 0, telephony: 0.0129, total: 0.0129 },
      currency: 'USD',
      estimated: true,
    });
    expect(record.usage).toMatchObject({ telephonySeconds: 60 });
    expect(record.turns.map(({ cost }) => cost)).toEqual(record.turns.map(() => 0));
    expect(metrics.map(({ turn, cost }) => [turn.cost, cost.total])).toEqual(
      record.turns.map(() => [0, 0.0129]),
    );
  });

  it('goes by the prices of serve', async () => {
    await using running = await startPhone(AGENT, {
      pricing: {
        'carrier-a': { inbound: { perMinute: 0.5 }, stream: { perMinute: 0 } },
        scripted: { '*': { outputPerMillionTokens: 1000 } },
      },
    });
    const { record } = await running.call(TALK);
    expect(record.cost.telephony).toBe(0.5);
    expect(record.cost.llm).toBe((record.usage?.llmOutputTokens ?? 0) / 1000);
    expect(record.cost.llm).toBeGreaterThan(0);
    expect(record.turns.at(-1)?.cost).toBe(record.cost.llm);
  });

  it('of the application is its own affair', async () => {
    await using running = await startPhone(AGENT, { onMessage: () => 'Yes.' });
    const { record } = await running.call(TALK);
    expect(record.cost).toMatchObject({ stt: 0, llm: null, tts: 0, total: 0.0129, estimated: true });
    expect(record.turns.at(-1)?.cost).toBe(0);
  });
});

describe.each(SIMULATED_CARRIERS)('a budget, at %s', REAL_TIME, (id) => {
  it('ends the call that has used it up, with a goodbye', async () => {
    // Where the number reports how its calls go, the end of the goodbye is known at once.
    const logger = new RecordedLogger();
    const serve = { budget: { perCall: 0.005 }, manageWebhook: true, logger };
    await using running = await startCarrierPhone(id, AGENT, { serve });
    if (id === 'carrier-a')
      await eventually('the number', () => logger.text.includes('the number points') || undefined);
    const report = await running.simulator.call({ script: [{ type: 'pause', durationMs: 20_000 }] });
    const record = await running.record(report.carrierCallId);
    expect(record).toMatchObject({ endReason: 'budget', outcome: 'answered' });
    expect(record.incidents).toMatchObject([{ code: 'budget-near' }]);
    expect(running.simulator.legs[0]).toMatchObject({ isOver: true, spoken: [GOODBYE], violations: [] });
  });

  it('turns away the next call when it is used up', async () => {
    await using running = await startCarrierPhone(id, AGENT, { serve: { budget: { perHour: 0.005 } } });
    const ready = async () => (await fetch(`${running.server.url}/ready`)).status;
    expect(await ready()).toBe(200);
    const first = await running.simulator.call({ script: [{ type: 'wait-for-agent' }, { type: 'hang-up' }] });
    expect(first.answer.outcome).toBe('answered');
    expect(await ready()).toBe(503);
    const second = await running.simulator.call({ script: [{ type: 'hang-up' }] });
    expect(second.answer.outcome).toBe('busy');
    const refused = await running.record(second.carrierCallId);
    expect(refused).toMatchObject({ endReason: 'budget', outcome: 'busy' });
    await expect(running.phone.call({ to: '+15005550020' })).rejects.toThrow(LimitError);
  });
});
