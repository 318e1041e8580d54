import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreError } from '../../src/base/errors.js';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import type { IngestEvent } from '../../src/contract/ingest.js';
import { INGEST_PATH } from '../../src/dashboard/ingest-endpoint.js';
import { Senders } from '../../src/dashboard/ingest-senders.js';
import { OPENAPI } from '../../src/dashboard/openapi.js';
import { reduceCall } from '../../src/events/reduce.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { ended, IDENTITY, stamp, started, turn } from '../support/call-facts.js';
import { FakeClock } from '../support/fake-clock.js';
import { openDashboard, post, socketFolder, type TestDashboard, TOKEN } from '../support/ingest-dashboard.js';

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema({ $id: 'api', components: OPENAPI.components });

const CALL = stamp([
  started(),
  { type: 'turn.started', turnIndex: 0 },
  { type: 'turn.completed', turn: turn(0) },
  ended(),
]);
const RECORD = CALL.reduce<ReturnType<typeof reduceCall> | undefined>(reduceCall, undefined);

let room: ReturnType<typeof socketFolder>;
let dashboard: TestDashboard;

beforeEach(async () => {
  room = socketFolder();
  dashboard = await openDashboard({ folder: room.folder });
});
afterEach(async () => {
  await dashboard.close();
  room.remove();
});

/** A fact of the call, changed. */
function forged(index: number, fields: Record<string, unknown>): IngestEvent {
  return { ...CALL[index], ...fields } as IngestEvent;
}

function overNetwork(body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(dashboard.url + INGEST_PATH, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  });
}

describe('a call that is deleted', () => {
  const deletion = (fields: Partial<CallEvent> = {}): IngestEvent =>
    ({
      ...forged(3, { type: 'call.forgotten', term: 2, seq: 1, after: 4, afterTerm: 1 }),
      ...fields,
    }) as IngestEvent;
  const silent = { endReason: undefined, outcome: undefined, error: undefined, media: undefined };
  const forgotten = JSON.parse(JSON.stringify({ ...deletion(), ...silent })) as IngestEvent;

  it('leaves, and everything that comes of it later is known already', async () => {
    await dashboard.ingest({ events: CALL });
    expect(await dashboard.ingest({ events: [forgotten] })).toMatchObject({ accepted: 1, refused: [] });
    expect((await dashboard.records()).size).toBe(0);
    const resumed = CALL.map((event) => ({ ...event, term: 9 }));
    const answer = await dashboard.ingest({ events: [...CALL, ...resumed] });
    expect(answer).toMatchObject({ accepted: 0, duplicates: 8, refused: [] });
    // So high a term that no sender has more to say.
    expect(answer.calls).toMatchObject([{ callId: 'call-1', ended: true, term: 2 ** 31 }]);
    expect((await dashboard.records()).size).toBe(0);
  });

  it('does not stand in the way of the same id of another server', async () => {
    await dashboard.ingest({ events: CALL });
    await dashboard.ingest({ events: [forgotten] });
    const other = CALL.map((event) => ({ ...event, nodeId: 'node-2' }));
    expect(await dashboard.ingest({ nodeId: 'node-2', events: other.slice(0, 2) })).toMatchObject({
      accepted: 2,
    });
    expect(await dashboard.ingest({ nodeId: 'node-2', events: other })).toMatchObject({
      accepted: 2,
      duplicates: 2,
    });
    expect([...(await dashboard.records()).keys()]).toEqual(['call-1~node-2']);
  });
});

