// Audio on carrier B's wire: what the carrier sends in the codec that it granted, and what the server sends in the one it asked for.
import { SampleReader, toBytes } from '../../audio/pcm-bytes.js';
import { transcoder } from '../../transcoder/select.js';
import { resampleRecording } from '../resample.js';
import type { ByteOrder, StreamCodecName } from './options.js';

/** The rate at which people speak and hear here. */
const PHONE_RATE_HZ = 8000;

/** A codec with the rate of its samples. */
export interface WireFormat {
  codec: StreamCodecName;
  sampleRateHz: number;
  byteOrder: ByteOrder;
}

/** Twenty milliseconds of nothing in the codecs that are not spoken here. Source of the Opus frame: RFC 6716, section 3. */
const SILENT_FRAMES = {
  G722: new Uint8Array(160),
  OPUS: Uint8Array.of(0xf8, 0xff, 0xfe),
  'AMR-WB': Uint8Array.of(0xf1, 0x7c),
} as const;

function swapPairs(bytes: Buffer, byteOrder: ByteOrder): Buffer {
  return byteOrder === 'big' ? bytes.swap16() : bytes;
}

function toLinearBytes(samples: Int16Array, byteOrder: ByteOrder): Buffer {
  return swapPairs(Buffer.from(toBytes(samples)), byteOrder);
}

function fromLinearBytes(payload: Uint8Array, byteOrder: ByteOrder): Int16Array {
  return new SampleReader().read(swapPairs(Buffer.from(payload), byteOrder));
}

/** Encodes frames of 160 samples at 8 kHz. Holds the state of one stream. */
export interface FrameEncoder {
  encode(samples: Int16Array): Uint8Array;
  free(): void;
}

/** What the carrier sends. L16 is at 8 or 16 kHz; a codec that is not spoken here is sent as silence. */
export function createEncoder(format: WireFormat): FrameEncoder {
  const { codec, byteOrder } = format;
  if (codec === 'PCMU') return { encode: (samples) => transcoder.mulawEncode(samples), free() {} };
  if (codec === 'PCMA') return { encode: (samples) => transcoder.alawEncode(samples), free() {} };
  if (codec !== 'L16') return { encode: () => SILENT_FRAMES[codec], free() {} };
  if (format.sampleRateHz === PHONE_RATE_HZ) {
    return { encode: (samples) => toLinearBytes(samples, byteOrder), free() {} };
  }
  const resampler = transcoder.createResampler(PHONE_RATE_HZ, format.sampleRateHz);
  return {
    encode: (samples) => toLinearBytes(resampler.process(samples), byteOrder),
    free: () => resampler.free(),
  };
}

/** Decodes what the server sends. Holds the state of one stream. */
export interface PayloadDecoder {
  /** Length of a payload in milliseconds; null for one that cannot be told, 0 for an empty one. */
  durationMs(payload: Uint8Array): number | null;
  /** 8 kHz PCM. */
  decode(payload: Uint8Array): Int16Array;
  /** Forgets what the filters hold: what follows has nothing to do with what was before. */
  reset(): void;
  free(): void;
}

const silence = (durationMs: number) => new Int16Array(Math.round((durationMs * PHONE_RATE_HZ) / 1000));

/** What the server may send. Linear audio has any of the wire's rates; 16 kHz goes through the transcoder, sample by sample in time. */
export function createDecoder(format: WireFormat): PayloadDecoder {
  const { codec, sampleRateHz, byteOrder } = format;
  const companded = (decode: (payload: Uint8Array) => Int16Array): PayloadDecoder => ({
    durationMs: (payload) => payload.length / 8,
    decode,
    reset() {},
    free() {},
  });
  if (codec === 'PCMU') return companded((payload) => transcoder.mulawDecode(payload));
  if (codec === 'PCMA') return companded((payload) => transcoder.alawDecode(payload));
  // 64 kbit/s, as many bytes in a second as the companded codecs.
  if (codec === 'G722') return companded((payload) => silence(payload.length / 8));
  if (codec !== 'L16') {
    return { durationMs: () => null, decode: () => silence(20), reset() {}, free() {} };
  }
  const durationMs = (payload: Uint8Array) => (payload.length / 2 / sampleRateHz) * 1000;
  if (sampleRateHz !== 16_000) {
    const decode = (payload: Uint8Array) =>
      resampleRecording(fromLinearBytes(payload, byteOrder), sampleRateHz, PHONE_RATE_HZ);
    return { durationMs, decode, reset() {}, free() {} };
  }
  const resampler = transcoder.createResampler(sampleRateHz, PHONE_RATE_HZ);
  return {
    durationMs,
    // The samples outlive this call, so they are not a view of a buffer that is used again.
    decode: (payload) => resampler.process(fromLinearBytes(payload, byteOrder)).slice(),
    reset: () => resampler.reset(),
    free: () => resampler.free(),
  };
}

/** The rate that `media_format` names: for G722 that of its RTP clock, half of its true one. */
export function wireRateHz(codec: StreamCodecName, l16SampleRateHz: number): number {
  if (codec === 'L16') return l16SampleRateHz;
  if (codec === 'OPUS') return 48_000;
  return codec === 'AMR-WB' ? 16_000 : 8000;
}
