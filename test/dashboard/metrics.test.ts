import { expect, it } from 'vitest';
import type { Aggregates } from '../../src/contract/dashboard-api.js';
import { formatMetrics } from '../../src/dashboard/metrics.js';
import { startDashboard } from '../support/dashboard-server.js';

const AGGREGATES: Aggregates = {
  totalCalls: 5,
  activeCalls: 2,
  completedCalls: 3,
  totalCost: 0.0125,
  costBreakdown: { stt: 0, llm: 0.01, tts: 0, telephony: 0.0025 },
  avgDurationMs: 61_500,
  avgLatencyMs: null,
  p95LatencyMs: 940,
  p99LatencyMs: 990,
};

/** Reads the text format strictly: every sample stands behind its HELP and TYPE line. */
function parse(text: string): Record<string, number> {
  const samples = [...text.matchAll(/^# HELP (\w+) .+\n# TYPE \1 gauge\n\1 (\S+)\n/gm)];
  expect(samples.map(([whole]) => whole).join('')).toBe(text);
  return Object.fromEntries(samples.map(([, name, value]) => [name, Number(value)]));
}

it('says what is known, in base units, and leaves out what is not', () => {
  expect(parse(formatMetrics(AGGREGATES))).toEqual({
    offhook_calls_active: 2,
    offhook_calls_held: 3,
    offhook_call_duration_average_seconds: 61.5,
    offhook_turn_latency_p95_seconds: 0.94,
    offhook_cost_dollars: 0.0125,
  });
});

it('needs the token like the API', async () => {
  const server = await startDashboard({ token: 'a-long-enough-token' });
  try {
    const refused = await fetch(`${server.url}/metrics`);
    expect(refused.status).toBe(401);
    const answer = await fetch(`${server.url}/metrics`, {
      headers: { authorization: 'Bearer a-long-enough-token' },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(parse(await answer.text())).toEqual({
      offhook_calls_active: 0,
      offhook_calls_held: 0,
      offhook_cost_dollars: 0,
    });
  } finally {
    await server.close();
  }
});
