import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CarrierError, NotFoundError, RequestError, StoreError } from '../../src/base/errors.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { Aggregates, CallsPage } from '../../src/contract/dashboard-api.js';
import type { OPENAPI } from '../../src/dashboard/openapi.js';
import { EVERY_FACT, ended, stamp, started } from '../support/call-facts.js';
import { violations, violationsOf } from '../support/openapi-check.js';
import {
  type DashboardServer,
  errorCodeOf,
  send,
  startDashboard,
  failingControls,
} from '../support/dashboard-server.js';

let server: DashboardServer;
const get = async (path: string) => send(server.url + path);
const getJson = async <T>(path: string) => JSON.parse((await get(path)).text) as T;

beforeEach(async () => {
  server = await startDashboard();
  server.publish(
    ...stamp(EVERY_FACT, { callId: 'full', at: 1000 }),
    ...stamp([started({ direction: 'outbound', carrierCallId: 'CA-live' })], { callId: 'live', at: 2000 }),
  );
  await server.bus.settled();
});
afterEach(() => server.close());

describe('the API', () => {
  it.each([
    ['/api/dashboard/calls', 'CallsPage'],
    ['/api/dashboard/calls/full', 'CallRecord'],
    ['/api/dashboard/calls/CA-live', 'CallRecord'],
    ['/api/dashboard/active', 'CallList'],
    ['/api/dashboard/aggregates', 'Aggregates'],
    ['/api/dashboard/export/calls', 'CallList'],
    ['/api/dashboard/calls/none', 'Error'],
  ])('answers %s as its document says (%s)', async (path, schema) => {
    const answer = await get(path);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(violations(schema, JSON.parse(answer.text))).toEqual([]);
  });

  it.each(stamp(EVERY_FACT).map((event) => [event.type, event] as const))(
    'describes the fact %s',
    (_type, event) => {
      expect(violations('CallEvent', event)).toEqual([]);
      expect(violations('CallEvent', { ...event, surprise: 1 })).not.toEqual([]);
    },
  );

  it('tells the phase of a call that is up, in lists too, and none of one that is over', async () => {
    const [phase] = stamp([{ type: 'phase.changed', phase: 'hearing', previous: 'listening' }], {
      callId: 'live',
      at: 3000,
    });
    server.publish({ ...phase!, seq: 2 });
    const answers = await Promise.all(
      ['calls/live', 'calls/CA-live', 'calls/full'].map((path) =>
        getJson<CallRecord>(`/api/dashboard/${path}`),
      ),
    );
    const hearing = { name: 'hearing', since: 3000 };
    expect(answers.map((record) => record.phase)).toEqual([hearing, hearing, null]);
    const { calls } = await getJson<CallsPage>('/api/dashboard/calls');
    expect(calls.map((call) => call.phase)).toEqual([hearing, null]);
    expect(violations('CallRecord', answers[0])).toEqual([]);
    expect(violations('CallRecord', { ...answers[0], phase: { ...hearing, name: 'stopping' } })).not.toEqual(
      [],
    );
  });

  it('lists newest first, without turns and transcript, and pages to the end', async () => {
    const first = await getJson<CallsPage>('/api/dashboard/calls?limit=1');
    expect(first.calls.map((call) => call.callId)).toEqual(['live']);
    expect(first.total).toBe(2);
    expect(first.calls[0]).not.toHaveProperty('turns');
    const next = await getJson<CallsPage>(`/api/dashboard/calls?limit=1&cursor=${first.nextCursor}`);
    expect(next.calls.map((call) => call.callId)).toEqual(['full']);
    expect(next.nextCursor).toBeNull();
  });

  it.each([
    ['status=active', ['live']],
    ['status=completed', ['full']],
    ['direction=outbound', ['live']],
    ['q=ca-FULL', ['full']],
    ['from=1500', ['live']],
    ['to=1970-01-01T00:00:01.500Z', ['full']],
    ['from=1970-01-01', ['live', 'full']],
    ['carrier=carrier-a', ['live', 'full']],
    ['carrier=carrier-b', []],
    ['outcome=answered', ['full']],
    ['endReason=idle', []],
    ['token=x', ['live', 'full']],
    ['q=', ['live', 'full']],
    ['q=%2B1+(555)+0111', ['live', 'full']],
    ['words=hI', ['full']],
    ['words=LOOK_up', ['full']],
    ['words=nothing', []],
    ['incident=stream-replaced', ['full']],
    ['incident=stream', []],
    ['provider=fake', ['live', 'full']],
    ['provider=fake/llm', ['live', 'full']],
    ['provider=llm', []],
    ['agent=nobody', []],
    ['nodeId=node-1', ['live', 'full']],
    ['minLatencyMs=812', ['full']],
    ['minLatencyMs=812.5', []],
    ['minCost=0.2', ['full']],
    ['minCost=0', ['live', 'full']],
    ['words=hi&minCost=0.2&provider=fake', ['full']],
    ['q=+15550111', ['live', 'full']],
    ['q=5501%3D', []],
    ['from=1970-01-01T02:00:01.5+02:00', ['live']],
    ['to=1970-01-01T02:00:01.5%2B02:00', ['full']],
    ['status=completed&direction=inbound&q=full&from=0&to=8640000000000000', ['full']],
  ])('filters by %s', async (query, callIds) => {
    const page = await getJson<CallsPage>(`/api/dashboard/calls?${query}`);
    expect(page.calls.map((call) => call.callId)).toEqual(callIds);
  });

  it.each([
    ['limit', '0'],
    ['limit', '501'],
    ['limit', '1.5'],
    ['limit', '1e3'],
    ['limit', '%2B5'],
    ['limit', '0x10'],
    ['limit', '5%00'],
    ['limit', '٣'],
    ['limit', ''],
    ['limit[]', '5'],
    ['limit%5B0%5D', '5'],
    ['Limit', '5'],
    ['unknown', '1'],
    ['__proto__', '1'],
    ['constructor', '1'],
    ['format', 'csv'],
    ['limit', '-1'],
    ['limit', '1e2'],
    ['limit', '5&limit=6'],
    ['cursor', 'nonsense'],
    ['cursor', '%00'],
    ['cursor', ''],
    ['cursor', 'MTAwMDpmdWxs&cursor=MTAwMDpmdWxs'],
    ['cursor', 'MTAwMDpmdWxs='],
    ['cursor', 'x'.repeat(201)],
    ['status', 'over'],
    ['direction', 'sideways'],
    ['carrier', 'Carrier-C'],
    ['outcome', 'fine'],
    ['endReason', 'over'],
    ['q', 'x'.repeat(201)],
    ['q', 'a&q=b'],
    ['words', ''],
    ['words', 'x'.repeat(201)],
    ['incident', ''],
    ['agent', ''],
    ['minLatencyMs', '-1'],
    ['minLatencyMs', '1e3'],
    ['minCost', ''],
    ['minCost', '9999999999'],
    ['minCost', '0.1234567'],
    ['status', 'active&status=completed'],
    ['status', ''],
    ['direction', 'INBOUND'],
    ['from', ''],
    ['from', '2026-02-30'],
    ['from', '2026-04-31T10:00Z'],
    ['from', '1.5'],
    ['from', '1e3'],
    ['from', 'NaN'],
    ['to', '2026-01-01T10:00:60Z'],
    ['from', 'yesterday'],
    ['from', '2026-13-45'],
    ['from', '99999999999999999'],
    ['to', '-5'],
    ['to', '2026-01-01T10:00'],
  ])('refuses %s=%s and names the parameter', async (name, value) => {
    const answer = await get(`/api/dashboard/calls?${name}=${value}`);
    expect(answer.status).toBe(400);
    expect(errorCodeOf(answer)).toBe('REQUEST_INVALID');
    expect(JSON.parse(answer.text)).toMatchObject({
      error: { message: expect.stringContaining(`"${decodeURIComponent(name)}"`) },
    });
  });

  it.each([
    '/api/dashboard/export/calls',
    '/api/dashboard/calls/full',
    '/api/dashboard/active',
    '/api/dashboard/aggregates',
    '/api/dashboard/events',
    '/api/openapi.json',
  ])('refuses a parameter that %s does not have', async (path) => {
    const answer = await get(`${path}?surprise=%22%3Cb%3E`);
    expect([answer.status, errorCodeOf(answer)]).toEqual([400, 'REQUEST_INVALID']);
    expect(answer.text).toContain('surprise');
    expect((await get(`/api/dashboard/aggregates?${'n'.repeat(3000)}=1`)).text.length).toBeLessThan(200);
  });

  it('refuses the filters of an export like those of the list, before anything is sent', async () => {
    for (const query of [
      'limit=5',
      'cursor=x',
      'from=never',
      'status=',
      'format=xml',
      'format=csv&format=csv',
    ]) {
      const answer = await get(`/api/dashboard/export/calls?${query}`);
      expect([query, answer.status, errorCodeOf(answer)]).toEqual([query, 400, 'REQUEST_INVALID']);
      expect(answer.text).toContain(`\\"${query.split('=')[0]}\\"`);
    }
  });

  it('pages neither repeat nor miss a call while others come, end and change', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(30), { minLength: 1, maxLength: 25 }),
        fc.integer({ min: 1, max: 6 }),
        fc.array(fc.tuple(fc.nat(30), fc.boolean()), { maxLength: 25 }),
        async (starts, limit, comings) => {
          const own = await startDashboard();
          const begin = (callId: string, at: number) =>
            own.publish(...stamp([started({ carrierCallId: null })], { callId, at }));
          for (const [index, at] of starts.entries()) begin(`old-${index}`, at);
          const seen: string[] = [];
          let cursor: string | null = null;
          do {
            const page: CallsPage = JSON.parse(
              (
                await send(
                  `${own.url}/api/dashboard/calls?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`,
                )
              ).text,
            );
            seen.push(...page.calls.map(({ callId }) => callId).filter((callId) => callId.startsWith('old')));
            expect(page.calls.length).toBeLessThanOrEqual(limit);
            cursor = page.nextCursor;
            const [at, ends] = comings.pop() ?? [0, true];
            begin(`new-${comings.length}`, at);
            if (ends)
              own.publish({ ...stamp([ended()], { callId: `old-${at % starts.length}` })[0]!, seq: 2 });
            await own.bus.settled();
          } while (cursor !== null);
          await own.close();
          expect([...seen].sort()).toEqual(starts.map((_, index) => `old-${index}`).sort());
        },
      ),
      { numRuns: 15 },
    );
  });

  it('answers HEAD like GET without the body, and OPTIONS with what a path has', async () => {
    const paths = ['/', '/api/dashboard/calls', '/api/dashboard/calls/full', '/api/dashboard/active'];
    for (const path of [...paths, '/api/dashboard/export/calls', '/api/dashboard/events', '/metrics']) {
      const head = await send(server.url + path, { method: 'HEAD' });
      expect([path, head.status, head.text]).toEqual([path, 200, '']);
      const options = await send(server.url + path, { method: 'OPTIONS' });
      expect([path, options.status, options.text]).toEqual([path, 204, '']);
      expect(options.headers.allow).toBe(
        path.endsWith('/full') ? 'GET, HEAD, DELETE, OPTIONS' : 'GET, HEAD, OPTIONS',
      );
      expect(options.headers['access-control-allow-origin']).toBeUndefined();
    }
    const command = await send(`${server.url}/api/dashboard/calls/live/hangup`, { method: 'OPTIONS' });
    expect([command.status, command.headers.allow]).toEqual([204, 'POST, OPTIONS']);
  });

  it('is JSON whatever is accepted, never compressed, never cached', async () => {
    const headers = { Accept: 'text/csv, application/xml', 'Accept-Encoding': 'gzip, br' };
    for (const path of ['/api/dashboard/calls', '/api/dashboard/export/calls', '/api/nothing']) {
      const answer = await send(server.url + path, { headers });
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
      expect(answer.headers['content-encoding']).toBeUndefined();
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers['cross-origin-resource-policy']).toBe('same-origin');
    }
  });

  it('counts only the calls that match, where a filter is given', async () => {
    const count = async (query: string) =>
      (await getJson<Aggregates>(`/api/dashboard/aggregates${query}`)).totalCalls;
    expect([await count(''), await count('?status=completed'), await count('?to=1')]).toEqual([2, 1, 0]);
    const bad = await get('/api/dashboard/aggregates?from=yesterday');
    expect([bad.status, bad.text.includes('from')]).toEqual([400, true]);
  });

  it('refuses an interval that ends before it starts, and an unknown export format', async () => {
    expect((await get('/api/dashboard/calls?from=5&to=4')).status).toBe(400);
    expect((await get('/api/dashboard/export/calls?format=xml')).status).toBe(400);
  });

  it.each([
    ['GET', '/api', 404],
    ['GET', '/api/nothing', 404],
    ['GET', '/api/dashboard', 404],
    ['GET', '/api/dashboard/calls/a/b', 404],
    ['GET', '/api/dashboard/calls/%E0%A4%A', 400],
    ['DELETE', '/api/dashboard/calls/full', 403],
    ['PUT', '/api/dashboard/calls/full', 405],
    ['DELETE', '/api/dashboard/calls', 405],
    ['PUT', '/api/dashboard/calls', 405],
    ['GET', '/api/dashboard/calls/full/hangup', 405],
    ['POST', '/', 405],
  ])('answers %s %s with %i and an error body', async (method, path, status) => {
    const answer = await send(server.url + path, { method });
    expect(answer.status).toBe(status);
    expect(violations('Error', JSON.parse(answer.text))).toEqual([]);
    if (status === 405) expect(answer.headers.allow).toBeDefined();
  });

  it('documents every endpoint that it routes, and routes every one that it documents', async () => {
    const document = await getJson<typeof OPENAPI>('/api/openapi.json');
    expect(document.openapi).toBe('3.1.1');
    for (const [path, methods] of Object.entries<object>(document.paths)) {
      if (path.endsWith('/events')) continue;
      for (const method of Object.keys(methods)) {
        const answer = await send(server.url + path.replace('{callId}', 'full'), {
          method: method.toUpperCase(),
          headers: { 'Content-Type': 'application/json' },
          ...(method === 'post' ? { body: '{"to":"+15550123","text":"Hello."}' } : {}),
        });
        // A call that is over takes no command and has no sound: 409 shows that the route is there. Without a token nothing is said.
        const post = /\/(?:say|inform)$/.test(path) ? 403 : 409;
        const get = path.endsWith('/listen') ? 409 : 200;
        const status = { get, post, delete: path === '/dashboard' ? 204 : 403 }[method];
        expect([path, method, answer.status]).toEqual([path, method, status]);
      }
    }
  });
});

