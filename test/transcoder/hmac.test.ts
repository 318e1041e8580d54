import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createRandom, readVectors, subjects } from './support.js';

const hex = (text: string) => (text === '-' ? new Uint8Array() : Uint8Array.from(Buffer.from(text, 'hex')));

describe.each(subjects)('HMAC-SHA1 on $title', ({ backend }) => {
  it('answers the vectors of RFC 2202', () => {
    const vectors = readVectors('hmac-sha1.txt');
    expect(vectors.length).toBe(7);
    for (const [key, message, code] of vectors) {
      const made = backend.hmacSha1(hex(key!), hex(message!));
      expect(Buffer.from(made).toString('hex')).toBe(code);
      expect(backend.verifyHmacSha1(hex(key!), hex(message!), made)).toBe(true);
    }
  });

  it('agrees with node:crypto for keys and messages around every block border', () => {
    const random = createRandom(5);
    const bytes = (length: number) => Uint8Array.from({ length }, () => Math.floor(random() * 256));
    for (const length of [0, 1, 54, 55, 56, 63, 64, 65, 119, 127, 128, 129, 1000, 20_000, 200_000]) {
      const [key, message] = [bytes(length % 201), bytes(length)];
      const expected = createHmac('sha1', key).update(message).digest('hex');
      expect(Buffer.from(backend.hmacSha1(key, message)).toString('hex')).toBe(expected);
    }
  });

  it('refuses a code that differs anywhere, or is of another length', () => {
    const key = Buffer.from('secret');
    const message = Buffer.from('message');
    const code = backend.hmacSha1(key, message);
    for (let bit = 0; bit < 160; bit++) {
      const changed = code.slice();
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(backend.verifyHmacSha1(key, message, changed)).toBe(false);
    }
    for (const length of [0, 19])
      expect(backend.verifyHmacSha1(key, message, code.subarray(0, length))).toBe(false);
    expect(backend.verifyHmacSha1(key, message, Uint8Array.of(...code, 0))).toBe(false);
  });
});
