import { describe, expect, it } from 'vitest';
import { loadAddon, type NativeAddon, platformNames } from '../../src/transcoder/native.js';
import { instantiate } from '../../src/transcoder/wasm.js';
import { noise, subjects } from './support.js';

describe('the WASM exports', () => {
  const wasm = instantiate();

  it('refuse lengths beyond their buffers', () => {
    const tooLong = 2 ** 31;
    for (const run of [wasm.mulaw_decode, wasm.mulaw_encode, wasm.alaw_decode, wasm.alaw_encode]) {
      expect(run(wasm.capacity())).toBe(wasm.capacity());
      expect(run(wasm.capacity() + 1)).toBe(-1);
      expect(run(tooLong)).toBe(-1);
    }
    const handle = wasm.resampler_create(8000, 24000, 0);
    expect(wasm.resampler_process(handle, wasm.capacity())).toBe(wasm.capacity() * 3);
    expect(wasm.resampler_process(handle, wasm.capacity() + 1)).toBe(-1);
    expect(wasm.hmac_sha1(tooLong, tooLong)).toBe(-1);
    expect(wasm.verify_hmac_sha1(1, 2, tooLong)).toBe(-1);
    expect(wasm.resampler_free(handle)).toBe(1);
  });

  it('refuse stale and made-up handles', () => {
    const before = wasm.resampler_count();
    const handle = wasm.resampler_create(8000, 16000, 0);
    expect(wasm.resampler_count()).toBe(before + 1);
    expect(wasm.resampler_free(handle)).toBe(1);
    expect(wasm.resampler_free(handle)).toBe(0);
    expect(wasm.resampler_create(8000, 16000, 0)).not.toBe(handle);
    for (const wrong of [handle, 0, 1, -1, 0xffffffff]) {
      expect(wasm.resampler_process(wrong, 160)).toBe(-1);
      expect(wasm.resampler_flush(wrong)).toBe(-1);
      expect(wasm.resampler_reset(wrong)).toBe(0);
    }
    expect(wasm.resampler_create(8000, 8000, 0)).toBe(0);
  });

  it('hear frames only, with handles that are in use', () => {
    const before = wasm.detector_count();
    const detector = wasm.detector_create();
    const [up, down] = [wasm.resampler_create(8000, 16_000, 0), wasm.resampler_create(16_000, 8000, 0)];
    expect(wasm.detector_count()).toBe(before + 1);
    expect(wasm.detector_hear(detector, 320)).toBe(0);
    expect(wasm.detector_hear_mulaw(detector, up, 160)).not.toBeNaN();
    for (const length of [0, 160, 319, 321, wasm.capacity() + 1, 2 ** 31])
      expect(wasm.detector_hear(detector, length)).toBeNaN();
    for (const length of [0, 159, 161, 320, 2 ** 31])
      expect(wasm.detector_hear_mulaw(detector, up, length)).toBeNaN();
    expect(wasm.detector_hear_mulaw(detector, down, 640)).toBeNaN();
    expect(wasm.resampler_free(up)).toBe(1);
    expect(wasm.detector_hear_mulaw(detector, up, 160)).toBeNaN();
    expect([wasm.detector_free(detector), wasm.detector_free(detector)]).toEqual([1, 0]);
    const next = wasm.detector_create();
    for (const wrong of [detector, 0, 1, -1, 0xffffffff]) expect(wasm.detector_hear(wrong, 320)).toBeNaN();
    expect([wasm.detector_free(next), wasm.resampler_free(down)]).toEqual([1, 1]);
  });
});

const native = subjects.some(({ title }) => title === 'native');

