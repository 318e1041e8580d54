// JSON Schemas of the bodies, for the OpenAPI document. The words and types are those of the contract.
import { MAX_TEXT_CHARS } from '../base/text-for-call.js';
import {
  AGENT_NAME,
  CALL_OUTCOMES,
  CALL_PHASES,
  CARRIER_ID,
  END_REASONS,
  HANG_UP_STATES,
  LOCAL_RECORDING_STATUSES,
  LOCAL_RECORDING_TROUBLES,
  MAX_HANDOFFS,
  MAX_INCIDENTS,
  MAX_RECORDING_PAUSES,
  PROVIDER_STAGES,
  RECORDING_PAUSERS,
} from '../contract/call-record.js';
import { type JsonSchema, ref } from './json-schema.js';
import { CALL_DIRECTIONS, MAX_EPOCH_MS, CALL_STATUSES } from './parameters.js';

type Properties = { readonly [name: string]: JsonSchema };

const text: JsonSchema = { type: 'string' };
const textOrNull: JsonSchema = { type: ['string', 'null'] };
const flag: JsonSchema = { type: 'boolean' };
const told: JsonSchema = { type: 'string', minLength: 1, maxLength: MAX_TEXT_CHARS };
const count: JsonSchema = { type: 'integer', minimum: 0 };
const countOrNull: JsonSchema = { type: ['integer', 'null'], minimum: 0 };
const amount: JsonSchema = { type: 'number', minimum: 0 };
const inTime: JsonSchema = { minimum: 0, maximum: MAX_EPOCH_MS, description: 'Epoch milliseconds.' };
const epochMs: JsonSchema = { type: 'number', ...inTime };
const epochMsOrNull: JsonSchema = { type: ['number', 'null'], ...inTime };
const millisecondsOrNull: JsonSchema = { type: ['number', 'null'], minimum: 0, maximum: MAX_EPOCH_MS };
/** Sums of many stay numbers. */
const affordable: JsonSchema = { minimum: -1e9, maximum: 1e9, description: 'US dollars.' };
const money: JsonSchema = { type: 'number', ...affordable };
const moneyOrNull: JsonSchema = { type: ['number', 'null'], ...affordable };
/** Ids and names of processes as senders give them. */
const name: JsonSchema = { type: 'string', pattern: '^[\\w.~-]{1,128}$' };

function words(...values: readonly string[]): JsonSchema {
  return { type: 'string', enum: values };
}

function nullable(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: 'null' }] };
}

function listOf(schema: JsonSchema): JsonSchema {
  return { type: 'array', items: schema };
}

/** Every property is required unless it is named as optional. A later version may add others. */
function shape(properties: Properties, optional: readonly string[] = []): JsonSchema {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
  };
}

const carrierId: JsonSchema = { type: 'string', pattern: CARRIER_ID.source, maxLength: 40 };
const milliseconds: JsonSchema = { type: 'number', minimum: 0, maximum: MAX_EPOCH_MS };

const identity: Properties = {
  carrierCallId: textOrNull,
  carrier: carrierId,
  direction: ref('CallDirection'),
  caller: text,
  callee: text,
};

/** In a fact it is missing where the agent has no name. */
const agentName: JsonSchema = { type: 'string', pattern: AGENT_NAME.source, maxLength: 40 };
const agentNameOrNull: JsonSchema = { ...agentName, type: ['string', 'null'] };

const languageTag: JsonSchema = { type: 'string', maxLength: 100 };

const latency: Properties = {
  endpointingMs: millisecondsOrNull,
  sttMs: millisecondsOrNull,
  llmFirstTokenMs: millisecondsOrNull,
  sentenceMs: millisecondsOrNull,
  ttsFirstByteMs: millisecondsOrNull,
  sendMs: millisecondsOrNull,
  totalMs: millisecondsOrNull,
  heardMs: millisecondsOrNull,
};

const summary: Properties = {
  callId: text,
  ...identity,
  agent: agentNameOrNull,
  status: ref('CallStatus'),
  outcome: nullable(ref('CallOutcome')),
  endReason: nullable(ref('EndReason')),
  startedAt: epochMs,
  answeredAt: epochMsOrNull,
  endedAt: epochMsOrNull,
  durationMs: millisecondsOrNull,
  mode: nullable(ref('VoiceMode')),
  provider: ref('CallProviders'),
  language: { ...languageTag, type: ['string', 'null'] },
  nodeId: text,
  originId: text,
  phase: nullable(ref('CurrentPhase')),
  turnCount: count,
  latency: ref('LatencySummary'),
  cost: ref('Cost'),
  usage: nullable(ref('Usage')),
  media: nullable(ref('MediaCounters')),
  recording: nullable(ref('Recording')),
  localRecording: nullable(ref('LocalRecording')),
  amd: nullable(ref('AmdResult')),
  transfer: nullable(ref('Transfer')),
  handoffs: { ...listOf(ref('Handoff')), maxItems: MAX_HANDOFFS },
  incidents: { ...listOf(ref('Incident')), maxItems: MAX_INCIDENTS },
  error: nullable(ref('CallFailure')),
  hangUp: nullable(ref('HangUpState')),
  term: { type: 'integer', minimum: 1 },
  seq: count,
};

