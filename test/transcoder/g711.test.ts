import { describe, expect, it } from 'vitest';
import { expectSame, noise, subjects } from './support.js';

type Law = 'mulaw' | 'alaw';

/**
 * Decision values of one sign in 16-bit units, from 0 up: code n stands for the magnitudes from `decisions[n]` to below
 * `decisions[n + 1]`. Source: ITU-T G.711, tables 1a and 2a: the ends of the segments, each cut into 16 (the first of
 * A-law into 32) equal intervals, but for the first of mu-law, which is half as wide.
 */
function decisionValues(law: Law): number[] {
  if (law === 'mulaw') {
    const ends = [31, 95, 223, 479, 991, 2015, 4063, 8159].map((end) => end * 4);
    return cut(ends, -4, () => 16).map((value) => Math.max(0, value));
  }
  const ends = [64, 128, 256, 512, 1024, 2048, 4096].map((end) => end * 8);
  return cut(ends, 0, (segment) => (segment === 0 ? 32 : 16));
}

function cut(ends: number[], start: number, parts: (segment: number) => number): number[] {
  const values = [start];
  for (const [segment, end] of ends.entries()) {
    const from = values[values.length - 1]!;
    const count = parts(segment);
    for (let i = 1; i <= count; i++) values.push(from + ((end - from) * i) / count);
  }
  return values;
}

/** What travels for code n of one sign: mu-law inverts all bits, A-law every even one, and the sign bit means "positive". */
function toWire(law: Law, code: number, negative: boolean): number {
  if (law === 'mulaw') return (~code & 0x7f) | (negative ? 0 : 0x80);
  return (code | (negative ? 0 : 0x80)) ^ 0x55;
}

const allSamples = Int16Array.from({ length: 65536 }, (_, i) => i - 32768);
const allCodes = Uint8Array.from({ length: 256 }, (_, code) => code);

describe.each(subjects)('G.711 on $title', ({ backend }) => {
  it('decodes the mu-law values that the carrier documents', () => {
    const codes = Uint8Array.of(0xff, 0x7f, 0x80, 0x00, 0xd5, 0x55, 0xef, 0x6f);
    expect([...backend.mulawDecode(codes)]).toEqual([0, 0, 32124, -32124, 716, -716, 132, -132]);
  });

  it('decodes the ends of A-law', () => {
    const codes = Uint8Array.of(0xd5, 0x55, 0xaa, 0x2a);
    expect([...backend.alawDecode(codes)]).toEqual([8, -8, 32256, -32256]);
  });

  it.each(['mulaw', 'alaw'] as const)('gives every %s code back', (law) => {
    const [decode, encode] =
      law === 'mulaw' ? [backend.mulawDecode, backend.mulawEncode] : [backend.alawDecode, backend.alawEncode];
    const back = encode(decode(allCodes));
    // Both zeros of mu-law are the sample 0.
    const expected = law === 'mulaw' ? allCodes.map((code) => (code === 0x7f ? 0xff : code)) : allCodes;
    expect([...back]).toEqual([...expected]);
  });

  it.each(['mulaw', 'alaw'] as const)('encodes and decodes %s by the tables of G.711', (law) => {
    const decisions = decisionValues(law);
    expect(decisions.length).toBe(129);
    const [decode, encode] =
      law === 'mulaw' ? [backend.mulawDecode, backend.mulawEncode] : [backend.alawDecode, backend.alawEncode];
    const codes = encode(allSamples);
    const values = decode(allCodes);
    let wrong = 0;
    for (let i = 0; i < allSamples.length; i++) {
      const sample = allSamples[i]!;
      // On a decision value exactly, a negative sample belongs to the smaller magnitude: G.191 takes the complement.
      const magnitude = sample < 0 ? ~sample : sample;
      let n = 127;
      while (decisions[n]! > magnitude) n--;
      if (codes[i] !== toWire(law, n, sample < 0)) wrong++;
    }
    expect(wrong).toBe(0);
    for (let n = 0; n < 128; n++) {
      // The value of an interval is its middle; mu-law's first reaches from the one sign to the other.
      const middle = law === 'mulaw' && n === 0 ? 0 : (decisions[n]! + decisions[n + 1]!) / 2;
      expect(values[toWire(law, n, false)]).toBe(middle);
      expect(values[toWire(law, n, true)]).toBe(middle === 0 ? 0 : -middle);
    }
  });

  it('gives what the first backend gives, for every sample and code', () => {
    const first = subjects[0]!.backend;
    expectSame(backend.mulawEncode(allSamples), first.mulawEncode(allSamples));
    expectSame(backend.alawEncode(allSamples), first.alawEncode(allSamples));
    expectSame(backend.mulawDecode(allCodes), first.mulawDecode(allCodes));
    expectSame(backend.alawDecode(allCodes), first.alawDecode(allCodes));
  });

  it('takes more than any buffer of a module holds', () => {
    const samples = noise(100_001);
    const first = subjects[0]!.backend;
    expect(Buffer.compare(backend.mulawEncode(samples), first.mulawEncode(samples))).toBe(0);
    const codes = first.alawEncode(samples);
    expectSame(backend.alawDecode(codes), first.alawDecode(codes));
  });
});
