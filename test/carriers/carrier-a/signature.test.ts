import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SignatureError } from '../../../src/base/errors.js';
import { signatureOf, verifyUpgradeUrl, verifyWebhook } from '../../../src/carriers/carrier-a/signature.js';
import { transcoder } from '../../../src/transcoder/select.js';
import { runs } from '../../support/depth.js';

interface Fixture {
  id: string;
  title: string;
  authToken: string;
  url: string;
  contentType: string;
  rawBody: string;
  signature: string;
  valid: boolean;
}

const fixtures = JSON.parse(
  readFileSync(new URL('../fixtures/carrier-a-signatures.json', import.meta.url), 'utf8'),
) as Fixture[];

const authToken = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';
const sign = (text: string) => createHmac('sha1', authToken).update(text).digest('base64');

describe('verifyWebhook', () => {
  it.each(fixtures)('$id: $title', ({ rawBody, contentType, valid, ...rest }) => {
    const method = contentType === '' ? 'GET' : 'POST';
    const verify = () =>
      verifyWebhook(transcoder, { ...rest, method, contentType, rawBody: Buffer.from(rawBody) });
    if (valid) expect(verify).not.toThrow();
    else expect(verify).toThrow(SignatureError);
  });

  const form = 'application/x-www-form-urlencoded';
  const request = (over: Partial<Parameters<typeof verifyWebhook>[1]>) => ({
    authToken,
    method: 'POST',
    url: 'https://voice.example/webhooks/carrier-a/voice',
    contentType: form,
    rawBody: Buffer.from('CallSid=CA1'),
    signature: sign('https://voice.example/webhooks/carrier-a/voiceCallSidCA1'),
    ...over,
  });

  it.each([
    ['no header', undefined, 'SIGNATURE_MISSING'],
    ['an empty header', '', 'SIGNATURE_MISSING'],
    ['a header that is too short', 'AAAA', 'SIGNATURE_MALFORMED'],
    ['two headers joined', `${sign('a')}, ${sign('b')}`, 'SIGNATURE_MALFORMED'],
    ['the signature of another text', sign('x'), 'SIGNATURE_MISMATCH'],
  ])('names what is wrong with %s', (_, signature, code) => {
    expect(() => verifyWebhook(transcoder, request({ signature }))).toThrow(
      expect.objectContaining({ code }),
    );
  });

  it('refuses a second spelling of the right bytes', () => {
    const signature = sign('https://voice.example/webhooks/carrier-a/voiceCallSidCA1');
    const last = signature.charCodeAt(26);
    const other = `${signature.slice(0, 26)}${String.fromCharCode(last + 1)}=`;
    expect(Buffer.from(other, 'base64')).toEqual(Buffer.from(signature, 'base64'));
    expect(() => verifyWebhook(transcoder, request({ signature: other }))).toThrow(SignatureError);
  });

  it.each([
    ['JSON without a body hash', 'application/json', '{"CallSid":"CA1"}'],
    ['text without a body hash', 'text/plain', 'CallSid=CA1'],
    ['a body without a content type', '', 'CallSid=CA1'],
    ['an empty JSON body without a body hash', 'application/json', ''],
  ])('refuses %s, although the URL is signed', (_, contentType, body) => {
    const url = 'https://voice.example/webhooks/carrier-a/voice';
    const signed = request({ contentType, rawBody: Buffer.from(body), signature: sign(url) });
    expect(() => verifyWebhook(transcoder, signed)).toThrow(SignatureError);
  });

  it('refuses a request without a body whose URL has the hash of one', () => {
    const hash = createHash('sha256').update('{}').digest('hex');
    const url = `https://voice.example/webhooks/carrier-a/voice?bodySHA256=${hash}`;
    const bare = request({ url, contentType: '', rawBody: Buffer.alloc(0), signature: sign(url) });
    expect(() => verifyWebhook(transcoder, bare)).toThrow(SignatureError);
  });

  it('takes the first body hash of the query, in lower case only', () => {
    const hash = createHash('sha256').update('{}').digest('hex');
    const verify = (query: string) => () => {
      const url = `https://voice.example/webhooks/carrier-a/voice?${query}`;
      const signature = sign(url);
      verifyWebhook(
        transcoder,
        request({ url, contentType: 'application/json', rawBody: Buffer.from('{}'), signature }),
      );
    };
    expect(verify(`bodySHA256=${hash}&bodySHA256=0`)).not.toThrow();
    expect(verify(`bodySHA256=0&bodySHA256=${hash}`)).toThrow(SignatureError);
    expect(verify(`bodySHA256=${hash.toUpperCase()}`)).toThrow(SignatureError);
  });

  it("accepts the URL in a URL parser's spelling, and with its query written anew", () => {
    const url = "https://Voice.Example/webhooks/carrier-a/voice?a=it's";
    for (const signed of [
      'https://voice.example/webhooks/carrier-a/voice?a=it%27s',
      "https://voice.example:443/webhooks/carrier-a/voice?a=it's",
    ]) {
      const signature = sign(`${signed}CallSidCA1`);
      expect(() => verifyWebhook(transcoder, request({ url, signature }))).not.toThrow();
    }
  });

  it('keeps a question mark at the start of a body', () => {
    const signature = sign('https://voice.example/webhooks/carrier-a/voice?a1');
    expect(() =>
      verifyWebhook(transcoder, request({ rawBody: Buffer.from('?a=1'), signature })),
    ).not.toThrow();
  });

  it('needs no body where there is none', () => {
    const url = 'https://voice.example/webhooks/carrier-a/voice';
    const bare = { contentType: '', rawBody: new Uint8Array(), signature: sign(url) };
    expect(() => verifyWebhook(transcoder, request(bare))).not.toThrow();
    expect(() => verifyWebhook(transcoder, request({ ...bare, contentType: form }))).not.toThrow();
  });

  it('reads no body of a GET', () => {
    const url = 'https://voice.example/webhooks/carrier-a/voice?CallSid=CA1';
    const get = { method: 'GET', url, signature: sign(url) };
    expect(() => verifyWebhook(transcoder, request(get))).not.toThrow();
    expect(() => verifyWebhook(transcoder, request({ ...get, signature: sign(`${url}CallSidCA1`) }))).toThrow(
      SignatureError,
    );
  });

  it('leaves out nothing of a query that is written anew, however long', () => {
    const url = `https://voice.example/webhooks/carrier-a/voice?${'a=%20&'.repeat(1500)}`;
    const short = `https://voice.example/webhooks/carrier-a/voice?${'a=%20&'.repeat(1000).slice(0, -1)}`;
    expect(() => verifyWebhook(transcoder, request({ url, signature: sign(`${short}CallSidCA1`) }))).toThrow(
      SignatureError,
    );
  });

  it('reads a body of thousands of names', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `n${index}`);
    const text = [...names].sort().join('');
    const signature = sign(`https://voice.example/webhooks/carrier-a/voice${text}`);
    const rawBody = Buffer.from(names.join('&'));
    expect(() => verifyWebhook(transcoder, request({ rawBody, signature }))).not.toThrow();
  });

  it('throws nothing but SignatureError, whatever arrives', () => {
    const garbage = fc.record({
      url: fc.oneof(fc.string(), fc.webUrl({ withQueryParameters: true })),
      contentType: fc.constantFrom('', form, 'application/json', 'x'),
      rawBody: fc.uint8Array({ maxLength: 200 }),
      signature: fc.option(fc.oneof(fc.string(), fc.constant(sign('a text that no request is made of'))), {
        nil: undefined,
      }),
    });
    fc.assert(
      fc.property(garbage, (over) => {
        expect(() => verifyWebhook(transcoder, request(over))).toThrow(SignatureError);
      }),
      { numRuns: runs(30, 300) },
    );
  });
});

