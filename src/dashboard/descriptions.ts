// What each schema of the API and each of its fields means, for the OpenAPI document.
import type { JsonSchema } from './parameters.js';

/** One sentence per schema. */
const SCHEMAS: { readonly [schema: string]: string } = {
  CallRecord: 'A call with its turns and transcript.',
  CallSummary: 'A call without its turns and transcript.',
  CallsPage: 'One page of calls, newest first.',
  CallList: 'Calls with their turns and transcripts.',
  Aggregates: 'Counters over many calls.',
  Snapshot: 'What a page shows when it opens. First event of every stream.',
  CallEntry: 'Where the carrier reaches this server.',
  CallEvent: 'One thing that happened in a call.',
  CallProviders:
    'AI providers of a call, as `vendor` or `vendor/model`. Stages that the voice mode does not have are null.',
  TranscriptEntry: 'One piece of the transcript.',
  TurnLatency:
    'Latency of a turn in milliseconds. The stages follow each other; `endpointingMs` to `sendMs` add up to `totalMs`. All are null for a turn that the agent opens, such as the greeting.',
  Turn: 'The caller speaks, the agent answers.',
  ToolCall: 'A tool that the model called.',
  Cost: 'Cost in US dollars, rounded to six decimals. A component without a known price is null.',
  Usage: 'Quantities that the cost is computed from.',
  MediaCounters: 'Messages of the media stream.',
  Recording: "The carrier's recording of the call.",
  AmdResult: 'Result of answering machine detection.',
  Transfer: 'The last transfer of the call to another number.',
  Incident: 'Something of note during a call, such as a replaced provider.',
  AudioEnvelope: 'How loud both sides were over the call.',
  CallFailure: 'What went wrong.',
  TransferRequest: 'Where to transfer the caller.',
  IngestEvent: 'A CallEvent as a server sends it to a standalone dashboard.',
  IngestBatch: 'Calls and events of one server. Unknown fields are ignored.',
  IngestAnswer: 'What the dashboard took of a batch, and how far it is with each call.',
  CommandAccepted: 'The call that the command is for.',
  HangUpAccepted: 'The call, and what the carrier made of the hang-up.',
  Error: 'Body of every answer with a 4xx or 5xx status.',
};

/** One sentence per type of event. */
const EVENTS: { readonly [type: string]: string } = {
  'call.status': 'The status changed before the call connected.',
  'call.started': 'The call connected.',
  'phase.changed': 'The phase of the conversation changed.',
  'transcript.segment': 'A piece of transcript was added or changed.',
  'turn.started': 'A turn began.',
  'turn.completed': 'A turn ended.',
  'cost.updated': 'Cost and usage so far.',
  'dtmf.received': 'The caller pressed a key.',
  'amd.detected': 'Answering machine detection has a result.',
  'recording.completed': 'The carrier finished its recording.',
  'transfer.updated': 'A transfer started, or its result is known.',
  'incident.noted': 'Something of note happened.',
  'provider.reconnected': 'A lost connection to a provider is back.',
  'provider.replaced': 'Another provider took over.',
  'audio.measured': 'The loudness of both sides, at the end of the call.',
  'call.ended': 'The call ended. The last event of a call, except for what the carrier reports later.',
  'hangup.updated': 'The carrier confirmed or refused the hang-up.',
};

