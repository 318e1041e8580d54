// What a fact does to a record. The only code that changes a CallRecord: live calls, replay, dashboard and page share it.
import {
  type CallEvent,
  type CallEventOf,
  type CallIdentity,
  type FactPlace,
  LATE_FACTS,
} from '../contract/call-event.js';
import {
  type CallRecord,
  type CallStatus,
  type Handoff,
  type Incident,
  MAX_HANDOFFS,
  MAX_INCIDENTS,
  type ToolCall,
  type TranscriptEntry,
  type Transfer,
  type Turn,
} from '../contract/call-record.js';
import { summarizeLatency, unknownCost } from './summarize.js';

const STATUS_ORDER: Readonly<Record<CallStatus, number>> = {
  initiated: 0,
  ringing: 1,
  active: 2,
  completed: 3,
};

/** A caller who keeps a key pressed must not grow the record without bound. */
const MAX_TURNS = 5000;
const MAX_ENTRIES = 5000;
const FULL_ID = 'transcript-full';

/** Only facts that say who talks to whom open a call: any other is about one that left, or was never here. */
export function opensCall({ type }: CallEvent): boolean {
  return type === 'call.status' || type === 'call.started';
}

/** A place as it may have been written: logs and senders of before terms have none, and are read as of the first. */
export type WrittenPlace = Pick<FactPlace, 'seq'> & Partial<Pick<FactPlace, 'term'>>;

export function termOf({ term }: Partial<Pick<FactPlace, 'term'>>): number {
  return term ?? 1;
}

/** The order of the facts of a call: the higher term, then the higher `seq`. */
export function isNewer(one: WrittenPlace, other: WrittenPlace): boolean {
  const [term, otherTerm] = [termOf(one), termOf(other)];
  return term === otherTerm ? one.seq > other.seq : term > otherTerm;
}

/** The process that a call began in. */
export function originOf({ originId, nodeId }: { originId?: string; nodeId: string }): string {
  return originId ?? nodeId;
}

/** Facts that whoever takes a call over can take back, at least: a server that is cut off from the others goes on stating some for seconds. */
export const TAKEN_BACK = 32;
/** The same of a call that is over. */
export const TAKEN_BACK_AT_END = 8;

/** What a record was made of last. */
interface Past {
  /** Before the facts: a copy, so that it keeps nothing of what was before itself. Undefined where the first of them opened the record. */
  readonly start: CallRecord | undefined;
  readonly facts: readonly CallEvent[];
  /** A copy of what it was behind so many of them. */
  readonly middle: { readonly record: CallRecord; readonly count: number } | undefined;
}

const pasts = new WeakMap<CallRecord, Past>();

/**
 * The record after `event`. Returns a new object, sharing what did not change; the given one stays as it was.
 * An event that is part of the record already (its `term` and `seq` not above the record's) changes nothing. A call ends once in a term: after
 * the end only late facts change anything but `seq`. Who takes the call over and goes on with it undoes the end that a process before had
 * stated, by any fact but a late one. It also takes back what it did not know: any fact in a higher term, with a `seq` that the record has, goes on behind
 * the fact before that one, where this is among the last 32 that this function has put into the record, or the last 8 of a call that is over.
 */
export function reduceCall(record: CallRecord | undefined, event: CallEvent): CallRecord {
  if (record !== undefined && !isNewer(event, record)) return record;
  const past = record === undefined ? NOTHING : (pasts.get(record) ?? { ...NOTHING, start: { ...record } });
  const known = knownPast(past, event);
  const isTakenBack = known.facts.length < past.facts.length;
  const base = isTakenBack ? replayPast(known) : record;
  const after = base === undefined ? openRecord(event) : { ...base };
  apply(after, event);
  if (event.type === 'turn.completed' || isTakenBack) after.latency = summarizeLatency(after.turns);
  const grown = { ...known, facts: [...known.facts, event] };
  pasts.set(after, event.type === 'call.ended' ? atEnd(grown) : shortened(grown, after));
  return after;
}

const NOTHING: Past = { start: undefined, facts: [], middle: undefined };

/** As much of it as whoever states this fact goes on behind. */
function knownPast({ start, facts, middle }: Past, event: CallEvent): Past {
  const count = start === undefined ? knownBy(event, facts) : knownBy(event, [start, ...facts]) - 1;
  if (count === facts.length) return { start, facts, middle };
  return {
    start,
    facts: facts.slice(0, count),
    middle: middle && middle.count <= count ? middle : undefined,
  };
}

