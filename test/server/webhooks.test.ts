import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CarrierA } from '../../src/carriers/carrier-a/index.js';
import { createOtherDoors } from '../../src/carriers/index.js';
import { AUTH_TOKEN, HOST, openStream, send, startServer, stopServers } from './harness.js';

afterEach(stopServers);

const carrier = new CarrierA({ authToken: AUTH_TOKEN });
const form = 'application/x-www-form-urlencoded';
const voice = '/webhooks/carrier-a/voice';
const ring = { CallSid: 'CA1', From: '+15005550020', To: '+15005550010', Direction: 'inbound' };

function sign(path: string, parameters: Record<string, string>, host = HOST): string {
  const text = Object.keys(parameters)
    .sort()
    .map((name) => `${name}${parameters[name]}`)
    .join('');
  return createHmac('sha1', AUTH_TOKEN).update(`https://${host}${path}${text}`).digest('base64');
}

/** Posts a form with its right signature; `headers` overrides. */
function post(
  port: number,
  path: string,
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
) {
  return send(port, {
    method: 'POST',
    path,
    headers: { 'Content-Type': form, 'X-CarrierA-Signature': sign(path, parameters), ...headers },
    body: new URLSearchParams(parameters).toString(),
  });
}

/** The stream's address in an answer, as the carrier would read it. */
function streamUrl(body: string): URL {
  return new URL((/<Stream url="([^"]*)"/.exec(body)?.[1] ?? '').replaceAll('&amp;', '&'));
}

