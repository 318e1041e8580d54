import { createHmac, generateKeyPairSync, sign as signWith } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readCapturedRequest } from '../../../src/cli/doctor/captured-request.js';
import { formatChecks } from '../../../src/cli/doctor/report-text.js';
import { explainRequest } from '../../../src/cli/doctor/request.js';
import { transcoder } from '../../../src/transcoder/select.js';

const TOKEN = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';
const NOW = Date.UTC(2026, 0, 1);

afterEach(() => vi.unstubAllEnvs());

const explain = async (raw: string | Uint8Array, webhookHost?: string) => {
  const check = await explainRequest(readCapturedRequest(Buffer.from(raw)), {
    webhookHost,
    nowMs: NOW,
    mac: transcoder,
  });
  return { ...check, text: formatChecks([check]) };
};

describe('a captured webhook of carrier A', () => {
  const target = '/webhooks/carrier-a/voice';
  const body = 'CallSid=CA1&From=%2B15005550020&To=%2B15005550010&FromCity=';
  const signedText = `https://voice.example${target}CallSidCA1From+15005550020FromCityTo+15005550010`;
  const mac = (text: string) => createHmac('sha1', TOKEN).update(text).digest('base64');
  const capture = (signature: string | undefined, { host = 'voice.example', more = '', eol = '\r\n' } = {}) =>
    [
      `POST ${target} HTTP/1.1`,
      `Host: ${host}`,
      'Content-Type: application/x-www-form-urlencoded; charset=UTF-8',
      `Content-Length: ${body.length}`,
      ...(signature === undefined ? [] : [`X-Twilio-Signature: ${signature}`]),
      ...(more === '' ? [] : [more]),
      '',
      body,
    ].join(eol);

  it.each(['\r\n', '\n'])('shows what was signed, and which spelling of the URL fits', async (eol) => {
    vi.stubEnv('CARRIER_A_AUTH_TOKEN', TOKEN);
    const check = await explain(capture(mac(signedText), { eol }));
    expect(check).toMatchObject({ name: 'carrier-a.request', status: 'ok' });
    expect(check.text).toContain(`text that was signed: ${JSON.stringify(signedText)}`);
    expect(check.text.split('\n').at(-1)).toMatch(/matches https:\/\/voice\.example\/webhooks/);
    expect(JSON.stringify(check)).not.toContain(TOKEN);
  });

  it('finds the spelling with a port, after the one without', async () => {
    vi.stubEnv('CARRIER_A_AUTH_TOKEN', TOKEN);
    const withPort = signedText.replace('voice.example', 'voice.example:443');
    const { status, details } = await explain(capture(mac(withPort)));
    expect(status).toBe('ok');
    expect(details).toMatchObject({
      candidates: [
        { url: `https://voice.example${target}`, signedText, matches: false },
        { url: `https://voice.example:443${target}`, signedText: withPort, matches: true },
      ],
    });
  });

  it('names the host that was signed when it is another one', async () => {
    vi.stubEnv('CARRIER_A_AUTH_TOKEN', TOKEN);
    const raw = capture(mac(signedText), { host: 'localhost:8000', more: 'X-Forwarded-Host: voice.example' });
    for (const check of [await explain(raw), await explain(raw, 'other.example')]) {
      expect(check).toMatchObject({
        status: 'failed',
        message: expect.stringContaining('set webhookUrl (--webhook-host) to voice.example'),
      });
    }
    expect((await explain(raw, 'voice.example')).status).toBe('ok');
  });

  it.each([
    ['another secret', mac('x'), 'SIGNATURE_MISMATCH'],
    ['no signature', undefined, 'SIGNATURE_MISSING'],
    ['half a signature', 'abc', 'SIGNATURE_MALFORMED'],
  ])('with %s still shows what would be signed', async (_, signature, error) => {
    vi.stubEnv('CARRIER_A_AUTH_TOKEN', TOKEN);
    const check = await explain(capture(signature));
    expect(check).toMatchObject({ status: 'failed', details: { error } });
    expect(check.text).toContain(`text that would be signed: ${JSON.stringify(signedText)}`);
    expect(check.text).toMatch(/tried +https:\/\/voice\.example:443/);
  });

  it('without a secret says which one to set', async () => {
    const check = await explain(capture(mac(signedText)));
    expect(check).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('CARRIER_A_AUTH_TOKEN'),
    });
    expect(check.text).toContain(JSON.stringify(signedText));
    expect(check.text).not.toContain('matches');
  });

  it('says that a body which is no form is not bound', async () => {
    vi.stubEnv('CARRIER_A_AUTH_TOKEN', TOKEN);
    const raw = `POST ${target} HTTP/1.1\nHost: voice.example\nContent-Type: application/json\nX-CarrierA-Signature: ${mac(signedText)}\n\n{}`;
    expect((await explain(raw)).text).toContain('nothing of this body could be signed');
  });

  it('takes the upgrade of a stream', async () => {
    vi.stubEnv('CARRIER_A_AUTH_TOKEN', TOKEN);
    const path = '/ws/stream/call-1/abc';
    const raw = `GET ${path} HTTP/1.1\r\nHost: voice.example\r\nX-Twilio-Signature: ${mac(`wss://voice.example${path}`)}\r\n\r\n`;
    expect(await explain(raw)).toMatchObject({ status: 'ok' });
  });

  it('tells of a file that an editor has changed', async () => {
    vi.stubEnv('CARRIER_A_AUTH_TOKEN', TOKEN);
    const whole = capture(mac(signedText));
    expect((await explain(`${whole}\r\n`)).status).toBe('ok');
    for (const changed of [`${whole}&More=1`, whole.slice(0, -3)]) {
      expect((await explain(changed)).message).toContain('Content-Length says');
    }
  });
});

