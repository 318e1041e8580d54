import { createHmac } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { OffhookError } from '../../src/base/errors.js';
import { expectSame, noise, subjects } from './support.js';

/** What is thrown must be a TranscoderError about input that says `words`. */
function expectRefusal(task: () => unknown, words: RegExp): void {
  let thrown: unknown;
  try {
    task();
  } catch (error) {
    thrown = error;
  }
  expect(OffhookError.isInstance(thrown) ? thrown.code : thrown).toBe('TRANSCODER_INPUT');
  expect((thrown as Error).message).toMatch(words);
}

function detached<T extends Int16Array | Uint8Array>(array: T): T {
  structuredClone(array.buffer, { transfer: [array.buffer as ArrayBuffer] });
  return array;
}

const wrong: readonly unknown[] = [
  undefined,
  null,
  7,
  'text',
  [],
  {},
  new ArrayBuffer(4),
  new DataView(new ArrayBuffer(4)),
  new Int8Array(4),
  new Uint16Array(4),
  new Uint8ClampedArray(4),
  new Float32Array(4),
  Object.create(Int16Array.prototype),
  Object.create(Uint8Array.prototype),
  new Proxy(new Uint8Array(4), {}),
  new Proxy(new Int16Array(4), {}),
  new (class extends Float64Array {})(4),
];

