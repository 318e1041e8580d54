import { afterEach, beforeAll, afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/base/errors.js';
import { Gatekeeper, type RequestFacts } from '../../src/dashboard/auth.js';
import { hostNameOf } from '../../src/dashboard/host-name.js';
import { createDashboard } from '../../src/dashboard/index.js';
import { EventBus } from '../../src/events/bus.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { stamp, started } from '../support/call-facts.js';
import { type DashboardServer, errorCodeOf, send, startDashboard } from '../support/dashboard-server.js';
import { FakeClock } from '../support/fake-clock.js';
import { RecordedLogger } from '../support/recorded-logger.js';

const TOKEN = 'correct horse battery';
const API = '/api/dashboard/aggregates';
const HTML = { Accept: 'text/html,*/*' };
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const query = (token: string) => `?token=${encodeURIComponent(token)}`;
const cookieOf = (header: string[] | undefined) => (header?.[0] ?? '').split(';')[0] ?? '';

describe('a dashboard with a token', () => {
  let server: DashboardServer;
  const clock = new FakeClock();
  beforeAll(async () => {
    server = await startDashboard({ token: TOKEN, clock });
  });
  afterAll(() => server.close());
  beforeEach(() => clock.advance(120_000));

  it('ends a session for its own page alone', async () => {
    const page = await send(`${server.url}/${query(TOKEN)}`);
    const session = { Cookie: cookieOf(page.headers['set-cookie']) };
    const leave = (site: string, headers: Record<string, string> = session) =>
      send(`${server.url}/dashboard`, { method: 'DELETE', headers: { ...headers, 'Sec-Fetch-Site': site } });
    expect((await leave('same-origin', {})).status).toBe(401);
    const foreign = await leave('cross-site');
    expect([foreign.status, foreign.headers['set-cookie']]).toEqual([403, undefined]);
    const own = await leave('same-origin');
    expect(own.status).toBe(204);
    expect(own.headers['set-cookie']?.[0]).toMatch(
      /^offhook_session_[\w-]{8}=; Path=\/; Max-Age=0; HttpOnly/,
    );
  });

  it.each<[string, string, Record<string, string>, number]>([
    ['no token', API, {}, 401],
    ['the right token as bearer', API, bearer(TOKEN), 200],
    ['the scheme in another case', API, { Authorization: `bearer  ${TOKEN}` }, 200],
    ['another scheme', API, { Authorization: `Basic ${TOKEN}` }, 401],
    ['a wrong token', API, bearer('wrong'), 401],
    ['a prefix of the token', API, bearer(TOKEN.slice(0, -1)), 401],
    ['an empty token', API, bearer(''), 401],
    ['the right token in the query', API + query(TOKEN), {}, 200],
    ['a wrong token in the query', API + query('wrong'), {}, 401],
    ['an empty token in the query', `${API}?token=`, {}, 401],
    ['no token on the events', '/api/dashboard/events', {}, 401],
    ['no token on an unknown path', '/api/nothing', {}, 401],
    ['no token on the document', '/api/openapi.json', {}, 401],
    ['no token on the page', '/', {}, 401],
    ['no token on the page in a browser', '/dashboard', HTML, 401],
    ['the right token on the page', `/${query(TOKEN)}`, HTML, 200],
    ['the right token as bearer on the page', '/', bearer(TOKEN), 200],
    ['a foreign host with the right token', API, { ...bearer(TOKEN), Host: 'evil.example' }, 200],
  ])('answers %s with the right status', async (_name, path, headers, status) => {
    const answer = await send(server.url + path, { headers });
    expect(answer.status).toBe(status);
    expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined);
    expect(answer.text + JSON.stringify(answer.headers) + server.logger.text).not.toContain(TOKEN);
    if (status !== 401) return;
    if (headers === HTML) expect(answer.text).toMatch(/^<!doctype html>/i);
    else expect(errorCodeOf(answer)).toBe('AUTH_REQUIRED');
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  it('gives the page a session that opens the API, and that ends', async () => {
    const page = await send(`${server.url}/${query(TOKEN)}`, { headers: HTML });
    const [header = ''] = page.headers['set-cookie'] ?? [];
    expect(header).toMatch(
      /^offhook_session_[\w-]{8}=\d+\.[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/,
    );
    const Cookie = `theme=dark; ${cookieOf(page.headers['set-cookie'])}; x=y`;
    expect((await send(server.url + API, { headers: { Cookie } })).status).toBe(200);
    expect((await send(`${server.url}/`, { headers: { ...HTML, Cookie } })).status).toBe(200);
    clock.advance(7 * 24 * 3600 * 1000 - 1);
    expect((await send(server.url + API, { headers: { Cookie } })).status).toBe(200);
    clock.advance(1);
    expect((await send(server.url + API, { headers: { Cookie } })).status).toBe(401);
  });

  it('refuses a session that was changed, or is of another token', async () => {
    const page = await send(`${server.url}/`, { headers: bearer(TOKEN) });
    const cookie = cookieOf(page.headers['set-cookie']);
    const [name, value = ''] = cookie.split('=');
    const [expiry = '', mac = ''] = value.split('.');
    const forged = [
      `${name}=${Number(expiry) + 1}.${mac}`,
      `${name}=${expiry}.${mac.slice(1)}`,
      `${name}=${expiry}`,
      `${name}=${expiry}.${mac}.x`,
      `${name}=`,
      `offhook_session_1=${value}`,
    ];
    for (const Cookie of forged)
      expect([Cookie, (await send(server.url + API, { headers: { Cookie } })).status]).toEqual([Cookie, 401]);
    const other = await startDashboard({ token: 'another', clock });
    const own = await send(`${other.url}/`, { headers: bearer('another') });
    const [otherName] = cookieOf(own.headers['set-cookie']).split('=');
    expect(otherName).not.toBe(name);
    const moved = { Cookie: `${otherName}=${value}` };
    expect((await send(other.url + API, { headers: moved })).status).toBe(401);
    await other.close();
  });

  it('takes the session of before a restart', async () => {
    const page = await send(`${server.url}/`, { headers: bearer(TOKEN) });
    const restarted = await startDashboard({ token: TOKEN, clock });
    // A cookie of the same name that somebody else under this domain has set does no harm.
    const cookie = cookieOf(page.headers['set-cookie']);
    const headers = { Cookie: `${cookie.split('=')[0]}=planted; ${cookie}` };
    expect((await send(restarted.url + API, { headers })).status).toBe(200);
    await restarted.close();
  });

  it('marks the cookie Secure where the client came over TLS', async () => {
    const proxied = await startDashboard({ token: TOKEN, clock, trustProxy: true });
    const headers = { ...bearer(TOKEN), 'X-Forwarded-Proto': 'https' };
    const page = await send(`${proxied.url}/`, { headers });
    expect(page.headers['set-cookie']?.[0]).toMatch(/; Secure$/);
    await proxied.close();
  });

  it('shuts out who guesses for some seconds, also with the right token, and nobody who is in', async () => {
    const page = await send(`${server.url}/`, { headers: bearer(TOKEN) });
    const session = { Cookie: (page.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '' };
    // What a proxy has passed on is not from this machine.
    const away = { 'X-Forwarded-For': '203.0.113.9' };
    const ask = (headers: Record<string, string>) => send(server.url + API, { headers });
    for (let count = 0; count < 10; count += 1)
      expect((await ask({ ...away, ...bearer('guess') })).status).toBe(401);
    clock.advance(5500);
    for (const token of ['guess', TOKEN]) {
      const refused = await ask({ ...away, ...bearer(token) });
      expect([refused.status, errorCodeOf(refused)]).toEqual([429, 'LIMIT_EXCEEDED']);
      expect(refused.headers['retry-after']).toBe('10');
      expect((await send(`${server.url}/?token=${token}`, { headers: away })).status).toBe(429);
    }
    expect((await ask({ ...away, ...session })).status).toBe(200);
    expect((await ask({ ...away, ...session, ...bearer(TOKEN) })).status).toBe(200);
    expect((await ask(bearer(TOKEN))).status).toBe(200);
    expect((await ask({ ...bearer(TOKEN), Host: 'voice.example.com' })).status).toBe(429);
    expect((await ask(away)).status).toBe(401);
    clock.advance(9500);
    expect((await ask({ ...away, ...bearer(TOKEN) })).status).toBe(200);
    // Each further guess costs the same wait, until a minute has passed without one.
    expect((await ask({ ...away, ...bearer('guess') })).status).toBe(401);
    expect((await ask({ ...away, ...bearer(TOKEN) })).status).toBe(429);
    clock.advance(60_000);
    for (let count = 0; count < 9; count += 1)
      expect((await ask({ ...away, ...bearer('guess') })).status).toBe(401);
    expect((await ask({ ...away, ...bearer(TOKEN) })).status).toBe(200);
    clock.advance(60_000);
  });

  it('lets this machine guess: nobody else can shut it out', async () => {
    for (let count = 0; count < 30; count += 1)
      expect((await send(server.url + API, { headers: bearer('guess') })).status).toBe(401);
    expect((await send(server.url + API, { headers: bearer(TOKEN) })).status).toBe(200);
  });
});

describe('a dashboard without a token', () => {
  let server: DashboardServer;
  beforeAll(async () => {
    server = await startDashboard({ allowedHosts: ['Voice.Example.com:8443', '0.0.0.0'] });
  });
  afterAll(() => server.close());

  it.each([
    ['127.0.0.1:8000', 200],
    ['192.168.1.7', 200],
    ['[::1]:8000', 200],
    ['[fe80::1]', 200],
    ['localhost', 200],
    ['LOCALHOST:1', 200],
    ['app.localhost:8000', 200],
    ['voice.example.com', 200],
    ['voice.example.com:443', 200],
    ['evil.example', 403],
    ['voice.example.com.evil.example', 403],
    ['xvoice.example.com', 403],
    ['127.0.0.1.evil.example', 403],
    ['localhost.evil.example', 403],
    ['user@localhost', 403],
    ['localhost#', 403],
  ])('answers host %j with %i', async (Host, status) => {
    for (const path of [API, '/', '/api/dashboard/events']) {
      if (status === 200 && path.endsWith('events')) continue;
      const answer = await send(server.url + path, { headers: { Host } });
      expect([path, answer.status]).toEqual([path, status]);
      if (status === 403) expect(errorCodeOf(answer)).toBe('AUTH_FORBIDDEN');
    }
  });

  it('sets no cookie', async () => {
    expect((await send(`${server.url}/`)).headers['set-cookie']).toBeUndefined();
  });
});

it('refuses an empty token before anything listens', () => {
  const logger = new RecordedLogger();
  const parts = { store: new MemoryStore(), bus: new EventBus(logger), controls: null, logger };
  expect(() => createDashboard({ ...parts, token: '' })).toThrow(ConfigError);
});

it.each([
  ['example.com', 'example.com'],
  ['Example.COM.:80', 'example.com'],
  ['::1', '::1'],
  ['[::1]', '::1'],
  ['[nonsense]', null],
  ['a b', null],
  ['a/b', null],
  ['a:b', null],
])('reads the host name of %j', (host, name) => {
  expect(hostNameOf(host)).toBe(name);
});

describe('commands', () => {
  const JSON_TYPE = { 'Content-Type': 'application/json' };
  let server: DashboardServer;
  afterEach(() => server.close());

  async function postWith(headers: Record<string, string>, path = '/api/dashboard/calls/live/hangup') {
    server.publish(stamp([started()], { callId: 'live' })[0]!);
    return send(server.url + path, { method: 'POST', headers, body: '{}' });
  }

  const OWN = '127.0.0.1:PORT';
  it.each<[string, string | undefined, Record<string, string>, number]>([
    ['a program on this machine', undefined, JSON_TYPE, 202],
    ['the page', undefined, { ...JSON_TYPE, Origin: `http://${OWN}`, 'Sec-Fetch-Site': 'same-origin' }, 202],
    ['the page of an old browser', undefined, { ...JSON_TYPE, Origin: `http://${OWN}` }, 202],
    [
      'another site',
      undefined,
      { ...JSON_TYPE, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' },
      403,
    ],
    ['another site in an old browser', undefined, { ...JSON_TYPE, Origin: 'https://evil.example' }, 403],
    ['another port of this host', undefined, { ...JSON_TYPE, Origin: 'http://127.0.0.1:1' }, 403],
    ['another port, by its site', undefined, { ...JSON_TYPE, 'Sec-Fetch-Site': 'same-site' }, 403],
    ['a sandboxed frame', undefined, { ...JSON_TYPE, Origin: 'null' }, 403],
    ['a form of another site', undefined, { 'Content-Type': 'text/plain' }, 415],
    ['a form', undefined, { 'Content-Type': 'application/x-www-form-urlencoded' }, 415],
    ['a type that only looks right', undefined, { 'Content-Type': 'text/plain; application/json' }, 415],
    ['no type', undefined, {}, 415],
    ['a proxy', undefined, { ...JSON_TYPE, 'X-Forwarded-For': '203.0.113.9' }, 403],
    ['a proxy of the standard', undefined, { ...JSON_TYPE, Forwarded: 'for=203.0.113.9' }, 403],
    ['a tunnel', undefined, { ...JSON_TYPE, 'CF-Connecting-IP': '203.0.113.9' }, 403],
    ['a proxy that says so', undefined, { ...JSON_TYPE, Via: '1.1 proxy' }, 403],
    ['the public name', undefined, { ...JSON_TYPE, Host: 'voice.example.com' }, 403],
    ['a foreign name', undefined, { ...JSON_TYPE, Host: 'evil.example' }, 403],
    ['no token where there is one', TOKEN, JSON_TYPE, 401],
    ['the token', TOKEN, { ...JSON_TYPE, ...bearer(TOKEN) }, 202],
    [
      'the token through a proxy',
      TOKEN,
      { ...JSON_TYPE, ...bearer(TOKEN), 'X-Forwarded-For': '203.0.113.9' },
      202,
    ],
    [
      'the token from another site',
      TOKEN,
      { ...JSON_TYPE, ...bearer(TOKEN), Origin: 'https://evil.example' },
      403,
    ],
    ['a session of the page', TOKEN, { ...JSON_TYPE, Cookie: 'SESSION', Origin: `http://${OWN}` }, 202],
    [
      'a session of another site',
      TOKEN,
      { ...JSON_TYPE, Cookie: 'SESSION', Origin: 'https://evil.example' },
      403,
    ],
    ['a session without an origin', TOKEN, { ...JSON_TYPE, Cookie: 'SESSION' }, 403],
    [
      'a session behind a proxy that rewrites the host',
      TOKEN,
      {
        ...JSON_TYPE,
        Cookie: 'SESSION',
        Origin: 'https://voice.example.com',
        'Sec-Fetch-Site': 'same-origin',
      },
      202,
    ],
  ])('takes %s or not', async (_name, token, wanted, status) => {
    server = await startDashboard({ allowedHosts: ['voice.example.com'], token });
    const page = token === undefined ? undefined : await send(`${server.url}/`, { headers: bearer(token) });
    const session = cookieOf(page?.headers['set-cookie']);
    const headers = Object.fromEntries(
      Object.entries(wanted).map(([name, value]) => [
        name,
        value.replace('PORT', String(server.port)).replace('SESSION', session),
      ]),
    );
    expect((await postWith(headers)).status).toBe(status);
    expect(server.commands).toEqual(status === 202 ? ['hangup live'] : []);
  });

  it('takes no token from the query', async () => {
    server = await startDashboard({ token: TOKEN });
    const answer = await postWith(JSON_TYPE, `/api/dashboard/calls/live/hangup${query(TOKEN)}`);
    expect(answer.status).toBe(401);
  });

  it('takes nothing from another machine without a token', () => {
    const keeper = new Gatekeeper({ allowedHosts: [], clock: new FakeClock(), logger: new RecordedLogger() });
    const facts = (peerAddress: string, host: string): RequestFacts => ({
      header: (name) => (name === 'host' ? host : undefined),
      query: new URLSearchParams(),
      address: peerAddress,
      peerAddress,
      publicHost: host,
      secure: false,
    });
    const may = (peer: string, host = '127.0.0.1') => keeper.mayCommand(facts(peer, host));
    expect([may('127.0.0.1'), may('::ffff:127.0.0.1'), may('::1', '[::1]:8000')]).toEqual([true, true, true]);
    expect([may('192.168.1.7'), may('::ffff:10.0.0.1'), may('127.0.0.1', '192.168.1.7')]).toEqual([
      false,
      false,
      false,
    ]);
  });
});
