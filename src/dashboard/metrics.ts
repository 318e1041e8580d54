// What the store and the event streams hold, as Prometheus reads it. Source: Prometheus text exposition format 0.0.4.
import type { Aggregates } from '../contract/dashboard-api.js';
import type { FeedLoad } from './sse.js';

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

interface Gauge {
  readonly name: string;
  readonly help: string;
  /** Null is left out: a scraper then sees no value, not zero. */
  readonly value: number | null;
}

function gauges(aggregates: Aggregates, load: FeedLoad): Gauge[] {
  const seconds = (durationMs: number | null) => (durationMs === null ? null : durationMs / 1000);
  return [
    { name: 'offhook_calls_active', help: 'Calls that are up.', value: aggregates.activeCalls },
    {
      name: 'offhook_calls_held',
      help: 'Ended calls that the history holds, at most its size.',
      value: aggregates.completedCalls,
    },
    {
      name: 'offhook_call_duration_average_seconds',
      help: 'Average duration of the calls held.',
      value: seconds(aggregates.avgDurationMs),
    },
    {
      name: 'offhook_turn_latency_average_seconds',
      help: 'Average over the calls held of their average latency, from the end of speech to the first audio of the answer.',
      value: seconds(aggregates.avgLatencyMs),
    },
    {
      name: 'offhook_turn_latency_p95_seconds',
      help: '95th percentile of that latency over the turns of the calls held.',
      value: seconds(aggregates.p95LatencyMs),
    },
    {
      name: 'offhook_cost_dollars',
      help: 'Known cost of the calls held and active, in US dollars.',
      value: aggregates.totalCost,
    },
    { name: 'offhook_event_streams', help: 'Event streams that are open.', value: load.readers },
    {
      name: 'offhook_event_stream_backlog_bytes',
      help: 'What was written to event streams and not yet taken by the network.',
      value: load.backlogBytes,
    },
  ];
}

/** All gauges of the dashboard, as one text. */
export function formatMetrics(aggregates: Aggregates, load: FeedLoad): string {
  return gauges(aggregates, load)
    .filter((gauge) => gauge.value !== null)
    .map(({ name, help, value }) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`)
    .join('');
}