describe('a captured webhook of carrier B', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ type: 'spki', format: 'der' }).subarray(12).toString('base64');
  const body = '{"data":{"event_type":"call.initiated","payload":{"name":"Zoë"}}}';
  const timestamp = String(NOW / 1000 - 4000);
  const capture = (text: string, sent = body) => {
    const signature = signWith(null, Buffer.from(text), privateKey).toString('base64');
    return `POST /webhooks/carrier-b/voice HTTP/1.1\r\nHost: voice.example\r\ntelnyx-timestamp: ${timestamp}\r\ntelnyx-signature-ed25519: ${signature}\r\n\r\n${sent}`;
  };

  it('is judged at its own time, and its age is told', async () => {
    vi.stubEnv('CARRIER_B_PUBLIC_KEY', key);
    const check = await explain(capture(`${timestamp}|${body}`));
    expect(check).toMatchObject({
      name: 'carrier-b.request',
      status: 'ok',
      details: {
        signedBytes: Buffer.byteLength(`${timestamp}|${body}`),
        signedPrefix: `${timestamp}|${body}`.slice(0, 80),
        ageSeconds: 4000,
      },
    });
    expect(check.text).toMatch(/signed: \d+ bytes, beginning with/);
  });

  it('that was written anew does not fit', async () => {
    vi.stubEnv('CARRIER_B_PUBLIC_KEY', key);
    const check = await explain(capture(`${timestamp}|${body}`, JSON.stringify(JSON.parse(body), null, 1)));
    expect(check).toMatchObject({ status: 'failed', details: { error: 'SIGNATURE_MISMATCH' } });
  });

  it('without a key, or with one that is none, says so', async () => {
    expect((await explain(capture('x'))).message).toContain('CARRIER_B_PUBLIC_KEY');
    vi.stubEnv('CARRIER_B_PUBLIC_KEY', 'bm8=');
    expect(await explain(capture('x'))).toMatchObject({
      status: 'failed',
      details: { error: 'CONFIG_INVALID' },
    });
  });

  it('without its headers says so', async () => {
    vi.stubEnv('CARRIER_B_PUBLIC_KEY', key);
    const check = await explain(`POST /webhooks/carrier-b/voice HTTP/1.1\n\n${body}`);
    expect(check).toMatchObject({
      status: 'failed',
      details: { error: 'SIGNATURE_MISSING', timestamp: null },
    });
    expect(check.message).toContain('Save the request with all the headers');
    expect(check.message).not.toContain('compare the key');
  });
});

describe('a captured request', () => {
  it('not a carrier webhook, or that is none, is a usage error', async () => {
    await expect(explain('POST /other HTTP/1.1\n\n')).rejects.toThrow('not a carrier webhook');
    await expect(explain('POST /webhooks/carrier-a/voice HTTP/1.1\n\nCallSid=1')).rejects.toThrow(
      '--webhook-host',
    );
    expect(() => readCapturedRequest(Buffer.from(''))).toThrow('request line');
    expect(() => readCapturedRequest(Buffer.from('GET / HTTP/1.1\nno header\n\n'))).toThrow('line 2');
  });

  it('keeps every byte of the body, and joins repeated headers', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const head = Buffer.from('POST https://x.example/a?b=%2f HTTP/1.1\r\nA: 1\r\na:2\r\n\r\n');
    const { request, notes } = readCapturedRequest(Buffer.concat([head, bytes]));
    expect(request).toMatchObject({ method: 'POST', target: '/a?b=%2f', headers: { a: '1, 2' } });
    expect([...request.rawBody]).toEqual([...bytes]);
    expect(notes).toEqual([]);
  });
});