describe('a batch of facts', () => {
  it('becomes the record that its server has', async () => {
    const answer = await dashboard.ingest({ events: CALL });
    expect(answer).toMatchObject({ accepted: 4, duplicates: 0, refused: [] });
    expect(answer.calls).toEqual([
      { callId: 'call-1', nodeId: 'node-1', term: 1, seq: 4, ended: true, wanted: true },
    ]);
    expect(ajv.getSchema('api#/components/schemas/IngestAnswer')?.(answer)).toBe(true);
    expect((await dashboard.records()).get('call-1')).toEqual(RECORD);
  });

  it('changes nothing when it comes again, as a whole or in part', async () => {
    await dashboard.ingest({ events: CALL.slice(0, 3) });
    expect(await dashboard.ingest({ events: CALL })).toMatchObject({ accepted: 1, duplicates: 3 });
    expect(await dashboard.ingest({ events: CALL })).toMatchObject({ accepted: 0, duplicates: 4 });
    expect((await dashboard.records()).get('call-1')).toEqual(RECORD);
  });

  it('is not taken behind a gap, and says from where to send', async () => {
    await dashboard.ingest({ events: CALL.slice(0, 1) });
    const answer = await dashboard.ingest({ events: CALL.slice(2) });
    expect(answer.refused).toEqual([
      { index: 0, reason: 'gap' },
      { index: 1, reason: 'gap' },
    ]);
    expect(answer.calls[0]).toMatchObject({ seq: 1, ended: false });
  });

  it('may leave out what its sender says is not needed', async () => {
    const [first, , third] = CALL;
    const events = [first, { ...third, after: 1 }] as IngestEvent[];
    expect(await dashboard.ingest({ events })).toMatchObject({ accepted: 2, refused: [] });
  });

  it('is told what is here of calls that it asks about', async () => {
    await dashboard.ingest({ events: CALL.slice(0, 2) });
    const { calls } = await dashboard.ingest({
      calls: [
        { callId: 'call-1', nodeId: 'node-1', endedAt: null },
        { callId: 'call-1', nodeId: 'another', endedAt: null },
      ],
    });
    expect(calls.map(({ seq }) => seq)).toEqual([2, 0]);
  });

  it('is not wanted of calls that ended before all that a full history holds', async () => {
    for (let index = 0; index < 500; index += 1) {
      const events = stamp([started({ carrierCallId: null }), ended()], {
        callId: `c${index}`,
        at: 10_000 + index,
      });
      await dashboard.ingest({ events });
    }
    const { calls } = await dashboard.ingest({
      calls: [9_000, 11_000].map((endedAt) => ({ callId: `x${endedAt}`, nodeId: 'node-1', endedAt })),
    });
    expect(calls.map(({ wanted }) => wanted)).toEqual([false, true]);
  });

  it('keeps calls of several processes apart that have the same id', async () => {
    const other = CALL.map((event) => ({ ...event, nodeId: 'node-2' }));
    await dashboard.ingest({ nodeId: 'node-1', events: CALL.slice(0, 2) });
    await dashboard.ingest({ nodeId: 'node-2', events: other.slice(0, 1) });
    await dashboard.ingest({ nodeId: 'node-1', events: CALL.slice(2) });
    const answer = await dashboard.ingest({ nodeId: 'node-2', events: other.slice(1) });
    expect(answer.calls[0]).toMatchObject({ callId: 'call-1', nodeId: 'node-2', seq: 4 });
    const records = await dashboard.records();
    expect(records.get('call-1')).toEqual(RECORD);
    expect(records.get('call-1~node-2')).toEqual({
      ...RECORD,
      callId: 'call-1~node-2',
      nodeId: 'node-2',
      originId: 'node-2',
    });
  });

  describe('of a process that took the call over', () => {
    const taken = (facts: readonly CallFact[], seq: number, after = seq - 1) =>
      stamp(facts, { at: 2_000_000 }).map((event, index): IngestEvent => {
        const place = { nodeId: 'node-2', originId: 'node-1', term: 2, seq: seq + index };
        return { ...event, ...place, ...(index === 0 ? { after, afterTerm: 1 } : {}) };
      });
    const NEXT = taken([{ type: 'call.status', status: 'active', ...IDENTITY }], 3);
    const shown = async () => [...(await dashboard.records()).values()];

    it('goes on in the record that is here, and takes back what that process never knew', async () => {
      await dashboard.ingest({ nodeId: 'node-1', events: CALL.slice(0, 3) });
      const answer = await dashboard.ingest({
        nodeId: 'node-2',
        events: NEXT.map((fact) => ({ ...fact, seq: 2, after: 1 })),
      });
      expect(answer).toMatchObject({ accepted: 1, refused: [] });
      expect(answer.calls).toEqual([
        { callId: 'call-1', nodeId: 'node-1', term: 2, seq: 2, ended: false, wanted: true },
      ]);
      expect(await shown()).toMatchObject([{ nodeId: 'node-2', originId: 'node-1', turns: [] }]);
    });

    it.each([
      ['before', true],
      ['behind', false],
    ])('is all that counts, where the one before ended it, heard %s', async (_, isFirst) => {
      await dashboard.ingest({ nodeId: 'node-1', events: CALL.slice(0, 2) });
      const old = () => dashboard.ingest({ nodeId: 'node-1', events: CALL.slice(2) });
      if (isFirst) await old();
      await dashboard.ingest({ nodeId: 'node-2', events: NEXT });
      if (!isFirst)
        expect(await old()).toMatchObject({ accepted: 0, duplicates: 2, calls: [{ term: 2, seq: 3 }] });
      expect(await shown()).toMatchObject([{ status: 'active', endReason: null, nodeId: 'node-2' }]);
      await dashboard.ingest({
        nodeId: 'node-2',
        events: taken([ended({ endReason: 'agent-hangup' })], 4).map(
          ({ after: _a, afterTerm: _t, ...fact }) => fact as IngestEvent,
        ),
      });
      expect(await shown()).toMatchObject([
        { status: 'completed', endReason: 'agent-hangup', term: 2, seq: 4 },
      ]);
    });

    it('is not taken behind a gap, in its term or before it', async () => {
      await dashboard.ingest({ nodeId: 'node-1', events: CALL.slice(0, 1) });
      const gap = [{ index: 0, reason: 'gap' }];
      expect((await dashboard.ingest({ nodeId: 'node-2', events: NEXT })).refused).toEqual(gap);
      await dashboard.ingest({ nodeId: 'node-2', events: [...CALL.slice(1, 2), ...NEXT] });
      const later = taken([{ type: 'turn.started', turnIndex: 1 }], 5).map((fact) => ({
        ...fact,
        after: 4,
        afterTerm: 2,
      }));
      expect((await dashboard.ingest({ nodeId: 'node-2', events: later })).refused).toEqual(gap);
      expect(await shown()).toMatchObject([{ term: 2, seq: 3 }]);
    });

    it('comes late, and leaves an ended call as over as it was', async () => {
      await dashboard.ingest({ nodeId: 'node-1', events: CALL });
      const late = taken([{ type: 'incident.noted', code: 'late', message: 'Late.' }], 5);
      expect(await dashboard.ingest({ nodeId: 'node-2', events: late })).toMatchObject({ accepted: 1 });
      expect(await shown()).toMatchObject([
        { status: 'completed', nodeId: 'node-1', incidents: [{ code: 'late' }] },
      ]);
    });

    it('counts for the process that has it', async () => {
      const clock = new FakeClock();
      const senders = new Senders(clock, { activeCalls: 1 });
      expect(senders.charge('node-1', 'call-1', 10)).toBe(true);
      senders.move('call-1', { from: 'node-1', to: 'node-2' });
      expect([senders.charge('node-1', 'call-2', 10), senders.charge('node-2', 'call-3', 10)]).toEqual([
        true,
        false,
      ]);
      senders.release('node-2', 'call-1');
      expect(senders.charge('node-2', 'call-3', 10)).toBe(true);
    });

    it('is of the first term where its sender knows no terms', async () => {
      const old = CALL.map(({ term: _, ...event }) => event as IngestEvent);
      expect(await dashboard.ingest({ nodeId: 'node-1', events: old })).toMatchObject({ accepted: 4 });
      expect(await shown()).toEqual([RECORD]);
    });
  });

  it('is answered 503 when the store fails, and taken when it comes again', async () => {
    await dashboard.close();
    const store = new MemoryStore();
    const append = store.append.bind(store);
    let isFull = true;
    store.append = async (event: CallEvent) => {
      if (event.seq === 3 && isFull) throw new StoreError('The disk is full.');
      return append(event);
    };
    dashboard = await openDashboard({ folder: room.folder, store });
    const batch = { nodeId: 'sender', calls: [], events: CALL };
    expect((await dashboard.send(batch)).status).toBe(503);
    isFull = false;
    expect(await dashboard.ingest({ events: CALL })).toMatchObject({ accepted: 2, duplicates: 2 });
    expect((await dashboard.records()).get('call-1')).toEqual(RECORD);
  });
});

