import { expect, it } from 'vitest';
import { attachCallbacks } from '../../src/calls/facts/callbacks.js';
import { CallMetrics } from '../../src/observability/call-metrics.js';
import { CallTracer } from '../../src/observability/call-tracer.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { CallBench, startText } from '../support/call-bench.js';
import { liveBytes } from '../support/garbage.js';

/** What is kept whole of the last calls, whatever comes after them, and what the engine of the language makes of code that runs often. */
const WARM_UP = 3000;
const CALLS = 8000;
const MAX_BYTES = 300;

it('keeps little of each call that is over, also where the carrier never tells what it costs', async () => {
  const bench = new CallBench({
    supports: { callCost: true },
    key: new Uint8Array(32),
    budget: { perDay: 1e6 },
    payees: { llm: { name: 'fake/llm', price: { inputPerMillionTokens: 1 } } },
    pricing: { 'carrier-a': { inbound: { perMinute: 0.01 } } },
  });
  const store = new MemoryStore();
  bench.bus.subscribeDurable((event) => store.append(event));
  const metrics = new CallMetrics(bench.clock);
  bench.bus.subscribe((event) => metrics.hear(event));
  const callbacks = attachCallbacks(bench.bus, {
    callbacks: { onCallEnd: () => {} },
    logger: bench.logger,
  });
  const tracer = new CallTracer(bench.bus);
  let calls = 0;
  const ring = async () => {
    calls += 1;
    const callId = `${calls}`.padStart(22, 'x');
    const carrierCallId = `CA${callId.padStart(32, '0')}`;
    // As they come: parts of texts that nobody else keeps.
    const url = `/ws/stream/${callId}/${'t'.repeat(400)}`;
    bench.ring(url.slice(11, 33), { carrierCallId });
    const { receiver } = bench.admit({ callId: url.slice(11, 33) });
    receiver.receiveText(startText({ carrierCallId }));
    bench.engine.context.fact({
      type: 'usage.measured',
      stage: 'llm',
      turnIndex: 0,
      quantities: { inputTokens: 5 },
      isGuess: false,
    });
    await bench.pass(100);
    bench.status('completed', { callId, carrierCallId, outcome: 'answered' });
    receiver.socketClosed(1000);
    await bench.pass(10);
    for (const list of [bench.events, bench.engines, bench.logger.lines, bench.rest.requests])
      list.length = 0;
    bench.rest.invitations.length = 0;
  };
  while (calls < WARM_UP) await ring();
  const before = await liveBytes();
  while (calls < WARM_UP + CALLS) await ring();
  const perCall = ((await liveBytes()) - before) / CALLS;
  expect(bench.desk.liveCount).toBe(0);
  expect(await store.aggregates()).toMatchObject({ totalCalls: 500 });
  expect(bench.desk.hasEnded(`${WARM_UP}`.padStart(22, 'x'))).toBe(true);
  expect(perCall).toBeLessThan(MAX_BYTES);
  callbacks.close();
  tracer.close();
}, 60_000);