describe('the voice webhook', () => {
  it('answers with a stream that the token opens', async () => {
    const { port, desk } = await startServer({ carrier });
    const answer = await post(port, voice, ring);
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/xml; charset=utf-8' } });
    expect(answer.body).toContain('<Parameter name="caller" value="+15005550020"/>');
    expect(answer.body).toContain('<Parameter name="callee" value="+15005550010"/>');
    const url = streamUrl(answer.body);
    expect(url.origin).toBe(`wss://${HOST}`);
    expect(url.search).toBe('?caller=%2B15005550020&callee=%2B15005550010');
    await openStream(port, url.pathname);
    expect(desk.streams[0]?.admission).toEqual({
      callId: url.pathname.split('/')[3],
      carrierCallId: 'CA1',
      caller: '+15005550020',
      callee: '+15005550010',
      direction: 'inbound',
      number: 1,
    });
  });

  it('names a call by an opaque id that follows from the carrier and its id', async () => {
    const { port } = await startServer();
    const first = streamUrl((await post(port, voice, ring)).body).pathname;
    const same = streamUrl((await post(port, voice, { ...ring, From: 'anonymous' })).body).pathname;
    const other = streamUrl((await post(port, voice, { ...ring, CallSid: 'CA2' })).body).pathname;
    expect(first).toMatch(/^\/ws\/stream\/c[\w-]{22}$/);
    expect(same).toBe(first);
    expect(other).not.toBe(first);
  });

  it('carries a withheld or hostile caller without harm', async () => {
    const { port } = await startServer();
    for (const From of [
      '',
      'anonymous',
      '"><Hangup/>&',
      '\u{1F600}'.repeat(64),
      `${'x'.repeat(127)}\u{1F600}`,
    ]) {
      const { status, body } = await post(port, voice, { ...ring, CallSid: `CA${From.length}`, From });
      expect(status).toBe(200);
      expect(body).not.toContain('<Hangup/>');
      expect(() => streamUrl(body)).not.toThrow();
    }
  });

  it('takes a GET, whose parameters are all in the query', async () => {
    const { port } = await startServer({ carrier });
    const path = `${voice}?${new URLSearchParams(ring)}`;
    const answer = await send(port, { path, headers: { 'X-CarrierA-Signature': sign(path, {}) } });
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('<Stream ');
  });

  it('gives a repeated delivery the same bytes, and acts once', async () => {
    const { port, clock, desk } = await startServer({ carrier, maxCalls: 1 });
    const first = await post(port, voice, ring, { 'I-Twilio-Idempotency-Token': 'd1' });
    clock.advance(5000);
    const again = await post(port, voice, ring, { 'I-Twilio-Idempotency-Token': 'd1' });
    expect(again.body).toBe(first.body);
    const next = await post(port, voice, ring, { 'I-Twilio-Idempotency-Token': 'd2' });
    expect(streamUrl(next.body).pathname).not.toBe(streamUrl(first.body).pathname);
    desk.liveCount = 1;
    const busy = await post(port, voice, { ...ring, CallSid: 'CA2' });
    desk.liveCount = 0;
    expect((await post(port, voice, { ...ring, CallSid: 'CA2' })).body).toBe(busy.body);
    expect(desk.refused).toHaveLength(1);
  });

  it('does not hand out a token that is stale by now', async () => {
    const { port, clock } = await startServer({ carrier });
    await post(port, voice, ring);
    clock.advance(60_001);
    const { pathname } = streamUrl((await post(port, voice, ring)).body);
    await expect(openStream(port, pathname)).resolves.toBeDefined();
  });

  it('hangs up on a call that has ended, however often it is asked', async () => {
    const { port, desk } = await startServer({ carrier });
    const url = streamUrl((await post(port, voice, ring)).body);
    desk.ended.add(url.pathname.split('/')[3] ?? '');
    for (let time = 0; time < 2; time += 1) {
      expect((await post(port, voice, ring)).body).toContain('<Response><Hangup/></Response>');
    }
  });

  it('hangs up on a caller who left while being handed over, and tells the desk', async () => {
    const { port, desk } = await startServer();
    const over = { ...ring, CallStatus: 'completed', DialCallStatus: 'no-answer' };
    const { body } = await post(port, `${voice}?callId=abc&transfer=1`, over);
    expect(body).toContain('<Response><Hangup/></Response>');
    expect(desk.reports).toMatchObject([{ type: 'status', status: 'completed', callId: 'abc' }]);
    expect((await post(port, voice.replace('/voice', '/status'), over)).body).toContain(
      '<Response></Response>',
    );
  });

  it('is busy over maxCalls, and says so to the desk', async () => {
    const { port, desk, lines } = await startServer({ maxCalls: 2 });
    desk.liveCount = 2;
    expect((await post(port, voice, ring)).body).toContain('<Reject reason="busy"/>');
    expect(desk.refused).toEqual([
      {
        callId: expect.any(String),
        carrierCallId: 'CA1',
        caller: '+15005550020',
        callee: '+15005550010',
        direction: 'inbound',
        host: HOST,
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain('5005550');
    expect(JSON.stringify(lines)).toContain('…0020');
  });

  it('goes by the Host header when no host is configured', async () => {
    const { port } = await startServer({ carrier, publicHost: () => undefined });
    const signature = sign(voice, ring, 'tunnel.example:8443');
    const headers = { Host: 'tunnel.example:8443', 'X-CarrierA-Signature': signature };
    const answer = await post(port, voice, ring, headers);
    expect(streamUrl(answer.body).host).toBe('tunnel.example:8443');
    expect(await post(port, voice, ring, { ...headers, Host: 'evil.example' })).toMatchObject({
      status: 403,
    });
    expect(await post(port, voice, ring, { ...headers, Host: 'evil.example/x' })).toMatchObject({
      status: 400,
    });
  });
});

describe('the other webhooks', () => {
  it('report a status to the desk', async () => {
    const { port, desk } = await startServer({ carrier });
    const answer = await post(port, '/webhooks/carrier-a/status', { CallSid: 'CA1', CallStatus: 'busy' });
    expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('<Response></Response>') });
    expect(desk.reports).toMatchObject([
      { type: 'status', carrierCallId: 'CA1', status: 'completed', outcome: 'busy' },
    ]);
  });

  it('are answered even when the desk fails', async () => {
    const { port, desk, lines } = await startServer();
    desk.reportError = new Error('secret detail');
    const status = { CallSid: 'CA1', CallStatus: 'completed' };
    expect(await post(port, '/webhooks/carrier-a/status', status)).toMatchObject({ status: 200 });
    expect(lines.map((line) => line.level)).toContain('error');
    expect(JSON.stringify(lines)).not.toContain('secret detail');
  });

  it.each(['recording', 'amd'])('acknowledge %s', async (route) => {
    const { port } = await startServer({ carrier });
    expect(await post(port, `/webhooks/carrier-a/${route}`, { CallSid: 'CA1' })).toMatchObject({
      status: 200,
    });
  });
});

describe('a bad webhook', () => {
  it('gets one and the same 403 for every wrong signature', async () => {
    const { port, desk } = await startServer({ carrier });
    const signatures = ['', 'x', sign(voice, { ...ring, To: '' }), `${sign(voice, ring)}, x`];
    const answers = [];
    for (const route of ['voice', 'status', 'recording', 'amd']) {
      for (const signature of signatures) {
        const headers = { 'X-CarrierA-Signature': signature };
        answers.push(await post(port, `/webhooks/carrier-a/${route}`, ring, headers));
      }
    }
    answers.push(await send(port, { method: 'POST', path: voice, headers: { 'Content-Type': form } }));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(403);
    expect(JSON.parse(answers[0]?.body ?? '')).toEqual({
      error: {
        code: 'SIGNATURE_MISMATCH',
        message: 'The signature of the request is missing, wrong or too old.',
      },
    });
    expect(desk.reports).toEqual([]);
  });

  const json = { 'Content-Type': 'application/json' };
  it.each([
    ['JSON of nothing', { method: 'POST', path: voice, headers: json, body: '[]' }, 400, 'REQUEST_INVALID'],
    ['an empty body', { method: 'POST', path: voice }, 400, 'REQUEST_INVALID'],
    [
      'no call id',
      { method: 'POST', path: voice, headers: { 'Content-Type': form }, body: 'From=1' },
      400,
      'REQUEST_INVALID',
    ],
    ['a GET without a query', { path: voice }, 400, 'REQUEST_INVALID'],
    [
      'a compressed body',
      {
        method: 'POST',
        path: voice,
        headers: { 'Content-Type': form, 'Content-Encoding': 'gzip' },
        body: gzipSync('CallSid=CA1'),
      },
      400,
      'REQUEST_INVALID',
    ],
    [
      'a body over 64 KiB',
      { method: 'POST', path: voice, headers: { 'Content-Type': form }, body: 'a'.repeat(65_537) },
      413,
      'REQUEST_TOO_LARGE',
    ],
    ['another route', { method: 'POST', path: '/webhooks/carrier-a/other' }, 404, 'NOT_FOUND'],
    ['another spelling', { method: 'POST', path: '/webhooks/Carrier-A/voice' }, 404, 'NOT_FOUND'],
    ['a slash too many', { method: 'POST', path: `${voice}/` }, 404, 'NOT_FOUND'],
    ['another method', { method: 'PUT', path: voice }, 404, 'NOT_FOUND'],
    ['a broken path', { method: 'POST', path: '/webhooks/%E0%A4' }, 404, 'NOT_FOUND'],
  ])('with %s gets a coded answer', async (_, request, status, code) => {
    const { port } = await startServer();
    const answer = await send(port, request);
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(Object.keys(JSON.parse(answer.body))).toEqual(['error']);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code } });
  });

  it('of a chunked body without an end in sight is refused at 64 KiB', async () => {
    const { port } = await startServer();
    const body = 'a'.repeat(70_000);
    const headers = { 'Content-Type': form, 'Transfer-Encoding': 'chunked' };
    expect(await send(port, { method: 'POST', path: voice, headers, body })).toMatchObject({ status: 413 });
  });
});

