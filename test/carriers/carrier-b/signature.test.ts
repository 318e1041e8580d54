import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, SignatureError } from '../../../src/base/errors.js';
import {
  type Ed25519Verifier,
  loadEd25519Verifier,
  parsePublicKey,
  verifyWebhook,
} from '../../../src/carriers/carrier-b/signature.js';

interface Fixture {
  id: string;
  title: string;
  publicKey: string;
  nowSeconds: number;
  headers: Record<string, string>;
  rawBody: string;
  valid: boolean;
}

const fixtures = JSON.parse(
  readFileSync(new URL('../fixtures/carrier-b-signatures.json', import.meta.url), 'utf8'),
) as Fixture[];
const fresh = fixtures[0] as Fixture;

let verify: Ed25519Verifier;
beforeAll(async () => {
  verify = await loadEd25519Verifier();
});

/** Header names in lower case, as Node hands them on. */
function check({ publicKey, nowSeconds, headers, rawBody }: Omit<Fixture, 'id' | 'title' | 'valid'>): void {
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const key = { verify, publicKey: parsePublicKey(publicKey) };
  verifyWebhook({ headers: lower, rawBody: Buffer.from(rawBody) }, key, nowSeconds * 1000);
}

describe('verifyWebhook', () => {
  it.each(fixtures)('$id: $title', ({ valid, publicKey, ...rest }) => {
    if (valid) expect(() => check({ publicKey, ...rest })).not.toThrow();
    else if (publicKey.startsWith('-----')) expect(() => check({ publicKey, ...rest })).toThrow(ConfigError);
    else expect(() => check({ publicKey, ...rest })).toThrow(SignatureError);
  });

  const signature = fresh.headers['telnyx-signature-ed25519'] ?? '';
  const over = (headers: Record<string, string>, nowSeconds = fresh.nowSeconds) => ({
    ...fresh,
    nowSeconds,
    headers: { ...fresh.headers, ...headers },
  });

  it.each([
    ['a missing header', { ...fresh, headers: {} }, 'SIGNATURE_MISSING'],
    [
      'a signature in URL-safe base64',
      over({ 'telnyx-signature-ed25519': signature.replace('+', '-') }),
      'SIGNATURE_MALFORMED',
    ],
    ['a header sent twice', over({ 'telnyx-timestamp': '1800000000, 1800000000' }), 'SIGNATURE_MALFORMED'],
    ['a timestamp with a sign', over({ 'telnyx-timestamp': '+1800000000' }), 'SIGNATURE_MALFORMED'],
    ['a timestamp in milliseconds', over({ 'telnyx-timestamp': '1800000000000' }), 'SIGNATURE_EXPIRED'],
    ['a timestamp of no number', over({ 'telnyx-timestamp': '9'.repeat(400) }), 'SIGNATURE_EXPIRED'],
    ['one that is 301 s old', over({}, 1_800_000_301), 'SIGNATURE_EXPIRED'],
    ['one that is 301 s ahead', over({}, 1_799_999_699), 'SIGNATURE_EXPIRED'],
    ['another body', { ...fresh, rawBody: `${fresh.rawBody} ` }, 'SIGNATURE_MISMATCH'],
  ])('names what is wrong with %s', (_, request, code) => {
    expect(() => check(request)).toThrow(expect.objectContaining({ code }));
  });

  it('accepts exactly five minutes in both directions', () => {
    expect(() => check(over({}, 1_800_000_300))).not.toThrow();
    expect(() => check(over({}, 1_799_999_700))).not.toThrow();
  });

  it('refuses the malleable twin of a signature', () => {
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const bytes = Buffer.from(signature, 'base64');
    const scalar = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + order;
    const twin = Buffer.concat([
      bytes.subarray(0, 32),
      Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex').reverse(),
    ]);
    expect(() => check(over({ 'telnyx-signature-ed25519': twin.toString('base64') }))).toThrow(
      SignatureError,
    );
  });

  it('throws nothing but SignatureError, whatever arrives', () => {
    const headers = fc.record({
      'telnyx-signature-ed25519': fc.oneof(
        fc.string(),
        fc.uint8Array({ minLength: 64, maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('base64')),
      ),
      'telnyx-timestamp': fc.oneof(fc.string(), fc.constant('1800000000')),
    });
    fc.assert(
      fc.property(headers, fc.string(), (each, rawBody) => {
        expect(() => check({ ...fresh, headers: each, rawBody })).toThrow(SignatureError);
      }),
    );
  });
});

describe('parsePublicKey', () => {
  const raw = Buffer.from(fresh.publicKey, 'base64');
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw]);

  it.each([
    ['the bare key', raw.toString('base64')],
    ['the key with blanks around it', `\n ${raw.toString('base64')} `],
    ['the key as SubjectPublicKeyInfo', spki.toString('base64')],
  ])('reads %s', (_, text) => {
    expect(Buffer.from(parsePublicKey(text))).toEqual(raw);
  });

  it.each([
    ['a short key', raw.subarray(1).toString('base64')],
    ['a key in hexadecimal', raw.toString('hex')],
    ['a key of another kind', Buffer.concat([Buffer.alloc(12), raw]).toString('base64')],
    ['no base64 at all', 'secret!'],
  ])('refuses %s, without showing it', (_, text) => {
    expect(() => parsePublicKey(text)).toThrow(ConfigError);
    expect(() => parsePublicKey(text)).not.toThrow(text);
  });
});
