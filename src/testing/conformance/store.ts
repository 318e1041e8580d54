// What every call store must do, as a list of named checks that any test runner can run.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { RequestError } from '../../base/errors.js';
import type { CallEvent, CallFact } from '../../contract/call-event.js';
import type { CallRecord } from '../../contract/call-record.js';
import { isMatch } from '../../events/call-filter.js';
import { reduceCall } from '../../events/reduce.js';
import { aggregate } from '../../events/summarize.js';
import type { CallQuery, CallStore } from '../../stores/call-store.js';

/** One thing that a store must do. `run` rejects when it does not. */
export interface StoreCheck {
  readonly name: string;
  run(): Promise<void>;
}

/** What may differ between stores. */
export interface StoreSuiteOptions {
  /** How many ended calls the store keeps; `Infinity` for one that drops none. @default 500 */
  readonly keeps?: number;
}

/** The checks for a store. `create` makes an empty one for each check; it is closed after it. */
export function testStore(
  create: () => CallStore | Promise<CallStore>,
  { keeps = 500 }: StoreSuiteOptions = {},
): StoreCheck[] {
  const check = (name: string, body: (store: CallStore) => Promise<void>): StoreCheck => ({
    name,
    run: async () => {
      const store = await create();
      try {
        await body(store);
      } finally {
        await store.close();
      }
    },
  });
  return [
    check('is empty at first', async (store) => {
      deepEqual(await store.list({ limit: 10 }), { calls: [], nextCursor: null, total: 0 });
      deepEqual(await store.active(), []);
      equal(await store.get('call-0'), undefined);
      deepEqual(await store.aggregates(), aggregate([]));
    }),
    check('holds the record that the facts make, by either id', async (store) => {
      const facts = callFacts(0, { over: true });
      await appendAll(store, facts);
      const expected = facts.reduce<CallRecord | undefined>(reduceCall, undefined);
      deepEqual(await store.get('call-0'), expected);
      deepEqual(await store.get('carrier-0'), expected);
    }),
    check('a fact that is known changes nothing', async (store) => {
      const facts = callFacts(0, { over: true });
      await appendAll(store, facts);
      const before = await store.get('call-0');
      await appendAll(store, facts);
      deepEqual(await store.get('call-0'), before);
      equal((await store.list({ limit: 10 })).total, 1);
    }),
    check('an active call becomes history when it ends', async (store) => {
      await appendAll(store, callFacts(0, { over: false }));
      deepEqual(ids(await store.active()), ['call-0']);
      equal((await store.aggregates()).activeCalls, 1);
      await appendAll(store, callFacts(0, { over: true }));
      deepEqual(await store.active(), []);
      const { activeCalls, completedCalls, totalCalls } = await store.aggregates();
      deepEqual(
        { activeCalls, completedCalls, totalCalls },
        { activeCalls: 0, completedCalls: 1, totalCalls: 1 },
      );
    }),
    check('keeps calls that run at the same time apart', async (store) => {
      const [one, two] = [callFacts(0, { over: true }), callFacts(1, { over: true })];
      for (const [index, event] of one.entries()) await appendAll(store, [event, two[index] ?? event]);
      equal((await store.get('call-0'))?.caller, '+15550100');
      equal((await store.get('call-1'))?.caller, '+15550101');
    }),
    check('takes late facts of an ended call, which then stays as over as it was', async (store) => {
      const facts = [...callFacts(0, { over: true }), ...lateFacts(0)];
      await appendAll(store, facts);
      const record = await store.get('call-0');
      deepEqual(record, recordOf(facts));
      deepEqual(
        [record?.status, record?.recording?.durationMs, record?.cost.telephony],
        ['completed', 5, 0.01],
      );
      equal((await store.aggregates()).activeCalls, 0);
    }),
    check('lets go of a call that is deleted, and of all that comes later of it', async (store) => {
      await appendAll(store, callFacts(0, { over: true }));
      await appendAll(store, callFacts(1, { over: true }));
      const deletion = forgotten(0);
      await appendAll(store, [deletion, deletion]);
      await appendAll(store, [
        ...lateFacts(0).map((fact) => ({ ...fact, term: 3 })),
        ...callFacts(0, { over: true }).map((fact) => ({ ...fact, term: 4 })),
      ]);
      equal(await store.get('call-0'), undefined);
      equal(await store.get('carrier-0'), undefined);
      deepEqual(ids((await store.list({ limit: 10 })).calls), ['call-1']);
      deepEqual(await store.active(), []);
      equal((await store.aggregates()).totalCalls, 1);
      if (store.events !== undefined) {
        const left = (await store.events('call-0')) ?? [];
        ok(
          left.every(({ type }) => type === 'call.forgotten'),
          'facts of a deleted call are left',
        );
      }
      if (store.forgotten !== undefined) deepEqual(await store.forgotten(), [deletion]);
    }),
    check('takes facts with gaps between them, and none from before a gap', async (store) => {
      const [start, words, end] = callFacts(0, { over: true });
      if (start === undefined || words === undefined || end === undefined) throw new Error('no facts');
      await appendAll(store, [start, { ...end, seq: 1_000_000 }, words]);
      deepEqual(await store.get('call-0'), recordOf([start, { ...end, seq: 1_000_000 }]));
    }),
    check(
      'takes facts of a process that took the call over, and then none of the one before',
      async (store) => {
        const [start, words, end] = callFacts(0, { over: true });
        if (start === undefined || words === undefined || end === undefined) throw new Error('no facts');
        const next = { nodeId: 'node-2', originId: 'node', term: 2 };
        const facts = [start, words, end, { ...start, ...next, seq: 4 }];
        await appendAll(store, facts);
        deepEqual(await store.get('call-0'), recordOf(facts));
        deepEqual(ids(await store.active()), ['call-0']);
        equal((await store.aggregates()).activeCalls, 1);
        await appendAll(store, [{ ...end, seq: 9 }]);
        deepEqual(await store.get('call-0'), recordOf(facts));
        const last = { ...end, ...next, seq: 5 };
        await appendAll(store, [last]);
        const record = await store.get('call-0');
        deepEqual(record, recordOf([...facts, last]));
        deepEqual([record?.status, record?.nodeId, record?.term], ['completed', 'node-2', 2]);
        deepEqual(await store.active(), []);
        equal((await store.aggregates()).completedCalls, 1);
      },
    ),
    check('knows nothing of a call before a fact says who talks to whom', async (store) => {
      const [start, ...rest] = callFacts(0, { over: true });
      await appendAll(store, rest);
      equal(await store.get('call-0'), undefined);
      equal((await store.list({ limit: 10 })).total, 0);
      if (start !== undefined) await appendAll(store, [start]);
      equal((await store.get('call-0'))?.status, 'active');
    }),
    check(
      'a partial entry gives way to the final one, in its place, and leaves with the call',
      async (store) => {
        const [start, , end] = callFacts(0, { over: true });
        if (start === undefined || end === undefined) throw new Error('no facts');
        const said = (index: number, id: string, final: boolean) =>
          envelope(0, index, {
            type: 'transcript.segment',
            entry: { id, turnIndex: 0, role: 'user', text: `${id} ${index}`, at: startOf(0), final },
          });
        const facts = [
          start,
          said(1, 'first', false),
          said(2, 'second', true),
          said(3, 'first', false),
          said(4, 'open', false),
          said(5, 'first', true),
          { ...end, seq: 7 },
          { ...said(8, 'open', false) },
        ];
        await appendAll(store, facts);
        const record = await store.get('call-0');
        deepEqual(record, recordOf(facts));
        deepEqual(
          record?.transcript.map(({ text }) => text),
          ['first 5', 'second 2'],
        );
      },
    ),
    ...(Number.isFinite(keeps) ? limitChecks(check, keeps) : []),
    check('pages through calls that started in the same millisecond', async (store) => {
      for (const call of [0, 1, 2]) {
        await appendAll(
          store,
          callFacts(call, { over: true }).map((event) => ({ ...event, at: 7 })),
        );
      }
      const first = await store.list({ limit: 2 });
      const second = await nextPage(store, { limit: 2 }, first.nextCursor);
      deepEqual(ids([...first.calls, ...second.calls]).sort(), ['call-0', 'call-1', 'call-2']);
    }),
    check('hands out the facts that make the record, if it keeps them', async (store) => {
      if (store.events === undefined) return;
      equal(await store.events('call-0'), undefined);
      const facts = [...callFacts(0, { over: true }), ...lateFacts(0)];
      await appendAll(store, facts);
      deepEqual(await store.events('call-0'), facts);
      deepEqual(await store.events('carrier-0'), facts);
      equal(await store.events('nobody'), undefined);
    }),
    check('lists newest start first, active and ended together', async (store) => {
      for (const call of [1, 0, 2]) await appendAll(store, callFacts(call, { over: call !== 2 }));
      deepEqual(ids((await store.list({ limit: 10 })).calls), ['call-2', 'call-1', 'call-0']);
    }),
    check('pages neither repeat nor miss a call while calls come and end', async (store) => {
      for (let call = 0; call < 5; call += 1) await appendAll(store, callFacts(call, { over: call < 3 }));
      const first = await store.list({ limit: 2 });
      deepEqual(ids(first.calls), ['call-4', 'call-3']);
      await appendAll(store, callFacts(5, { over: false }));
      await appendAll(store, callFacts(4, { over: true }));
      const second = await nextPage(store, { limit: 2 }, first.nextCursor);
      deepEqual(ids(second.calls), ['call-2', 'call-1']);
      const third = await nextPage(store, { limit: 2 }, second.nextCursor);
      deepEqual(ids(third.calls), ['call-0']);
      equal(third.nextCursor, null);
      equal(third.total, 6);
    }),
    check('sums up the calls that a filter leaves', async (store) => {
      for (const index of [0, 1, 2]) await appendAll(store, callFacts(index, { over: index > 0 }));
      const all = (await store.list({ limit: 10 })).calls;
      for (const filter of [{ from: startOf(1) }, { to: startOf(1) }, { status: 'active' as const }]) {
        const matching = all.filter((call) => isMatch(call, filter));
        ok(matching.length > 0 && matching.length < all.length);
        deepEqual(await store.aggregates(filter), aggregate(matching));
      }
    }),
    check('filters by status, direction, words, names, figures and time', async (store) => {
      for (let call = 0; call < 3; call += 1)
        await appendAll(store, eventfulCall(call, { over: call !== 1 }));
      const expected: [Omit<CallQuery, 'limit'>, string[]][] = [
        [{ status: 'completed' }, ['call-2', 'call-0']],
        [{ status: 'active' }, ['call-1']],
        [{ direction: 'outbound' }, ['call-1']],
        [{ q: '550101' }, ['call-1']],
        [{ q: '+1 (555) 010-1' }, ['call-1']],
        [{ q: 'CARRIER-2' }, ['call-2']],
        [{ words: 'ORDS 1' }, ['call-1']],
        [{ words: 'look_up 2' }, ['call-2']],
        [{ words: 'of 017' }, ['call-2', 'call-1', 'call-0']],
        [{ words: '01715550101' }, ['call-1']],
        [{ words: '+0171 (555)/01-01' }, ['call-1']],
        [{ words: '17155' }, ['call-2', 'call-1', 'call-0']],
        [{ words: '15' }, []],
        [{ words: 'of 01715' }, []],
        [{ words: 'nothing like it' }, []],
        [{ words: 'words', status: 'completed' }, ['call-2', 'call-0']],
        [{ incident: 'turn-failed' }, ['call-2', 'call-1']],
        [{ incident: 'turn' }, []],
        [{ provider: 'vendor-1' }, ['call-1']],
        [{ provider: 'vendor-1/model' }, ['call-1']],
        [{ provider: 'model' }, []],
        [{ agent: 'agent 2' }, ['call-2']],
        [{ agent: 'next 2' }, ['call-2']],
        [{ nodeId: 'node' }, ['call-2', 'call-1', 'call-0']],
        [{ nodeId: 'node-9' }, []],
        [{ minLatencyMs: 200 }, ['call-2']],
        [{ minLatencyMs: 0 }, ['call-2', 'call-1']],
        [{ minCost: 0.02 }, ['call-2']],
        [{ minCost: 0 }, ['call-2', 'call-1', 'call-0']],
        [{ q: 'nothing like it' }, []],
        [{ from: startOf(1) }, ['call-2', 'call-1']],
        [{ to: startOf(1) }, ['call-0']],
        [{ status: 'completed', from: startOf(1) }, ['call-2']],
      ];
      for (const [query, wanted] of expected) {
        const page = await store.list({ limit: 10, ...query });
        deepEqual(ids(page.calls), wanted, JSON.stringify(query));
        equal(page.total, wanted.length);
      }
    }),
    check('refuses a cursor or a limit that cannot be one', async (store) => {
      for (const query of [
        { limit: 5, cursor: 'nonsense!' },
        { limit: 5, cursor: '' },
        { limit: 0 },
        { limit: 501 },
        { limit: 1.5 },
      ]) {
        await rejects(store.list(query), (error) => error instanceof RequestError, JSON.stringify(query));
      }
    }),
    check('closes more than once', async (store) => {
      await store.close();
      ok(true);
    }),
  ];
}

