// Random calls as the house tells them, for properties of everything that hears facts.
import fc from 'fast-check';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import { CALL_PHASES, type CallStatus, type TranscriptRole } from '../../src/contract/call-record.js';
import { ended, IDENTITY, stamp, started, turn } from './call-facts.js';

const statusFact = (status: Exclude<CallStatus, 'completed'>): CallFact => ({
  type: 'call.status',
  status,
  ...IDENTITY,
  carrierCallId: null,
});

/** Text that readers, spreadsheets and terminals stumble over. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '=1+1',
    '"a","b"\r\nc',
    'שלום, עולם',
    '👩‍⚕️☎️',
    'a\0b',
    '\ud800',
    'x\udc00y',
    '\n\ndata: {"forged":1}\n\n',
    '\u2028',
    '</script><img src=x onerror=alert(1)>',
  ),
);

const anyDollars = fc.option(fc.nat(5_000_000).map((micros) => micros / 1e6));

const costing: fc.Arbitrary<CallFact> = fc
  .tuple(anyDollars, anyDollars, anyDollars, anyDollars)
  .map(([stt, llm, tts, telephony]) => {
    const parts = [stt, llm, tts, telephony];
    const total = Math.round(parts.reduce<number>((sum, part) => sum + (part ?? 0), 0) * 1e6) / 1e6;
    const cost = {
      stt,
      llm,
      tts,
      telephony,
      total,
      currency: 'USD',
      estimated: parts.includes(null),
    } as const;
    return { type: 'cost.updated', cost, usage: null };
  });

const noting: fc.Arbitrary<CallFact> = fc
  .tuple(fc.constantFrom('stream-replaced', 'CARRIER_FAILED'), anyText)
  .map(([code, message]) => ({ type: 'incident.noted', code, message }));

const recorded: fc.Arbitrary<CallFact> = fc.constantFrom<CallFact>(
  { type: 'recording.completed', recording: { url: null, durationMs: null, status: 'absent' } },
  {
    type: 'recording.completed',
    recording: { url: 'https://example.com/r', durationMs: 9, status: 'completed' },
  },
  {
    type: 'local-recording.updated',
    recording: {
      status: 'failed',
      file: null,
      startedAt: 5,
      durationMs: null,
      bytes: null,
      pauses: [],
      trouble: 'disk-slow',
    },
  },
);

const segment = (index: number, role: TranscriptRole, part: { text: string; final: boolean }): CallFact => ({
  type: 'transcript.segment',
  entry: { id: `${role}-${index}`, turnIndex: index, role, at: 1000 * index, ...part },
});

const languageChange: fc.Arbitrary<CallFact> = fc
  .constantFrom(['en', 'de'], ['de', 'es-MX'])
  .map(([previous = '', language = '']) => ({
    type: 'language.changed',
    language,
    previous,
    provider: { engine: null, stt: 'vendor/ears', llm: 'vendor/model', tts: `vendor/${language}` },
  }));

const phaseChange: fc.Arbitrary<CallFact> = fc
  .tuple(fc.constantFrom(...CALL_PHASES), fc.option(fc.constantFrom(...CALL_PHASES), { nil: undefined }))
  .map(([phase, previous]) => ({ type: 'phase.changed', phase, ...(previous && { previous }) }));

/** One turn: it opens, partial words become final ones or are taken back, and mostly it completes. */
const anyTurn = (index: number): fc.Arbitrary<CallFact[]> =>
  fc
    .record({
      words: fc.array(anyText, { maxLength: 3 }),
      answer: anyText,
      totalMs: fc.option(fc.nat(4000)),
      completes: fc.boolean(),
      aside: fc.array(
        fc.oneof(
          costing,
          noting,
          phaseChange,
          languageChange,
          fc.constantFrom('5', '#').map((digit): CallFact => ({ type: 'dtmf.received', digit })),
        ),
        { maxLength: 2 },
      ),
    })
    .map(({ words, answer, totalMs, completes, aside }) => [
      { type: 'turn.started', turnIndex: index },
      ...words.map((text, place) => segment(index, 'user', { text, final: place === words.length - 1 })),
      ...aside,
      segment(index, 'agent', { text: answer, final: completes }),
      ...(completes ? [{ type: 'turn.completed', turn: turn(index, { totalMs }) } as const] : []),
    ]);

const aroundTheTurns: fc.Arbitrary<CallFact[]> = fc.subarray<CallFact>([
  { type: 'amd.detected', amd: { answeredBy: 'human', detectedAt: 7 } },
  { type: 'transfer.updated', to: '+15550123', result: null },
  { type: 'transfer.updated', to: '+15550123', result: 'busy' },
]);

/** The facts of one call, in an order in which its owner could tell them; most calls end, and some facts come late. */
export const callFacts: fc.Arbitrary<CallFact[]> = fc
  .record({
    ringing: fc.subarray([statusFact('initiated'), statusFact('ringing'), statusFact('active')]),
    isConnected: fc.boolean(),
    turns: fc
      .nat(4)
      .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => anyTurn(index)))),
    around: aroundTheTurns,
    end: fc.option(
      fc.constantFrom(ended(), ended({ endReason: 'stream-lost', error: { code: 'X', message: '=1' } })),
      { freq: 5 },
    ),
    late: fc.array(fc.oneof(costing, recorded, noting), { maxLength: 4 }),
  })
  .map(({ ringing, isConnected, turns, around, end, late }) => [
    ...ringing,
    ...(isConnected || ringing.length === 0 ? [started(), ...turns.flat(), ...around] : []),
    ...(end === null ? [] : [end, ...late]),
  ]);

/** Several calls, each with its own ids; the facts of each are in order. */
export const callsOfEvents: fc.Arbitrary<CallEvent[][]> = fc
  .array(callFacts, { minLength: 1, maxLength: 4 })
  .map((calls) =>
    calls.map((facts, index) =>
      stamp(facts, { callId: `call-${index}`, at: 1_000_000 + index * 7 }).map((event) =>
        'carrierCallId' in event && event.carrierCallId !== null
          ? { ...event, carrierCallId: `CA-${index}` }
          : event,
      ),
    ),
  );

/** Mixes calls as one bus would carry them: the order within a call stays. `picks` says whose turn it is. */
export function interleave(calls: readonly CallEvent[][], picks: readonly number[]): CallEvent[] {
  const rest = calls.map((events) => [...events]);
  const mixed: CallEvent[] = [];
  for (let step = 0; rest.some((events) => events.length > 0); step += 1) {
    const waiting = rest.filter((events) => events.length > 0);
    const next = waiting[(picks[step % Math.max(1, picks.length)] ?? 0) % waiting.length]?.shift();
    if (next !== undefined) mixed.push(next);
  }
  return mixed;
}

/** Delivers some events again, at once or any time later. Each repeat is (which, how much later). */
export function withRepeats(
  events: readonly CallEvent[],
  repeats: readonly (readonly [number, number])[],
): CallEvent[] {
  const delivered = [...events];
  for (const [which, later] of repeats) {
    const event = events[which % Math.max(1, events.length)];
    if (event === undefined) continue;
    const own = delivered.indexOf(event);
    delivered.splice(own + 1 + (later % (delivered.length - own)), 0, event);
  }
  return delivered;
}

/** Arguments of `interleave` and `withRepeats`. */
export const anyPicks = fc.array(fc.nat(7), { minLength: 1, maxLength: 30 });
export const anyRepeats = fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 12 });
