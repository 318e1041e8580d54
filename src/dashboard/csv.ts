// Calls as comma-separated values. Source: RFC 4180.
import type { CallRecord } from '../contract/call-record.js';

type Cell = string | number | boolean | null;

/** The columns, in order. Nested fields keep their names, joined by dots. New columns are added at the end only. */
const COLUMNS: { readonly [header: string]: (record: CallRecord) => Cell } = {
  callId: (record) => record.callId,
  carrierCallId: (record) => record.carrierCallId,
  carrier: (record) => record.carrier,
  direction: (record) => record.direction,
  caller: (record) => record.caller,
  callee: (record) => record.callee,
  status: (record) => record.status,
  outcome: (record) => record.outcome,
  endReason: (record) => record.endReason,
  startedAt: (record) => record.startedAt,
  answeredAt: (record) => record.answeredAt,
  endedAt: (record) => record.endedAt,
  startedAtIso: (record) => new Date(record.startedAt).toISOString(),
  durationMs: (record) => record.durationMs,
  mode: (record) => record.mode,
  'provider.engine': (record) => record.provider.engine,
  'provider.stt': (record) => record.provider.stt,
  'provider.llm': (record) => record.provider.llm,
  'provider.tts': (record) => record.provider.tts,
  turnCount: (record) => record.turnCount,
  'latency.avgMs': (record) => record.latency.avgMs,
  'latency.p50Ms': (record) => record.latency.p50Ms,
  'latency.p95Ms': (record) => record.latency.p95Ms,
  'latency.stages.endpointingMs': (record) => record.latency.stages.endpointingMs,
  'latency.stages.sttMs': (record) => record.latency.stages.sttMs,
  'latency.stages.llmFirstTokenMs': (record) => record.latency.stages.llmFirstTokenMs,
  'latency.stages.sentenceMs': (record) => record.latency.stages.sentenceMs,
  'latency.stages.ttsFirstByteMs': (record) => record.latency.stages.ttsFirstByteMs,
  'latency.stages.sendMs': (record) => record.latency.stages.sendMs,
  'latency.stages.heardMs': (record) => record.latency.stages.heardMs,
  'cost.stt': (record) => record.cost.stt,
  'cost.llm': (record) => record.cost.llm,
  'cost.tts': (record) => record.cost.tts,
  'cost.telephony': (record) => record.cost.telephony,
  'cost.total': (record) => record.cost.total,
  'cost.currency': (record) => record.cost.currency,
  'cost.estimated': (record) => record.cost.estimated,
  'amd.answeredBy': (record) => record.amd?.answeredBy ?? null,
  'recording.url': (record) => record.recording?.url ?? null,
  'error.code': (record) => record.error?.code ?? null,
  'error.message': (record) => record.error?.message ?? null,
  nodeId: (record) => record.nodeId,
  'transfer.to': (record) => record.transfer?.to ?? null,
  'transfer.result': (record) => record.transfer?.result ?? null,
  'incidents.codes': (record) => record.incidents.map(({ code }) => code).join(' ') || null,
  'incidents.count': (record) => record.incidents.length,
  'latency.p99Ms': (record) => record.latency.p99Ms,
  'recording.status': (record) => record.recording?.status ?? null,
  'recording.durationMs': (record) => record.recording?.durationMs ?? null,
  'usage.sttSeconds': (record) => record.usage?.sttSeconds ?? null,
  'usage.llmInputTokens': (record) => record.usage?.llmInputTokens ?? null,
  'usage.llmCachedTokens': (record) => record.usage?.llmCachedTokens ?? null,
  'usage.llmOutputTokens': (record) => record.usage?.llmOutputTokens ?? null,
  'usage.ttsCharacters': (record) => record.usage?.ttsCharacters ?? null,
  'usage.telephonySeconds': (record) => record.usage?.telephonySeconds ?? null,
  'media.framesReceived': (record) => record.media?.framesReceived ?? null,
  'media.framesSent': (record) => record.media?.framesSent ?? null,
  'media.unexpectedMessages': (record) => record.media?.unexpectedMessages ?? null,
  'media.clears': (record) => record.media?.clears ?? null,
  agent: (record) => record.agent,
  language: (record) => record.language ?? null,
  'handoffs.to': (record) => (record.handoffs ?? []).map(({ to }) => to).join(' ') || null,
};

/** A number or an E.164 telephone number: a spreadsheet runs neither. */
const PLAIN_NUMBER = /^[+-]?\d+(\.\d+)?$/;
/**
 * What spreadsheets take for the start of a formula, full-width forms included, also behind white space and characters that cannot be
 * seen. Source: OWASP, CSV Injection.
 */
const FORMULA_START = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u;

/** Text with a leading apostrophe where a spreadsheet would run it. */
function defuse(text: string): string {
  return FORMULA_START.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
}

function quote(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function encode(cell: Cell): string {
  if (cell === null) return '';
  return quote(typeof cell === 'string' ? defuse(cell) : decimal(cell));
}

/** Without an exponent, which not every reader of CSV takes: money has at most six decimals. */
function decimal(value: number | boolean): string {
  if (typeof value === 'boolean' || !/e/i.test(String(value))) return String(value);
  return value.toFixed(6).replace(/\.?0+$/, '');
}

/** The first line. */
export function csvHeader(): string {
  return `${Object.keys(COLUMNS).map(quote).join(',')}\r\n`;
}

/** One line per call. An unknown value is an empty cell. */
export function csvRow(record: CallRecord): string {
  return `${Object.values(COLUMNS)
    .map((read) => encode(read(record)))
    .join(',')}\r\n`;
}
