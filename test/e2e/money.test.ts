// What calls cost is the same wherever it is shown: record, list, aggregates, both exports and the page.
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { Aggregates, CallsPage } from '../../src/contract/dashboard-api.js';
import { applyEvent, applySnapshot, EMPTY_STATE } from '../../src/dashboard/ui/state/page-state.js';
import type { Payees, UsageFact } from '../../src/engines/engine.js';
import { aggregate, unknownLatency } from '../../src/events/summarize.js';
import { CallBench, text } from '../support/call-bench.js';
import { startDashboard } from '../support/dashboard-server.js';

const PAYEES: Payees = {
  stt: { name: 'fake/stt', price: { perAudioMinute: 0.0048 } },
  llm: { name: 'fake/llm', price: { inputPerMillionTokens: 0.1, outputPerMillionTokens: 0.5 } },
  tts: { name: 'fake/tts', price: { perThousandCharacters: 0.05 } },
};
const PRICING = {
  'carrier-a': { inbound: { perMinute: 0.0085 }, stream: { perMinute: 0.0044, stepSeconds: 1 } },
};

const anyQuantity = fc.oneof(
  fc.record({
    stage: fc.constant('stt' as const),
    quantities: fc.record({ audioSeconds: fc.nat(400).map((n) => n / 7) }),
  }),
  fc.record({
    stage: fc.constant('llm' as const),
    quantities: fc.record({ inputTokens: fc.nat(30_000), outputTokens: fc.nat(999) }),
  }),
  fc.record({ stage: fc.constant('tts' as const), quantities: fc.record({ characters: fc.nat(900) }) }),
);
const anyStep = fc.oneof(
  anyQuantity.map((used) => ({ type: 'use' as const, used })),
  fc.constant({ type: 'turn' as const }),
  fc.nat(90_000).map((ms) => ({ type: 'time' as const, ms })),
  fc.constant({ type: 'end' as const }),
  fc.nat(100_000).map((micros) => ({ type: 'charge' as const, costUsd: micros / 1e6 })),
);
const anyCall = fc.record({
  isPriced: fc.boolean(),
  steps: fc.array(fc.tuple(anyStep, fc.option(fc.nat(4), { nil: null })), { maxLength: 25 }),
});
type AnyCall = typeof anyCall extends fc.Arbitrary<infer T> ? T : never;

const micros = (dollars: number | null | undefined) => Math.round((dollars ?? 0) * 1e6);
const total = (values: readonly (number | null | undefined)[]) =>
  values.reduce<number>((sum, value) => sum + micros(value), 0);

/** Calls of one process, one after the other, with all that is learnt of them late. */
function play(calls: readonly AnyCall[]): CallBench {
  const bench = new CallBench({ payees: PAYEES, pricing: PRICING });
  calls.forEach(({ isPriced, steps }, index) => {
    const callId = `call-${index}`;
    const { engine, receiver } = bench.call(callId);
    let turn = 0;
    for (const [step, turnIndex] of steps) {
      const used: Partial<UsageFact> = step.type === 'use' ? step.used : {};
      if (step.type === 'use')
        engine.context.fact({ type: 'usage.measured', turnIndex, isGuess: !isPriced, ...used } as UsageFact);
      if (step.type === 'turn')
        engine.context.fact({
          type: 'turn.completed',
          turn: {
            ...{
              index: turn++,
              agent: null,
              startedAt: 0,
              speechEndedAt: null,
              userText: '',
              agentText: '',
              agentTextUnheard: '',
            },
            ...{
              interrupted: false,
              latency: unknownLatency(),
              fillerMs: null,
              cost: null,
              tokens: null,
              toolCalls: [],
            },
          },
        });
      if (step.type === 'time') bench.clock.advance(step.ms);
      if (step.type === 'end') receiver.receiveText(text({ type: 'stop' }));
      if (step.type === 'charge')
        bench.report({ type: 'cost', costUsd: step.costUsd, carrierCallId: `carrier-${callId}` });
    }
  });
  return bench;
}

it('adds up everywhere', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyCall, { minLength: 1, maxLength: 4 }), async (calls) => {
      const bench = play(calls);
      const dashboard = await startDashboard();
      try {
        const about = { controls: false, isSignedIn: false, canListen: false, entry: null };
        const empty = { active: [], recent: [], aggregates: aggregate([]), ...about };
        let page = applySnapshot(EMPTY_STATE, empty);
        for (const event of bench.events) page = applyEvent(page, event);
        for (const event of bench.events) await dashboard.store.append(event);
        const ask = async (path: string) => fetch(`${dashboard.url}/api/dashboard/${path}`);
        const { calls: records } = (await (await ask('export/calls?format=json')).json()) as {
          calls: CallRecord[];
        };
        const rows = parse(await (await ask('export/calls?format=csv')).text(), { columns: true }) as Record<
          string,
          string
        >[];
        const list = (await (await ask('calls?limit=500')).json()) as CallsPage;
        const aggregates = (await (await ask('aggregates')).json()) as Aggregates;

        for (const { cost, turns } of records) {
          expect(micros(cost.total)).toBe(total([cost.stt, cost.llm, cost.tts, cost.telephony]));
          // The rest belongs to no turn. Each figure is rounded by itself.
          expect(total(turns.map((turn) => turn.cost))).toBeLessThanOrEqual(
            micros(cost.total) + turns.length + 2,
          );
        }
        const ended = bench.events.filter(({ type }) => type === 'call.ended').length;
        expect(records.filter(({ status }) => status === 'completed')).toHaveLength(ended);
        const all = list.calls.map(({ cost }) => cost.total);
        expect(micros(aggregates.totalCost)).toBe(total(all));
        expect(micros(page.aggregates?.totalCost)).toBe(total(all));
        expect(total(Object.values(aggregates.costBreakdown))).toBe(total(all));
        expect(total(rows.map((row) => Number(row['cost.total'])))).toBe(
          total(records.map(({ cost }) => cost.total)),
        );
        for (const { callId, cost } of page.history)
          expect(cost).toEqual(list.calls.find((call) => call.callId === callId)?.cost);
        const live = [...page.active.values()];
        expect(total([...live, ...page.history].map(({ cost }) => cost.total))).toBe(total(all));
      } finally {
        await dashboard.close();
      }
    }),
    { numRuns: 60 },
  );
});
