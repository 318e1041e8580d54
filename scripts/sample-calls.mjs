// Made-up calls for pictures of the dashboard: some over, two under way. The same on every run, but for the dates.

/** @typedef {import('../src/contract/call-event.js').CallEvent} CallEvent */
/** @typedef {import('../src/contract/call-event.js').CallFact} CallFact */
/** @typedef {import('../src/contract/call-record.js').Cost} Cost */

const DIALOGUES = [
  [
    ['Hello, this is the clinic. How can I help?'],
    ['I would like to move my appointment on Thursday.', 'Of course. Which day suits you better?'],
    ['Friday morning, if there is something free.', 'Friday at 9:40 is free. Shall I book it?'],
    ['Yes please.', 'Done. You will get a message with the new time.'],
  ],
  [
    ['Good afternoon, orders and deliveries. What can I do for you?'],
    ['Where is my parcel? It should have come yesterday.', 'Let me look. May I have the order number?'],
    ['Four four one seven.', 'Thank you. It left the depot this morning and arrives before six.'],
  ],
  [
    ['Hi, you have reached the front desk.'],
    ['Do you have a quiet room for two nights?', 'We do: a room to the garden, on the third floor.'],
    ['And breakfast?', 'Breakfast is included, from seven to half past ten.'],
  ],
];

const END_REASONS = /** @type {const} */ ([
  'caller-hangup',
  'agent-hangup',
  'caller-hangup',
  'transferred',
  'idle',
]);

/** A small generator of numbers that repeats: the same pictures every time. */
function createRandom(seed = 7) {
  let state = seed;
  return (/** @type {number} */ from, /** @type {number} */ to) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.round(from + (state / 2147483648) * (to - from));
  };
}

/**
 * Facts of one call, in order.
 * @param {{ index: number, startedAt: number, live: boolean, random: ReturnType<typeof createRandom> }} options
 * @returns {CallEvent[]}
 */
function createCall({ index, startedAt, live, random }) {
  const dialogue = DIALOGUES[index % DIALOGUES.length] ?? [];
  const isFailed = !live && index % 11 === 6;
  const isOutbound = index % 4 === 2;
  const person = `+1555010${String(1000 + index * 37).slice(-4)}`;
  let at = startedAt;
  let seq = 0;
  let dollars = 0;
  /** @type {CallEvent[]} */
  const events = [];
  const say = (/** @type {CallFact} */ fact) => {
    seq += 1;
    events.push({
      callId: `call-${String(index).padStart(4, '0')}`,
      nodeId: 'picture',
      term: 1,
      seq,
      at,
      ...fact,
    });
  };
  const segment = (
    /** @type {number} */ turnIndex,
    /** @type {'user' | 'agent'} */ role,
    /** @type {string} */ text,
    /** @type {{ final: boolean, interrupted?: boolean }} */ state,
  ) =>
    say({
      type: 'transcript.segment',
      entry: { id: `${turnIndex}-${role}`, turnIndex, role, text, at, ...state },
    });

  say({
    type: 'call.started',
    mode: 'pipeline',
    provider: { engine: null, stt: 'simulated', llm: 'scripted', tts: 'flite' },
    carrierCallId: `CA${String(index).padStart(32, '0')}`,
    carrier: index % 3 === 1 ? 'carrier-b' : 'carrier-a',
    direction: isOutbound ? 'outbound' : 'inbound',
    caller: isOutbound ? '+15550100' : person,
    callee: isOutbound ? person : '+15550100',
  });
  const lines = isFailed ? dialogue.slice(0, 2) : dialogue;
  for (const [turnIndex, line] of lines.entries()) {
    const [first = '', answer] = line;
    const isLast = live && turnIndex === lines.length - 1;
    say({ type: 'turn.started', turnIndex });
    if (answer !== undefined) {
      at += random(2200, 4800);
      if (isLast) {
        segment(turnIndex, 'user', first.slice(0, Math.ceil(first.length * 0.7)), { final: false });
        break;
      }
      segment(turnIndex, 'user', first, { final: true });
    }
    const stages = [
      random(380, 520),
      random(60, 180),
      random(140, 420),
      random(20, 160),
      random(60, 190),
      random(4, 16),
    ];
    const [
      endpointingMs = 0,
      sttMs = 0,
      llmFirstTokenMs = 0,
      sentenceMs = 0,
      ttsFirstByteMs = 0,
      sendMs = 0,
    ] = stages;
    const totalMs = stages.reduce((sum, ms) => sum + ms, 0);
    const speechEndedAt = answer === undefined ? null : at;
    at += totalMs + random(1500, 4000);
    const text = answer ?? first;
    const interrupted = answer !== undefined && (index + turnIndex) % 5 === 2;
    const heard = interrupted ? text.split('. ').slice(0, 1).join('. ') : text;
    const unheard = text.slice(heard.length).replace(/^\. /, '');
    segment(turnIndex, 'agent', heard, { final: true, ...(interrupted ? { interrupted } : {}) });
    const known = answer !== undefined;
    const tokens = {
      inputTokens: 600 + 90 * turnIndex,
      cachedTokens: 512,
      audioInputTokens: 0,
      outputTokens: Math.round(20 + heard.length / 4),
      audioOutputTokens: 0,
    };
    say({
      type: 'turn.completed',
      turn: {
        index: turnIndex,
        agent: null,
        startedAt: at,
        speechEndedAt,
        userText: known ? first : '',
        agentText: heard,
        agentTextUnheard: unheard,
        interrupted,
        latency: {
          endpointingMs: known ? endpointingMs : null,
          sttMs: known ? sttMs : null,
          llmFirstTokenMs: known ? llmFirstTokenMs : null,
          sentenceMs: known ? sentenceMs : null,
          ttsFirstByteMs: known ? ttsFirstByteMs : null,
          sendMs: known ? sendMs : null,
          totalMs: known ? totalMs : null,
          heardMs: known ? totalMs + 120 : null,
        },
        fillerMs: known && totalMs > 1500 ? 1200 : null,
        cost: 0.0021,
        tokens,
        toolCalls:
          turnIndex === 2
            ? [
                {
                  id: `tool-${turnIndex}`,
                  name: 'find_slot',
                  arguments: { text: '{"day":"Friday"}', cut: false },
                  result: { text: '{"slots":["9:00","14:30"]}', cut: false },
                  startedAt: at - 900,
                  durationMs: random(80, 420),
                  error: null,
                },
              ]
            : [],
      },
    });
    dollars += 0.0021;
    say({ type: 'cost.updated', cost: createCost(dollars, (at - startedAt) / 60_000), usage: NO_USAGE });
  }
  if (live) return events;
  at += 900;
  say({ type: 'audio.measured', envelope: createEnvelope(events, { startedAt, endedAt: at, random }) });
  say({
    type: 'call.ended',
    endReason: isFailed ? 'provider-failed' : (END_REASONS[index % END_REASONS.length] ?? 'caller-hangup'),
    outcome: 'answered',
    error: isFailed
      ? { code: 'PROVIDER_FAILED', message: 'The language model did not answer within 10 s.' }
      : null,
    media: { framesReceived: 900, framesSent: 700, unexpectedMessages: 0, clears: 1 },
  });
  return events;
}

