// What happened in a call beside its words, in order. Pure: no browser, no clock.
import type { CallRecord, EndReason } from '../../../contract/call-record.js';
import { formatLatency, formatNumber, formatWord } from '../format.js';

export interface Happening {
  at: number;
  what: string;
  detail: string;
  isTrouble: boolean;
}

/** Incidents of our own, in words. Codes of errors stand as they are: they can be looked up. */
const INCIDENTS: Readonly<Record<string, string>> = {
  'audio-too-fast': 'Audio too fast',
  'budget-near': 'Budget nearly used',
  'cost-incomplete': 'Cost incomplete',
  'hangup-failed': 'Hang-up failed',
  'process-lost': 'Process lost',
  'process-replaced': 'Process replaced',
  'provider-failed': 'Provider failed',
  'provider-reconnected': 'Provider reconnected',
  'provider-replaced': 'Provider replaced',
  'apology-spoken': 'Apology',
  'stream-replaced': 'Stream replaced',
  'turn-failed': 'Turn failed',
};

export function nameIncident(code: string): string {
  // A code may be any text: `constructor`, too.
  return (Object.hasOwn(INCIDENTS, code) ? INCIDENTS[code] : undefined) ?? code;
}

/** Facts of a record that have a time. */
export function timelineOf(record: CallRecord, options: { masked: boolean }): Happening[] {
  const { amd, transfer } = record;
  const list = [
    point(record.startedAt, { what: record.direction === 'inbound' ? 'Ringing' : 'Dialed' }),
    point(record.answeredAt, { what: 'Answered' }),
    point(amd?.detectedAt, { what: 'Answered by', detail: amd?.answeredBy }),
    point(transfer?.startedAt, {
      what: `Transfer to ${formatNumber(transfer?.to ?? '', options)}`,
      detail: formatWord(transfer?.result ?? 'under-way'),
      isTrouble: transfer?.result === 'failed',
    }),
    // A record may be older than the field.
    ...(record.handoffs ?? []).map(({ at, to, summary }) =>
      point(at, { what: `Handed over to ${to}`, detail: summary }),
    ),
    ...record.incidents.map(({ at, code, message, durationMs }) =>
      point(at, {
        what: nameIncident(code),
        detail: withDuration(message, durationMs),
        isTrouble: true,
      }),
    ),
    ...(record.localRecording?.pauses ?? []).map(({ startedAt, endedAt, by }) =>
      point(startedAt, {
        what: 'Recording paused',
        detail: withDuration(`by ${by}`, endedAt === null ? null : endedAt - startedAt),
      }),
    ),
    ...record.turns
      .flatMap(({ toolCalls }) => toolCalls)
      .map(({ startedAt, name, durationMs, error }) =>
        point(startedAt, {
          what: `Tool ${name}`,
          detail: error ?? toolTime(durationMs),
          isTrouble: error !== null,
        }),
      ),
    point(record.endedAt, {
      what: 'Ended',
      detail: describeEnd(record.endReason),
      isTrouble: record.error !== null,
    }),
  ];
  return list.filter((happening) => happening !== null).sort((a, b) => a.at - b.at);
}

function point(
  at: number | null | undefined,
  facts: { what: string; detail?: string | undefined; isTrouble?: boolean },
): Happening | null {
  if (at === null || at === undefined) return null;
  return { at, what: facts.what, detail: facts.detail ?? '', isTrouble: facts.isTrouble === true };
}

function withDuration(message: string, durationMs: number | null): string {
  return durationMs === null ? message : `${message} (${formatLatency(durationMs)})`;
}

function toolTime(durationMs: number | null): string {
  return durationMs === null ? 'went on after its turn' : `${Math.round(durationMs)} ms`;
}

/** What the words of an end do not say. */
const ENDS: Readonly<Partial<Record<EndReason, string>>> = {
  'stream-lost': 'the audio stream broke off and did not come back',
  'protocol-error': 'the carrier sent what is no audio stream',
  'provider-failed': 'an AI provider failed, and nothing took its place',
  'max-duration': 'the call was as long as it may be',
  idle: 'the caller said nothing any more',
  budget: 'the budget was used up',
  'over-capacity': 'as many calls as allowed were up',
  rejected: 'the application did not take the call',
  'server-shutdown': 'the server was stopped',
  'process-lost': 'the server process died in the middle of it',
};

function describeEnd(endReason: EndReason | null): string {
  const meaning = endReason === null ? undefined : ENDS[endReason];
  return meaning === undefined ? formatWord(endReason) : `${formatWord(endReason)}: ${meaning}`;
}
