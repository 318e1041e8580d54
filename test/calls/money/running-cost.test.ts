import { describe, expect, it } from 'vitest';
import { attachCallbacks, type MetricsPayload } from '../../../src/calls/facts/callbacks.js';
import type { Turn } from '../../../src/contract/call-record.js';
import type { Payees, UsageFact } from '../../../src/engines/engine.js';
import { unknownLatency } from '../../../src/events/summarize.js';
import { type BenchOptions, CallBench, text } from '../../support/call-bench.js';

const PAYEES: Payees = {
  stt: { name: 'fake/stt', price: { perAudioMinute: 0.6 } },
  llm: { name: 'fake/llm', price: { outputPerMillionTokens: 1000 } },
  tts: { name: 'fake/tts', price: { perThousandCharacters: 1 } },
};
const LINE = { 'carrier-a': { inbound: { perMinute: 0.0085 }, outbound: { perMinute: 0.014 } } };

function bench(options: BenchOptions = {}) {
  return new CallBench({ payees: PAYEES, pricing: LINE, ...options });
}

function used(stage: UsageFact['stage'], quantities: UsageFact['quantities'], turnIndex: number | null = 0) {
  return { type: 'usage.measured', stage, turnIndex, quantities, isGuess: false } as const;
}

function turn(index: number): Turn {
  return {
    index,
    agent: null,
    startedAt: 0,
    userText: '',
    agentText: 'Hi.',
    agentTextUnheard: '',
    interrupted: false,
    latency: unknownLatency(),
    speechEndedAt: null,
    fillerMs: null,
    cost: null,
    tokens: null,
    toolCalls: [],
  };
}

