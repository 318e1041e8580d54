// JSON Schemas of the bodies, for the OpenAPI document. The words and types are those of the contract.
import type { JsonSchema } from './parameters.js';

type Properties = { readonly [name: string]: JsonSchema };

const text: JsonSchema = { type: 'string' };
const textOrNull: JsonSchema = { type: ['string', 'null'] };
const flag: JsonSchema = { type: 'boolean' };
const count: JsonSchema = { type: 'integer', minimum: 0 };
const amount: JsonSchema = { type: 'number', minimum: 0 };
const epochMs: JsonSchema = { type: 'number', description: 'Epoch milliseconds.' };
const epochMsOrNull: JsonSchema = { type: ['number', 'null'], description: 'Epoch milliseconds.' };
const millisecondsOrNull: JsonSchema = { type: ['number', 'null'], minimum: 0 };
const money: JsonSchema = { type: 'number', description: 'US dollars.' };
const moneyOrNull: JsonSchema = { type: ['number', 'null'], description: 'US dollars.' };

function words(...values: readonly string[]): JsonSchema {
  return { type: 'string', enum: values };
}

function nullable(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: 'null' }] };
}

function listOf(schema: JsonSchema): JsonSchema {
  return { type: 'array', items: schema };
}

export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** Every property is required unless it is named as optional, and there are no others. */
function shape(properties: Properties, optional: readonly string[] = []): JsonSchema {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
    additionalProperties: false,
  };
}

const outcome = words('answered', 'voicemail', 'no-answer', 'busy', 'failed', 'canceled');
const endReason = words(
  'caller-hangup',
  'agent-hangup',
  'operator-hangup',
  'carrier-hangup',
  'transferred',
  'stream-lost',
  'protocol-error',
  'provider-failed',
  'max-duration',
  'idle',
  'budget',
  'over-capacity',
  'no-answer',
  'busy',
  'failed',
  'canceled',
  'server-shutdown',
  'process-lost',
);
const mode = words('realtime', 'pipeline');
const transferResult = words('connected', 'busy', 'no-answer', 'failed');

const identity: Properties = {
  carrierCallId: textOrNull,
  carrier: text,
  direction: words('inbound', 'outbound'),
  caller: text,
  callee: text,
};

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
  status: words('initiated', 'ringing', 'active', 'completed'),
  outcome: nullable(outcome),
  endReason: nullable(endReason),
  startedAt: epochMs,
  answeredAt: epochMsOrNull,
  endedAt: epochMsOrNull,
  durationMs: millisecondsOrNull,
  mode: nullable(mode),
  provider: ref('CallProviders'),
  nodeId: text,
  turnCount: count,
  latency: shape({
    avgMs: millisecondsOrNull,
    p50Ms: millisecondsOrNull,
    p95Ms: millisecondsOrNull,
    p99Ms: millisecondsOrNull,
    stages: ref('TurnLatency'),
  }),
  cost: ref('Cost'),
  usage: nullable(ref('Usage')),
  media: nullable(ref('MediaCounters')),
  recording: nullable(ref('Recording')),
  amd: nullable(ref('AmdResult')),
  transfer: nullable(ref('Transfer')),
  incidents: { ...listOf(ref('Incident')), maxItems: 100 },
  error: nullable(ref('CallFailure')),
  seq: count,
};

/** The facts of the event stream, each by its type with the properties that it alone has. */
const FACTS: { readonly [type: string]: Properties } = {
  'call.status': { status: words('initiated', 'ringing', 'active'), ...identity },
  'call.started': { mode, provider: ref('CallProviders'), ...identity },
  'transcript.segment': { entry: ref('TranscriptEntry') },
  'turn.started': { turnIndex: count },
  'turn.completed': { turn: ref('Turn') },
  'cost.updated': {
    cost: ref('Cost'),
    usage: nullable(ref('Usage')),
    turn: shape({ index: count, cost: moneyOrNull }),
  },
  'dtmf.received': { digit: text },
  'amd.detected': { amd: ref('AmdResult') },
  'recording.completed': { recording: ref('Recording') },
  'transfer.updated': { to: text, result: nullable(transferResult) },
  'incident.noted': { code: text, message: text },
  'audio.measured': { envelope: ref('AudioEnvelope') },
  'call.ended': {
    endReason,
    outcome,
    error: nullable(ref('CallFailure')),
    media: nullable(ref('MediaCounters')),
  },
};

/** What a fact may do without. */
const OPTIONAL: { readonly [type: string]: readonly string[] } = { 'cost.updated': ['turn'] };

function factSchemas(): JsonSchema[] {
  const envelope: Properties = {
    callId: text,
    nodeId: text,
    seq: { type: 'integer', minimum: 1 },
    at: epochMs,
  };
  return Object.entries(FACTS).map(([type, properties]) =>
    shape({ ...envelope, type: { const: type }, ...properties }, OPTIONAL[type]),
  );
}

/** `components.schemas` of the document. */
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
    costBreakdown: shape({ stt: money, llm: money, tts: money, telephony: money }),
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
  }),
  CallEvent: { oneOf: factSchemas() },
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
  TurnLatency: shape(latency),
  Turn: shape({
    index: count,
    startedAt: epochMs,
    userText: text,
    agentText: text,
    agentTextUnheard: text,
    interrupted: flag,
    latency: ref('TurnLatency'),
    cost: moneyOrNull,
    toolCalls: listOf(
      shape({ name: text, startedAt: epochMs, durationMs: millisecondsOrNull, error: textOrNull }),
    ),
  }),
  Cost: shape({
    stt: moneyOrNull,
    llm: moneyOrNull,
    tts: moneyOrNull,
    telephony: moneyOrNull,
    total: money,
    currency: { const: 'USD' },
    estimated: flag,
  }),
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
  AmdResult: shape({ answeredBy: words('human', 'machine', 'fax', 'unknown'), detectedAt: epochMs }),
  Transfer: shape({ to: text, startedAt: epochMs, result: nullable(transferResult) }),
  Incident: shape({ at: epochMs, code: text, message: text }),
  AudioEnvelope: shape({
    startedAt: epochMs,
    bucketMs: count,
    caller: text,
    agent: text,
    marksMs: { ...listOf(count), maxItems: 500 },
    clearsMs: { ...listOf(count), maxItems: 500 },
  }),
  CallFailure: shape({ code: text, message: text }),
  TransferRequest: shape({ to: { type: 'string', pattern: '^\\+[1-9]\\d{1,14}$' } }),
  CommandAccepted: shape({ callId: text }),
  Error: shape({ error: shape({ code: text, message: text }) }),
};
