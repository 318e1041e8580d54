import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClusterSeal } from '../../src/cluster/seal.js';

const SECRET = 'a secret of thirty-two bytes, or more';
const ABOUT = { type: 'fact', call: 'call-1', term: 2 };
const PLAIN = Buffer.from('what the caller said', 'utf8');
const AT = 1_700_000_000_123;

describe('ClusterSeal', () => {
  const seal = new ClusterSeal(SECRET);

  it('opens what another node has sealed, and says when that was', () => {
    const sealed = seal.seal(ABOUT, PLAIN, AT);
    expect(new ClusterSeal(SECRET).open(ABOUT, sealed)).toEqual({ plain: PLAIN, at: AT });
  });

  it('shows nothing of what it seals, and nothing twice', () => {
    const [one, two] = [seal.seal(ABOUT, PLAIN, AT), seal.seal(ABOUT, PLAIN, AT)];
    expect(one.includes(PLAIN)).toBe(false);
    // Version and time alone.
    expect(one.subarray(0, 9)).toEqual(two.subarray(0, 9));
    expect(one.subarray(9, 21)).not.toEqual(two.subarray(9, 21));
    expect(one.subarray(21)).not.toEqual(two.subarray(21));
  });

  it('seals nothing twice with the same nonce, however much it seals', () => {
    const nonces = Array.from({ length: 1000 }, () => seal.seal(ABOUT, PLAIN, AT).toString('hex', 9, 21));
    expect(new Set(nonces).size).toBe(nonces.length);
  });

  it('seals a text as its bytes', () => {
    const text = 'Grüße – 你好';
    expect(seal.open(ABOUT, seal.seal(ABOUT, text, AT))?.plain.toString('utf8')).toBe(text);
  });

  it.each([
    ['type', { ...ABOUT, type: 'state' }],
    ['call', { ...ABOUT, call: 'call-2' }],
    ['term', { ...ABOUT, term: 3 }],
  ])('does not open in the place of something of another %s', (_, about) => {
    expect(seal.open(about, seal.seal(ABOUT, PLAIN, AT))).toBeUndefined();
  });

  it('proves a text to who has the same secret, and no other text', () => {
    const proof = seal.proofOf('from a to b');
    expect(new ClusterSeal(SECRET).isProven('from a to b', proof)).toBe(true);
    expect(seal.isProven('from a to c', proof)).toBe(false);
    for (const other of [
      '',
      proof.slice(1),
      `${proof}A`,
      proof.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')),
    ])
      expect(seal.isProven('from a to b', other), other).toBe(false);
    expect(new ClusterSeal(SECRET.replace('secret', 'Secret')).isProven('from a to b', proof)).toBe(false);
  });

  it('does not open with another secret', () => {
    const other = new ClusterSeal(SECRET.replace('secret', 'Secret'));
    expect(other.open(ABOUT, seal.seal(ABOUT, PLAIN, AT))).toBeUndefined();
  });

  it('does not open where a single bit was changed, the time included', () => {
    const sealed = seal.seal(ABOUT, PLAIN, AT);
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(seal.open(ABOUT, changed), `bit ${bit}`).toBeUndefined();
    }
  });

  it('does not open what was cut, or was never sealed', () => {
    const sealed = seal.seal(ABOUT, PLAIN, AT);
    fc.assert(
      fc.property(fc.nat(sealed.length - 1), (length) => {
        expect(seal.open(ABOUT, sealed.subarray(0, length))).toBeUndefined();
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(seal.open(ABOUT, bytes)).toBeUndefined();
      }),
    );
  });

  it('remembers the keys of more calls than it keeps', () => {
    const about = (index: number) => ({ ...ABOUT, call: `call-${index}` });
    const first = seal.seal(about(0), PLAIN, AT);
    for (let index = 0; index < 5000; index += 1) seal.seal(about(index), PLAIN, AT);
    expect(seal.open(about(0), first)?.plain).toEqual(PLAIN);
  });

  it('names things in a way that says nothing, and is the same on every node', () => {
    const name = seal.nameFor('203.0.113.7');
    expect(name).toBe(new ClusterSeal(SECRET).nameFor('203.0.113.7'));
    expect(name).not.toBe(seal.nameFor('203.0.113.8'));
    expect(name).not.toBe(new ClusterSeal(`${SECRET}!`).nameFor('203.0.113.7'));
    expect(name).toMatch(/^[\w-]{16}$/);
  });

  it('needs a secret of 32 bytes', () => {
    expect(() => new ClusterSeal('ä'.repeat(16))).not.toThrow();
    expect(() => new ClusterSeal('a'.repeat(31))).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message:
          'cluster.secret must have at least 32 bytes, and is the same for the whole cluster. Make one with: openssl rand -base64 32',
      }),
    );
  });
});