/** But for `latency`. */
function replayPast({ start, facts, middle }: Past): CallRecord | undefined {
  let record = middle?.record ?? start;
  record &&= { ...record };
  for (const fact of facts.slice(middle?.count ?? 0)) {
    record ??= openRecord(fact);
    apply(record, fact);
  }
  return record;
}

/** `record` is what all of it makes. */
function shortened({ start, facts, middle }: Past, record: CallRecord): Past {
  const count = middle?.count ?? 0;
  if (facts.length - count < TAKEN_BACK) return { start, facts, middle };
  const next = { ...record };
  if (middle === undefined) return { start, facts, middle: { record: next, count: facts.length } };
  const left = facts.slice(count);
  return { start: middle.record, facts: left, middle: { record: next, count: left.length } };
}

function atEnd(past: Past): Past {
  const { facts } = past;
  const count = facts.length - TAKEN_BACK_AT_END;
  if (count <= 0) return past;
  const { middle } = past;
  const left = {
    ...past,
    facts: facts.slice(0, count),
    middle: middle && middle.count <= count ? middle : undefined,
  };
  return { start: replayPast(left), facts: facts.slice(count), middle: undefined };
}

/** How many of these, of which the last is the newest, whoever states this fact goes on behind: all where none is in front of it. */
function knownBy(event: CallEvent, past: readonly WrittenPlace[]): number {
  const last = past.at(-1);
  if (last === undefined || event.seq > last.seq || termOf(event) === termOf(last)) return past.length;
  return past.findLastIndex(({ seq }) => seq < event.seq) + 1 || past.length;
}

/**
 * The record that `reduceCall` makes of the facts of a call, one after the other; undefined of none. Costs a fraction of that: nobody
 * sees what is between the first fact and the last, so there is one record, and its figures are worked out once.
 */
export function replayCall(events: Iterable<CallEvent>): CallRecord | undefined {
  const known: CallEvent[] = [];
  for (const event of events) {
    const last = known.at(-1);
    if (last !== undefined && !isNewer(event, last)) continue;
    known.length = knownBy(event, known);
    known.push(event);
  }
  let record: CallRecord | undefined;
  for (const event of known) {
    record ??= openRecord(event);
    apply(record, event);
  }
  if (record !== undefined) record.latency = summarizeLatency(record.turns);
  return record;
}

/** Changes a record that nobody else has yet, all but its `latency`: that follows from its turns. */
function apply(record: CallRecord, event: CallEvent): void {
  const [term, isLate] = [termOf(event), LATE_FACTS.includes(event.type)];
  if (term > termOf(record)) {
    if (record.status === 'completed' && !isLate) Object.assign(record, reopened(record));
    if (record.status !== 'completed') record.nodeId = event.nodeId;
  }
  if (record.status !== 'completed' || isLate) Object.assign(record, changes(record, event));
  record.term = term;
  record.seq = event.seq;
}

/** What a process has said of the end does not hold where another one has taken the call over. */
function reopened({ answeredAt, localRecording }: CallRecord): Partial<CallRecord> {
  return {
    localRecording:
      localRecording?.status === 'pending' ? { ...localRecording, status: 'recording' } : localRecording,
    status: answeredAt === null ? 'initiated' : 'active',
    outcome: null,
    endReason: null,
    endedAt: null,
    durationMs: null,
    error: null,
    media: null,
    hangUp: null,
  };
}

