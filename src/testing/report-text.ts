// A call report in words, for a terminal.
import { counted } from '../base/counted.js';
import type { CallReport } from './report.js';
import type { StreamEnd } from './stream-end.js';

const OUTCOMES: Readonly<Record<CallReport['answer']['outcome'], string>> = {
  answered: 'answered',
  busy: 'not answered: busy',
  rejected: 'not answered: rejected',
  'hung-up': 'not answered: hung up at once',
  refused: 'not answered: refused',
  failed: 'not answered: failed',
};

function ms(value: number | null): string {
  if (value === null) return 'never';
  return Math.abs(value) < 1000 ? `${value} ms` : `${(value / 1000).toFixed(2)} s`;
}

function at(value: number): string {
  return `${(value / 1000).toFixed(2)} s`;
}

function places(list: readonly { atMs: number }[], describe: (item: never) => string): string {
  if (list.length === 0) return 'none';
  const shown = list.slice(0, 5).map((item) => `${describe(item as never)} at ${at(item.atMs)}`.trim());
  return list.length > 5 ? `${list.length}: ${shown.join(', ')}, …` : `${list.length}: ${shown.join(', ')}`;
}

/** One clause that says who ended the call, and how. */
export function describeEnd(end: StreamEnd): string {
  if (end.how === 'lost') return 'the connection was lost';
  if (end.how === 'closed') {
    const reason = end.reason === '' ? '' : ` "${end.reason.replace(/[^\x20-\x7e]/g, '?')}"`;
    return `the server closed the stream (${end.closeCode}${reason})`;
  }
  if (end.how === 'time-limit') return 'the longest duration was reached';
  if (end.how === 'aborted') return 'the simulation was called off';
  if (end.how === 'replaced') return 'new instructions of the agent replaced the stream';
  if (end.how === 'transfer') return 'the call was transferred';
  return `the ${end.by} hung up`;
}

/** The report as lines of text. Names no full telephone number and no content of the call. */
export function formatReport(report: CallReport): string {
  const { answer } = report;
  const lines = [`call ${report.caller} -> ${report.callee}: ${OUTCOMES[answer.outcome]}`];
  const add = (name: string, value: string) => lines.push(`  ${name.padEnd(20)}${value}`);
  if (answer.reason !== null) add('reason', answer.reason);
  if (answer.answeredAfterMs !== null) {
    add(
      'answered after',
      `${ms(answer.answeredAfterMs)} (webhook ${ms(answer.webhookMs)}, stream ${ms(answer.upgradeMs)})`,
    );
  }
  if (report.end !== null && report.durationMs !== null) {
    add(
      'first agent audio',
      report.firstAudioAfterMs === null ? 'never: the agent said nothing' : ms(report.firstAudioAfterMs),
    );
    for (const [index, turn] of report.turns.entries()) {
      const spoken = `caller ${at(turn.callerStartMs)} to ${at(turn.callerEndMs)}`;
      add(
        `turn ${index + 1}`,
        `${spoken}, ${turn.responseMs === null ? 'no answer' : `answer after ${ms(turn.responseMs)}`}`,
      );
    }
    add('agent speech', `${at(report.agentSpeechMs)} in ${counted(report.agentSpeech.length, 'segment')}`);
    add(
      'gaps in speech',
      places(report.gaps, (gap: { durationMs: number }) => ms(gap.durationMs)),
    );
    add(
      'clicks',
      places(report.clicks, () => ''),
    );
    add(
      'clears',
      places(report.clears, (clear: { droppedMs: number }) => `${ms(clear.droppedMs)} dropped`),
    );
    for (const interruption of report.interruptions) {
      add(
        'interruption',
        `at ${at(interruption.atMs)}, agent silent after ${ms(interruption.silentAfterMs)}`,
      );
    }
    const { marks, frames } = report;
    add(
      'marks',
      `${marks.received} (${marks.played} played, ${marks.cleared} cleared, ${marks.pending} not reached)`,
    );
    add('media messages', `${frames.sent} sent, ${frames.received} received`);
    add('end', `after ${at(report.durationMs)}: ${describeEnd(report.end)}`);
  }
  for (const { sentence, count, atMs } of report.protocolErrors) {
    add('protocol error', `${sentence}${count > 1 ? ` (${count} times)` : ''} at ${at(atMs)}`);
  }
  for (const note of report.notes) add('note', note);
  if (report.recording !== null) add('recording', report.recording);
  return lines.join('\n');
}
