// Facts of made-up calls, for tests of everything that hears facts.
import type { CallEvent, CallFact, CallIdentity } from '../../src/contract/call-event.js';
import type {
  MediaCounters,
  ToolCall,
  TranscriptRole,
  Turn,
  TurnLatency,
} from '../../src/contract/call-record.js';
import { unknownLatency } from '../../src/events/summarize.js';

export const IDENTITY: CallIdentity = {
  carrierCallId: 'CA0001',
  carrier: 'carrier-a',
  direction: 'inbound',
  caller: '+15550111',
  callee: '+15550100',
};

export const NO_MEDIA: MediaCounters = {
  framesReceived: 0,
  framesSent: 0,
  unexpectedMessages: 0,
  clears: 0,
};

/** The first fact of a call that is up. */
export function started(identity: Partial<CallIdentity> = {}): CallFact {
  return {
    type: 'call.started',
    mode: 'pipeline',
    provider: { engine: null, stt: 'fake/stt', llm: 'fake/llm', tts: 'fake/tts' },
    ...IDENTITY,
    ...identity,
  };
}

/** The last fact of a call. */
export function ended(fields: Partial<Extract<CallFact, { type: 'call.ended' }>> = {}): CallFact {
  return {
    type: 'call.ended',
    endReason: 'caller-hangup',
    outcome: 'answered',
    error: null,
    media: NO_MEDIA,
    ...fields,
  };
}

/** A piece of transcript that is said now. */
export function say(
  text: string,
  fields: { id?: string; final?: boolean; role?: TranscriptRole; turnIndex?: number } = {},
): CallFact {
  const entry = { id: 'e1', turnIndex: 0, role: 'user' as const, text, at: Date.now(), final: true };
  return { type: 'transcript.segment', entry: { ...entry, ...fields } };
}

/** A turn with the given latency. */
export function turn(index: number, latency: Partial<TurnLatency> = {}): Turn {
  return {
    index,
    agent: null,
    startedAt: 1000 * index,
    userText: `question ${index}`,
    agentText: `answer ${index}`,
    agentTextUnheard: '',
    interrupted: false,
    latency: { ...unknownLatency(), ...latency },
    speechEndedAt: null,
    fillerMs: null,
    cost: null,
    tokens: null,
    toolCalls: [],
  };
}

/** A tool that was called. @default one that runs, of which nothing more is known */
export function toolCall(fields: Partial<ToolCall> = {}): ToolCall {
  return {
    id: null,
    name: 'look_up',
    arguments: null,
    result: null,
    startedAt: 0,
    durationMs: null,
    error: null,
    ...fields,
  };
}

/** Puts facts into envelopes: seq from 1, `stepMs` apart from `at` on. */
export function stamp(
  facts: readonly CallFact[],
  envelope: { callId?: string; at?: number; stepMs?: number } = {},
): CallEvent[] {
  const { callId = 'call-1', at = 1_000_000, stepMs = 10 } = envelope;
  return facts.map((fact, index) => ({
    callId,
    nodeId: 'node-1',
    term: 1,
    seq: index + 1,
    at: at + index * stepMs,
    ...fact,
  }));
}

/** Every kind of fact, with every optional part there. */
export const EVERY_FACT: CallFact[] = [
  { type: 'call.status', status: 'ringing', ...IDENTITY },
  started({ carrierCallId: 'CA-full' }),
  { type: 'turn.started', turnIndex: 0 },
  { type: 'phase.changed', phase: 'speaking', previous: 'thinking' },
  {
    type: 'transcript.segment',
    entry: { id: 'a', turnIndex: 0, role: 'agent', text: 'Hi', at: 5, final: true, interrupted: true },
  },
  {
    type: 'turn.completed',
    turn: {
      ...turn(0, { totalMs: 812, endpointingMs: 812 }),
      toolCalls: [toolCall({ id: 'tool-1', arguments: { text: '{"day":1}', cut: false }, startedAt: 1 })],
    },
  },
  {
    type: 'transcript.segment',
    entry: { id: 'tool-1', turnIndex: 0, role: 'tool', text: 'look_up failed: late', at: 1, final: true },
    tool: toolCall({
      id: 'tool-1',
      arguments: { text: '{"day":1}', cut: false },
      result: { text: '{"error":"late"}', cut: false },
      startedAt: 1,
      durationMs: 900,
      error: 'late',
    }),
  },
  {
    type: 'cost.updated',
    cost: { stt: 0.1, llm: null, tts: 0, telephony: 0.2, total: 0.3, currency: 'USD', estimated: true },
    usage: {
      sttSeconds: 1.5,
      llmInputTokens: 2,
      llmCachedTokens: 0,
      llmOutputTokens: 3,
      ttsCharacters: 4,
      telephonySeconds: 5.5,
    },
  },
  { type: 'dtmf.received', digit: '5' },
  { type: 'transfer.updated', to: '+15550123', result: null },
  { type: 'transfer.updated', to: '+15550123', result: 'busy' },
  { type: 'incident.noted', code: 'stream-replaced', message: 'The stream was replaced.' },
  { type: 'amd.detected', amd: { answeredBy: 'human', detectedAt: 7 } },
  ended({ error: { code: 'PROVIDER_FAILED', message: 'gone' }, endReason: 'provider-failed' }),
  { type: 'recording.completed', recording: { url: null, durationMs: 12, status: 'completed' } },
  {
    type: 'local-recording.updated',
    recording: {
      status: 'completed',
      file: 'call-1.wav',
      startedAt: 6,
      durationMs: 900,
      bytes: 14_458,
      pauses: [{ startedAt: 7, endedAt: null, by: 'keys' }],
      trouble: 'disk-full',
    },
  },
  {
    type: 'cost.updated',
    cost: { stt: null, llm: null, tts: null, telephony: 0.2, total: 0.2, currency: 'USD', estimated: false },
    usage: null,
  },
  { type: 'incident.noted', code: 'CARRIER_FAILED', message: 'The leg may still be up.' },
];