function changes(record: CallRecord, event: CallEvent): Partial<Omit<CallRecord, 'latency'>> {
  switch (event.type) {
    case 'call.status':
      return { ...identity(record, event), ...progress(record, event.status, event.at) };
    case 'call.started':
      return {
        ...identity(record, event),
        ...progress(record, 'active', event.at),
        mode: event.mode,
        provider: event.provider,
        language: record.language ?? event.language ?? null,
      };
    case 'phase.changed':
      return { phase: { name: event.phase, since: event.at } };
    case 'transcript.segment':
      return {
        transcript: withEntry(record.transcript, event.entry),
        turns: withTool(record.turns, event.entry.turnIndex, event.tool),
      };
    case 'turn.started':
      return { turnCount: Math.max(record.turnCount, event.turnIndex + 1) };
    case 'turn.completed':
      return {
        turns: withTurn(record.turns, whole(event.turn, record)),
        turnCount: Math.max(record.turnCount, event.turn.index + 1),
      };
    case 'cost.updated':
      return { cost: event.cost, usage: event.usage, turns: withTurnCost(record.turns, event.turn) };
    case 'dtmf.received':
      return { transcript: withKey(record, event) };
    case 'amd.detected':
      return { amd: event.amd };
    case 'recording.completed':
      return { recording: event.recording };
    case 'local-recording.updated':
      return { localRecording: event.recording };
    case 'transfer.updated':
      return { transfer: withTransfer(record, event) };
    case 'incident.noted':
      return { incidents: withIncident(record, { ...event, durationMs: event.durationMs ?? null }) };
    case 'provider.reconnected':
      return {
        incidents: withIncident(record, {
          at: event.at,
          code: 'provider-reconnected',
          message: `${event.provider} failed (${event.code}) and works again.`,
          durationMs: event.gapMs,
        }),
      };
    case 'provider.replaced':
      return {
        mode: event.mode,
        provider: event.provider,
        incidents: withIncident(record, {
          at: event.at,
          code: 'provider-replaced',
          message: `${event.from} failed (${event.code}), and ${nameOfNext(event)} was asked in its place.`,
          durationMs: event.gapMs,
        }),
      };
    case 'language.changed':
      return { language: event.language, provider: event.provider };
    case 'agent.changed':
      return {
        agent: event.to,
        mode: event.mode,
        provider: event.provider,
        language: event.language ?? null,
        handoffs: withHandoff(record, event),
      };
    case 'audio.measured':
      return { envelope: event.envelope };
    case 'hangup.updated':
      return { hangUp: event.state };
    case 'call.ended':
      return ending(record, event);
    case 'call.forgotten':
      return { ...openRecord(event), originId: record.originId, status: 'completed', endedAt: event.at };
  }
}

/** Two providers of one model have one name. */
function nameOfNext({ from, to }: CallEventOf<'provider.replaced'>): string {
  return from === to ? `another ${to}` : to;
}

function identity(record: CallRecord, event: CallIdentity): Partial<CallRecord> {
  return {
    carrierCallId: event.carrierCallId ?? record.carrierCallId,
    carrier: event.carrier,
    direction: event.direction,
    caller: event.caller,
    callee: event.callee,
    agent: event.agent ?? record.agent,
  };
}

function progress(record: CallRecord, status: CallStatus, at: number): Partial<CallRecord> {
  if (STATUS_ORDER[status] <= STATUS_ORDER[record.status]) return {};
  return status === 'active' ? { status, answeredAt: record.answeredAt ?? at } : { status };
}

function ending(record: CallRecord, event: CallEventOf<'call.ended'>): Partial<CallRecord> {
  const { at, durationMs } = event;
  const { localRecording } = record;
  const answeredAt = record.answeredAt ?? (durationMs === undefined ? null : at - durationMs);
  return {
    answeredAt,
    status: 'completed',
    phase: null,
    endReason: event.endReason,
    outcome: event.outcome,
    error: event.error,
    media: event.media,
    hangUp: event.hangUp ?? null,
    // What a process has used last it may not have been able to tell.
    cost: event.endReason === 'process-lost' ? { ...record.cost, estimated: true } : record.cost,
    endedAt: event.at,
    durationMs: answeredAt === null ? null : Math.max(0, at - answeredAt),
    transcript: record.transcript.filter((entry) => entry.final),
    // A process that died did not say that its file is to be made.
    localRecording:
      localRecording?.status === 'recording' ? { ...localRecording, status: 'pending' } : localRecording,
  };
}

/** In the order in which it was said: what is known late, as the caller's words often are, stands before what was said or done after it. A final entry
 * with empty text takes the entry of its id away. */
function withEntry(entries: TranscriptEntry[], entry: TranscriptEntry): TranscriptEntry[] {
  // What changes is mostly the last one.
  const index = entries.findLastIndex((other) => other.id === entry.id);
  if (entry.final && entry.text === '') return index === -1 ? entries : entries.toSpliced(index, 1);
  if (index !== -1) return entries.with(index, entry);
  if (entries.at(-1)?.id === FULL_ID) return entries;
  if (entries.length >= MAX_ENTRIES - 1) return [...entries, lastEntry(entry)];
  return entries.toSpliced(entries.findLastIndex(({ at }) => at <= entry.at) + 1, 0, entry);
}

function lastEntry({ turnIndex, at }: TranscriptEntry): TranscriptEntry {
  const text = `The transcript holds ${MAX_ENTRIES} entries and goes no further.`;
  return { id: FULL_ID, turnIndex, role: 'system', text, at, final: true };
}

