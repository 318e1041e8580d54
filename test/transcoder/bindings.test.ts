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

  it('are looked for under the names of the platform', () => {
    expect(platformNames('linux', 'arm64')).toEqual(['linux-arm64-gnu', 'linux-arm64-musl']);
    expect(platformNames('darwin', 'arm64')).toEqual(['darwin-arm64']);
    expect(platformNames('win32', 'x64')).toEqual(['win32-x64-msvc']);
  });
});
