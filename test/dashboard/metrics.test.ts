import { expect, it } from 'vitest';
import type { Aggregates } from '../../src/contract/dashboard-api.js';
import { formatMetrics } from '../../src/dashboard/metrics.js';
import { readExposition, sampleOf } from '../support/exposition.js';
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

function valuesOf(text: string): Record<string, number | undefined> {
  const families = readExposition(text);
  return Object.fromEntries([...families.keys()].map((name) => [name, sampleOf(families, name)]));
}

it('says what is known, in base units, and leaves out what is not', () => {
  expect(valuesOf(formatMetrics(AGGREGATES, { readers: 2, backlogBytes: 300 }))).toEqual({
    offhook_calls_active: 2,
    offhook_calls_held: 3,
    offhook_call_duration_average_seconds: 61.5,
    offhook_turn_latency_p95_seconds: 0.94,
    offhook_cost_dollars: 0.0125,
    offhook_event_streams: 2,
    offhook_event_stream_backlog_bytes: 300,
  });
});

it('needs the token like the API, and tells of the process around, too', async () => {
  const server = await startDashboard({
    token: 'a-long-enough-token',
    metrics: () => '# HELP x_seconds Of the process around.\n# TYPE x_seconds gauge\nx_seconds 7\n',
  });
  try {
    const refused = await fetch(`${server.url}/metrics`);
    expect(refused.status).toBe(401);
    const answer = await fetch(`${server.url}/metrics`, {
      headers: { authorization: 'Bearer a-long-enough-token' },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(valuesOf(await answer.text())).toEqual({
      offhook_calls_active: 0,
      offhook_calls_held: 0,
      offhook_cost_dollars: 0,
      offhook_event_streams: 0,
      offhook_event_stream_backlog_bytes: 0,
      x_seconds: 7,
    });
  } finally {
    await server.close();
  }
});

it('has those of all servers where it knows a cluster, for who has the token, and says so where it does not', async () => {
  const token = 'a-long-enough-token';
  const headers = { authorization: `Bearer ${token}` };
  const text = '# HELP x_seconds Of a server.\n# TYPE x_seconds gauge\nx_seconds{server="a"} 7\n';
  const server = await startDashboard({ token, serverMetrics: async () => text });
  const alone = await startDashboard({ token, serverMetrics: undefined });
  try {
    expect((await fetch(`${server.url}/metrics/servers`)).status).toBe(401);
    const answer = await fetch(`${server.url}/metrics/servers`, { headers });
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const told = await answer.text();
    expect(told).toContain(text);
    // Of the calls of all.
    expect(told).toContain('\noffhook_calls_active 0\n');
    expect((await fetch(`${alone.url}/metrics/servers`, { headers })).status).toBe(404);
  } finally {
    await Promise.all([server.close(), alone.close()]);
  }
});