type Check = (name: string, body: (store: CallStore) => Promise<void>) => StoreCheck;

/** Of a store that drops a call for each one that is too many. */
function limitChecks(check: Check, keeps: number): StoreCheck[] {
  return [
    check(`keeps ${keeps} ended calls, and the active ones beside them`, async (store) => {
      await appendAll(store, callFacts(0, { over: false }));
      await playAtOnce(store, 1, keeps + 2);
      const { totalCalls, completedCalls, activeCalls } = await store.aggregates();
      deepEqual(
        { totalCalls, completedCalls, activeCalls },
        { totalCalls: keeps + 1, completedCalls: keeps, activeCalls: 1 },
      );
      equal(await store.get('call-1'), undefined);
      equal(await store.get('carrier-1'), undefined);
      ok((await store.get('call-2')) !== undefined);
      equal((await store.get('call-0'))?.status, 'active');
      await appendAll(store, lateFacts(1));
      equal((await store.list({ limit: 1 })).total, keeps + 1, 'a late fact brings back no call');
    }),
    check('a cursor still means its place when its call is gone', async (store) => {
      await playAtOnce(store, 0, keeps);
      const { nextCursor } = await store.list({ limit: Math.min(keeps - 1, 500) });
      await playAtOnce(store, keeps, 2 * keeps - 1);
      const page = await nextPage(store, { limit: 2 }, nextCursor);
      deepEqual([ids(page.calls), page.nextCursor], [[], null]);
    }),
  ];
}

