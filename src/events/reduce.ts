// What a fact does to a record. The only code that changes a CallRecord: live calls, replay, dashboard and page share it.
import type { CallEvent, CallEventOf, CallIdentity } from '../contract/call-event.js';
import {
  CARRIER_IDS,
  type CallRecord,
  type CallStatus,
  type Incident,
  type TranscriptEntry,
  type Transfer,
  type Turn,
} from '../contract/call-record.js';
import { summarizeLatency, unknownCost, unknownLatency } from './summarize.js';

const STATUS_ORDER: Readonly<Record<CallStatus, number>> = {
  initiated: 0,
  ringing: 1,
  active: 2,
  completed: 3,
};

/** A call in trouble must not grow its record without bound. */
const MAX_INCIDENTS = 100;

/**
 * The record after `event`. Returns a new object, sharing what did not change; the given one stays as it was.
 * An event that is part of the record already (`seq` not above the record's) changes nothing, and a call ends once:
 * whatever comes after the end changes neither its status nor the reason.
 */
export function reduceCall(record: CallRecord | undefined, event: CallEvent): CallRecord {
  if (record !== undefined && event.seq <= record.seq) return record;
  const before = record ?? openRecord(event);
  return { ...before, ...changes(before, event), seq: event.seq };
}

function changes(record: CallRecord, event: CallEvent): Partial<CallRecord> {
  switch (event.type) {
    case 'call.status':
      return { ...identity(record, event), ...progress(record, event.status, event.at) };
    case 'call.started':
      return {
        ...identity(record, event),
        ...progress(record, 'active', event.at),
        mode: event.mode,
        provider: event.provider,
      };
    case 'transcript.segment':
      if (record.status === 'completed' && !event.entry.final) return {};
      return { transcript: withEntry(record.transcript, event.entry) };
    case 'turn.started':
      return { turnCount: Math.max(record.turnCount, event.turnIndex + 1) };
    case 'turn.completed': {
      const turns = withTurn(record.turns, event.turn);
      return {
        turns,
        turnCount: Math.max(record.turnCount, event.turn.index + 1),
        latency: summarizeLatency(turns),
      };
    }
    case 'cost.updated':
      return { cost: event.cost, usage: event.usage, turns: withTurnCost(record.turns, event.turn) };
    case 'dtmf.received':
      return { transcript: withEntry(record.transcript, keyEntry(record, event)) };
    case 'amd.detected':
      return { amd: event.amd };
    case 'recording.completed':
      return { recording: event.recording };
    case 'transfer.updated':
      return { transfer: withTransfer(record, event) };
    case 'incident.noted':
      return { incidents: withIncident(record, event) };
    case 'audio.measured':
      return { envelope: event.envelope };
    case 'call.ended':
      return ending(record, event);
  }
}

function identity(record: CallRecord, event: CallIdentity): Partial<CallRecord> {
  return {
    carrierCallId: event.carrierCallId ?? record.carrierCallId,
    carrier: event.carrier,
    direction: event.direction,
    caller: event.caller,
    callee: event.callee,
  };
}

function progress(record: CallRecord, status: CallStatus, at: number): Partial<CallRecord> {
  if (STATUS_ORDER[status] <= STATUS_ORDER[record.status]) return {};
  return status === 'active' ? { status, answeredAt: record.answeredAt ?? at } : { status };
}

function ending(record: CallRecord, event: CallEventOf<'call.ended'>): Partial<CallRecord> {
  if (record.status === 'completed') return {};
  return {
    status: 'completed',
    endReason: event.endReason,
    outcome: event.outcome,
    error: event.error,
    media: event.media,
    endedAt: event.at,
    durationMs: record.answeredAt === null ? null : Math.max(0, event.at - record.answeredAt),
    transcript: record.transcript.filter((entry) => entry.final),
  };
}

/** A final entry with empty text takes the entry of its id away. */
function withEntry(entries: readonly TranscriptEntry[], entry: TranscriptEntry): TranscriptEntry[] {
  const index = entries.findIndex((other) => other.id === entry.id);
  if (entry.final && entry.text === '') return entries.filter((other) => other.id !== entry.id);
  return index === -1 ? [...entries, entry] : entries.with(index, entry);
}

function withTurn(turns: readonly Turn[], turn: Turn): Turn[] {
  const index = turns.findIndex((other) => other.index === turn.index);
  if (index !== -1) return turns.with(index, turn);
  return [...turns, turn].sort((a, b) => a.index - b.index);
}

function withTurnCost(turns: Turn[], price: CallEventOf<'cost.updated'>['turn']): Turn[] {
  const index = turns.findIndex((turn) => turn.index === price?.index);
  const turn = turns[index];
  return turn === undefined || price === undefined ? turns : turns.with(index, { ...turn, cost: price.cost });
}

function keyEntry(record: CallRecord, event: CallEventOf<'dtmf.received'>): TranscriptEntry {
  return {
    id: `key-${event.seq}`,
    turnIndex: Math.max(0, record.turnCount - 1),
    role: 'system',
    text: `Key ${event.digit}`,
    at: event.at,
    final: true,
  };
}

/** A result belongs to the transfer that is under way; without a result it is a new one. */
function withTransfer(record: CallRecord, event: CallEventOf<'transfer.updated'>): Transfer {
  const { to, result, at } = event;
  const startedAt = result === null ? at : (record.transfer?.startedAt ?? at);
  return { to, startedAt, result };
}

function withIncident(record: CallRecord, event: CallEventOf<'incident.noted'>): Incident[] {
  if (record.incidents.length >= MAX_INCIDENTS) return record.incidents;
  const { at, code, message } = event;
  return [...record.incidents, { at, code, message }];
}

function openRecord(event: CallEvent): CallRecord {
  return {
    callId: event.callId,
    carrierCallId: null,
    carrier: CARRIER_IDS[0],
    direction: 'inbound',
    caller: '',
    callee: '',
    status: 'initiated',
    outcome: null,
    endReason: null,
    startedAt: event.at,
    answeredAt: null,
    endedAt: null,
    durationMs: null,
    mode: null,
    provider: { engine: null, stt: null, llm: null, tts: null },
    nodeId: event.nodeId,
    turnCount: 0,
    turns: [],
    transcript: [],
    latency: { avgMs: null, p50Ms: null, p95Ms: null, stages: unknownLatency() },
    cost: unknownCost(),
    usage: null,
    media: { framesReceived: 0, framesSent: 0, unexpectedMessages: 0, clears: 0 },
    recording: null,
    amd: null,
    transfer: null,
    incidents: [],
    envelope: null,
    error: null,
    seq: 0,
  };
}
