// Facts of made-up calls, for tests of everything that hears facts.
import type { CallEvent, CallFact, CallIdentity } from '../../src/contract/call-event.js';
import type { MediaCounters, TranscriptRole, Turn, TurnLatency } from '../../src/contract/call-record.js';
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
    startedAt: 1000 * index,
    userText: `question ${index}`,
    agentText: `answer ${index}`,
    agentTextUnheard: '',
    interrupted: false,
    latency: { ...unknownLatency(), ...latency },
    cost: null,
    toolCalls: [],
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
    seq: index + 1,
    at: at + index * stepMs,
    ...fact,
  }));
}