function startOf(call: number): number {
  return 1_700_000_000_000 + call * 60_000;
}

function envelope(call: number, index: number, fact: CallFact): CallEvent {
  return {
    callId: `call-${call}`,
    nodeId: 'node',
    term: 1,
    seq: index + 1,
    at: startOf(call) + index * 1000,
    ...fact,
  };
}

function callFacts(call: number, options: { over: boolean }): CallEvent[] {
  const facts: CallFact[] = [
    {
      type: 'call.started',
      carrierCallId: `carrier-${call}`,
      carrier: 'carrier-a',
      direction: call % 2 === 0 ? 'inbound' : 'outbound',
      caller: `+1555010${call}`,
      callee: '+15550199',
      mode: 'pipeline',
      provider: { engine: null, stt: 'stt', llm: 'llm', tts: 'tts' },
    },
    {
      type: 'transcript.segment',
      entry: {
        id: 'a',
        turnIndex: 0,
        role: 'user',
        text: `words ${call} of 0171 555-010${call}`,
        at: startOf(call),
        final: true,
      },
    },
  ];
  if (options.over) {
    facts.push({
      type: 'call.ended',
      endReason: 'caller-hangup',
      outcome: 'answered',
      error: null,
      media: { framesReceived: 1, framesSent: 1, unexpectedMessages: 0, clears: 0 },
    });
  }
  return facts.map((fact, index) => envelope(call, index, fact));
}

