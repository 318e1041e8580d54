// Figures over many simulated calls.
import { percentile } from '../events/summarize.js';
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

export function summarizeReports(reports: readonly CallReport[]): ReportSummary {
  const responses = reports.flatMap(({ turns }) =>
    turns.flatMap(({ responseMs }) => (responseMs === null ? [] : [responseMs])),
  );
  const sum = (count: (report: CallReport) => number) =>
    reports.reduce((total, report) => total + count(report), 0);
  const ok = reports.filter((report) => report.ok).length;
  return {
    calls: reports.length,
    ok,
    failed: reports.length - ok,
    responseP50Ms: percentile(responses, 50),
    responseP95Ms: percentile(responses, 95),
    gaps: sum(({ gaps }) => gaps.length),
    clicks: sum(({ clicks }) => clicks.length),
    protocolErrors: sum(({ protocolErrors }) =>
      protocolErrors.reduce((total, { count }) => total + count, 0),
    ),
  };
}