describe('verifyUpgradeUrl', () => {
  const verify = (target: string, signature: string, host = 'voice.example') =>
    verifyUpgradeUrl(transcoder, { authToken, host, target, signature });

  it.each([
    'wss://voice.example/ws/stream/CA1',
    'wss://voice.example/ws/stream/CA1/',
    'wss://voice.example/ws/stream/CA1?caller=%2B1',
    'wss://voice.example/ws/stream/CA1/?caller=%2B1',
    'wss://voice.example:443/ws/stream/CA1',
    'wss://voice.example:443/ws/stream/CA1/?caller=%2B1',
    'wss://voice.example:80/ws/stream/CA1?caller=%2B1',
    'wss://voice.example:80/ws/stream/CA1/',
  ])('accepts a signature over %s', (url) => {
    expect(() => verify('/ws/stream/CA1?caller=%2B1', sign(url))).not.toThrow();
    expect(() => verify('/ws/stream/CA1/?caller=%2B1', sign(url))).not.toThrow();
  });

  it('accepts the port of the configured host, and no other', () => {
    const target = '/ws/stream/CA1';
    expect(() =>
      verify(target, sign(`wss://voice.example:8443${target}`), 'voice.example:8443'),
    ).not.toThrow();
    expect(() => verify(target, sign(`wss://voice.example:8444${target}`), 'voice.example:8443')).toThrow(
      SignatureError,
    );
  });

  it('accepts the default ports beside that of the configured host', () => {
    for (const port of [':8443', ':443', ':80', '']) {
      const signature = sign(`wss://voice.example${port}/ws/stream/CA1/`);
      expect(() => verify('/ws/stream/CA1?a=1', signature, 'voice.example:8443')).not.toThrow();
    }
  });

  it.each(['Voice.Example', 'user:pass@voice.example', 'User:Pass@Voice.Example:8443'])(
    'accepts the plain name of the host %s',
    (host) => {
      const signature = sign('wss://voice.example/ws/stream/CA1');
      expect(() => verify('/ws/stream/CA1', signature, host)).not.toThrow();
    },
  );

  it('accepts an address of IP version 6', () => {
    const signature = sign('wss://[2001:db8::1]/ws/stream/CA1');
    expect(() => verify('/ws/stream/CA1', signature, '[2001:db8::1]:8443')).not.toThrow();
  });

  it('keeps the case of the path', () => {
    expect(() => verify('/ws/stream/CA1', sign('wss://voice.example/ws/stream/ca1'))).toThrow(SignatureError);
    expect(() =>
      verify('/ws/stream/CA1', sign('wss://voice.example/ws/stream/CA1'), 'VOICE.example'),
    ).not.toThrow();
  });

  it('throws nothing but SignatureError, whatever arrives', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (host, target, signature) => {
        expect(() => verify(`/${target}`, signature, host)).toThrow(SignatureError);
        expect(() => verify(`/${target}`, sign('a text that no request is made of'), host)).toThrow(
          SignatureError,
        );
      }),
    );
  });

  it.each([
    'https://voice.example/ws/stream/CA1',
    'ws://voice.example/ws/stream/CA1',
    'wss://other.example/ws/stream/CA1',
    'wss://voice.example/ws/stream/CA2',
  ])('refuses a signature over %s', (url) => {
    expect(() => verify('/ws/stream/CA1', sign(url))).toThrow(SignatureError);
  });
});

describe('signatureOf', () => {
  it("reads the specification's header and the vendor's, the former first", () => {
    expect(signatureOf({ 'x-carriera-signature': 'a' })).toBe('a');
    expect(signatureOf({ 'x-twilio-signature': 'b' })).toBe('b');
    expect(signatureOf({ 'x-twilio-signature': 'b', 'x-carriera-signature': 'a' })).toBe('a');
    expect(signatureOf({ 'x-carriera-signature': '' })).toBe('');
    expect(signatureOf({})).toBeUndefined();
  });
});