/** A call with a turn and what can go wrong in it; the first one has none. */
function eventfulCall(call: number, options: { over: boolean }): CallEvent[] {
  const [start, words, ...rest] = callFacts(call, options);
  if (start?.type !== 'call.started' || words === undefined) throw new Error('no facts');
  const first = {
    ...start,
    agent: `agent ${call}`,
    provider: { engine: null, stt: `vendor-${call}/model`, llm: 'llm', tts: 'tts' },
  };
  const ms = call * 100;
  const unknown = { endpointingMs: null, sttMs: null, llmFirstTokenMs: null, sentenceMs: null };
  const facts: CallFact[] = [
    {
      type: 'turn.completed',
      turn: {
        index: 0,
        agent: `agent ${call}`,
        startedAt: startOf(call),
        speechEndedAt: startOf(call) + ms,
        userText: '',
        agentText: '',
        agentTextUnheard: '',
        interrupted: false,
        latency: { ...unknown, ttsFirstByteMs: null, sendMs: null, totalMs: ms, heardMs: null },
        fillerMs: null,
        cost: null,
        tokens: null,
        toolCalls: [
          {
            id: `tool-${call}`,
            name: `look_up ${call}`,
            arguments: { text: '{"day":"Friday"}', cut: false },
            result: { text: 'At nine.', cut: false },
            startedAt: startOf(call),
            durationMs: 1,
            error: null,
          },
        ],
      },
    },
    {
      type: 'agent.changed',
      from: `agent ${call}`,
      to: `next ${call}`,
      summary: '',
      mode: 'pipeline',
      provider: first.provider,
    },
    { type: 'incident.noted', code: 'turn-failed', message: 'It failed.' },
    {
      type: 'cost.updated',
      cost: {
        stt: 0,
        llm: 0,
        tts: 0,
        telephony: call / 100,
        total: call / 100,
        currency: 'USD',
        estimated: false,
      },
      usage: null,
    },
  ];
  const eventful = call === 0 ? [] : facts.map((fact, index) => envelope(call, 2 + index, fact));
  const last = rest.map((event) => ({ ...event, seq: event.seq + eventful.length }));
  return [first, words, ...eventful, ...last];
}