/** The facts of the event stream, each by its type with the properties that it alone has. */
const FACTS: { readonly [type: string]: Properties } = {
  'call.status': { status: words('initiated', 'ringing', 'active'), ...identity, agent: agentName },
  'call.started': {
    mode: ref('VoiceMode'),
    provider: ref('CallProviders'),
    language: languageTag,
    ...identity,
    agent: agentName,
  },
  'phase.changed': { phase: ref('CallPhase'), previous: ref('CallPhase') },
  'transcript.segment': { entry: ref('TranscriptEntry'), tool: ref('ToolCall') },
  'turn.started': { turnIndex: count },
  'turn.completed': { turn: ref('Turn') },
  'cost.updated': {
    cost: ref('Cost'),
    usage: nullable(ref('Usage')),
    turn: ref('TurnCost'),
  },
  'dtmf.received': { digit: text },
  'amd.detected': { amd: ref('AmdResult') },
  'recording.completed': { recording: ref('Recording') },
  'local-recording.updated': { recording: ref('LocalRecording') },
  'transfer.updated': { to: text, result: nullable(ref('TransferResult')) },
  'incident.noted': { code: text, message: text, durationMs: milliseconds },
  'provider.reconnected': { stage: ref('ProviderStage'), provider: text, code: text, gapMs: milliseconds },
  'provider.replaced': {
    stage: ref('ProviderStage'),
    from: text,
    to: text,
    code: text,
    gapMs: milliseconds,
    mode: ref('VoiceMode'),
    provider: ref('CallProviders'),
  },
  'language.changed': { language: languageTag, previous: languageTag, provider: ref('CallProviders') },
  'agent.changed': {
    from: agentNameOrNull,
    to: agentName,
    summary: text,
    language: languageTag,
    mode: ref('VoiceMode'),
    provider: ref('CallProviders'),
  },
  'audio.measured': { envelope: ref('AudioEnvelope') },
  'call.ended': {
    endReason: ref('EndReason'),
    outcome: ref('CallOutcome'),
    error: nullable(ref('CallFailure')),
    media: nullable(ref('MediaCounters')),
    durationMs: milliseconds,
    hangUp: { const: 'pending' },
  },
  'hangup.updated': { state: ref('HangUpState') },
  'call.forgotten': {},
};

/** What a fact may do without. */
const OPTIONAL: { readonly [type: string]: readonly string[] } = {
  'call.status': ['agent'],
  'call.started': ['agent', 'language'],
  'agent.changed': ['language'],
  'phase.changed': ['previous'],
  'transcript.segment': ['tool'],
  'cost.updated': ['turn'],
  'incident.noted': ['durationMs'],
  'call.ended': ['durationMs', 'hangUp'],
};

/** The highest term, and the highest `seq`. */
export const MAX_PLACE = 2 ** 31;
const term: JsonSchema = { type: 'integer', minimum: 1, maximum: MAX_PLACE };
const seq: JsonSchema = { type: 'integer', minimum: 1, maximum: MAX_PLACE };

/** The facts with their envelope, by type. */
export const FACT_SCHEMAS: ReadonlyMap<string, JsonSchema> = new Map(
  Object.entries(FACTS).map(([type, properties]) => [
    type,
    shape(
      {
        callId: text,
        nodeId: text,
        term,
        originId: name,
        seq,
        at: epochMs,
        type: { const: type },
        ...properties,
      },
      ['originId', ...(OPTIONAL[type] ?? [])],
    ),
  ]),
);

/** Names that the facts have in the document, by type: `call.ended` is a `CallEndedEvent`. */
const FACT_NAMES: ReadonlyMap<string, string> = new Map(
  Object.keys(FACTS).map((type) => [
    type,
    `${type.replace(/(?:^|[.-])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`,
  ]),
);

/** Facts that one batch may bring. */
export const MAX_INGEST_EVENTS = 5000;

