import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import type {
  CallPhase,
  CallRecord,
  CallStatus,
  LocalRecording,
  Transfer,
  Turn,
} from '../../src/contract/call-record.js';
import { reduceCall, replayCall } from '../../src/events/reduce.js';
import { ended, IDENTITY, NO_MEDIA, stamp, started, toolCall, turn } from '../support/call-facts.js';

function replay(events: readonly CallEvent[], from?: CallRecord): CallRecord | undefined {
  return events.reduce<CallRecord | undefined>(reduceCall, from);
}

function recordOf(facts: readonly CallFact[]): CallRecord {
  const record = replay(stamp(facts));
  if (record === undefined) throw new Error('no facts');
  return record;
}

const entry = (id: string, text: string, final: boolean): CallFact => ({
  type: 'transcript.segment',
  entry: { id, turnIndex: 0, role: 'user', text, at: 5, final },
});
const saidAt = (id: string, at: number, text = id): CallFact => ({
  type: 'transcript.segment',
  entry: { id, turnIndex: 0, role: 'user', text, at, final: true },
});
const status = (value: Exclude<CallStatus, 'completed'>): CallFact => ({
  type: 'call.status',
  status: value,
  ...IDENTITY,
});

const incident = (code: string): CallFact => ({ type: 'incident.noted', code, message: 'Something.' });
const reconnected: CallFact = {
  type: 'provider.reconnected',
  stage: 'stt',
  provider: 'vendor/ears',
  code: 'PROVIDER_FAILED',
  gapMs: 740,
};
const replaced: CallFact = {
  type: 'provider.replaced',
  stage: 'engine',
  from: 'vendor/voice',
  to: 'other/model',
  code: 'PROVIDER_FAILED',
  gapMs: 1900,
  mode: 'pipeline',
  provider: { engine: null, stt: 'a/ears', llm: 'other/model', tts: 'b/voice' },
};
const handedOver = (from: string | null, to: string): CallFact => ({
  type: 'agent.changed',
  from,
  to,
  summary: `for ${to}`,
  mode: 'realtime',
  provider: { engine: 'a/model', stt: null, llm: null, tts: null },
});
const costing = (telephony: number): CallFact => ({
  type: 'cost.updated',
  cost: { stt: 0, llm: 0, tts: 0, telephony, total: telephony, currency: 'USD', estimated: false },
  usage: null,
});
const transfer = (to: string, result: Transfer['result']): CallFact => ({
  type: 'transfer.updated',
  to,
  result,
});

const RECORDING: LocalRecording = {
  status: 'recording',
  file: null,
  startedAt: 5,
  durationMs: null,
  bytes: null,
  pauses: [],
  trouble: null,
};

const phase = (name: CallPhase): CallFact => ({ type: 'phase.changed', phase: name });

const anyFact: fc.Arbitrary<CallFact> = fc.oneof(
  fc.constantFrom('initiated' as const, 'ringing' as const, 'active' as const).map(status),
  fc.constant(started()),
  fc.constant(ended()),
  fc.constant(ended({ endReason: 'stream-lost', outcome: 'failed' })),
  fc
    .tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('', 'hello', 'bye'), fc.boolean())
    .map(([id, text, final]) => entry(id, text, final)),
  fc.nat(4).map((turnIndex): CallFact => ({ type: 'turn.started', turnIndex })),
  fc
    .tuple(fc.nat(4), fc.option(fc.nat(3000)))
    .map(([index, totalMs]): CallFact => ({ type: 'turn.completed', turn: turn(index, { totalMs }) })),
  fc.constantFrom('1', '#').map((digit): CallFact => ({ type: 'dtmf.received', digit })),
  fc.constant<CallFact>({
    type: 'recording.completed',
    recording: { url: null, durationMs: 10, status: 'completed' },
  }),
  fc
    .constantFrom(null, 'connected' as const, 'busy' as const)
    .map((result): CallFact => ({ type: 'transfer.updated', to: '+15550123', result })),
  fc.constantFrom('stream-replaced', 'CARRIER_FAILED').map(incident),
  fc.constantFrom(reconnected, replaced, handedOver('desk', 'billing')),
  fc.constant<CallFact>({ type: 'amd.detected', amd: { answeredBy: 'machine', detectedAt: 7 } }),
  fc.constantFrom(0.1, 0.2).map(costing),
  fc.constantFrom('hearing' as const, 'speaking' as const).map(phase),
);
const anyEvents = fc.array(anyFact, { minLength: 1, maxLength: 25 }).map((facts) => stamp(facts));
const ORDER: readonly CallStatus[] = ['initiated', 'ringing', 'active', 'completed'];