describe("the other carrier's webhooks", () => {
  const path = '/webhooks/carrier-b/voice';
  const event = JSON.stringify({
    data: {
      record_type: 'event',
      event_type: 'call.initiated',
      id: '5b0c6f0e-1111-4222-8333-9a9a9a9a9a9a',
      payload: {
        call_control_id: 'v3:Zm9vYmFyYmF6',
        direction: 'incoming',
        from: '+15005550020',
        to: '+15005550010',
      },
    },
  });

  it('exist, and never make a call', async () => {
    const { port, desk } = await startServer();
    expect(await send(port, { method: 'POST', path, body: event })).toMatchObject({
      status: 200,
      body: '{}',
    });
    expect(await send(port, { method: 'POST', path, body: 'x' })).toMatchObject({ status: 400 });
    expect(desk.streams).toEqual([]);
  });

  it('that tell of calls are said in the log, once a minute', async () => {
    const { port, clock, lines } = await startServer();
    const strays = () => lines.filter(({ sentence }) => sentence.includes('configured for another carrier'));
    const report = event.replace('call.initiated', 'call.hangup');
    await send(port, { method: 'POST', path, body: report });
    expect(strays()).toEqual([]);
    for (let time = 0; time < 3; time += 1) await send(port, { method: 'POST', path, body: event });
    clock.advance(60_000);
    await send(port, { method: 'POST', path, body: event });
    expect(strays()).toMatchObject([
      { level: 'warn', fields: { carrier: 'carrier-b', configured: 'carrier-a', sinceLast: 1 } },
      { level: 'warn', fields: { sinceLast: 3 } },
    ]);
  });

  it('are verified when their secret is there', async () => {
    vi.stubEnv('CARRIER_B_PUBLIC_KEY', 'A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=');
    const { port } = await startServer({ otherDoors: createOtherDoors('carrier-a') });
    vi.unstubAllEnvs();
    expect(await send(port, { method: 'POST', path, body: event })).toMatchObject({ status: 403 });
  });

  it('of carrier A reject the call when another carrier is configured', async () => {
    const { port, desk } = await startServer({
      carrier: new Proxy(carrier, {
        get: (target, name) => (name === 'id' ? 'carrier-b' : Reflect.get(target, name)),
      }),
      otherDoors: [new CarrierA({ authToken: AUTH_TOKEN })],
    });
    const answer = await post(port, voice, ring);
    expect(answer.body).toContain('<Reject reason="rejected"/>');
    expect(
      await post(port, '/webhooks/carrier-a/status', { CallSid: 'CA1', CallStatus: 'busy' }),
    ).toMatchObject({
      status: 200,
    });
    expect(desk.reports).toEqual([]);
    expect(await post(port, voice, ring, { 'X-CarrierA-Signature': '' })).toMatchObject({ status: 403 });
  });
});
