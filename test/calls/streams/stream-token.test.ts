import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { issueStreamToken, readStreamToken } from '../../../src/calls/streams/stream-token.js';

const key = Buffer.from('a key of this installation');
const facts = {
  callId: 'call-1',
  carrierCallId: 'CA1',
  caller: '+15005550020',
  callee: 'sip:anna@example.com',
  direction: 'outbound',
  number: 1,
} as const;
const now = 1_800_000_000_000;

describe('a stream token', () => {
  it('gives back its facts for a minute, and fits into a path', () => {
    const token = issueStreamToken(key, facts, now);
    expect(token).toMatch(/^[\w-]+\.[\w-]{43}$/);
    expect(readStreamToken(key, token, now)).toEqual(facts);
    expect(readStreamToken(key, token, now + 59_999)).toEqual(facts);
    expect(readStreamToken(key, token, now + 60_000)).toBeUndefined();
  });

  it('lasts longer when it is issued for longer', () => {
    const token = issueStreamToken(key, { ...facts, ttlMs: 90_000 }, now);
    expect(readStreamToken(key, token, now + 89_999)).toEqual(facts);
    expect(readStreamToken(key, token, now + 90_000)).toBeUndefined();
  });

  it('is worth nothing under another key', () => {
    expect(readStreamToken(Buffer.from('other'), issueStreamToken(key, facts, now), now)).toBeUndefined();
  });

  it('is worth nothing when a single character differs', () => {
    const token = issueStreamToken(key, facts, now);
    for (let index = 0; index < token.length; index += 1) {
      const changed = `${token.slice(0, index)}${token[index] === 'A' ? 'B' : 'A'}${token.slice(index + 1)}`;
      expect(readStreamToken(key, changed, now)).toBeUndefined();
    }
    for (const changed of [`${token}A`, `${token}=`, `${token}.`, token.slice(1), '', '.', '..']) {
      expect(readStreamToken(key, changed, now)).toBeUndefined();
    }
  });

  it('never throws, whatever it is', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (payload, mac) => {
        expect(readStreamToken(key, `${payload}.${mac}`, now)).toBeUndefined();
      }),
    );
  });
});
