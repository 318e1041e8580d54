// The figures on top. Totals and averages are over what the server keeps.
import { UNKNOWN, formatDuration, formatLatency, formatMoney } from '../format.js';
import type { PageState } from '../state/page-state.js';

export function Counters({ page }: { page: PageState }) {
  const { aggregates, active } = page;
  const figures = [
    ['Total calls', aggregates === null ? UNKNOWN : String(aggregates.completedCalls + active.size)],
    ['Active', aggregates === null ? UNKNOWN : String(active.size)],
    ['Total cost', formatMoney(aggregates?.totalCost ?? null)],
    ['Avg duration', formatDuration(aggregates?.avgDurationMs ?? null)],
    ['Avg latency', formatLatency(aggregates?.avgLatencyMs ?? null)],
    ['P95 latency', formatLatency(aggregates?.p95LatencyMs ?? null)],
  ] as const;
  return (
    <section aria-label="Figures over the last 500 calls and the active ones">
      <dl class="counters">
        {figures.map(([label, value]) => (
          <div key={label} class={label === 'Active' && active.size > 0 ? 'lit' : ''}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
