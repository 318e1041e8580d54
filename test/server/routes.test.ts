// What goes over the wire, header for header: answers of the server's own routes do not depend on who writes them.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CarrierA } from '../../src/carriers/carrier-a/index.js';
import { AUTH_TOKEN, exchange, HOST, startServer, stopServers } from './harness.js';

const VOICE = '/webhooks/carrier-a/voice';
const STATUS = '/webhooks/carrier-a/status';
const FORM = 'CallSid=CA1&CallStatus=busy';
const XML = '<?xml version="1.0" encoding="UTF-8"?>\n';

const COMMON = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', connection: 'close' };
const xml = (body: string) => ({
  status: 200,
  headers: {
    ...COMMON,
    'content-type': 'text/xml; charset=utf-8',
    'cache-control': 'no-store',
    'content-length': String(XML.length + body.length),
  },
  body: XML + body,
});
const json = (status: number, body: string) => ({
  status,
  headers: {
    ...COMMON,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(body.length),
  },
  body,
});
const failed = (status: number, code: string, message: string) =>
  json(status, JSON.stringify({ error: { code, message } }));

const done = xml('<Response></Response>');
const health = json(200, '{"status":"ok","mode":"local"}');
const nowhere = failed(404, 'NOT_FOUND', 'No such path.');
const forged = failed(
  403,
  'SIGNATURE_MISMATCH',
  'The signature of the request is missing, wrong or too old.',
);
const tooLong = failed(413, 'REQUEST_TOO_LARGE', 'The body is larger than 65536 bytes: send less at a time.');
const headOf = (answer: ReturnType<typeof json>) => ({ ...answer, body: '' });

const sign = (target: string, text = 'CallSidCA1CallStatusbusy') =>
  createHmac('sha1', AUTH_TOKEN).update(`https://${HOST}${target}${text}`).digest('base64');

/** A signed form as a carrier posts it. `target` is what the request line says; `headers` come last. */
function post(
  path: string,
  { target = path, signature = sign(path), body = FORM, headers = '' } = {},
): string {
  const length = headers.includes('Transfer-Encoding') ? '' : `Content-Length: ${body.length}\r\n`;
  return `POST ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nX-CarrierA-Signature: ${signature}\r\n${length}${headers}\r\n${body}`;
}

const ask = (line: string, headers = '') =>
  `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`;
const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

let port: number;

beforeAll(async () => {
  port = (await startServer({ carrier: new CarrierA({ accountSid: 'AC1', authToken: AUTH_TOKEN }) })).port;
});

afterAll(stopServers);

describe('the answer on the wire', () => {
  it.each([
    ['to a status report', post(STATUS), done],
    ['to one with a query', post(`${STATUS}?callId=a`), done],
    ['to one in chunks', post(STATUS, { body: `${chunked(FORM)}0\r\n\r\n`, headers: CHUNKED }), done],
    ['to one whose target is a whole URL', post(STATUS, { target: `http://x${STATUS}` }), forged],
    ['to one with a fragment', post(STATUS, { target: `${STATUS}#x` }), done],
    [
      'to one whose signature counts a port',
      post(STATUS, {
        signature: createHmac('sha1', AUTH_TOKEN)
          .update(`https://${HOST}:443${STATUS}CallSidCA1CallStatusbusy`)
          .digest('base64'),
      }),
      done,
    ],
    [
      'to repeated parameters, of which each value is signed once',
      post(STATUS, { body: `${FORM}&a=1&a=1&a=0`, signature: sign(STATUS, 'CallSidCA1CallStatusbusya0a1') }),
      done,
    ],
    [
      'to GET',
      ask(`GET ${STATUS}?${FORM}`, `X-CarrierA-Signature: ${sign(`${STATUS}?${FORM}`, '')}\r\n`),
      done,
    ],
    ['to a wrong signature', post(STATUS, { signature: sign(VOICE) }), forged],
    ['to GET without one', ask(`GET ${VOICE}`), forged],
    ['to HEAD without one', ask(`HEAD ${VOICE}`), headOf(forged)],
    [
      'to a body without a call',
      post(STATUS, { body: 'a=1', signature: sign(STATUS, 'a1') }),
      failed(400, 'REQUEST_INVALID', 'The webhook has no valid CallSid.'),
    ],
    [
      'to a compressed body',
      post(STATUS, { headers: 'Content-Encoding: gzip\r\n' }),
      failed(400, 'REQUEST_INVALID', 'The body must not be compressed.'),
    ],
    ['to a body that says it is too long', post(STATUS, { body: 'a'.repeat(65_537) }), tooLong],
    [
      'to one that turns out to be',
      post(STATUS, { body: chunked('a'.repeat(65_537)), headers: CHUNKED }),
      tooLong,
    ],
    ['to a path in other letters', post(STATUS.toUpperCase()), nowhere],
    ['to a slash too many', post(`${STATUS}/`), nowhere],
    ['to two slashes at the start', post(`/${STATUS}`), nowhere],
    ['to an escaped letter', post(STATUS.replace('s/', '%73/')), nowhere],
    ['to another method', ask(`PUT ${STATUS}`), nowhere],
    ['to OPTIONS', ask(`OPTIONS ${STATUS}`), nowhere],
    ['to whether the process lives', ask('GET /health'), health],
    ['to the same with a query', ask('GET /health?x=1'), health],
    ['to the same of a whole URL', ask('GET http://x/health'), health],
    ['to the same with HEAD', ask('HEAD /health'), headOf(health)],
    ['to the same of HTTP 1.0', 'GET /health HTTP/1.0\r\n\r\n', health],
    ['to whether it takes calls', ask('GET /ready'), json(200, '{"status":"ready"}')],
    ['to a path that is nowhere', ask('GET /nowhere'), nowhere],
  ])('%s', async (_, request, expected) => {
    const { status, headers, body } = await exchange(port, request);
    const { date, ...rest } = headers;
    expect({ status, headers: rest, body }).toEqual(expected);
    expect(date).toMatch(/GMT$/);
  });

  it('to a client that waits for leave to send comes after it', async () => {
    const { status } = await exchange(port, post(STATUS, { headers: 'Expect: 100-continue\r\n' }));
    expect(status).toBe(100);
    const tooBig = post(STATUS, { body: '', headers: 'Expect: 100-continue\r\n' });
    const { status: refusal } = await exchange(port, tooBig.replace('Length: 0', 'Length: 65537'));
    expect(refusal).toBe(413);
  });
});