describe.skipIf(!native)('the native exports', () => {
  // Not loaded where there is none.
  const addon = native ? loadAddon() : (undefined as unknown as NativeAddon);

  it('throw for everything that is not what they take', () => {
    const [bytes, samples] = [new Uint8Array(4), new Int16Array(4)];
    const wrong: unknown[] = [undefined, null, 1, 'text', {}, [], new Float32Array(4), new ArrayBuffer(8)];
    for (const value of wrong) {
      expect(() => addon.mulawDecode(value as Uint8Array, samples)).toThrow(
        'argument 0 must be a Uint8Array',
      );
      expect(() => addon.mulawDecode(bytes, value as Int16Array)).toThrow('argument 1 must be an Int16Array');
      expect(() => addon.hmacSha1(bytes, value as Uint8Array, bytes)).toThrow(
        'argument 1 must be a Uint8Array',
      );
    }
    expect(() => (addon.mulawDecode as () => void)()).toThrow('argument 0 must be a Uint8Array');
    expect(() => addon.mulawDecode(new Uint8Array(5), samples)).toThrow('holds 4 elements, the result has 5');
    expect(() => addon.hmacSha1(bytes, bytes, new Uint8Array(19))).toThrow('less than 20 bytes');
    expect(() => addon.resamplerCreate(8000, 8000, 0)).toThrow('no resampler from 8000 Hz to 8000 Hz');
    expect(() => addon.resamplerCreate('8000' as never, 16000, 0)).toThrow('must be a number');
    const handle = addon.resamplerCreate(8000, 16000, 0);
    expect(() => addon.resamplerProcessFromMulawBase64(handle, 7 as never, samples)).toThrow(
      'must be a string',
    );
    addon.resamplerFree(handle);
  });

  it('refuse stale and made-up handles, and take part of what overlaps', () => {
    const before = addon.resamplerCount();
    const handle = addon.resamplerCreate(8000, 16000, 99);
    expect(addon.resamplerCount()).toBe(before + 1);
    addon.resamplerFree(handle);
    addon.resamplerFree(handle);
    expect(addon.resamplerCount()).toBe(before);
    for (const wrong of [handle, 0, -1, 2 ** 32 + handle, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => addon.resamplerProcess(wrong, noise(160), new Int16Array(320))).toThrow('was freed');
      expect(() => addon.resamplerFlush(wrong, new Int16Array(320))).toThrow('was freed');
      expect(() => addon.resamplerReset(wrong)).toThrow('was freed');
    }
    const buffer = new ArrayBuffer(64);
    new Uint8Array(buffer).fill(0x55);
    const output = new Int16Array(buffer, 0, 16);
    addon.mulawDecode(new Uint8Array(buffer, 8, 16), output);
    expect([...output]).toEqual(Array(16).fill(-716));
  });

  it('hear frames only, with handles that are in use', () => {
    const before = addon.detectorCount();
    const detector = addon.detectorCreate();
    const [up, down] = [addon.resamplerCreate(8000, 16_000, 99), addon.resamplerCreate(16_000, 8000, 99)];
    const [frame, codes] = [noise(320), new Uint8Array(160)];
    expect(addon.detectorCount()).toBe(before + 1);
    for (const length of [0, 160, 319, 321])
      expect(() => addon.detectorHear(detector, new Int16Array(length))).toThrow('320 samples at 16000 Hz');
    expect(() => addon.detectorHear(detector, codes as never)).toThrow('argument 1 must be an Int16Array');
    expect(() => addon.detectorHearMulaw(detector, up, codes.subarray(1), frame)).toThrow('320 samples');
    expect(() => addon.detectorHearMulaw(detector, down, new Uint8Array(640), frame)).toThrow('320 samples');
    expect(() => addon.detectorHearMulaw(detector, up, codes, frame.subarray(1))).toThrow('holds 319');
    expect(() => addon.detectorHearMulaw(detector, up, codes, codes as never)).toThrow('argument 3 must be');
    expect(() => addon.detectorHearMulaw(detector, detector, codes, frame.subarray(1))).toThrow();
    addon.resamplerFree(up);
    expect(() => addon.detectorHearMulaw(detector, up, codes, frame)).toThrow('the resampler was freed');
    addon.detectorFree(detector);
    addon.detectorFree(detector);
    expect(addon.detectorCount()).toBe(before);
    for (const wrong of [detector, 0, -1, 2 ** 32 + detector, Number.NaN])
      expect(() => addon.detectorHear(wrong, frame)).toThrow('the voice detector was freed');
    addon.resamplerFree(down);
  });

  it('look into no array that is detached, or that its buffer has become too short for', () => {
    type Resizable = ArrayBuffer & { resize(length: number): void };
    const Buffers = ArrayBuffer as unknown as new (length: number, options: object) => Resizable;
    const handle = addon.resamplerCreate(8000, 16000, 99);
    const gone = new Int16Array(160);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    const buffer = new Buffers(320, { maxByteLength: 640 });
    const cut = new Int16Array(buffer, 160, 80);
    const growing = new Uint8Array(buffer);
    buffer.resize(100);
    const full = 'holds 0 elements, the result has';
    for (const empty of [gone, cut]) {
      expect(() => addon.mulawDecode(new Uint8Array(160), empty)).toThrow(full);
      expect(() => addon.resamplerProcess(handle, noise(160), empty)).toThrow(full);
      const untouched = new Uint8Array(4).fill(7);
      addon.mulawEncode(empty, untouched);
      expect([...untouched]).toEqual([7, 7, 7, 7]);
    }
    const output = new Int16Array(101).fill(9);
    addon.mulawDecode(growing.fill(0x55), output);
    expect([...output]).toEqual([...Array(100).fill(-716), 9]);
    buffer.resize(640);
    expect(() => addon.mulawDecode(growing, output)).toThrow('holds 101 elements, the result has 640');
    addon.resamplerFree(handle);
  });

  it('take what threads share, and refuse what only looks like an array', () => {
    type Growable = SharedArrayBuffer & { grow(length: number): void };
    const Buffers = SharedArrayBuffer as unknown as new (length: number, options: object) => Growable;
    const buffer = new Buffers(320, { maxByteLength: 640 });
    const shared = new Uint8Array(buffer);
    buffer.grow(640);
    shared.fill(0x55);
    const output = new Int16Array(640);
    addon.mulawDecode(shared, output);
    expect([...output]).toEqual(Array(640).fill(-716));
    addon.mulawEncode(output.fill(0), shared);
    expect([...shared]).toEqual(Array(640).fill(0xff));
    const code = new Uint8Array(20);
    addon.hmacSha1(shared, shared, code);
    expect(addon.verifyHmacSha1(shared.slice(), shared.slice(), code)).toBe(true);
    for (const value of [new Proxy(shared, {}), Object.create(shared), new Uint8ClampedArray(640)])
      expect(() => addon.mulawDecode(value, output)).toThrow('argument 0 must be a Uint8Array');
  });

  it('read everything before they write, whatever lies on the same memory', () => {
    const bytes = Uint8Array.from({ length: 64 }, (_, place) => place);
    const code = new Uint8Array(20);
    addon.hmacSha1(bytes, bytes, code);
    addon.hmacSha1(bytes, bytes, bytes);
    expect([...bytes.subarray(0, 20)]).toEqual([...code]);
    expect([...bytes.subarray(20)]).toEqual(Array.from({ length: 44 }, (_, place) => place + 20));
    const memory = new ArrayBuffer(960);
    const samples = noise(160);
    new Int16Array(memory, 320, 160).set(samples);
    const [left, right] = [addon.resamplerCreate(8000, 16000, 99), addon.resamplerCreate(8000, 16000, 99)];
    const expected = new Int16Array(320);
    addon.resamplerProcess(left, samples, expected);
    addon.resamplerProcess(right, new Int16Array(memory, 320, 160), new Int16Array(memory, 0, 320));
    expect([...new Int16Array(memory, 0, 320)]).toEqual([...expected]);
    for (const handle of [left, right]) addon.resamplerFree(handle);
  });

  it('are looked for under the names of the platform', () => {
    expect(platformNames('linux', 'arm64')).toEqual(['linux-arm64-gnu', 'linux-arm64-musl']);
    expect(platformNames('darwin', 'arm64')).toEqual(['darwin-arm64']);
    expect(platformNames('win32', 'x64')).toEqual(['win32-x64-msvc']);
  });
});