describe('the cost of a call that runs', () => {
  it('begins with the first minute of the line, and grows with each that begins', () => {
    const { clock, ...rest } = up();
    const telephony = () => rest.bench.record().cost.telephony;
    expect(telephony()).toBe(0.0085);
    clock.advance(60_000);
    expect(telephony()).toBe(0.0085);
    clock.advance(2);
    expect(telephony()).toBe(0.017);
    expect(rest.bench.record().usage?.telephonySeconds).toBe(120);
    clock.advance(600_000);
    expect(telephony()).toBe(0.102);
  });

  it('is told with a turn, before it, with what the turn has cost', () => {
    const { bench: calls, engine } = up();
    engine.context.fact(used('stt', { audioSeconds: 1 }));
    engine.context.fact(used('llm', { outputTokens: 3 }));
    engine.context.fact(used('tts', { characters: 20 }));
    engine.context.fact({ type: 'turn.completed', turn: turn(0) });
    expect(calls.types().slice(-2)).toEqual(['cost.updated', 'turn.completed']);
    expect(calls.record()).toMatchObject({
      cost: { stt: 0.01, llm: 0.003, tts: 0.02, telephony: 0.0085, total: 0.0415, estimated: true },
      turns: [{ cost: 0.033 }],
    });
  });

  it('is told between turns, too, but not with every piece', () => {
    const { bench: calls, engine, clock } = up();
    const before = calls.ofType('cost.updated').length;
    for (let second = 0; second < 4; second += 1) {
      engine.context.fact(used('stt', { audioSeconds: 1 }));
      clock.advance(1000);
    }
    expect(calls.ofType('cost.updated')).toHaveLength(before);
    clock.advance(1000);
    expect(calls.record().cost.stt).toBe(0.04);
    expect(calls.ofType('cost.updated')).toHaveLength(before + 1);
  });

  it('corrects a turn that is over without telling it twice', async () => {
    const { bench: calls, engine } = up();
    const told: MetricsPayload[] = [];
    attachCallbacks(calls.bus, {
      callbacks: { onMetrics: (data) => void told.push(data) },
      logger: calls.logger,
    });
    // The callbacks know a call from its first fact on.
    const { engine: other } = calls.call('call-2');
    other.context.fact(used('tts', { characters: 20 }));
    other.context.fact({ type: 'turn.completed', turn: turn(0) });
    other.context.fact(used('llm', { outputTokens: 5 }));
    other.context.fact({ type: 'turn.completed', turn: turn(1) });
    await calls.pass();
    expect(told.map((data) => [data.turn.index, data.turn.cost, data.cost.total])).toEqual([
      [0, 0.02, 0.0285],
      [1, 0, 0.0335],
    ]);
    expect(calls.record('call-2').turns.map(({ cost }) => cost)).toEqual([0.025, 0]);
    expect(engine.context.callId).toBe('call-1');
  });

  it('takes what is told after the end, in the turn and in the call', () => {
    const { bench: calls, engine, receiver, clock } = up();
    engine.context.fact({ type: 'turn.completed', turn: turn(0) });
    receiver.receiveText(text({ type: 'stop' }));
    engine.context.fact(used('llm', { outputTokens: 7 }));
    engine.context.fact(used('stt', { audioSeconds: 10 }, null));
    clock.advance(120_000);
    expect(calls.record()).toMatchObject({
      cost: { stt: 0.1, llm: 0.007, telephony: 0.0085, total: 0.1155 },
      turns: [{ cost: 0.007 }],
    });
    expect(calls.types().slice(-3)).toEqual(['call.ended', 'cost.updated', 'cost.updated']);
  });

  it('has all that was used before the end in the record of the end', () => {
    const { bench: calls, engine, receiver } = up();
    engine.context.fact(used('stt', { audioSeconds: 10 }, null));
    receiver.receiveText(text({ type: 'stop' }));
    expect(calls.types().slice(-2)).toEqual(['cost.updated', 'call.ended']);
    expect(calls.record().cost.stt).toBe(0.1);
  });

  it.each([
    ['connected', true],
    ['busy', false],
  ] as const)(
    'stays an estimate where another leg is billed apart: a transfer that is %s',
    async (result, isEstimate) => {
      for (const isRecalled of [false, true]) {
        const { bench: calls } = up();
        await calls.desk.transfer('call-1', '+15550123');
        calls.report({ type: 'transfer', result, callId: 'call-1' });
        await calls.desk.hangUp('call-1').catch(() => {});
        const record = calls.record();
        const next = isRecalled ? bench() : calls;
        if (isRecalled) next.desk.recall(record);
        next.report({ type: 'cost', costUsd: 0.0123 });
        const told = next.ofType('cost.updated').at(-1)?.cost;
        expect(told).toMatchObject({ telephony: 0.0123, estimated: isEstimate });
        expect(record.incidents.map(({ code }) => code)).toEqual(isEstimate ? ['cost-incomplete'] : []);
      }
    },
  );

  it('takes the carrier’s figure in place of the estimate, whenever it comes', () => {
    for (const when of ['before', 'after'] as const) {
      const { bench: calls, receiver, clock } = up();
      const report = () => calls.report({ type: 'cost', costUsd: 0.0123 });
      if (when === 'before') report();
      clock.advance(61_000);
      receiver.receiveText(text({ type: 'stop' }));
      if (when === 'after') report();
      clock.advance(600_000);
      expect(calls.record().cost).toMatchObject({ telephony: 0.0123, total: 0.0123, estimated: false });
    }
  });

  describe('with a media stream of its own price', () => {
    const pricing = { 'carrier-a': { inbound: { perMinute: 0.0085 }, stream: { perMinute: 0.0044 } } };
    const charged = (options: BenchOptions) => {
      const calls = bench({ pricing, ...options });
      const { receiver } = calls.call();
      calls.clock.advance(61_000);
      receiver.receiveText(text({ type: 'stop' }));
      expect(calls.record().cost).toMatchObject({ estimated: true });
      const before = calls.record().cost.telephony;
      calls.report({ type: 'cost', costUsd: 0.017 });
      return { before, after: calls.record().cost };
    };

    it('keeps the estimate of the stream beside a figure for the call leg alone', () => {
      expect(charged({})).toMatchObject({
        before: 0.0258,
        after: { telephony: 0.0258, total: 0.0258, estimated: true },
      });
    });

    it('takes a figure that covers the stream for both', () => {
      expect(charged({ supports: { callCostCoversStream: true } })).toMatchObject({
        before: 0.0258,
        after: { telephony: 0.017, total: 0.017, estimated: false },
      });
    });

    it('is no estimate where the stream costs nothing', () => {
      const free = { 'carrier-a': { ...pricing['carrier-a'], stream: { perMinute: 0 } } };
      expect(charged({ pricing: free }).after).toMatchObject({ telephony: 0.017, estimated: false });
    });

    it('has the stream beside a figure for a line without a price', () => {
      const stream = { 'carrier-a': { stream: { perMinute: 0.0044 } } };
      expect(charged({ pricing: stream })).toMatchObject({
        before: null,
        after: { telephony: 0.0258, estimated: true },
      });
    });
  });

  it('goes by the direction', async () => {
    const calls = bench();
    const dialed = calls.desk.dial({
      to: '+15550111',
      from: '+15550100',
      recipe: undefined,
      machineDetection: false,
      voicemailMessage: undefined,
      ringTimeoutSeconds: 25,
    });
    await calls.pass();
    const { callId } = await dialed;
    calls.report({
      type: 'status',
      status: 'ringing',
      outcome: null,
      sequence: 1,
      callId,
      carrierCallId: 'carrier-out-1',
    });
    await calls.pass(20_000);
    expect(calls.record(callId).cost.telephony).toBeNull();
    calls.report({
      type: 'status',
      status: 'active',
      outcome: null,
      sequence: 2,
      callId,
      carrierCallId: 'carrier-out-1',
    });
    expect(calls.record(callId)).toMatchObject({ cost: { telephony: 0.014 }, status: 'active' });
  });

  it('leaves no timer behind', () => {
    const { receiver, engine, clock } = up();
    engine.context.fact(used('stt', { audioSeconds: 1 }, null));
    receiver.receiveText(text({ type: 'stop' }));
    clock.advance(60_000);
    expect(clock.pending).toBe(0);
  });

  it('is unknown, and never tells itself, where nobody has a price', () => {
    const calls = bench({ payees: {}, pricing: {} });
    const { engine, receiver } = calls.call();
    engine.context.fact({ type: 'turn.completed', turn: turn(0) });
    calls.clock.advance(120_000);
    receiver.receiveText(text({ type: 'stop' }));
    expect(calls.record().cost).toMatchObject({ telephony: null, estimated: true });
  });

  it('counts the time of a line without a price all the same, in begun seconds', () => {
    const calls = bench({ payees: {}, pricing: {} });
    const { engine, receiver } = calls.call();
    engine.context.fact(used('stt', { audioSeconds: 1 }, null));
    calls.clock.advance(61_200);
    receiver.receiveText(text({ type: 'stop' }));
    calls.clock.advance(5000);
    expect(calls.record()).toMatchObject({ usage: { telephonySeconds: 62 }, cost: { telephony: null } });
    expect(calls.types().slice(-2)).toEqual(['cost.updated', 'call.ended']);
  });

  it('names the price that is missing once for all calls', () => {
    const calls = bench({ payees: { ...PAYEES, llm: { name: 'fake/new' } } });
    for (const callId of ['call-1', 'call-2']) {
      const { engine } = calls.call(callId);
      engine.context.fact(used('llm', { outputTokens: 1 }));
      engine.context.fact({ type: 'turn.completed', turn: turn(0) });
      expect(calls.record(callId)).toMatchObject({ cost: { llm: null }, turns: [{ cost: null }] });
    }
    const warnings = calls.logger.lines.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ fields }) => fields)).toEqual([{ setting: 'pricing.fake.new' }]);
  });

  it('counts a recipe that does not say who charges by the names of its providers', () => {
    const calls = bench({ payees: undefined, pricing: { fake: { '*': { perThousandCharacters: 2 } } } });
    const { engine } = calls.call();
    engine.context.fact(used('tts', { characters: 500 }));
    engine.context.fact({ type: 'turn.completed', turn: turn(0) });
    expect(calls.record().cost).toMatchObject({ tts: 1, telephony: null });
  });

  function up() {
    const calls = bench();
    const { engine, receiver } = calls.call();
    return { bench: calls, engine, receiver, clock: calls.clock };
  }
});
