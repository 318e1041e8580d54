// One example for each body of the API, for the OpenAPI document. A test holds them against their schemas.
const CARRIER = 'example-telecom';

const STARTED_AT = 1_790_000_000_000;
const LATENCY = {
  endpointingMs: 310,
  sttMs: 90,
  llmFirstTokenMs: 240,
  sentenceMs: 60,
  ttsFirstByteMs: 120,
  sendMs: 15,
  totalMs: 835,
  heardMs: 990,
};
const TURN = {
  index: 1,
  agent: 'front-desk',
  startedAt: STARTED_AT + 9000,
  speechEndedAt: STARTED_AT + 10_400,
  userText: 'Are you open on Sunday?',
  agentText: 'Yes, from eight to noon.',
  agentTextUnheard: '',
  interrupted: false,
  latency: LATENCY,
  fillerMs: null,
  cost: 0.0004,
  tokens: { inputTokens: 410, cachedTokens: 0, audioInputTokens: 0, outputTokens: 28, audioOutputTokens: 0 },
  toolCalls: [
    {
      id: 'tool-1',
      name: 'opening_hours',
      arguments: { text: '{"day":"Sunday"}', cut: false },
      result: { text: 'From 8 to 12.', cut: false },
      startedAt: STARTED_AT + 11_000,
      durationMs: 40,
      error: null,
    },
  ],
};
const ENTRY = {
  id: 'u1',
  turnIndex: 1,
  role: 'user',
  text: 'Are you open on Sunday?',
  at: STARTED_AT + 10_500,
  final: true,
};
const SUMMARY = {
  callId: 'c7Q2mX0',
  carrierCallId: 'CA00000000000000000000000000000001',
  carrier: CARRIER,
  direction: 'inbound',
  caller: '+15550111',
  callee: '+15550100',
  agent: 'front-desk',
  status: 'completed',
  outcome: 'answered',
  endReason: 'caller-hangup',
  startedAt: STARTED_AT,
  answeredAt: STARTED_AT + 800,
  endedAt: STARTED_AT + 42_800,
  durationMs: 42_000,
  mode: 'pipeline',
  provider: {
    engine: null,
    stt: 'vendor/recognizer',
    llm: 'vendor/model',
    tts: 'vendor/voice',
  },
  language: 'en',
  nodeId: 'n4f9',
  originId: 'n4f9',
  phase: null,
  turnCount: 2,
  latency: { avgMs: 835, p50Ms: 835, p95Ms: 835, p99Ms: 835, stages: LATENCY },
  cost: {
    stt: 0.0034,
    llm: 0.0002,
    tts: 0.0021,
    telephony: 0.0129,
    total: 0.0186,
    currency: 'USD',
    estimated: true,
  },
  usage: {
    sttSeconds: 42,
    llmInputTokens: 410,
    llmCachedTokens: 0,
    llmOutputTokens: 38,
    ttsCharacters: 71,
    telephonySeconds: 60,
  },
  media: { framesReceived: 2100, framesSent: 260, unexpectedMessages: 0, clears: 0 },
  recording: null,
  localRecording: null,
  amd: null,
  transfer: null,
  handoffs: [],
  incidents: [],
  error: null,
  hangUp: null,
  term: 1,
  seq: 19,
};
const RECORD = { ...SUMMARY, turns: [TURN], transcript: [ENTRY], envelope: null };
const FACT = { callId: SUMMARY.callId, nodeId: SUMMARY.nodeId, term: 1, seq: 3, at: ENTRY.at };

/** By the name of the schema. */
export const EXAMPLES: { readonly [schema: string]: unknown } = {
  CallsPage: { calls: [SUMMARY], nextCursor: null, total: 1 },
  CallRecord: RECORD,
  CallList: { calls: [RECORD] },
  Aggregates: {
    totalCalls: 1,
    activeCalls: 0,
    completedCalls: 1,
    totalCost: 0.0186,
    costBreakdown: { stt: 0.0034, llm: 0.0002, tts: 0.0021, telephony: 0.0129 },
    avgDurationMs: 42_000,
    avgLatencyMs: 835,
    p95LatencyMs: 835,
    p99LatencyMs: 835,
  },
  CallEvent: { ...FACT, type: 'transcript.segment', entry: ENTRY },
  HangUpRequest: {},
  TransferRequest: { to: '+15550123' },
  SayRequest: { text: 'We close in ten minutes.', interrupt: true },
  InformRequest: { text: 'The order is ready.' },
  SayAnswer: { callId: SUMMARY.callId, outcome: 'heard' },
  CommandAccepted: { callId: SUMMARY.callId },
  ForgetAnswer: { callId: SUMMARY.callId, carrierRecording: null, carrierCallId: null },
  HangUpAccepted: { callId: SUMMARY.callId, hangUp: 'done' },
  IngestBatch: {
    nodeId: SUMMARY.nodeId,
    calls: [{ callId: SUMMARY.callId, nodeId: SUMMARY.nodeId, endedAt: null }],
    events: [{ ...FACT, type: 'transcript.segment', entry: ENTRY, after: 2 }],
  },
  IngestAnswer: {
    dashboardId: 'd81c',
    accepted: 1,
    duplicates: 0,
    refused: [],
    calls: [{ callId: SUMMARY.callId, nodeId: SUMMARY.nodeId, term: 1, seq: 3, ended: false, wanted: true }],
  },
  Error: { error: { code: 'NOT_FOUND', message: 'No such call.' } },
};

/** Bodies that are no JSON. */
export const TEXT_EXAMPLES: { readonly [mediaType: string]: string } = {
  'text/event-stream': `id: 3.n4f9\nevent: transcript.segment\ndata: ${JSON.stringify(EXAMPLES.CallEvent)}\n\n`,
  'text/csv': `callId,carrier,direction,caller,callee\nc7Q2mX0,${CARRIER},inbound,+15550111,+15550100\n`,
  'text/plain':
    '# HELP offhook_calls_active Calls that are up.\n# TYPE offhook_calls_active gauge\noffhook_calls_active 2\n',
};