describe.each(subjects)('bad input on $title', ({ backend }) => {
  it('refuses what is not the array that is expected', () => {
    const resampler = backend.createResampler(8000, 16000);
    for (const value of [...wrong, new Uint8Array(4)]) {
      const samples = value as Int16Array;
      expectRefusal(() => backend.mulawEncode(samples), /^input must be an Int16Array, not /);
      expectRefusal(() => backend.alawEncode(samples), /^input must be an Int16Array, not /);
      expectRefusal(() => resampler.process(samples), /^input must be an Int16Array, not /);
      if (value === undefined) continue;
      expectRefusal(() => resampler.process(noise(4), samples), /^output must be an Int16Array, not /);
      expectRefusal(() => backend.mulawDecode(new Uint8Array(4), samples), /^output must be an Int16Array/);
    }
    for (const value of [...wrong, new Int16Array(4)]) {
      const bytes = value as Uint8Array;
      expectRefusal(() => backend.mulawDecode(bytes), /^input must be a Uint8Array, not /);
      expectRefusal(() => backend.alawDecode(bytes), /^input must be a Uint8Array, not /);
      expectRefusal(() => backend.hmacSha1(bytes, new Uint8Array()), /^key must be a Uint8Array, not /);
      expectRefusal(() => backend.hmacSha1(new Uint8Array(), bytes), /^message must be a Uint8Array, not /);
      expectRefusal(() => backend.verifyHmacSha1(new Uint8Array(), new Uint8Array(), bytes), /^mac must be/);
    }
    resampler.free();
  });

  it('refuses the wrong kind where the lengths are right', () => {
    const [bytes, samples] = [new Uint8Array(160), new Int16Array(160)];
    const others: unknown[] = [
      new Uint16Array(160),
      new Float32Array(160),
      Array(160).fill(0),
      'x'.repeat(160),
    ];
    for (const other of others) {
      expectRefusal(() => backend.mulawDecode(bytes, other as never), /^output must be an Int16Array/);
      expectRefusal(() => backend.alawDecode(other as never, samples), /^input must be a Uint8Array/);
      expectRefusal(() => backend.mulawEncode(other as never, bytes), /^input must be an Int16Array/);
      expectRefusal(() => backend.alawEncode(samples, other as never), /^output must be a Uint8Array/);
    }
    expectRefusal(() => backend.mulawDecode(samples as never, bytes as never), /^input must be a Uint8Array/);
    expectRefusal(() => backend.alawEncode(bytes as never, samples as never), /^input must be an Int16Array/);
    expect([...bytes, ...samples].every((element) => element === 0)).toBe(true);
  });

  it('takes empty arrays', () => {
    const resampler = backend.createResampler(24000, 16000);
    expect(backend.mulawDecode(new Uint8Array()).length).toBe(0);
    expect(backend.alawEncode(new Int16Array()).length).toBe(0);
    expect(resampler.process(new Int16Array()).length).toBe(0);
    expect(resampler.process(new Int16Array(), new Int16Array()).length).toBe(0);
    expect(backend.hmacSha1(new Uint8Array(), new Uint8Array()).length).toBe(20);
    resampler.free();
  });

  it('refuses rates that are not offered', () => {
    const rates = [
      8000,
      11025,
      44100,
      48000,
      0,
      -8000,
      8000.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      2 ** 32 + 16000,
    ];
    for (const rate of rates)
      expectRefusal(
        () => backend.createResampler(8000, rate),
        /no resampler from 8000 to .* offered: 8000 to 16000/,
      );
    expectRefusal(() => backend.createResampler('8000:16000' as never, '' as never), /no resampler/);
    expectRefusal(() => backend.createResampler(null as never, {} as never), /no resampler/);
    for (const value of [Symbol('8000'), Object.create(null), [8000], 8000n])
      expectRefusal(() => backend.createResampler(value as never, 16000), /no resampler from \w+ to 16000/);
  });

  it('refuses an output that is too short, and loses nothing by it', () => {
    const input = noise(480);
    const resampler = backend.createResampler(24000, 16000);
    const expected = backend.createResampler(24000, 16000).process(input);
    expectRefusal(() => resampler.process(input, new Int16Array(319)), /at least 320 elements, it holds 319/);
    expect(resampler.process(input)).toEqual(expected);
    expectRefusal(
      () => backend.mulawEncode(input, new Uint8Array(479)),
      /at least 480 elements, it holds 479/,
    );
    expectRefusal(() => backend.alawDecode(new Uint8Array(2), new Int16Array(1)), /at least 2 elements/);
    resampler.free();
  });

  it('refuses every use after free, and frees once', () => {
    const resampler = backend.createResampler(16000, 8000);
    resampler.free();
    resampler.free();
    // Another one that takes the place of the first must not be reached through it.
    const next = backend.createResampler(16000, 8000);
    const expected = backend.createResampler(16000, 8000).process(noise(320));
    expectRefusal(() => resampler.process(noise(320)), /after free/);
    expectRefusal(() => resampler.flush(), /after free/);
    expectRefusal(() => resampler.reset(), /after free/);
    resampler.free();
    expect(next.process(noise(320))).toEqual(expected);
    next.free();
  });

  it('hears nothing but frames, through resamplers of its own', () => {
    const [detector, same] = [backend.createVoiceDetector(), backend.createVoiceDetector()];
    const [up, sameUp] = [backend.createResampler(8000, 16_000), backend.createResampler(8000, 16_000)];
    const down = backend.createResampler(16_000, 8000);
    const [codes, output] = [new Uint8Array(160).fill(0x31), new Int16Array(320)];
    for (const value of wrong) {
      expectRefusal(() => detector.hear(value as Int16Array), /^frame must (be an Int16Array|hold)/);
      expectRefusal(() => detector.hearMulaw(value as Uint8Array, up, output), /^input must (be a|make)/);
      expectRefusal(
        () => detector.hearMulaw(codes, up, value as Int16Array),
        /^output must be an Int16Array/,
      );
      expectRefusal(
        () => detector.hearMulaw(codes, value as never, output),
        /^resampler must be a resampler/,
      );
    }
    for (const length of [0, 160, 319, 321])
      expectRefusal(() => detector.hear(new Int16Array(length)), /^frame must hold 320 samples, it holds/);
    expectRefusal(
      () => detector.hearMulaw(codes.subarray(1), up, output),
      /^input must make 320 samples at 16000 Hz, not 318 at 16000 Hz$/,
    );
    expectRefusal(() => detector.hearMulaw(new Uint8Array(640), down, output), /not 320 at 8000 Hz$/);
    expectRefusal(() => detector.hearMulaw(codes, up, new Int16Array(319)), /at least 320 elements/);
    expectRefusal(() => detector.hearMulaw(codes, Object.create(up), output), /must be a resampler/);
    expectRefusal(() => detector.hear(detached(new Int16Array(320))), /attached/);
    for (const other of subjects)
      if (other.backend !== backend) {
        const foreign = other.backend.createResampler(8000, 16_000);
        expectRefusal(() => detector.hearMulaw(codes, foreign, output), /one of the same backend/);
        foreign.free();
      }
    // Nothing of that was heard.
    expect(detector.hearMulaw(codes, up, output)).toBe(same.hear(sameUp.processFromMulaw(codes)));
    expect(detector.energy).toBe(same.energy);
    up.free();
    expectRefusal(() => detector.hearMulaw(codes, up, output), /^the resampler must not be used after free/);
    detector.free();
    detector.free();
    expectRefusal(() => detector.hear(output), /^the voice detector must not be used after free/);
    expectRefusal(() => detector.hearMulaw(codes, sameUp, output), /voice detector must not be used after/);
    for (const each of [same, sameUp, down]) each.free();
  });

  it('refuses detached arrays', () => {
    const resampler = backend.createResampler(8000, 16000);
    expectRefusal(() => backend.mulawDecode(detached(new Uint8Array(160))), /attached/);
    expectRefusal(() => backend.mulawEncode(detached(new Int16Array(160))), /attached/);
    expectRefusal(() => resampler.process(detached(new Int16Array(160))), /attached/);
    expectRefusal(() => resampler.process(noise(160), detached(new Int16Array(320))), /attached/);
    expectRefusal(() => backend.hmacSha1(detached(new Uint8Array(5)), new Uint8Array()), /attached/);
    resampler.free();
  });

  it('refuses arrays that their resizable buffer has become too short for', () => {
    type Resizable = ArrayBuffer & { resize(length: number): void };
    const Buffers = ArrayBuffer as unknown as new (length: number, options: object) => Resizable;
    const buffer = new Buffers(320, { maxByteLength: 640 });
    const growing = new Uint8Array(buffer);
    const fixed = new Uint8Array(buffer, 16, 160);
    expect(backend.mulawDecode(growing).length).toBe(320);
    buffer.resize(100);
    expect(backend.mulawDecode(growing).length).toBe(100);
    expectRefusal(() => backend.mulawDecode(fixed), /attached/);
    expectRefusal(() => backend.mulawEncode(noise(160), fixed), /attached/);
  });

  it('does not believe a length that an array claims', () => {
    const resampler = backend.createResampler(16000, 8000);
    for (const claimed of [0, 4, 5000]) {
      const bytes = Object.defineProperty(new Uint8Array(160), 'length', { value: claimed });
      const samples = Object.defineProperty(noise(320), 'length', { value: claimed });
      expectRefusal(() => backend.mulawDecode(bytes), /length is its own/);
      expectRefusal(() => backend.hmacSha1(bytes, bytes), /length is its own/);
      expectRefusal(() => resampler.process(samples), /length is its own/);
      expectRefusal(() => resampler.process(noise(320), samples), /length is its own/);
    }
    resampler.free();
  });

  it('does not believe what a class of its own says of an array, nor what it does when asked', () => {
    class Codes extends Uint8Array {}
    class Boasting extends Uint8Array {
      override get length(): number {
        return 5000;
      }
    }
    class Vanishing extends Int16Array {
      override get length(): number {
        const length = super.length;
        if (length > 0) detached(this);
        return length;
      }
    }
    const resampler = backend.createResampler(8000, 16000);
    const codes = new Codes(160).fill(0x55);
    expect([...backend.mulawDecode(codes)]).toEqual(Array(160).fill(-716));
    expect(backend.mulawEncode(noise(160), codes)).toBe(codes);
    for (const ask of [
      () => backend.mulawDecode(new Boasting(160)),
      () => backend.mulawEncode(noise(160), new Boasting(160)),
      // Of one length, as both say.
      () =>
        backend.alawDecode(
          new Boasting(160),
          Object.defineProperty(new Int16Array(160), 'length', { value: 5000 }),
        ),
      () => backend.mulawDecode(new Uint8Array(160), new Vanishing(160)),
      () => backend.mulawEncode(new Vanishing(160), new Uint8Array(160)),
      () => resampler.process(new Vanishing(160)),
      () => resampler.process(noise(160), new Vanishing(320)),
      () => resampler.processFromMulaw(new Boasting(160)),
      () => resampler.processToMulaw(noise(160), new Boasting(320)),
      () => backend.verifyHmacSha1(new Uint8Array(4), new Uint8Array(4), new Boasting(20)),
    ])
      expectRefusal(ask, /length is its own|attached/);
    resampler.free();
  });

  it('signs and verifies messages of any length', () => {
    const key = Buffer.from('secret');
    for (const length of [16_000, 16_384, 100_001, 3_000_000]) {
      const message = new Uint8Array(length).fill(length);
      const code = backend.hmacSha1(key, message);
      expect(Buffer.from(code)).toEqual(createHmac('sha1', key).update(message).digest());
      expect(backend.verifyHmacSha1(key, message, code)).toBe(true);
      message[length >> 1]! ^= 1;
      expect(backend.verifyHmacSha1(key, message, code)).toBe(false);
    }
  });

  it('refuses text that is not base64, and loses nothing by it', () => {
    const resampler = backend.createResampler(8000, 16000);
    const same = backend.createResampler(8000, 16000);
    resampler.process(noise(160));
    same.process(noise(160));
    const wrong = [
      'A',
      '=',
      'AA=',
      'AAA==',
      'AA=A',
      'Zh==',
      'ZI==',
      'Zm9=',
      'ZmC=',
      'A-A_',
      'AAA ',
      'AAAA====',
      'ÄAAA',
      '\u0141AAA',
      'AAAA\n',
    ];
    wrong.push('😀AA', '\ud800AAA', '\0AAA', `${'A'.repeat(40_000)}!AAA`, `${'A'.repeat(1021)}é`);
    for (const text of wrong)
      expectRefusal(() => resampler.processFromMulawBase64(text), /^input must be base64 text$/);
    for (const value of [undefined, null, 7, Buffer.from('AAAA'), new String('AAAA')])
      expectRefusal(() => resampler.processFromMulawBase64(value as string), /^input must be a string, not /);
    expectRefusal(() => resampler.processFromMulawBase64('AAAA', new Int16Array(5)), /at least 6 elements/);
    expect(resampler.processFromMulawBase64('').length).toBe(0);
    for (const length of [1, 2, 3, 160, 765, 766, 767, 768, 769, 1000, 30_000]) {
      const text = Buffer.from(noise(length).buffer, 0, length).toString('base64');
      const bytes = Buffer.from(text, 'base64');
      expectSame(resampler.processFromMulawBase64(text), same.processFromMulaw(bytes));
      expectSame(resampler.processFromMulawBase64(text.replaceAll('=', '')), same.processFromMulaw(bytes));
    }
    resampler.free();
    same.free();
  });

  it('takes arrays on shared memory', () => {
    const samples = new Int16Array(new SharedArrayBuffer(640));
    samples.set(noise(320));
    const shared = new Int16Array(new SharedArrayBuffer(320));
    const [left, right] = [backend.createResampler(16000, 8000), backend.createResampler(16000, 8000)];
    const expected = left.process(noise(320));
    expect(right.process(samples, shared)).toBe(shared);
    expect([...shared]).toEqual([...expected]);
    const codes = new Uint8Array(new SharedArrayBuffer(320));
    backend.mulawEncode(samples, codes);
    expect([...codes]).toEqual([...backend.mulawEncode(noise(320))]);
    expect(backend.hmacSha1(codes, codes)).toEqual(backend.hmacSha1(codes.slice(), codes.slice()));
    left.free();
    right.free();
  });

  it('reads an input before it writes an output on the same memory', () => {
    const buffer = new ArrayBuffer(2000);
    const samples = new Int16Array(buffer, 0, 160);
    samples.set(noise(160));
    const resampler = backend.createResampler(8000, 24000);
    const expected = backend.createResampler(8000, 24000).process(noise(160));
    expect(resampler.process(samples, new Int16Array(buffer, 0, 480))).toEqual(expected);
    const codes = new Uint8Array(buffer, 0, 160).fill(0x55);
    expect([...backend.mulawDecode(codes, new Int16Array(buffer, 0, 160))]).toEqual(Array(160).fill(-716));
    samples.set(noise(160));
    const encoded = backend.alawEncode(noise(160));
    expect([...backend.alawEncode(samples, new Uint8Array(buffer, 0, 160))]).toEqual([...encoded]);
    // More than a module's buffers hold is taken in pieces: the next one must not have been written over.
    const long = noise(40_000, 3);
    const copy = long.slice();
    const over = new Uint8Array(copy.buffer, 30_001, 40_000);
    const [expectedCodes, expectedSamples] = [
      backend.mulawEncode(long),
      backend.createResampler(16000, 24000),
    ];
    expectSame(backend.mulawEncode(copy, over), expectedCodes);
    const memory = new Int16Array(100_000);
    memory.set(long, 30_000);
    const same = backend.createResampler(16000, 24000);
    expectSame(
      same.process(memory.subarray(30_000, 70_000), memory.subarray(0, 60_000)),
      expectedSamples.process(long),
    );
    for (const each of [same, expectedSamples]) each.free();
    resampler.free();
  });

  it('takes arrays of another realm, and parts of arrays', () => {
    const foreign = runInNewContext('Int16Array.of(1000, -1000, 3)') as Int16Array;
    expect([...backend.mulawEncode(foreign)]).toEqual([
      ...backend.mulawEncode(Int16Array.of(1000, -1000, 3)),
    ]);
    const odd = Buffer.from('xabcd').subarray(1);
    expect([...backend.mulawDecode(odd)]).toEqual([...backend.mulawDecode(Uint8Array.from(odd))]);
  });
});