/** By `Schema.field`, or by the field alone where it means the same everywhere. */
export const FIELDS: { readonly [field: string]: string } = {
  callId: 'ID of the call, assigned by offhook.',
  nodeId: 'Process that owns the call.',
  carrierCallId: "The carrier's ID of the call; null until it is known.",
  carrier: 'Carrier of the call.',
  direction: 'Whether the call came in or was placed.',
  caller: 'Number that calls.',
  callee: 'Number that is called.',
  status: 'Status of the call. It never goes back.',
  outcome: 'What became of the attempt to talk; null until the call ends.',
  endReason: 'Why the call ended; null until it does.',
  startedAt: 'When it began.',
  answeredAt: 'When the call was answered; null if it was not.',
  endedAt: 'When the call ended; null until it does.',
  durationMs: 'Milliseconds from answer to end; null until the end, and for calls that were not answered.',
  mode: 'Whether one realtime model hears and speaks, or a pipeline of three stages; null until the call connects.',
  provider: 'AI providers that serve the call, or served it last.',
  phase: 'Phase of the conversation.',
  name: 'Name.',
  since: 'When the phase began.',
  previous: 'Phase before this one.',
  turnCount: 'Number of completed turns.',
  turns: 'Turns by index, at most the first 5000.',
  transcript: 'Transcript, at most the first 5000 entries.',
  latency: 'Latency of the answers.',
  avgMs: 'Average `totalMs` of the answered turns, in milliseconds; null if there are none.',
  p50Ms: 'Median of `totalMs`, in milliseconds.',
  p95Ms: '95th percentile of `totalMs`, in milliseconds.',
  p99Ms: '99th percentile of `totalMs`, in milliseconds.',
  stages: 'Average of each stage over the same turns.',
  endpointingMs: "From the end of the caller's speech until it counts as finished.",
  sttMs: 'Until the last words are recognized.',
  llmFirstTokenMs: 'Until the first token of the answer.',
  sentenceMs: 'Until the first sentence is complete.',
  ttsFirstByteMs: 'Until the first audio of that sentence.',
  sendMs: 'Until the first frame is handed to the carrier.',
  totalMs: "From the end of the caller's speech to the first frame handed to the carrier.",
  heardMs: "From the end of the caller's speech until the carrier confirms playback.",
  cost: 'Cost so far, or of the whole call once it has ended.',
  usage: 'Quantities used; null until something is measured.',
  media: 'Counters of the media stream; null until the end.',
  recording: "The carrier's recording; null until the carrier reports it.",
  amd: 'Result of answering machine detection; null if there is none.',
  transfer: 'The last transfer; null if there was none.',
  incidents: 'Incidents, oldest first, at most 100.',
  envelope: 'Loudness over the call; null until the end, and for calls without audio.',
  error: 'What went wrong; null if nothing did.',
  hangUp: 'State of the hang-up at the carrier; null until the end, and if the carrier was not asked.',
  seq: 'Number of the latest event of the call that is included. The first event is 1.',
  calls: 'The calls.',
  nextCursor: 'Pass it as `cursor` to get the next page; null on the last page.',
  total: 'Number of calls that match, over all pages.',
  totalCalls: 'Calls in the history, and active ones.',
  activeCalls: 'Calls that are up, ringing or being placed.',
  completedCalls: 'Calls that have ended.',
  totalCost: 'Cost of all these calls, as far as it is known.',
  costBreakdown: 'The same by component.',
  stt: 'Speech-to-text.',
  llm: 'Language model; with a realtime model, everything it does.',
  tts: 'Text-to-speech.',
  telephony: 'The carrier: line and media stream.',
  engine: 'Realtime model.',
  avgDurationMs: 'Average duration, in milliseconds; null if there is none.',
  avgLatencyMs: 'Average answer latency over all answered turns, in milliseconds.',
  p95LatencyMs: '95th percentile of the answer latency, in milliseconds.',
  p99LatencyMs: '99th percentile of the answer latency, in milliseconds.',
  active: 'Calls that are up.',
  recent: 'The latest ended calls.',
  aggregates: 'Counters over all calls.',
  controls: 'Whether this dashboard can hang up and transfer calls.',
  entry: 'How the carrier reaches this server; null on a standalone dashboard.',
  voiceUrl: "URL to enter as the number's voice webhook; null without a public host.",
  isSigned: 'Whether webhooks are verified.',
  id: 'Unique in the call. An entry with the same ID replaces the earlier one.',
  turnIndex: 'Turn that it belongs to.',
  role: 'Who speaks.',
  text: 'The words. For the agent, those that the caller heard.',
  at: 'When it happened.',
  final: 'False while the text may still change.',
  interrupted: 'Whether the agent was interrupted here.',
  index: 'Position, from 0.',
  userText: 'What the caller said.',
  agentText: 'What the caller heard of the answer.',
  agentTextUnheard: 'What was generated but not heard.',
  fillerMs:
    "Milliseconds from the end of the caller's speech to the first frame of a filler; null if none was said.",
  toolCalls: 'Tools called in this turn.',
  currency: 'Always US dollars.',
  estimated: "True until the carrier's own price is known, and while a component is unknown or guessed.",
  sttSeconds: 'Seconds of audio transcribed.',
  llmInputTokens: 'Input tokens.',
  llmCachedTokens: 'Input tokens that came from a cache.',
  llmOutputTokens: 'Output tokens.',
  ttsCharacters: 'Characters synthesized.',
  telephonySeconds: "Seconds billed by the carrier, in the carrier's steps.",
  framesReceived: 'Audio frames received.',
  framesSent: 'Audio frames sent.',
  unexpectedMessages: 'Messages that were malformed, unknown or out of place.',
  clears: 'Times that playback was cut off.',
  url: 'Address of the recording at the carrier; null if there is none.',
  answeredBy: 'Who or what answered.',
  detectedAt: 'When the result came.',
  to: 'Phone number in E.164 form.',
  result: 'Result of the transfer; null until it is known.',
  code: 'Stable code.',
  message: 'One sentence for people.',
  bucketMs: 'Length of a bucket in milliseconds.',
  agent: 'The agent, as far as the caller heard it.',
  marksMs: 'Confirmed playback marks, in milliseconds since `startedAt`.',
  clearsMs: 'Times at which the agent was cut off, in milliseconds since `startedAt`.',
  tool: 'The tool that the entry is about.',
  turn: 'The turn.',
  digit: 'The key: a digit, `*`, `#` or a letter from A to D.',
  stage: 'Part of the voice mode.',
  from: 'Provider that failed.',
  gapMs: 'Milliseconds without the provider.',
  type: 'Type of the event.',
  state: 'State of the hang-up.',
  after: '`seq` of the event of this call before this one. Default: `seq` - 1.',
  events: 'Events, in order.',
  dashboardId: 'Process of the dashboard. When it changes, ask anew which events it has.',
  accepted: 'Events taken.',
  duplicates: 'Events that it had already.',
  refused: 'Events not taken.',
  reason: 'Why the event was not taken.',
  ended: 'Whether the dashboard knows that the call ended.',
  wanted: 'Whether the dashboard wants the rest of this call.',
  'CallRecord.startedAt': 'When the call began to ring or was placed.',
  'CallSummary.startedAt': 'When the call began to ring or was placed.',
  'CallRecord.phase': 'Phase of the conversation; null before it, and once the call has ended.',
  'CallSummary.phase': 'Phase of the conversation; null before it, and once the call has ended.',
  'CallRecord.phase.name': 'Name of the phase.',
  'CallSummary.phase.name': 'Name of the phase.',
  'ToolCall.name': 'Name of the tool.',
  'ToolCall.durationMs': 'Milliseconds that it ran; null while it runs, and if it was given up.',
  'ToolCall.error': 'What went wrong; null if nothing did.',
  'Turn.cost': 'Cost of the turn; null if a price is unknown.',
  'Turn.latency': 'Latency of this answer.',
  'CallsPage.total': 'Number of calls that match, over all pages.',
  'Cost.total': 'Sum of the known components.',
  'Recording.status': 'Whether there is a recording.',
  'Recording.durationMs': 'Length of the recording in milliseconds.',
  'Incident.durationMs': 'Milliseconds without what had failed; null where that does not apply.',
  'Incident.code': 'Stable code, such as `provider-replaced`.',
  'AudioEnvelope.startedAt': 'When bucket 0 begins.',
  'AudioEnvelope.caller':
    'Base64 of signed bytes: minimum and maximum sample of each bucket, in 1/128 of full scale.',
  'AudioEnvelope.agent': 'The same for the agent, as far as the caller heard it.',
  'CallProviders.llm': 'Language model.',
  'Snapshot.active': 'Calls that are up, as whole records.',
  'CallEvent.seq': 'Number of the event in its call, from 1.',
  'IngestEvent.seq': 'Number of the event in its call, from 1.',
  'CallEvent.turn.index': 'Index of the turn that the update is about.',
  'CallEvent.turn.cost': 'Cost of that turn; null if a price is unknown.',
  'CallEvent.to': 'Number transferred to, or provider that took over.',
  'CallEvent.provider': 'AI provider, or the providers that serve the call.',
  'CallEvent.durationMs': 'Milliseconds that it lasted.',
  'IngestBatch.nodeId': 'Process that sends the batch.',
  'IngestBatch.calls': 'Calls that the sender has, so that the answer can say what is missing.',
  'IngestAnswer.calls': 'How far the dashboard is with each call of the batch.',
  'IngestAnswer.calls.seq': 'Latest event that the dashboard has; 0 if none.',
  'IngestAnswer.refused.index': 'Position in the batch, from 0.',
  'IngestAnswer.refused.message': 'What is wrong with it.',
  'HangUpAccepted.hangUp': 'State of the hang-up at the carrier.',
  'Error.error': 'The error.',
  'Error.error.code': 'Stable code; see the list of error codes.',
  'Error.error.message': 'What went wrong, and the fix where there is one.',
};

