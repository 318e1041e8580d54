import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { silentLogger } from '../../src/base/log.js';
import { LoadJudge } from '../../src/base/load-judge.js';
import { formatMetrics } from '../../src/dashboard/metrics.js';
import { EventBus } from '../../src/events/bus.js';
import { byServer } from '../../src/observability/by-server.js';
import { ServerMetrics } from '../../src/observability/server-metrics.js';
import { ended, stamp, started, toolCall, turn } from '../support/call-facts.js';
import { readExposition } from '../support/exposition.js';
import { FakeClock } from '../support/fake-clock.js';

/** Everything that can be told, told once. */
function allNames(): string[] {
  const bus = new EventBus(silentLogger);
  const metrics = new ServerMetrics({
    bus,
    clock: new FakeClock(),
    load: new LoadJudge({ logger: silentLogger, callsUp: () => 0 }),
    callsUp: () => 0,
    isDraining: () => false,
    cluster: () => ({ isBrokerThere: true, nodes: 3, factsWaiting: 0, retries: 0, factsLateMs: 0 }),
  });
  const tool = toolCall({ name: 'x', startedAt: 0, durationMs: 1, error: null });
  const cost = { stt: 1, llm: 1, tts: 1, telephony: 1, total: 4, currency: 'USD', estimated: false } as const;
  for (const event of stamp([
    started(),
    { type: 'turn.completed', turn: { ...turn(0, { totalMs: 1 }), toolCalls: [tool] } },
    { type: 'cost.updated', cost, usage: null },
    { type: 'incident.noted', code: 'x', message: 'X.' },
    ended(),
  ]))
    bus.publish(event);
  metrics.providerFailed('llm', 'PROVIDER_FAILED');
  metrics.webhookRefused('carrier-a', 'SIGNATURE_MISSING');
  metrics.audioDropped(20);
  metrics.cluster?.brokerAnswered(1);
  metrics.cluster?.askFailed('node');
  metrics.close();
  const costBreakdown = { stt: 0, llm: 0, tts: 0, telephony: 0 };
  const averages = { avgDurationMs: 1, avgLatencyMs: 1, p95LatencyMs: 1, p99LatencyMs: 1 };
  const counts = { totalCalls: 1, activeCalls: 0, completedCalls: 1, totalCost: 4 };
  const own = formatMetrics({ ...counts, ...averages, costBreakdown }, { readers: 0, backlogBytes: 0 });
  return [...readExposition(own + byServer([{ server: 'http://a.test', text: metrics.text() }])).keys()];
}

/** The names in the first column of the tables of a page. */
function namedBy(path: string): (string | undefined)[] {
  const page = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  return rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
}

it('the reference names every metric, and no other', () => {
  expect(namedBy('docs/reference/metrics.md').sort()).toEqual(allNames().sort());
});