const SETTLED = {
  stt: 0.01,
  llm: 0.02,
  tts: 0.03,
  telephony: 0.5,
  total: 0.56,
  currency: 'USD',
  estimated: false,
} as const;

describe('reduceCall', () => {
  it('tells a whole call', () => {
    const record = recordOf([
      status('ringing'),
      started(),
      entry('a', 'hel', false),
      entry('a', 'hello', true),
      { type: 'turn.started', turnIndex: 0 },
      { type: 'turn.completed', turn: turn(0, { totalMs: 801, sttMs: 300 }) },
      { type: 'dtmf.received', digit: '5' },
      entry('b', 'never fin', false),
      ended({ media: { ...NO_MEDIA, framesSent: 7 } }),
    ]);
    expect(record).toMatchObject({
      ...IDENTITY,
      status: 'completed',
      endReason: 'caller-hangup',
      outcome: 'answered',
      startedAt: 1_000_000,
      answeredAt: 1_000_010,
      endedAt: 1_000_080,
      durationMs: 70,
      mode: 'pipeline',
      turnCount: 1,
      latency: { avgMs: 801, p50Ms: 801, p95Ms: 801, stages: { sttMs: 300, ttsFirstByteMs: null } },
      media: { framesSent: 7 },
      seq: 9,
    });
    expect(record.transcript.map(({ id, text }) => [id, text])).toEqual([
      ['a', 'hello'],
      ['key-7', 'Key 5'],
    ]);
  });

  it('has a transcript in the order in which it was said, whenever that is known', () => {
    const facts = [saidAt('greeting', 1), saidAt('tool', 9), saidAt('same', 9), saidAt('caller', 4)];
    const ids = (more: CallFact[] = []) =>
      recordOf([started(), ...facts, ...more]).transcript.map(({ id, text }) => (id === text ? id : text));
    expect(ids()).toEqual(['greeting', 'caller', 'tool', 'same']);
    expect(ids([saidAt('caller', 4, 'in full'), saidAt('first', 0), saidAt('last', 10)])).toEqual([
      'first',
      'greeting',
      'in full',
      'tool',
      'same',
      'last',
    ]);
  });

  it.each<[string, CallFact[], Partial<CallRecord>]>([
    [
      'a refused call has no duration',
      [status('initiated'), ended({ outcome: 'busy' })],
      { durationMs: null },
    ],
    [
      'an end that knows of an answer that no fact told of',
      [status('ringing'), ended({ durationMs: 4 })],
      { answeredAt: 1_000_006, durationMs: 4 },
    ],
    ['ringing after active', [started(), status('ringing')], { status: 'active' }],
    ['a status after the end', [started(), ended(), status('active')], { status: 'completed' }],
    ['a start after the end', [status('initiated'), ended(), started()], { answeredAt: null }],
    ['a second end', [started(), ended(), ended({ endReason: 'idle' })], { endReason: 'caller-hangup' }],
    [
      'the cost of a call whose process died',
      [started(), { type: 'cost.updated', cost: SETTLED, usage: null }, ended({ endReason: 'process-lost' })],
      { cost: { ...SETTLED, estimated: true } },
    ],
    ['a partial after the end', [started(), ended(), entry('a', 'x', false)], { transcript: [] }],
    ['an entry taken away', [started(), entry('a', 'x', false), entry('a', '', true)], { transcript: [] }],
    [
      'a carrier id that comes later',
      [{ ...started(), carrierCallId: null } as CallFact, status('active')],
      { carrierCallId: 'CA0001' },
    ],
    [
      'a carrier id that is known stays',
      [started(), { ...started(), carrierCallId: null } as CallFact],
      { carrierCallId: 'CA0001' },
    ],
    [
      'turn count without a completed turn',
      [started(), { type: 'turn.started', turnIndex: 2 }],
      { turnCount: 3 },
    ],
  ])('keeps its sense: %s', (_, facts, expected) => {
    expect(recordOf(facts)).toMatchObject(expected);
  });

  it('knows the phase and since when, but none before the conversation and behind the end', () => {
    expect(recordOf([status('ringing')]).phase).toBeNull();
    const talking = [started(), phase('listening'), phase('hearing')];
    expect(recordOf(talking).phase).toEqual({ name: 'hearing', since: 1_000_020 });
    expect(recordOf([...talking, ended()]).phase).toBeNull();
    expect(recordOf([...talking, ended(), phase('speaking')]).phase).toBeNull();
    expect(recordOf([...talking, ended({ endReason: 'process-lost' })]).phase).toBeNull();
  });

  it('says of a call that is over that its recording is being made, until more is known', () => {
    const told = (state: LocalRecording['status']) =>
      ({ type: 'local-recording.updated', recording: { ...RECORDING, status: state } }) as const;
    const lost = ended({ endReason: 'process-lost' });
    expect(recordOf([started(), told('recording')]).localRecording).toEqual(RECORDING);
    const states = (['recording', 'failed'] as const).map((state) =>
      recordOf([started(), told(state), lost]),
    );
    expect(states.map(({ localRecording }) => localRecording?.status)).toEqual(['pending', 'failed']);
    expect(recordOf([started(), told('recording'), lost, told('completed')]).localRecording?.status).toBe(
      'completed',
    );
    expect(recordOf([started(), lost]).localRecording).toBeNull();
    // Another process goes on with it.
    const facts = stamp([started(), told('recording'), lost]);
    const goingOn = { ...stamp([phase('listening')])[0], term: 2, seq: 4 } as CallEvent;
    expect(replay([...facts, goingOn])?.localRecording).toEqual(RECORDING);
  });

  it('keeps the last transfer, from its order to its result', () => {
    const facts = [started(), transfer('+15550123', null), transfer('+15550123', 'busy')];
    expect(recordOf(facts).transfer).toEqual({ to: '+15550123', startedAt: 1_000_010, result: 'busy' });
    const again = [...facts, transfer('+15550124', null)];
    expect(recordOf(again).transfer).toEqual({ to: '+15550124', startedAt: 1_000_030, result: null });
    expect(recordOf([started(), transfer('+15550123', 'failed')]).transfer).toEqual({
      to: '+15550123',
      startedAt: 1_000_010,
      result: 'failed',
    });
  });

  it('keeps incidents in order, and no more than a hundred', () => {
    const facts = [started(), incident('a'), incident('b')];
    expect(recordOf(facts).incidents).toEqual([
      { at: 1_000_010, code: 'a', message: 'Something.', durationMs: null },
      { at: 1_000_020, code: 'b', message: 'Something.', durationMs: null },
    ]);
    const many = Array.from({ length: 150 }, (_, index) => incident(String(index)));
    const { incidents } = recordOf([started(), ...many]);
    expect(incidents).toHaveLength(100);
    expect(incidents.at(-1)?.code).toBe('99');
  });

  it('says which provider failed, for how long, and who talks to the caller since then', () => {
    const record = recordOf([started(), reconnected, replaced]);
    expect(record.incidents).toEqual([
      {
        at: 1_000_010,
        code: 'provider-reconnected',
        message: 'vendor/ears failed (PROVIDER_FAILED) and works again.',
        durationMs: 740,
      },
      {
        at: 1_000_020,
        code: 'provider-replaced',
        message: 'vendor/voice failed (PROVIDER_FAILED), and other/model was asked in its place.',
        durationMs: 1900,
      },
    ]);
    expect(record.mode).toBe('pipeline');
    expect(record.provider).toEqual({ engine: null, stt: 'a/ears', llm: 'other/model', tts: 'b/voice' });
  });

  it('keeps the language that the call is in, and who speaks it', () => {
    const provider = { engine: null, stt: 'a/ears', llm: 'b/model', tts: 'b/german' };
    const changed: CallFact = { type: 'language.changed', language: 'de', previous: 'en', provider };
    const begun: CallFact = { ...started(), language: 'en' } as CallFact;
    expect(recordOf([started()]).language).toBeNull();
    expect(recordOf([begun]).language).toBe('en');
    expect(recordOf([begun, changed])).toMatchObject({ language: 'de', provider, incidents: [] });
    // Who takes the call over may tell once more that it is up.
    expect(recordOf([begun, changed, begun]).language).toBe('de');
  });

  it('says which agents had the caller, and whose turn it was', () => {
    const completed = (index: number, agent?: string | null): CallFact => ({
      type: 'turn.completed',
      turn: { ...turn(index), agent: agent as string | null },
    });
    const record = recordOf([
      started(),
      completed(0, null),
      handedOver(null, 'billing'),
      completed(1, 'billing'),
      // As a log tells it that is older than the field.
      completed(2),
      ...Array.from({ length: 12 }, () => handedOver('billing', 'desk')),
    ]);
    expect(record.turns.map(({ agent }) => agent)).toEqual([null, 'billing', 'billing']);
    expect(record.handoffs).toHaveLength(10);
    expect(record.handoffs[0]).toEqual({ at: 1_000_020, from: null, to: 'billing', summary: 'for billing' });
    expect(record).toMatchObject({ agent: 'desk', mode: 'realtime', provider: { engine: 'a/model' } });
  });

  it('tells two providers of one name apart', () => {
    const twin: CallFact = { ...replaced, from: 'vendor/voice', to: 'vendor/voice' };
    expect(recordOf([started(), twin]).incidents).toMatchObject([
      { message: 'vendor/voice failed (PROVIDER_FAILED), and another vendor/voice was asked in its place.' },
    ]);
  });

  it('keeps the first 5000 entries and turns, and says so', () => {
    const keys = Array.from({ length: 6000 }, (): CallFact => ({ type: 'dtmf.received', digit: '5' }));
    const withdrawn = entry('a', '', true);
    const record = recordOf([started(), entry('a', 'hello', true), ...keys, withdrawn, ...keys.slice(0, 3)]);
    expect(record.transcript).toHaveLength(4999);
    expect(record.transcript.at(-1)).toMatchObject({ role: 'system', text: expect.stringContaining('5000') });
    expect(new Set(record.transcript.map(({ id }) => id)).size).toBe(4999);
    // A reducer that is asked for 5001 summaries of up to 5000 turns would take its time: the record is built at its bound.
    const turns = Array.from({ length: 5000 }, (_, index) => turn(index));
    const full = { ...record, status: 'active' as const, turns };
    const [last] = stamp([{ type: 'turn.completed', turn: turn(5000) }]);
    const after = reduceCall(full, { ...last!, seq: full.seq + 1 });
    expect([after.turns.length, after.turnCount]).toEqual([5000, 5001]);
  });

  it('knows nothing of the media until the end tells it', () => {
    expect(recordOf([started(), entry('a', 'x', true)]).media).toBeNull();
    expect(recordOf([started(), ended()]).media).toEqual(NO_MEDIA);
  });

  it('takes what is known only after the end, and the end stays as it was', () => {
    const late: CallFact[] = [
      costing(0.2),
      incident('CARRIER_FAILED'),
      {
        type: 'recording.completed',
        recording: { url: 'https://example.com/r', durationMs: 10, status: 'completed' },
      },
    ];
    const before = recordOf([started(), ended()]);
    expect(recordOf([started(), ended(), ...late])).toEqual({
      ...before,
      cost: expect.objectContaining({ telephony: 0.2 }),
      incidents: [expect.objectContaining({ code: 'CARRIER_FAILED' })],
      recording: expect.objectContaining({ durationMs: 10 }),
      seq: 5,
    });
  });

  it('makes the same record of events that are delivered more than once, each in its place or later', () => {
    fc.assert(
      fc.property(anyEvents, fc.array(fc.tuple(fc.nat(), fc.nat())), (events, repeats) => {
        const delivered = [...events];
        for (const [which, where] of repeats) {
          const event = events[which % events.length];
          if (event === undefined) continue;
          const own = delivered.indexOf(event);
          delivered.splice(own + 1 + (where % (delivered.length - own)), 0, event);
        }
        expect(replay(delivered)).toEqual(replay(events));
      }),
    );
  });

  it('sorts turns that complete out of order, and replaces one told twice', () => {
    const record = recordOf([
      started(),
      { type: 'turn.completed', turn: turn(1) },
      { type: 'turn.completed', turn: turn(0, { totalMs: 5 }) },
      { type: 'turn.completed', turn: turn(0, { totalMs: 9 }) },
    ]);
    expect(record.turns.map(({ index, latency }) => [index, latency.totalMs])).toEqual([
      [0, 9],
      [1, null],
    ]);
  });

  it('puts what became of a tool into the turn that was complete by then', () => {
    const running = toolCall({ name: 'look_up', startedAt: 7, durationMs: null, error: null });
    const done = { ...running, durationMs: 3000, error: 'Not there.' };
    const other = { ...running, startedAt: 8 };
    const tell = (tool: typeof done, turnIndex: number): CallFact => ({
      type: 'transcript.segment',
      entry: { id: 'tool-1', turnIndex, role: 'tool', text: 'look_up', at: 7, final: true },
      tool,
    });
    const complete = (index: number): CallFact => ({
      type: 'turn.completed',
      turn: { ...turn(index), toolCalls: [running, running, other] },
    });
    const facts = [started(), complete(0), complete(1)];
    const before = recordOf(facts);
    // The second changes the other one that is like it, and the third none; nobody knows of a turn with the index of the last.
    const after = recordOf([...facts, tell(done, 1), tell(done, 1), tell(done, 1), tell(done, 2)]);
    expect(after.turns).toEqual([before.turns[0], { ...before.turns[1], toolCalls: [done, done, other] }]);
  });

  it('tells tools apart that began together, by their IDs', () => {
    const tools = ['tool-1', 'tool-2'].map((id) => toolCall({ id }));
    const done = toolCall({ id: 'tool-2', durationMs: 3, result: { text: 'two', cut: false } });
    const entry = { id: 'tool-2', turnIndex: 0, role: 'tool', text: 'x', at: 7, final: true } as const;
    const { turns } = recordOf([
      started(),
      { type: 'turn.completed', turn: { ...turn(0), toolCalls: tools } },
      { type: 'transcript.segment', entry, tool: done },
    ]);
    expect(turns[0]?.toolCalls).toEqual([tools[0], done]);
  });

  it('a turn of a log that is older than its end of speech, its filler, its tokens and the texts of its tools has none', () => {
    const { speechEndedAt: _ended, fillerMs: _filler, tokens: _tokens, ...older } = turn(0);
    const { id: _id, arguments: _arguments, result: _result, ...tool } = toolCall();
    const completed = (each: Turn): CallFact => ({ type: 'turn.completed', turn: each });
    const { turns } = recordOf([started(), completed({ ...older, toolCalls: [tool] } as unknown as Turn)]);
    expect(turns).toEqual([{ ...turn(0), toolCalls: [toolCall()] }]);
    const said = { ...turn(0), speechEndedAt: 1_700_000_000_000, fillerMs: 1210 };
    expect(recordOf([started(), completed(said)]).turns).toEqual([said]);
  });

  it('a duplicate or an older event changes nothing, not even the identity of the record', () => {
    fc.assert(
      fc.property(anyEvents, fc.nat(), (events, pick) => {
        const record = replay(events);
        const again = events[pick % events.length];
        if (record === undefined || again === undefined) throw new Error('no events');
        expect(reduceCall(record, again)).toBe(record);
      }),
    );
  });

  it('a replay in two parts equals the whole', () => {
    fc.assert(
      fc.property(anyEvents, fc.nat(), (events, pick) => {
        const cut = pick % (events.length + 1);
        expect(replay(events.slice(cut), replay(events.slice(0, cut)))).toEqual(replay(events));
      }),
    );
  });

  it('a status never goes backwards, and a call that is over stays as it ended', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        let before: CallRecord | undefined;
        for (const event of events) {
          const after = reduceCall(before, event);
          if (before !== undefined) {
            expect(ORDER.indexOf(after.status)).toBeGreaterThanOrEqual(ORDER.indexOf(before.status));
          }
          if (before?.status === 'completed') {
            expect([after.endedAt, after.endReason, after.durationMs]).toEqual([
              before.endedAt,
              before.endReason,
              before.durationMs,
            ]);
          }
          before = after;
        }
      }),
    );
  });

  it('leaves its input as it was', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        let record: CallRecord | undefined;
        for (const event of events) {
          const copies = structuredClone({ record, event });
          const next = reduceCall(record, event);
          expect({ record, event }).toEqual(copies);
          record = next;
        }
      }),
    );
  });

  it('makes the same record of events that crossed a wire', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const crossed: CallEvent[] = JSON.parse(JSON.stringify(events));
        expect(JSON.stringify(replay(crossed))).toBe(JSON.stringify(replay(events)));
        expect(replay(crossed)).toEqual(replay(events));
      }),
    );
  });
});