/**
 * Loud where somebody speaks: each side for as long as its text takes.
 * @param {readonly CallEvent[]} events
 * @param {{ startedAt: number, endedAt: number, random: ReturnType<typeof createRandom> }} options
 * @returns {import('../src/contract/call-record.js').AudioEnvelope}
 */
function createEnvelope(events, { startedAt, endedAt, random }) {
  const bucketMs = 40;
  const buckets = Math.ceil((endedAt - startedAt) / bucketMs);
  const sides = { user: new Int8Array(2 * buckets), agent: new Int8Array(2 * buckets) };
  const clearsMs = [];
  const marksMs = [];
  for (const event of events) {
    if (event.type !== 'transcript.segment' || !event.entry.final) continue;
    const { role, text, at, interrupted } = event.entry;
    const until = at - startedAt;
    const lengthMs = Math.min(until, text.length * 62);
    const side = role === 'user' ? sides.user : sides.agent;
    for (let ms = until - lengthMs; ms < until; ms += bucketMs) {
      const index = Math.floor(ms / bucketMs);
      const loud = random(4, 70) * (random(0, 5) === 0 ? 0.1 : 1);
      side.set([-loud, loud * 0.9], 2 * index);
    }
    if (interrupted === true) clearsMs.push(until);
    else if (role === 'agent') marksMs.push(until);
  }
  const encode = (/** @type {Int8Array} */ bytes) => Buffer.from(bytes.buffer).toString('base64');
  return {
    startedAt,
    bucketMs,
    caller: encode(sides.user),
    agent: encode(sides.agent),
    marksMs,
    clearsMs,
  };
}

const NO_USAGE = {
  sttSeconds: 0,
  llmInputTokens: 0,
  llmCachedTokens: 0,
  llmOutputTokens: 0,
  ttsCharacters: 0,
  telephonySeconds: 0,
};

/**
 * @param {number} dollars
 * @param {number} minutes
 * @returns {Cost}
 */
function createCost(dollars, minutes) {
  const round = (/** @type {number} */ value) => Math.round(value * 1e6) / 1e6;
  const parts = { stt: round(dollars * 0.4), llm: round(dollars * 0.25), tts: round(dollars * 0.35) };
  const telephony = round(minutes * 0.0085);
  return {
    ...parts,
    telephony,
    total: round(parts.stt + parts.llm + parts.tts + telephony),
    currency: 'USD',
    estimated: true,
  };
}

/**
 * Facts of `ended` calls that are over and `live` ones that are under way at `now`, oldest call first.
 * @param {{ now: number, ended: number, live: number }} options Epoch milliseconds; numbers of calls.
 * @returns {CallEvent[]}
 */
export function createSampleCalls({ now, ended, live }) {
  const random = createRandom();
  const calls = [];
  for (let index = 0; index < ended; index += 1) {
    const startedAt = now - (ended - index + 1) * 9 * 60_000 + random(0, 240_000);
    calls.push(createCall({ index, startedAt, live: false, random }));
  }
  for (let index = 0; index < live; index += 1)
    calls.push(
      createCall({ index: ended + index, startedAt: now - random(21_000, 95_000), live: true, random }),
    );
  return calls.flat();
}
