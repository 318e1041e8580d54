// Figures over many simulated calls.
import type { CallReport } from '../testing/report.js';

export interface ReportSummary {
  calls: number;
  ok: number;
  failed: number;
  /** From the end of the caller's speech to the agent's first sound, over all turns that were answered. */
  responseP50Ms: number | null;
  responseP95Ms: number | null;
  gaps: number;
  clicks: number;
  protocolErrors: number;
}

/** The smallest value that `share` of the values do not exceed. */
function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

export function summarizeReports(reports: readonly CallReport[]): ReportSummary {
  const responses = reports
    .flatMap(({ turns }) => turns.flatMap(({ responseMs }) => (responseMs === null ? [] : [responseMs])))
    .sort((a, b) => a - b);
  const sum = (count: (report: CallReport) => number) =>
    reports.reduce((total, report) => total + count(report), 0);
  const ok = reports.filter((report) => report.ok).length;
  return {
    calls: reports.length,
    ok,
    failed: reports.length - ok,
    responseP50Ms: percentile(responses, 0.5),
    responseP95Ms: percentile(responses, 0.95),
    gaps: sum(({ gaps }) => gaps.length),
    clicks: sum(({ clicks }) => clicks.length),
    protocolErrors: sum(({ protocolErrors }) =>
      protocolErrors.reduce((total, { count }) => total + count, 0),
    ),
  };
}
