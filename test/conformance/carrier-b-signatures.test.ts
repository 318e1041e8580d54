import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import Telnyx from 'telnyx';
import {
  loadEd25519Verifier,
  parsePublicKey,
  verifyWebhook,
} from '../../src/carriers/carrier-b/signature.js';

const SEED = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex');
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const privateKey = createPrivateKey({
  key: Buffer.concat([PKCS8_PREFIX, SEED]),
  format: 'der',
  type: 'pkcs8',
});
const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
const publicKey = spki.subarray(-32).toString('base64');
const client = new Telnyx({ apiKey: 'KEYtest', publicKey });
const verify = await loadEd25519Verifier();

type Headers = Record<string, string>;

function signed(body: string, timestamp: string, message = `${timestamp}|${body}`): Headers {
  return {
    'telnyx-timestamp': timestamp,
    'telnyx-signature-ed25519': sign(null, Buffer.from(message), privateKey).toString('base64'),
  };
}

function weAccept(body: string, headers: Headers): boolean {
  try {
    const key = { verify, publicKey: parsePublicKey(publicKey) };
    verifyWebhook({ headers, rawBody: Buffer.from(body) }, key, Date.now());
    return true;
  } catch {
    return false;
  }
}

async function theyAccept(body: string, headers: Headers): Promise<boolean> {
  try {
    await client.webhooks.unwrap(body, { headers });
    return true;
  } catch {
    return false;
  }
}

const now = () => Math.floor(Date.now() / 1000);
const json = fc.json({ maxDepth: 2 });

describe("the official package's verdict on a signed webhook", () => {
  it('is ours, for any body', async () => {
    await fc.assert(
      fc.asyncProperty(json, async (body) => {
        const headers = signed(body, String(now()));
        expect(weAccept(body, headers)).toBe(true);
        expect(await theyAccept(body, headers)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('is ours, when body, signature or time were changed', async () => {
    const body = '{"data":{"event_type":"call.initiated","id":"e1","payload":{}}}';
    const right = signed(body, String(now()));
    const signature = right['telnyx-signature-ed25519'] ?? '';
    const cases: [string, Headers][] = [
      [`${body}\n`, right],
      [body.replace('e1', 'e2'), right],
      [body, { ...right, 'telnyx-timestamp': String(now() + 1) }],
      [body, { ...right, 'telnyx-signature-ed25519': signature.replace(/=+$/, '') }],
      [body, { ...right, 'telnyx-signature-ed25519': '' }],
      [body, { ...right, 'telnyx-signature-ed25519': `A${signature.slice(1)}` }],
      [body, { 'telnyx-timestamp': String(now()) }],
      [body, { 'telnyx-signature-ed25519': signature }],
      [body, signed(body, String(now() - 302))],
      [body, signed(body, String(now() + 302))],
      [body, signed(body, String(now() - 290))],
      [body, signed(body, String(now() + 290))],
      [body, signed(body, String(Date.now()))],
      [body, signed(body, `0${now()}`)],
      [body, signed(body, String(now()), `${now()}.${body}`)],
    ];
    for (const [text, headers] of cases) {
      expect(weAccept(text, headers), JSON.stringify(headers)).toBe(await theyAccept(text, headers));
    }
  });
});