it('a cost that belongs to a turn which is over corrects that turn and no other', () => {
  const late = (index: number, cost: number | null): CallFact =>
    ({ ...costing(0.5), turn: { index, cost } }) as CallFact;
  const completed = [0, 1].map((index): CallFact => ({ type: 'turn.completed', turn: turn(index) }));
  const facts = [started(), ...completed, late(1, 0.25), late(7, 9), costing(0.5)];
  const record = stamp(facts).reduce<CallRecord | undefined>(reduceCall, undefined);
  expect(record?.turns.map(({ cost }) => cost)).toEqual([null, 0.25]);
  expect(record?.cost.total).toBe(0.5);
});

describe('a call that another process takes over', () => {
  it('has what is told again in a higher term once, also where its record was read from a store', () => {
    const facts = stamp([
      started(),
      incident('odd'),
      handedOver('desk', 'sales'),
      { type: 'dtmf.received', digit: '7' },
      transfer('+15005550030', null),
      entry('a', 'Hello.', true),
    ]);
    const before = replayCall(facts);
    let record = structuredClone(before);
    for (const fact of facts.slice(1)) record = reduceCall(record, { ...fact, term: 5 });
    expect(record).toEqual({ ...before, term: 5 });
  });

  const lived = stamp([status('ringing'), started(), entry('a', 'heard', true)]);
  const next = (facts: readonly CallFact[], seq: number, term = 2): CallEvent[] =>
    stamp(facts, { at: 2_000_000 }).map((event, index) => ({
      ...event,
      nodeId: `node-${term}`,
      originId: 'node-1',
      term,
      seq: seq + index,
    }));
  const over = { ...(stamp([ended()])[0] as CallEvent), seq: 9, at: 3_000_000 };

  it('has one record, with the facts of both', () => {
    const record = replay([...lived, ...next([status('active'), entry('b', 'more', true)], 4)]);
    expect(record).toMatchObject({ nodeId: 'node-2', originId: 'node-1', term: 2, seq: 5, status: 'active' });
    expect(record?.transcript.map(({ text }) => text)).toEqual(['heard', 'more']);
    expect(record?.startedAt).toBe(lived[0]?.at);
  });

  it('has nothing of what the process before it said last, and it did not know', () => {
    const known = [...lived, ...next([entry('c', 'on', false), incident('odd')], 4, 2)];
    const unheard = stamp([entry('c', 'on and', false), entry('c', 'on and on', true), ended()]).map(
      (event, index): CallEvent => ({ ...event, nodeId: 'node-2', term: 2, seq: 6 + index }),
    );
    const rest = next([status('active'), entry('d', 'and off', true)], 6, 3);
    const expected = replay([...known, ...rest]);
    expect(replay([...known, ...unheard, ...rest])).toEqual(expected);
    expect(replayCall([...known, ...unheard, ...rest])).toEqual(expected);
    const lost = next([incident('process-lost'), ended({ endReason: 'process-lost' })], 6, 3);
    const other = replay([...known, ...lost]);
    expect(other).toMatchObject({ status: 'completed', endReason: 'process-lost' });
    expect(replay([...known, ...unheard, ...lost])).toEqual(other);
    expect(replayCall([...known, ...unheard, ...lost])).toEqual(other);
  });

  it('keeps what the process before it said where its record was made elsewhere, or that is long ago', () => {
    const copy = structuredClone(replay(lived)) as CallRecord;
    const rest = next([status('active'), entry('b', 'more', true)], 3);
    const textsOf = (record: CallRecord | undefined) => record?.transcript.map(({ text }) => text);
    expect(textsOf(replay(rest, copy))).toEqual(['heard', 'more']);
    const turns = (count: number) =>
      Array.from({ length: count }, (_, index): CallFact => ({ type: 'turn.started', turnIndex: index }));
    const goneOn = (count: number, ...last: CallFact[]) =>
      replay([...stamp([started(), ...turns(count), ...last]), ...next(turns(1), 2)])?.turnCount;
    expect([goneOn(32), goneOn(64)]).toEqual([1, 64]);
    expect([goneOn(7, ended()), goneOn(8, ended())]).toEqual([1, 8]);
  });

  it('has the record that all of its facts make, wherever the next process goes on', () => {
    for (const count of [9, 32, 33, 64, 65, 96, 97, 200])
      for (const unknown of [1, 2, 8, 31, 32]) {
        if (unknown > count) continue;
        const first = stamp([
          started(),
          ...Array.from({ length: count }, (_, index) => entry(`e${index}`, 'on', true)),
        ]);
        const from = count + 2 - unknown;
        const again = next([status('active'), entry('again', 'more', true)], from, 2);
        // And once more, from in front of where that began, where the first one is still known.
        const third = next([entry('third', 'and more', true)], unknown < 32 ? from - 1 : from, 3);
        const facts = [...first, ...again, ...third];
        const record = replay(facts);
        expect(record?.transcript.at(-1)?.text).toBe('and more');
        expect(record).toEqual(replayCall(facts));
      }
  });

  it('hears no more of the process before it, whatever that says and however high it counts', () => {
    const record = replay([...lived, ...next([status('active')], 2)]);
    expect(replay([over, { ...over, type: 'dtmf.received', digit: '1', seq: 10 } as CallEvent], record)).toBe(
      record,
    );
  });

  it.each([
    ['a status', status('active')],
    ['words', entry('b', 'more', true)],
    ['a phase', phase('listening')],
    ['another end', ended({ endReason: 'agent-hangup' })],
  ])('has not ended with the end that the process before it stated, once there is %s', (_, fact) => {
    const [event] = next([fact], 4) as [CallEvent];
    const record = replay([event], replay([...lived, over]));
    const expected = replay([event], replay(lived));
    expect({ ...record, startedAt: 0 }).toEqual({ ...expected, startedAt: 0 });
  });

  it('stays ended with what comes late of it, and with the process that had it', () => {
    const record = replay([...lived, over, ...next([costing(0.5)], 10), ...next([incident('late')], 11, 3)]);
    expect(record).toMatchObject({
      status: 'completed',
      endReason: 'caller-hangup',
      nodeId: 'node-1',
      term: 3,
      cost: { total: 0.5 },
      incidents: [{ code: 'late' }],
    });
  });

  it('tells the keys of both processes apart, which may have counted alike', () => {
    const key = (digit: string): CallFact => ({ type: 'dtmf.received', digit });
    const before = structuredClone(replay(stamp([started(), key('1')])));
    const record = replay(next([key('2')], 2), before);
    expect(record?.transcript.map(({ id, text }) => [id, text])).toEqual([
      ['key-2', 'Key 1'],
      ['key-2-2', 'Key 2'],
    ]);
  });

  it('is replayed from its log to the same record', () => {
    const facts = [
      ...lived,
      over,
      ...next([status('active'), entry('b', 'x', true)], 4),
      ...next([ended()], 5, 3),
    ];
    expect(replayCall(facts)).toEqual(replay(facts));
  });

  it('is in the first term where a log is older than terms', () => {
    const old = lived.map(({ term: _, ...event }) => event as CallEvent);
    expect(replay(old)).toEqual(replay(lived));
    const { term: __, originId: ___, ...written } = replay(old) as CallRecord;
    const record = replay([{ ...over, seq: 4 }], written as CallRecord);
    expect(record).toMatchObject({ status: 'completed', term: 1 });
    expect(replay([...lived.slice(0, 2)], written as CallRecord)).toBe(written);
  });
});
