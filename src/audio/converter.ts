// Wire bytes <-> house PCM. One converter per direction per call: it holds the state of that direction and nothing else.
import type { TranscoderBackend } from '../transcoder/backend.js';
import { type AudioFormat, PCM_16K } from './format.js';

/** The caller's way in. */
export interface InboundConverter {
  /** Wire bytes of any length to 16 kHz PCM. The result is valid until the next call. Odd PCM bytes wait for their other half. */
  convert(bytes: Uint8Array): Int16Array;
  /** Frees the resampler. Idempotent; `convert` must not follow. */
  close(): void;
}

/** The agent's way out. */
export interface OutboundConverter {
  /** 16 kHz PCM to wire bytes; a whole 20 ms frame gives a whole frame. The result is valid until the next call. */
  convert(pcm: Int16Array): Uint8Array;
  /** Forgets all input, as after a cut in the audio. */
  reset(): void;
  /** Frees the resampler. Idempotent; `convert` must not follow. */
  close(): void;
}

type Step<From, To> = (input: From) => To;

/** Converts what a carrier sends in `format`. @throws TranscoderError when the backend has no resampler for the rate. */
export function createInboundConverter(format: AudioFormat, backend: TranscoderBackend): InboundConverter {
  const decode = createDecoder(format, backend);
  if (format.sampleRateHz === PCM_16K.sampleRateHz) return { convert: decode, close() {} };
  const rate = createRateStep(format.sampleRateHz, PCM_16K.sampleRateHz, backend);
  return { convert: (bytes) => rate.process(decode(bytes)), close: rate.close };
}

/** Converts to what a carrier takes. @throws TranscoderError when the backend has no resampler for the rate. */
export function createOutboundConverter(format: AudioFormat, backend: TranscoderBackend): OutboundConverter {
  const encode = createEncoder(format, backend);
  if (format.sampleRateHz === PCM_16K.sampleRateHz) return { convert: encode, reset() {}, close() {} };
  const rate = createRateStep(PCM_16K.sampleRateHz, format.sampleRateHz, backend);
  return { convert: (pcm) => encode(rate.process(pcm)), reset: rate.reset, close: rate.close };
}

function createRateStep(fromHz: number, toHz: number, backend: TranscoderBackend) {
  const resampler = backend.createResampler(fromHz, toHz);
  let output = new Int16Array(0);
  return {
    process(input: Int16Array): Int16Array {
      // A chunk that ends between two output samples may let one more out than its share.
      const bound = Math.ceil((input.length * toHz) / fromHz) + 2;
      if (output.length < bound) output = new Int16Array(bound);
      return resampler.process(input, output);
    },
    reset: () => resampler.reset(),
    close: () => resampler.free(),
  };
}

function createDecoder(format: AudioFormat, backend: TranscoderBackend): Step<Uint8Array, Int16Array> {
  if (format.encoding === 'pcm') return createPcmDecoder();
  const { encoding } = format;
  let output = new Int16Array(0);
  return (bytes) => {
    if (output.length < bytes.length) output = new Int16Array(bytes.length);
    return encoding === 'mulaw' ? backend.mulawDecode(bytes, output) : backend.alawDecode(bytes, output);
  };
}

function createEncoder(format: AudioFormat, backend: TranscoderBackend): Step<Int16Array, Uint8Array> {
  // Every platform that Node.js has prebuilds for is little-endian, as the wire is: the samples are the bytes.
  if (format.encoding === 'pcm') return (pcm) => new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  const { encoding } = format;
  let output = new Uint8Array(0);
  return (pcm) => {
    if (output.length < pcm.length) output = new Uint8Array(pcm.length);
    return encoding === 'mulaw' ? backend.mulawEncode(pcm, output) : backend.alawEncode(pcm, output);
  };
}

/** A chunk may start at an odd address and end in the middle of a sample: bytes are copied, and the half sample waits. */
function createPcmDecoder(): Step<Uint8Array, Int16Array> {
  let samples = new Int16Array(0);
  let half: number | undefined;
  return (bytes) => {
    const carried = half === undefined ? 0 : 1;
    const count = (carried + bytes.length) >> 1;
    if (count === 0) {
      half = half ?? bytes[0];
      return samples.subarray(0, 0);
    }
    if (samples.length < count) samples = new Int16Array(count);
    const target = new Uint8Array(samples.buffer);
    if (half !== undefined) target[0] = half;
    target.set(bytes.subarray(0, count * 2 - carried), carried);
    half = (carried + bytes.length) % 2 === 1 ? bytes[bytes.length - 1] : undefined;
    return samples.subarray(0, count);
  };
}
