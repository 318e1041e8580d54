// A model that acts: tools of whole calls, over both carriers, on loopback.
import { describe, expect, it } from 'vitest';
import type { LanguageModel, LanguageModelEvent, LanguageModelRequest } from '../../src/index.js';
import type { CallerStep } from '../../src/testing/index.js';
import { startCarrierPhone } from '../support/carrier-phone.js';
import { playedOn } from '../support/rotated.js';

const OTHER = '+15005550030';
const ASKS: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  { type: 'say', text: 'Please do it for me now.' },
  { type: 'pause', durationMs: 30_000 },
];

/** Does one thing when it is asked, and then says what the tool gave. Any later question ends the call. */
class ActingModel implements LanguageModel {
  readonly name = 'acting';
  readonly requests: LanguageModelRequest[] = [];
  readonly #text: string;
  readonly #call: { name: string; arguments: Record<string, unknown> };

  constructor(text: string, name: string, args: Record<string, unknown> = {}) {
    this.#text = text;
    this.#call = { name, arguments: args };
  }

  async *respond(request: LanguageModelRequest): AsyncGenerator<LanguageModelEvent> {
    this.requests.push(request);
    const last = request.messages.at(-1);
    if (last?.role === 'tool') {
      yield { type: 'text', delta: `The result is: ${last.content.slice(0, 60)} Goodbye.` };
      yield { type: 'end-call' };
      return;
    }
    yield { type: 'text', delta: this.#text };
    const argumentsText = JSON.stringify(this.#call.arguments);
    yield { type: 'tool-call', id: 'call_1', ...this.#call, argumentsText };
  }
}

describe.each(playedOn('carrier-a'))('%s, an agent that acts', (id) => {
  it('runs a tool and answers with its result', { timeout: 40_000 }, async () => {
    const llm = new ActingModel('One moment please.', 'look_up', { what: 'price' });
    const execute = async () => ({ price: 'ten dollars' });
    const tools = [{ name: 'look_up', description: 'Looks it up.', execute }];
    await using running = await startCarrierPhone(id, { llm, tools });
    const report = await running.simulator.call({ script: ASKS, maxDurationMs: 30_000 });
    const record = await running.record(report.carrierCallId);
    expect(record.endReason).toBe('agent-hangup');
    const turn = record.turns.find(({ toolCalls }) => toolCalls.length > 0);
    expect(turn?.toolCalls).toMatchObject([{ name: 'look_up', error: null }]);
    expect(turn?.agentText).toMatch(/^One moment please\. .*ten dollars/);
    expect(llm.requests).toHaveLength(2);
  });

  it('ends the call when its goodbye was heard', { timeout: 40_000 }, async () => {
    const llm = new ActingModel('Thank you for calling, goodbye.', 'end_call');
    await using running = await startCarrierPhone(id, { llm });
    const report = await running.simulator.call({ script: ASKS, maxDurationMs: 30_000 });
    const record = await running.record(report.carrierCallId);
    expect(record).toMatchObject({ endReason: 'agent-hangup', error: null });
    expect(record.turns.at(-1)).toMatchObject({
      agentText: 'Thank you for calling, goodbye.',
      interrupted: false,
      toolCalls: [{ name: 'end_call', error: null }],
    });
  });

  it('hands the caller over', { timeout: 40_000 }, async () => {
    const llm = new ActingModel('I connect you now.', 'transfer_call', { to: 'sales' });
    await using running = await startCarrierPhone(id, { llm, transferTargets: { sales: OTHER } });
    const hangsUp: readonly CallerStep[] = [{ type: 'pause', durationMs: 700 }, { type: 'hang-up' }];
    const report = await running.simulator.call({
      script: ASKS,
      maxDurationMs: 30_000,
      transferTo: { type: 'human', ringMs: 300, script: hangsUp },
    });
    const record = await running.record(report.carrierCallId);
    expect(record).toMatchObject({ endReason: 'transferred', transfer: { to: OTHER, result: 'connected' } });
    expect(record.turns.at(-1)).toMatchObject({ agentText: 'I connect you now.', interrupted: false });
    expect(llm.requests).toHaveLength(1);
  });

  it('tells a caller who could not be handed over', { timeout: 40_000 }, async () => {
    const llm = new ActingModel('I connect you now.', 'transfer_call', { to: 'sales' });
    await using running = await startCarrierPhone(id, { llm, transferTargets: { sales: OTHER } });
    const report = await running.simulator.call({
      script: ASKS,
      maxDurationMs: 30_000,
      transferTo: { type: 'busy' },
    });
    const record = await running.record(report.carrierCallId);
    expect(record).toMatchObject({ endReason: 'agent-hangup', transfer: { result: 'busy' } });
    expect(record.turns.at(-1)?.agentText).toMatch(/busy/);
    expect(record.turns.flatMap(({ toolCalls }) => toolCalls)[0]).toEqual({
      id: 'tool-1',
      arguments: { text: '{"to":"sales"}', cut: false },
      result: { text: expect.stringContaining('the line is busy'), cut: false },
      name: 'transfer_call',
      startedAt: expect.any(Number),
      durationMs: expect.any(Number),
      error: expect.stringContaining('busy'),
    });
    expect(llm.requests.at(-1)?.messages.map(({ role }) => role)).toEqual([
      'system',
      'assistant',
      'user',
      'assistant',
      'tool',
    ]);
  });

  it('presses keys and goes on', { timeout: 40_000 }, async () => {
    const llm = new ActingModel('I press the key.', 'send_dtmf', { digits: '1#' });
    await using running = await startCarrierPhone(id, { llm });
    const report = await running.simulator.call({ script: ASKS, maxDurationMs: 30_000 });
    const record = await running.record(report.carrierCallId);
    expect(running.simulator.legs[0]?.sentDigits.join('')).toBe('1#');
    expect(record.endReason).toBe('agent-hangup');
    expect(record.turns.map(({ agentText }) => agentText).join(' ')).toMatch(/keys were pressed/);
  });
});
