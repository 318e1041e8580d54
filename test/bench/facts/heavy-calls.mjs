// Facts of long made-up calls, as a pipeline engine tells them: what the benches of bus, store and API are fed with.

/** @typedef {import('../../../src/contract/call-event.js').CallEvent} CallEvent */
/** @typedef {import('../../../src/contract/call-event.js').CallFact} CallFact */

const WORDS =
  'I would like to move my appointment on Thursday to Friday morning, if there is something free before noon. '.repeat(
    3,
  );
const LATENCY = {
  endpointingMs: 410,
  sttMs: 96,
  llmFirstTokenMs: 312,
  sentenceMs: 47,
  ttsFirstByteMs: 103,
  sendMs: 5,
  totalMs: 973,
  heardMs: 1042,
};

/** @param {{ index: number, turns: number, partials?: number }} call partial transcripts of each thing the caller says @returns {CallEvent[]} */
export function heavyCall({ index, turns, partials = 0 }) {
  const startedAt = 1_750_000_000_000 + index * 1000;
  /** @type {CallEvent[]} */
  const events = [];
  const say = (/** @type {CallFact} */ fact) =>
    events.push({
      callId: `8f3b2c1d-5a77-4c1e-9d10-${String(index).padStart(12, '0')}`,
      nodeId: 'b3nch001',
      term: 1,
      seq: events.length + 1,
      at: startedAt + events.length * 1500,
      ...fact,
    });
  const speak = (
    /** @type {'user' | 'agent'} */ role,
    /** @type {number} */ turnIndex,
    /** @type {string} */ text,
    /** @type {boolean} */ final,
  ) =>
    say({
      type: 'transcript.segment',
      entry: { id: `${role}-${turnIndex}`, turnIndex, role, text, at: startedAt + turnIndex * 9000, final },
    });
  say({
    type: 'call.started',
    mode: 'pipeline',
    provider: { engine: null, stt: 'vendor/ears-3', llm: 'vendor/mind-4', tts: 'vendor/voice-2' },
    carrierCallId: `CA${String(index).padStart(32, '0')}`,
    carrier: 'carrier-a',
    direction: 'inbound',
    caller: `+1555${String(index).padStart(7, '0')}`,
    callee: '+15550100',
  });
  for (let turnIndex = 0; turnIndex < turns; turnIndex += 1) {
    const userText = WORDS.slice(turnIndex, turnIndex + 70);
    const agentText = WORDS.slice(turnIndex, turnIndex + 110);
    say({ type: 'turn.started', turnIndex });
    for (let part = 1; part <= partials; part += 1)
      speak('user', turnIndex, userText.slice(0, part * 8), false);
    speak('user', turnIndex, userText, true);
    speak('agent', turnIndex, agentText, true);
    say({
      type: 'turn.completed',
      turn: {
        index: turnIndex,
        agent: null,
        startedAt: startedAt + turnIndex * 9000,
        userText,
        agentText,
        agentTextUnheard: '',
        interrupted: false,
        latency: { ...LATENCY, totalMs: 900 + ((turnIndex * 37) % 400) },
        cost: 0.0021,
        speechEndedAt: null,
        fillerMs: null,
        tokens: null,
        toolCalls: [],
      },
    });
    const dollars = (turnIndex + 1) * 0.0007;
    say({
      type: 'cost.updated',
      cost: {
        stt: dollars,
        llm: dollars,
        tts: dollars,
        telephony: 0.0085,
        total: 3 * dollars + 0.0085,
        currency: 'USD',
        estimated: true,
      },
      usage: {
        sttSeconds: turnIndex * 4,
        llmInputTokens: turnIndex * 900,
        llmCachedTokens: 0,
        llmOutputTokens: turnIndex * 40,
        ttsCharacters: turnIndex * 110,
        telephonySeconds: turnIndex * 9,
      },
    });
  }
  say({
    type: 'call.ended',
    endReason: 'caller-hangup',
    outcome: 'answered',
    error: null,
    media: { framesReceived: 27_000, framesSent: 21_000, unexpectedMessages: 0, clears: 3 },
  });
  return events;
}