/** A log may be older than a field. */
function whole(turn: Turn, { agent }: CallRecord): Turn {
  return {
    ...turn,
    agent: turn.agent === undefined ? agent : turn.agent,
    speechEndedAt: turn.speechEndedAt ?? null,
    fillerMs: turn.fillerMs ?? null,
    tokens: turn.tokens ?? null,
    toolCalls: turn.toolCalls.map(wholeTool),
  };
}

function wholeTool(tool: ToolCall): ToolCall {
  return { ...tool, id: tool.id ?? null, arguments: tool.arguments ?? null, result: tool.result ?? null };
}

function withTurn(turns: Turn[], turn: Turn): Turn[] {
  const index = turns.findLastIndex((other) => other.index <= turn.index);
  if (turns[index]?.index === turn.index) return turns.with(index, turn);
  return turns.length < MAX_TURNS ? turns.toSpliced(index + 1, 0, turn) : turns;
}

function withTurnCost(turns: Turn[], price: CallEventOf<'cost.updated'>['turn']): Turn[] {
  const index = turns.findIndex((turn) => turn.index === price?.index);
  const turn = turns[index];
  if (turn === undefined || price === undefined) return turns;
  const { cost, tokens = turn.tokens } = price;
  return turns.with(index, { ...turn, cost, tokens });
}

/** Of several without an ID that run, have one name and began together, each is as good as the other. */
function withTool(turns: Turn[], turnIndex: number, tool: ToolCall | undefined): Turn[] {
  const at = turns.findLastIndex(({ index }) => index === turnIndex);
  const turn = turns[at];
  if (turn === undefined || tool === undefined) return turns;
  const place = turn.toolCalls.findIndex(
    ({ id, name, startedAt, durationMs, error }) =>
      (id === null || id === tool.id) &&
      name === tool.name &&
      startedAt === tool.startedAt &&
      durationMs === null &&
      error === null,
  );
  if (place === -1) return turns;
  return turns.with(at, { ...turn, toolCalls: turn.toolCalls.with(place, wholeTool(tool)) });
}

/** A process that keeps a call may tell its last facts again, in another term. */
function withKey(record: CallRecord, event: CallEventOf<'dtmf.received'>): TranscriptEntry[] {
  const entry = keyEntry(record, event);
  const isKnown = record.transcript.some(
    ({ id, at, text }) =>
      at === entry.at && text === entry.text && id.startsWith('key-') && id.endsWith(`-${event.seq}`),
  );
  return isKnown ? record.transcript : withEntry(record.transcript, entry);
}

function keyEntry(record: CallRecord, event: CallEventOf<'dtmf.received'>): TranscriptEntry {
  return {
    // Two processes may have counted alike.
    id: termOf(event) === 1 ? `key-${event.seq}` : `key-${event.term}-${event.seq}`,
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

/** A record may be older than the field. */
function withHandoff(
  { handoffs = [] }: Partial<Pick<CallRecord, 'handoffs'>>,
  { at, from, to, summary }: CallEventOf<'agent.changed'>,
): Handoff[] {
  // As for a key.
  if (handoffs.some((each) => each.at === at && each.from === from && each.to === to)) return handoffs;
  return handoffs.length < MAX_HANDOFFS ? [...handoffs, { at, from, to, summary }] : handoffs;
}

function withIncident(record: CallRecord, incident: Incident): Incident[] {
  if (record.incidents.length >= MAX_INCIDENTS) return record.incidents;
  const { at, code, message, durationMs } = incident;
  // As for a key.
  if (record.incidents.some((each) => each.at === at && each.code === code && each.message === message))
    return record.incidents;
  return [...record.incidents, { at, code, message, durationMs }];
}

function openRecord(event: CallEvent): CallRecord {
  return {
    callId: event.callId,
    carrierCallId: null,
    carrier: '',
    direction: 'inbound',
    caller: '',
    callee: '',
    agent: null,
    status: 'initiated',
    outcome: null,
    endReason: null,
    startedAt: event.at,
    answeredAt: null,
    endedAt: null,
    durationMs: null,
    mode: null,
    provider: { engine: null, stt: null, llm: null, tts: null },
    language: null,
    nodeId: event.nodeId,
    originId: originOf(event),
    phase: null,
    turnCount: 0,
    turns: [],
    transcript: [],
    latency: summarizeLatency([]),
    cost: unknownCost(),
    usage: null,
    media: null,
    recording: null,
    localRecording: null,
    amd: null,
    transfer: null,
    handoffs: [],
    incidents: [],
    envelope: null,
    error: null,
    hangUp: null,
    term: termOf(event),
    seq: 0,
  };
}
