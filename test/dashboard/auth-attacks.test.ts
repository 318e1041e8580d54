// What somebody tries who has no token, or a stale one.
import { connect } from 'node:net';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AttemptLimit } from '../../src/dashboard/attempt-limit.js';
import { stamp, started } from '../support/call-facts.js';
import { type DashboardServer, send, startDashboard } from '../support/dashboard-server.js';
import { FakeClock } from '../support/fake-clock.js';

const TOKEN = 'Tökén-with a space';
const encoded = encodeURIComponent(TOKEN);
const API = '/api/dashboard/calls';
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const utf8 = (token: string) => bearer(Buffer.from(token, 'utf8').toString('latin1'));
const ASCII = 'correct horse battery';

describe('somebody without the token', () => {
  let server: DashboardServer;
  const clock = new FakeClock();
  beforeAll(async () => {
    server = await startDashboard({ token: ASCII, clock });
    server.publish(...stamp([started({ caller: '+15550177' })], { callId: 'live' }));
    await server.bus.settled();
  });
  afterAll(() => server.close());
  beforeEach(() => clock.advance(120_000));

  it.each([
    [API, { method: 'HEAD' }],
    [API, { method: 'OPTIONS' }],
    [API, { method: 'DELETE' }],
    [API, { headers: { 'X-HTTP-Method-Override': 'GET' } }],
    ['/api//dashboard/calls', {}],
    ['//api/dashboard/calls', {}],
    ['/api/./dashboard/calls', {}],
    ['/x/../api/dashboard/calls', {}],
    ['/api%2Fdashboard/calls', {}],
    ['/%61pi/dashboard/calls', {}],
    ['/API/dashboard/calls', {}],
    ['/api/dashboard/calls/', {}],
    ['/api/dashboard/calls/live;token=x', {}],
    ['/METRICS', {}],
    ['/metrics/', {}],
    ['/dashboard/../metrics', {}],
    [`${API}?token[]=${encodeURIComponent(ASCII)}`, {}],
    [`${API}?Token=${encodeURIComponent(ASCII)}`, {}],
    [`${API}?token=x&token=${encodeURIComponent(ASCII)}`, {}],
    [API, { headers: { 'X-Forwarded-For': '127.0.0.1', Forwarded: 'for=127.0.0.1' } }],
    [API, { headers: { Host: 'localhost', Origin: 'http://localhost' } }],
    [API, { headers: { Authorization: ASCII } }],
    [API, { headers: { Authorization: `Bearer ${ASCII.toUpperCase()}` } }],
    [API, { headers: { Authorization: `Bearer ${ASCII}, Bearer x` } }],
    [API, { headers: { Authorization: `Token ${ASCII}` } }],
    [API, { headers: { Authorization: 'Bearer ' } }],
    [API, { headers: { 'X-Authorization': `Bearer ${ASCII}` } }],
    [API, { headers: bearer(`${ASCII}x`) }],
    [API, { headers: bearer('x'.repeat(8000)) }],
    [API, { headers: { Cookie: `token=${ASCII}` } }],
  ])('gets nothing by %s %j', async (path, options) => {
    const answer = await send(server.url + path, options);
    expect([401, 404]).toContain(answer.status);
    expect(answer.text).not.toContain('5550177');
    expect(answer.headers['set-cookie']).toBeUndefined();
    if (answer.status === 401) expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  it('gets nothing by a cookie that is not of this server', async () => {
    const page = await send(`${server.url}/`, { headers: bearer(ASCII) });
    const [pair = ''] = (page.headers['set-cookie']?.[0] ?? '').split(';');
    const [name = '', value = ''] = pair.split('=');
    const [expiry = '', mac = ''] = value.split('.');
    expect((await send(server.url + API, { headers: { Cookie: pair } })).status).toBe(200);
    for (const forged of [
      `9999999999999.${mac}`,
      `0${expiry}.${mac}`,
      `+${expiry}.${mac}`,
      `${expiry}.${mac.toLowerCase()}`,
      `${expiry}.${mac}=`,
      `${expiry}.`,
      `.${mac}`,
      'undefined',
      ASCII,
      Buffer.from(ASCII).toString('base64'),
    ]) {
      const answer = await send(server.url + API, { headers: { Cookie: `${name}=${forged}` } });
      expect([forged, answer.status]).toEqual([forged, 401]);
    }
    for (const shape of ['utf8', 'base64', 'base64url', 'hex'] as const)
      expect(pair).not.toContain(Buffer.from(ASCII).toString(shape));
  });

  it('is slowed down whatever address it claims, and slows nobody down who may', async () => {
    const page = await send(`${server.url}/`, { headers: bearer(ASCII) });
    const Cookie = (page.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';
    const statuses: number[] = [];
    for (let guess = 0; guess < 40; guess += 1) {
      const headers = { ...bearer(`guess ${guess}`), 'X-Forwarded-For': `203.0.113.${guess}` };
      statuses.push((await send(server.url + API, { headers })).status);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(new Set(statuses.slice(10))).toEqual(new Set([429]));
    const away = { 'X-Forwarded-For': '203.0.113.1' };
    expect((await send(server.url + API, { headers: { ...bearer(ASCII), ...away } })).status).toBe(429);
    expect((await send(server.url + API, { headers: { Cookie, ...away } })).status).toBe(200);
    // An old bookmark with a stale token in it, in a browser that has a session.
    expect(
      (await send(`${server.url}/?token=stale`, { headers: { Cookie, Accept: 'text/html' } })).status,
    ).toBe(200);
    expect((await send(`${server.url}/?token=${encodeURIComponent(ASCII)}`)).status).toBe(200);
  });

  it('leaves no token in the log, whatever fails', async () => {
    for (const path of ['/api/%E0%A4%A', API, '/api/nothing', '/'])
      for (const token of [ASCII, 'a-wrong-secret']) {
        const query = `?token=${encodeURIComponent(token)}&limit=x`;
        const { text, headers } = await send(server.url + path + query);
        expect(text + JSON.stringify(headers)).not.toContain(token);
      }
    expect(server.logger.text).not.toContain(ASCII);
    expect(server.logger.text).not.toContain('a-wrong-secret');
  });

  it('gets 401 on a connection that was let in before', async () => {
    const socket = connect(server.port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    const head = `GET /api/dashboard/aggregates HTTP/1.1\r\nHost: x\r\n`;
    socket.write(`${head}Authorization: Bearer ${ASCII}\r\n\r\n${head}Connection: close\r\n\r\n`);
    await once(socket, 'close');
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 401']);
  });
});

describe('a token of any characters', () => {
  it('is taken as it is, and not as something like it', async () => {
    const server = await startDashboard({ token: TOKEN });
    expect((await send(`${server.url}${API}?token=${encoded}`)).status).toBe(200);
    expect((await send(`${server.url}${API}?token=${encoded.replaceAll('%20', '+')}`)).status).toBe(200);
    expect(
      (await send(`${server.url}${API}?token=${encodeURIComponent(TOKEN.normalize('NFD'))}`)).status,
    ).toBe(401);
    expect((await send(server.url + API, { headers: utf8(TOKEN) })).status).toBe(200);
    await server.close();
  });
});

describe('a page of another site, in the browser of an operator', () => {
  const JSON_TYPE = { 'Content-Type': 'application/json' };
  let server: DashboardServer;
  afterEach(() => server.close());

  it.each<[string, Record<string, string>]>([
    ['http://127.0.0.1:PORT@evil.example', {}],
    ['http://127.0.0.1:PORT.evil.example', {}],
    ['http://evil.example/127.0.0.1:PORT', {}],
    ['https://evil.example', { 'X-Forwarded-Host': 'evil.example' }],
    ['https://evil.example', { Forwarded: 'host=evil.example' }],
    ['null', {}],
    ['', {}],
    ['file://', {}],
    ['http://127.0.0.1:PORT', { 'Sec-Fetch-Site': 'cross-site' }],
    ['http://127.0.0.1:PORT', { 'Sec-Fetch-Site': 'none' }],
  ])('commands nothing from %j with %j', async (origin, extra) => {
    server = await startDashboard({ token: ASCII });
    const page = await send(`${server.url}/`, { headers: bearer(ASCII) });
    const Cookie = (page.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';
    const Origin = origin.replace('PORT', String(server.port));
    const headers = { ...JSON_TYPE, Cookie, Origin, ...extra };
    const answer = await send(`${server.url}${API}/live/hangup`, { method: 'POST', headers, body: '{}' });
    expect(answer.status).toBe(403);
    expect(server.commands).toEqual([]);
  });

  it('reads nothing: no answer is shared with another origin, and none is kept', async () => {
    server = await startDashboard();
    for (const path of [API, '/api/openapi.json', '/metrics', '/']) {
      const { headers } = await send(server.url + path, { headers: { Origin: 'https://evil.example' } });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
      expect([path, headers['cache-control']]).toEqual([path, 'no-store']);
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
  });
});

describe('the limit on wrong tokens', () => {
  it('counts a neighborhood of IPv6 as one, and forgets no more than it must', () => {
    const limit = new AttemptLimit(new FakeClock());
    for (let host = 1; host <= 10; host += 1) {
      expect(limit.closedMs('2001:db8:0:1:ffff::1')).toBe(0);
      limit.fail(`2001:db8:0:1::${host}`);
    }
    expect(limit.closedMs('2001:db8:0:1:ffff::1')).toBe(15_000);
    expect(limit.closedMs('2001:db8:0:2::1')).toBe(0);
    for (let other = 0; other < 9999; other += 1) limit.fail(`10.0.${other >> 8}.${other & 255}`);
    expect(limit.closedMs('2001:db8:0:1:ffff::1')).toBe(15_000);
    limit.fail('10.1.0.0');
    expect(limit.closedMs('2001:db8:0:1:ffff::1')).toBe(0);
  });
});