describe('commands', () => {
  const post = (path: string, body: unknown) =>
    send(`${server.url}/api/dashboard/calls/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json; charset=utf-8' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  it('hands a command to the owner of the call, by our id', async () => {
    expect(await post('CA-live/hangup', {})).toMatchObject({
      status: 202,
      text: '{"callId":"live","hangUp":"done"}',
    });
    expect((await post('live/transfer', { to: '+15550123' })).text).toBe('{"callId":"live"}');
    expect(server.commands).toEqual(['hangup live', 'transfer live +15550123']);
  });

  it('hangs up again what is still pending at the carrier', async () => {
    const { seq = 0 } = (await server.store.get('full')) ?? {};
    const fact = { type: 'hangup.updated', state: 'pending' } as const;
    await server.store.append({
      callId: 'full',
      nodeId: 'node-1',
      term: 1,
      seq: seq + 1,
      at: Date.now(),
      ...fact,
    });
    expect((await post('full/hangup', {})).status).toBe(202);
    expect((await getJson<CallRecord>('/api/dashboard/calls/full')).hangUp).toBe('pending');
  });

  it.each([
    ['full/hangup', {}, 409, 'REQUEST_CONFLICT'],
    ['full/transfer', { to: '+15550123' }, 409, 'REQUEST_CONFLICT'],
    ['live/transfer', {}, 400, 'REQUEST_INVALID'],
    ['live/transfer', { to: '5550123' }, 400, 'REQUEST_INVALID'],
    ['live/transfer', { to: ['+15550123'] }, 400, 'REQUEST_INVALID'],
    ['live/hangup', '{', 400, 'REQUEST_INVALID'],
    ['live/hangup', [], 400, 'REQUEST_INVALID'],
    ['live/hangup', { x: 'y'.repeat(5000) }, 413, 'REQUEST_TOO_LARGE'],
  ])('answers %s %j with %i', async (path, body, status, code) => {
    const answer = await post(path, body);
    expect([answer.status, errorCodeOf(answer)]).toEqual([status, code]);
    expect(server.commands).toEqual([]);
  });

  it.each([
    [new NotFoundError('No such call.'), 404],
    [new RequestError('REQUEST_CONFLICT', 'The call is over.'), 409],
    [new CarrierError('The carrier did not answer.', { status: null, retryable: true }), 502],
    [new StoreError('The store is gone.'), 503],
    [new Error('secret of a vendor'), 500],
  ])('passes on what the owner says: %s', async (error, status) => {
    await server.close();
    server = await startDashboard({ controls: failingControls(error) });
    const answer = await post('unheard-of/hangup', {});
    expect(answer.status).toBe(status);
    expect(violationsOf('/api/dashboard/calls/{callId}/hangup', 'POST', answer)).toEqual([]);
    expect(answer.text + server.logger.text).not.toContain('secret');
  });

  describe('that put words into a call', () => {
    const token = 'a-token-of-this-test-0123456789';
    const tell = (path: string, body: object) =>
      send(`${server.url}/api/dashboard/calls/${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      });
    const restart = async () => {
      const { store } = server;
      await server.close();
      server = await startDashboard({ token, store });
    };

    it.each(['say', 'inform'])('are refused where no token is set: %s', async (command) => {
      const answer = await post(`live/${command}`, { text: 'Hello.' });
      expect([answer.status, errorCodeOf(answer), server.commands]).toEqual([403, 'AUTH_FORBIDDEN', []]);
      expect(violationsOf(`/api/dashboard/calls/{callId}/${command}`, 'POST', answer)).toEqual([]);
    });

    it('go to the owner of the call, without markup and by our id', async () => {
      await restart();
      const said = await tell('CA-live/say', { text: '**We close.**', interrupt: true });
      expect([said.status, said.text]).toEqual([200, '{"callId":"live","outcome":"heard"}']);
      expect(violationsOf('/api/dashboard/calls/{callId}/say', 'POST', said)).toEqual([]);
      const told = await tell('live/inform', { text: 'The order\u0007 is ready.' });
      expect([told.status, told.text]).toEqual([202, '{"callId":"live"}']);
      expect(violationsOf('/api/dashboard/calls/{callId}/inform', 'POST', told)).toEqual([]);
      expect(server.commands).toEqual([
        'say live We close. {"interrupt":true}',
        'inform live The order  is ready.',
      ]);
    });

    it.each<[string, object, number, string]>([
      ['live/say', {}, 400, 'REQUEST_INVALID'],
      ['live/say', { text: '—' }, 400, 'REQUEST_INVALID'],
      ['live/say', { text: 'Hello.', interrupts: true }, 400, 'REQUEST_INVALID'],
      ['live/say', { text: 'Hello.', interrupt: 1 }, 400, 'REQUEST_INVALID'],
      ['live/inform', { text: 7 }, 400, 'REQUEST_INVALID'],
      ['live/inform', { text: 'x'.repeat(4001) }, 400, 'REQUEST_INVALID'],
      ['live/inform', { text: 'x'.repeat(40_000) }, 413, 'REQUEST_TOO_LARGE'],
      ['full/say', { text: 'Hello.' }, 409, 'REQUEST_CONFLICT'],
      ['full/inform', { text: 'Hello.' }, 409, 'REQUEST_CONFLICT'],
    ])('are answered: %s %j', async (path, body, status, code) => {
      await restart();
      const answer = await tell(path, body);
      expect([answer.status, errorCodeOf(answer), server.commands]).toEqual([status, code, []]);
    });
  });

  it('tells what became of it on the record, over REST and in the list', async () => {
    const record = await getJson<CallRecord>('/api/dashboard/calls/full');
    expect(record.transfer).toEqual({ to: '+15550123', startedAt: expect.any(Number), result: 'busy' });
    expect(record.incidents.map(({ code }) => code)).toEqual(['stream-replaced', 'CARRIER_FAILED']);
    const page = await getJson<CallsPage>('/api/dashboard/calls?status=completed');
    expect(page.calls[0]).toMatchObject({ transfer: { result: 'busy' }, incidents: [{}, {}] });
  });

  it('refuses with 409 where this process owns no calls, and 404 for none', async () => {
    const { store } = server;
    await server.close();
    server = await startDashboard({ store, controls: null });
    expect((await post('live/hangup', {})).status).toBe(409);
    expect((await post('none/hangup', {})).status).toBe(404);
  });
});

describe('a failing store', () => {
  it('is answered without its words, and logged', async () => {
    await server.close();
    const { store } = server;
    const broken = new Proxy(store, {
      get: (target, name) =>
        name === 'aggregates'
          ? () => Promise.reject(new Error('disk /home/secret'))
          : (target[name as keyof typeof target] as () => unknown).bind(target),
    });
    server = await startDashboard({ store: broken });
    const answer = await get('/api/dashboard/aggregates');
    expect([answer.status, errorCodeOf(answer)]).toEqual([500, 'INTERNAL']);
    expect(answer.text + server.logger.text).not.toContain('secret');
    expect(server.logger.sentences('error')).toEqual(['dashboard request failed']);
    expect((await getJson<CallRecord>('/api/dashboard/calls/live')).callId).toBe('live');
  });
});