/** What every fact that a sender brings has, of whatever version it is. */
const ingestEnvelope: Properties = {
  callId: name,
  nodeId: name,
  term,
  originId: name,
  seq,
  at: epochMs,
  type: text,
  after: { type: 'integer', minimum: 0, maximum: 2 ** 31 },
  afterTerm: term,
};

/** `components.schemas` of the document. Generators of clients make a type of each, so every object has a name here, and so have words in two places. */
export const SCHEMAS: { readonly [name: string]: JsonSchema } = {
  CallRecord: shape({
    ...summary,
    turns: { ...listOf(ref('Turn')), maxItems: 5000 },
    transcript: { ...listOf(ref('TranscriptEntry')), maxItems: 5000 },
    envelope: nullable(ref('AudioEnvelope')),
  }),
  CallSummary: shape(summary),
  CallsPage: shape({ calls: listOf(ref('CallSummary')), nextCursor: textOrNull, total: count }),
  CallList: shape({ calls: listOf(ref('CallRecord')) }),
  Aggregates: shape({
    totalCalls: count,
    activeCalls: count,
    completedCalls: count,
    totalCost: money,
    costBreakdown: ref('CostBreakdown'),
    avgDurationMs: millisecondsOrNull,
    avgLatencyMs: millisecondsOrNull,
    p95LatencyMs: millisecondsOrNull,
    p99LatencyMs: millisecondsOrNull,
  }),
  Snapshot: shape({
    active: listOf(ref('CallRecord')),
    recent: listOf(ref('CallSummary')),
    aggregates: ref('Aggregates'),
    controls: flag,
    isSignedIn: flag,
    canListen: flag,
    entry: nullable(ref('CallEntry')),
  }),
  CallEntry: shape({ carrier: carrierId, voiceUrl: textOrNull, isSigned: flag }),
  CallEvent: {
    oneOf: [...FACT_NAMES.values()].map(ref),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries([...FACT_NAMES].map(([type, event]) => [type, ref(event).$ref])),
    },
  },
  ...Object.fromEntries([...FACT_NAMES].map(([type, event]) => [event, FACT_SCHEMAS.get(type) ?? {}])),
  CallProviders: shape({ engine: textOrNull, stt: textOrNull, llm: textOrNull, tts: textOrNull }),
  TranscriptEntry: shape(
    {
      id: text,
      turnIndex: count,
      role: words('user', 'agent', 'system', 'tool'),
      text,
      at: epochMs,
      final: flag,
      interrupted: flag,
    },
    ['interrupted'],
  ),
  CallDirection: words(...CALL_DIRECTIONS),
  CallStatus: words(...CALL_STATUSES),
  CallOutcome: words(...CALL_OUTCOMES),
  EndReason: words(...END_REASONS),
  VoiceMode: words('realtime', 'pipeline'),
  CallPhase: words(...CALL_PHASES),
  CurrentPhase: shape({ name: ref('CallPhase'), since: epochMs }),
  ProviderStage: words(...PROVIDER_STAGES),
  HangUpState: words(...HANG_UP_STATES),
  TransferResult: words('connected', 'busy', 'no-answer', 'failed'),
  LatencySummary: shape({
    avgMs: millisecondsOrNull,
    p50Ms: millisecondsOrNull,
    p95Ms: millisecondsOrNull,
    p99Ms: millisecondsOrNull,
    stages: ref('TurnLatency'),
  }),
  TurnLatency: shape(latency),
  Turn: shape({
    index: count,
    agent: agentNameOrNull,
    startedAt: epochMs,
    speechEndedAt: epochMsOrNull,
    userText: text,
    agentText: text,
    agentTextUnheard: text,
    interrupted: flag,
    latency: ref('TurnLatency'),
    fillerMs: millisecondsOrNull,
    cost: moneyOrNull,
    tokens: nullable(ref('TurnTokens')),
    toolCalls: listOf(ref('ToolCall')),
  }),
  TurnTokens: shape({
    inputTokens: amount,
    cachedTokens: amount,
    audioInputTokens: amount,
    outputTokens: amount,
    audioOutputTokens: amount,
  }),
  ToolCall: shape({
    id: textOrNull,
    name: text,
    arguments: nullable(ref('ToolText')),
    result: nullable(ref('ToolText')),
    startedAt: epochMs,
    durationMs: millisecondsOrNull,
    error: textOrNull,
  }),
  ToolText: shape({ text, cut: flag }),
  Cost: shape({
    stt: moneyOrNull,
    llm: moneyOrNull,
    tts: moneyOrNull,
    telephony: moneyOrNull,
    total: money,
    currency: { const: 'USD' },
    estimated: flag,
  }),
  CostBreakdown: shape({ stt: money, llm: money, tts: money, telephony: money }),
  TurnCost: shape({ index: count, cost: moneyOrNull, tokens: nullable(ref('TurnTokens')) }),
  Usage: shape({
    sttSeconds: amount,
    llmInputTokens: amount,
    llmCachedTokens: amount,
    llmOutputTokens: amount,
    ttsCharacters: amount,
    telephonySeconds: amount,
  }),
  MediaCounters: shape({
    framesReceived: count,
    framesSent: count,
    unexpectedMessages: count,
    clears: count,
  }),
  Recording: shape({ url: textOrNull, durationMs: millisecondsOrNull, status: words('completed', 'absent') }),
  LocalRecording: shape(
    {
      status: words(...LOCAL_RECORDING_STATUSES),
      file: textOrNull,
      startedAt: epochMs,
      durationMs: millisecondsOrNull,
      bytes: countOrNull,
      pauses: { ...listOf(ref('RecordingPause')), maxItems: MAX_RECORDING_PAUSES },
      trouble: nullable(ref('LocalRecordingTrouble')),
      server: text,
    },
    ['server'],
  ),
  LocalRecordingTrouble: words(...LOCAL_RECORDING_TROUBLES),
  RecordingPause: shape({
    startedAt: epochMs,
    endedAt: epochMsOrNull,
    by: words(...RECORDING_PAUSERS),
  }),
  AmdResult: shape({ answeredBy: words('human', 'machine', 'fax', 'unknown'), detectedAt: epochMs }),
  Transfer: shape({ to: text, startedAt: epochMs, result: nullable(ref('TransferResult')) }),
  Handoff: shape({ at: epochMs, from: agentNameOrNull, to: agentName, summary: text }),
  Incident: shape({ at: epochMs, code: text, message: text, durationMs: millisecondsOrNull }),
  AudioEnvelope: shape({
    startedAt: epochMs,
    bucketMs: count,
    caller: text,
    agent: text,
    marksMs: { ...listOf(count), maxItems: 500 },
    clearsMs: { ...listOf(count), maxItems: 500 },
  }),
  CallFailure: shape({ code: text, message: text }),
  HangUpRequest: { type: 'object' },
  TransferRequest: shape({ to: { type: 'string', pattern: '^\\+[1-9]\\d{1,14}$' } }),
  IngestEvent: {
    type: 'object',
    description:
      'A CallEvent, and the fact of the call before it: its `seq` (`after`, default `seq` - 1) and its term (`afterTerm`, default `term`).',
    properties: ingestEnvelope,
    required: ['callId', 'nodeId', 'seq', 'at', 'type'],
    additionalProperties: true,
  },
  IngestBatch: {
    type: 'object',
    description: 'Fields that are not known here are ignored.',
    properties: {
      nodeId: name,
      calls: {
        ...listOf(ref('IngestQuestion')),
        maxItems: 500,
      },
      events: { ...listOf(ref('IngestEvent')), maxItems: MAX_INGEST_EVENTS },
    },
    required: ['nodeId', 'calls', 'events'],
  },
  IngestQuestion: shape({ callId: name, nodeId: name, endedAt: epochMsOrNull }),
  IngestAnswer: shape({
    dashboardId: text,
    accepted: count,
    duplicates: count,
    refused: listOf(ref('IngestRefusal')),
    calls: listOf(ref('IngestPosition')),
  }),
  IngestRefusal: shape(
    {
      index: count,
      reason: words('gap', 'invalid', 'unknown-type', 'no-call', 'limit'),
      message: text,
    },
    ['message'],
  ),
  IngestPosition: shape({ callId: text, nodeId: text, term, seq: count, ended: flag, wanted: flag }),
  CommandAccepted: shape({ callId: text }),
  SayRequest: {
    type: 'object',
    properties: { text: told, interrupt: flag, interruptible: flag },
    required: ['text'],
  },
  InformRequest: { type: 'object', properties: { text: told }, required: ['text'] },
  SayAnswer: shape({ callId: text, outcome: words('heard', 'interrupted', 'call-ended', 'moved') }),
  CarrierRecordingOutcome: words('deleted', 'failed'),
  ForgetAnswer: shape({
    callId: text,
    carrierRecording: nullable(ref('CarrierRecordingOutcome')),
    carrierCallId: nullable(text),
  }),
  HangUpAccepted: shape({ callId: text, hangUp: ref('HangUpState') }),
  Error: shape({ error: ref('ErrorDetail') }),
  ErrorDetail: shape({ code: text, message: text }),
};