function textOf(path: readonly string[]): string | undefined {
  const [schema] = path;
  return FIELDS[path.join('.')] ?? FIELDS[`${schema}.${path.at(-1)}`] ?? FIELDS[path.at(-1) ?? ''];
}

/** The schema with a description at every property, those of nested objects included. What a schema says by itself comes behind. */
function described(schema: JsonSchema, path: readonly string[]): JsonSchema {
  const { properties, items, anyOf, oneOf } = schema as {
    properties?: { readonly [name: string]: JsonSchema };
    items?: JsonSchema;
    anyOf?: readonly JsonSchema[];
    oneOf?: readonly JsonSchema[];
  };
  const named = Object.entries(properties ?? {}).map(([name, property]) => {
    const inner = described(property, [...path, name]);
    const text = [textOf([...path, name]), property.description].filter(Boolean).join(' ');
    return [name, { ...inner, description: text }] as const;
  });
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(named) }),
    ...(items && { items: described(items, path) }),
    ...(anyOf && { anyOf: anyOf.map((each) => described(each, path)) }),
    ...(oneOf && { oneOf: oneOf.map((each) => describedEvent(each, path)) }),
  };
}

function describedEvent(schema: JsonSchema, path: readonly string[]): JsonSchema {
  const { type } = schema.properties as { readonly type: { readonly const: string } };
  return { title: type.const, description: EVENTS[type.const], ...described(schema, path) };
}

/** All schemas, with their descriptions. */
export function describeSchemas(schemas: { readonly [name: string]: JsonSchema }): {
  readonly [name: string]: JsonSchema;
} {
  const entries = Object.entries(schemas).map(([name, schema]) => [
    name,
    { ...described(schema, [name]), description: SCHEMAS[name] },
  ]);
  return Object.fromEntries(entries);
}
