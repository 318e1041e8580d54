// The findings as text: a line each, and what a captured webhook was compared with.
import type { CheckResult, CheckStatus } from './check.js';

const LABELS: Readonly<Record<CheckStatus, string>> = {
  ok: 'ok     ',
  warning: 'warning',
  failed: 'FAILED ',
  skipped: 'skipped',
};

export function formatChecks(checks: readonly CheckResult[]): string {
  return checks
    .flatMap((check) => [`${LABELS[check.status]}  ${check.message}`, ...explain(check)])
    .join('\n');
}

function explain({ details = {} }: CheckResult): string[] {
  const { candidates, signedPrefix, signedBytes, timestamp } = details;
  if (Array.isArray(candidates)) return explainCandidates(candidates as Candidate[]);
  if (typeof signedPrefix !== 'string') return [];
  return [
    `         signed: ${String(signedBytes)} bytes, beginning with ${JSON.stringify(signedPrefix)}`,
    `         timestamp: ${timestamp === null ? 'none' : String(timestamp)}`,
  ];
}

interface Candidate {
  url: string;
  signedText: string;
  matches: boolean;
}

function explainCandidates(candidates: readonly Candidate[]): string[] {
  const shown = candidates.find(({ matches }) => matches) ?? candidates[0];
  if (shown === undefined)
    return ['         nothing of this body could be signed: it is no form and has no hash in its URL'];
  return [
    `         text that ${shown.matches ? 'was signed' : 'would be signed'}: ${JSON.stringify(shown.signedText)}`,
    ...candidates.map(({ url, matches }) => `         ${matches ? 'matches' : 'tried  '} ${url}`),
  ];
}