describe('a fact that cannot be taken', () => {
  const bad: [string, Record<string, unknown>, string][] = [
    ['a type of a newer version', { type: 'mood.changed', mood: 'good' }, 'unknown-type'],
    ['a type that is a name of every object', { type: 'constructor' }, 'unknown-type'],
    ['a missing field', { turnIndex: undefined }, 'invalid'],
    ['a field of another type', { turnIndex: '0' }, 'invalid'],
    ['a negative count', { turnIndex: -1 }, 'invalid'],
    ['a time that no date has', { at: 9e15 }, 'invalid'],
    ['a fact that points at itself', { after: 2 }, 'invalid'],
    ['an id that is a path', { callId: '../../etc' }, 'invalid'],
    ['an id without end', { callId: 'x'.repeat(1000) }, 'invalid'],
    ['a number of a fact that is none', { seq: 1.5 }, 'invalid'],
  ];

  it('lets the next one of its call pass that stands behind it', async () => {
    const events = [CALL[0], forged(1, { turnIndex: -1 }), CALL[2], CALL[3]] as IngestEvent[];
    expect(await dashboard.ingest({ events })).toMatchObject({ accepted: 3, refused: [{ index: 1 }] });
  });

  it.each(bad)('is refused and loses no other: %s', async (_what, fields, reason) => {
    // Without an envelope nobody knows that it was the one before.
    const next = { ...CALL[2], after: 1 } as IngestEvent;
    const events = [CALL[0], forged(1, fields), next, CALL[3]] as IngestEvent[];
    const answer = await dashboard.ingest({ events });
    expect(answer.refused).toEqual([expect.objectContaining({ index: 1, reason })]);
    expect(answer.accepted).toBe(3);
  });

  it('says which field of it is wrong, and never its value', async () => {
    const { refused } = await dashboard.ingest({
      events: [CALL[0] as CallEvent, forged(1, { turnIndex: 'secret' })],
    });
    expect(refused[0]?.message).toBe('turn.started.turnIndex must be integer.');
  });

  it('is one that says nothing of who talks to whom, of a call that is not here', async () => {
    const { refused } = await dashboard.ingest({ events: [{ ...CALL[3], after: 0 } as IngestEvent] });
    expect(refused).toEqual([{ index: 0, reason: 'no-call' }]);
    expect((await dashboard.records()).size).toBe(0);
  });

  it('loses the fields that are not known here, and none of its own', async () => {
    const text = JSON.stringify({ nodeId: 'sender', calls: [], events: CALL, future: [1] }).replace(
      '"turn":{',
      '"turn":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"mood":{"deep":[[[]]]},',
    );
    expect((await dashboard.send(text)).body).toMatchObject({ accepted: 4, refused: [] });
    expect((await dashboard.records()).get('call-1')).toEqual(RECORD);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each(['1e999', '-1e999'])('has a number that is too large for any sum: %s', async (number) => {
    const cost = stamp([
      started(),
      {
        type: 'cost.updated',
        cost: { stt: 1, llm: 0, tts: 0, telephony: 0, total: 1234.5, currency: 'USD', estimated: true },
        usage: null,
      },
    ]);
    const text = JSON.stringify({ nodeId: 'sender', calls: [], events: cost }).replace('1234.5', number);
    expect((await dashboard.send(text)).body).toMatchObject({
      accepted: 1,
      refused: [{ reason: 'invalid' }],
    });
  });
});

describe('a body that is no batch', () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  it.each([
    ['nothing', ''],
    ['no JSON', '{"nodeId":'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a batch of nobody', '{"calls":[],"events":[]}'],
    ['a batch without facts', '{"nodeId":"a","calls":[]}'],
    ['facts that are no list', '{"nodeId":"a","calls":[],"events":{"length":1}}'],
    ['a sender with a name that is none', '{"nodeId":"a b","calls":[],"events":[]}'],
    ['too many facts', `{"nodeId":"a","calls":[],"events":[${'0,'.repeat(5000)}0]}`],
    ['nested without end', deep],
  ])('is answered 400: %s', async (_what, body) => {
    const answer = await dashboard.send(body);
    expect([answer.status, answer.body]).toMatchObject([400, { error: { code: 'REQUEST_INVALID' } }]);
  });

  it('may nest without end where nobody looks', async () => {
    const body = `{"nodeId":"a","calls":[],"events":[${deep}],"x":${deep}}`;
    expect((await dashboard.send(body)).body).toMatchObject({ refused: [{ index: 0, reason: 'invalid' }] });
  });

  it('is answered 413 over 1 MiB, said or not, and leaves the dashboard as it was', async () => {
    const body = Buffer.alloc(1024 * 1024 + 1, 0x20);
    const path = dashboard.socket.path;
    const said = await post(path, body, { headers: { 'Content-Length': String(body.length) } });
    expect(said).toMatchObject({ status: 413, body: { error: { code: 'REQUEST_TOO_LARGE' } } });
    const unsaid = await post(path, body, { headers: { 'Transfer-Encoding': 'chunked' } });
    expect(unsaid.status).toBe(413);
    expect(await dashboard.ingest({ events: CALL })).toMatchObject({ accepted: 4 });
  });

  it('is answered 415 when it is not JSON, or compressed', async () => {
    for (const headers of [{ 'Content-Type': 'text/plain' }, { 'Content-Encoding': 'gzip' }]) {
      const answer = await post(dashboard.socket.path, '{}', { headers: headers as Record<string, string> });
      expect(answer.status).toBe(415);
    }
  });

  it('is not looked at when too many wait already', async () => {
    const batch = JSON.stringify({ nodeId: 'a', calls: [], events: CALL });
    const answers = await Promise.all(Array.from({ length: 40 }, () => post(dashboard.socket.path, batch)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(16);
    expect(statuses.every((status) => status === 200 || status === 429)).toBe(true);
  });
});

describe('ingest over the network', () => {
  const batch = JSON.stringify({ nodeId: 'sender', calls: [], events: CALL });

  it('needs the token as a bearer', async () => {
    expect((await overNetwork(batch)).status).toBe(401);
    expect((await overNetwork(batch, { Authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await dashboard.records()).size).toBe(0);
    expect((await overNetwork(batch, { Authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    expect((await dashboard.records()).size).toBe(1);
  });

  it('does not take the cookie of a browser for it, nor the token in the query', async () => {
    const page = await fetch(`${dashboard.url}/?token=${TOKEN}`);
    const cookie = page.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await overNetwork(batch, { Cookie: cookie })).status).toBe(401);
    const query = `${dashboard.url + INGEST_PATH}?token=${TOKEN}`;
    const headers = { 'Content-Type': 'application/json' };
    expect((await fetch(query, { method: 'POST', headers, body: batch })).status).toBe(401);
  });

  it('is closed where there is no token, even from this machine', async () => {
    await dashboard.close();
    dashboard = await openDashboard({ folder: room.folder, token: undefined });
    const answer = await overNetwork(batch);
    expect([answer.status, await answer.json()]).toMatchObject([403, { error: { code: 'AUTH_FORBIDDEN' } }]);
    expect((await dashboard.ingest({ events: CALL })).accepted).toBe(4);
  });

  it('is shut for a while when wrong tokens come in a row, but not to this machine', async () => {
    const away = { 'X-Forwarded-For': '203.0.113.9' };
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 11; attempt += 1) {
      statuses.push((await overNetwork(batch, { Authorization: 'Bearer wrong', ...away })).status);
    }
    expect(statuses.at(-1)).toBe(429);
    expect((await overNetwork(batch, { Authorization: `Bearer ${TOKEN}`, ...away })).status).toBe(429);
    expect((await overNetwork(batch, { Authorization: `Bearer ${TOKEN}` })).status).toBe(200);
  });

  it('answers other methods with 405, and commands with 409: it owns no calls', async () => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
    expect((await fetch(dashboard.url + INGEST_PATH, { headers })).status).toBe(405);
    await dashboard.ingest({ events: CALL.slice(0, 1) });
    const hangUp = await fetch(`${dashboard.url}/api/dashboard/calls/call-1/hangup`, {
      method: 'POST',
      headers,
      body: '{}',
    });
    expect(hangUp.status).toBe(409);
  });
});
