import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import twilio from 'twilio';
import { CarrierA } from '../../src/carriers/carrier-a/index.js';
import { signRequest } from '../../src/testing/carrier-a/signing.js';

const AUTH_TOKEN = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';
const HOST = 'voice.example.com';
const carrier = new CarrierA({ accountSid: `AC${'1'.repeat(32)}`, authToken: AUTH_TOKEN });

/** True when our verifier takes the webhook. */
function isAccepted(target: string, request: { body: string; contentType: string; signature: string }) {
  try {
    carrier.verify(
      {
        method: 'POST',
        target,
        headers: { 'content-type': request.contentType, 'x-twilio-signature': request.signature },
        rawBody: Buffer.from(request.body),
      },
      HOST,
    );
    return true;
  } catch {
    return false;
  }
}

const FORM = 'application/x-www-form-urlencoded';
/** Half a surrogate pair has no UTF-8, so no form can carry it. */
const value = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => Buffer.from(text).toString());
const name = fc.oneof(
  value.filter((text) => text !== ''),
  fc.constantFrom('CallSid', 'Called', 'CallToken', 'Caller', 'callSid', '_x', 'Tag[]', 'a[b]', 'Zebra'),
);
const pairs = fc.array(fc.tuple(name, value), { maxLength: 12 });
const target = fc
  .tuple(
    fc.constantFrom('/webhooks/carrier-a/voice', '/webhooks/carrier-a/status', '/a/b/'),
    fc.array(fc.tuple(value, value), { maxLength: 3 }),
  )
  .map(([path, query]) => (query.length === 0 ? path : `${path}?${new URLSearchParams(query)}`));

/** Parameters as the package wants them: an object whose repeated names are lists. */
function toParams(entries: readonly (readonly [string, string])[]): Record<string, string | string[]> {
  const params = new Map<string, string[]>();
  for (const [key, text] of entries) params.set(key, [...(params.get(key) ?? []), text]);
  // `__proto__` would not become a property of its own in an object literal.
  return Object.fromEntries(
    [...params].map(([key, texts]) => [key, texts.length === 1 ? (texts[0] ?? '') : texts]),
  );
}

describe("the official package's signatures", () => {
  it('are taken by us, for any form on any path', () => {
    fc.assert(
      fc.property(target, pairs, (path, entries) => {
        const signature = twilio.getExpectedTwilioSignature(
          AUTH_TOKEN,
          `https://${HOST}${path}`,
          toParams(entries),
        );
        const body = new URLSearchParams(entries).toString();
        expect(isAccepted(path, { body, contentType: FORM, signature })).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it('are what the simulator signs, and the package takes those', () => {
    fc.assert(
      fc.property(target, pairs, (path, entries) => {
        const url = `https://${HOST}${path}`;
        const signature = signRequest(AUTH_TOKEN, { url, parameters: entries });
        expect(twilio.validateRequest(AUTH_TOKEN, signature, url, toParams(entries))).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ['with a port that we do not see', `https://${HOST}:443/webhooks/carrier-a/voice`],
    ['without the port', `https://${HOST}/webhooks/carrier-a/voice`],
  ])('are taken %s', (_, url) => {
    const signature = twilio.getExpectedTwilioSignature(AUTH_TOKEN, url, { CallSid: 'CA1' });
    expect(
      isAccepted('/webhooks/carrier-a/voice', { body: 'CallSid=CA1', contentType: FORM, signature }),
    ).toBe(true);
  });

  it('bind a JSON body by its hash, and nothing else', () => {
    const body = JSON.stringify({ CallSid: 'CA1', CallStatus: 'ringing' });
    const hash = createHash('sha256').update(body).digest('hex');
    const path = `/webhooks/carrier-a/voice?bodySHA256=${hash}`;
    const signature = twilio.getExpectedTwilioSignature(AUTH_TOKEN, `https://${HOST}${path}`, {});
    expect(twilio.validateRequestWithBody(AUTH_TOKEN, signature, `https://${HOST}${path}`, body)).toBe(true);
    expect(isAccepted(path, { body, contentType: 'application/json', signature })).toBe(true);
    expect(isAccepted(path, { body: `${body} `, contentType: 'application/json', signature })).toBe(false);
  });

  it('are refused by both when anything was changed after signing', () => {
    fc.assert(
      fc.property(pairs, fc.tuple(name, value), (entries, extra) => {
        const url = `https://${HOST}/webhooks/carrier-a/status`;
        const signature = twilio.getExpectedTwilioSignature(AUTH_TOKEN, url, toParams(entries));
        const changed = [...entries, extra];
        const theirs = twilio.validateRequest(AUTH_TOKEN, signature, url, toParams(changed));
        const body = new URLSearchParams(changed).toString();
        const ours = isAccepted('/webhooks/carrier-a/status', { body, contentType: FORM, signature });
        expect(ours).toBe(theirs);
      }),
      { numRuns: 400 },
    );
  });
});

describe('the signature of a stream', () => {
  it('is taken as the package makes it, for the wss URL', () => {
    const target = `/ws/stream/CA${'1'.repeat(32)}`;
    const signature = twilio.getExpectedTwilioSignature(AUTH_TOKEN, `wss://${HOST}${target}`, {});
    const request = {
      method: 'GET',
      target,
      headers: { 'x-twilio-signature': signature },
      rawBody: new Uint8Array(),
    };
    expect(() => carrier.verifyUpgrade(request, HOST)).not.toThrow();
    expect(() => carrier.verifyUpgrade({ ...request, target: `${target}x` }, HOST)).toThrow();
  });
});
