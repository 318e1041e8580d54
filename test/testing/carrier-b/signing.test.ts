import { describe, expect, it } from 'vitest';
import {
  loadEd25519Verifier,
  parsePublicKey,
  verifyWebhook,
} from '../../../src/carriers/carrier-b/signature.js';
import { createCarrierBSigner } from '../../../src/testing/carrier-b/signing.js';

describe('createCarrierBSigner', () => {
  it('makes the key of a seed', () => {
    // Source: RFC 8032, section 7.1, test 1.
    const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
    const key = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
    expect(createCarrierBSigner(seed).publicKey).toBe(Buffer.from(key, 'hex').toString('base64'));
    expect(() => createCarrierBSigner(seed.subarray(1))).toThrow(/32 bytes/);
  });

  it('signs what the verifier of the server takes, and nothing else', async () => {
    const signer = createCarrierBSigner();
    const verify = await loadEd25519Verifier();
    const key = { verify, publicKey: parsePublicKey(signer.publicKey) };
    const body = '{"data":{"event_type":"call.initiated"}}';
    const nowMs = 1_800_000_000_000;
    const headers = { ...signer.sign(body, nowMs / 1000) };
    const check = (rawBody: string) => () =>
      verifyWebhook({ headers, rawBody: Buffer.from(rawBody) }, key, nowMs);
    expect(check(body)).not.toThrow();
    expect(check(`${body}\n`)).toThrow();
    expect(createCarrierBSigner().publicKey).not.toBe(signer.publicKey);
  });
});