function lateFacts(call: number): CallEvent[] {
  const facts: CallFact[] = [
    { type: 'recording.completed', recording: { url: null, durationMs: 5, status: 'completed' } },
    {
      type: 'cost.updated',
      cost: { stt: 0, llm: 0, tts: 0, telephony: 0.01, total: 0.01, currency: 'USD', estimated: false },
      usage: null,
    },
    { type: 'incident.noted', code: 'LATE', message: 'Something came to light.' },
  ];
  return facts.map((fact, index) => envelope(call, 3 + index, fact));
}

/** Deletes the call, in the words of a process that it did not begin in. */
function forgotten(call: number): CallEvent {
  return {
    type: 'call.forgotten',
    callId: `call-${call}`,
    nodeId: 'node-2',
    originId: 'node',
    term: 2,
    seq: 1,
    at: startOf(call) + 60_000,
  };
}

function recordOf(events: readonly CallEvent[]): CallRecord | undefined {
  return events.reduce<CallRecord | undefined>(reduceCall, undefined);
}

/** Calls that are under way together: their facts come at once, and those of each one after the other. */
async function playAtOnce(store: CallStore, from: number, to: number): Promise<void> {
  const calls = Array.from({ length: to - from }, (_, index) => callFacts(from + index, { over: true }));
  for (const index of calls[0]?.keys() ?? []) {
    await Promise.all(calls.flatMap((facts) => facts[index] ?? []).map((event) => store.append(event)));
  }
}

async function appendAll(store: CallStore, events: readonly CallEvent[]): Promise<void> {
  for (const event of events) await store.append(event);
}

async function nextPage(store: CallStore, query: CallQuery, cursor: string | null) {
  if (cursor === null) throw new Error('There should be one more page.');
  return store.list({ ...query, cursor });
}

function ids(records: readonly CallRecord[]): string[] {
  return records.map((record) => record.callId);
}
