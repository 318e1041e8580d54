// Wire bytes <-> internal PCM. One converter per direction per call: it holds the state of that direction and nothing else.
import type { TranscoderBackend } from '../transcoder/backend.js';
import { type AudioFormat, isTelephone, PCM_16K } from './format.js';
import { SampleReader, toBytes } from './pcm-bytes.js';

/** The caller's way in. */
export interface InboundConverter {
  /** Wire bytes of any length to 16 kHz PCM. The result is valid until the next call. Odd PCM bytes wait for their other half. */
  convert(bytes: Uint8Array): Int16Array;
  /** Set where bytes may be taken as they come: on a line that carries a telephone's format. */
  readonly line: TelephoneLine | undefined;
  /** Forgets all input, as after a gap in the audio. */
  reset(): void;
  /** Frees the resampler. Idempotent; `convert` must not follow. */
  close(): void;
}

/** The agent's way out. */
export interface OutboundConverter {
  /** 16 kHz PCM to wire bytes; a whole 20 ms frame gives a whole frame. The result is valid until the next call. */
  convert(pcm: Int16Array): Uint8Array;
  /** Set where bytes may go out as they come: on a line that carries a telephone's format. */
  readonly line: TelephoneLine | undefined;
  /** Forgets all input, as after a cut in the audio. */
  reset(): void;
  /** Frees the resampler. Idempotent; `convert` must not follow. */
  close(): void;
}

/** What is to be known of the bytes of a line, one for a sample. */
export interface TelephoneLine {
  readonly format: AudioFormat;
  readonly silentByte: number;
  /** What each of the 256 bytes stands for, in 1/128 of full scale. */
  readonly levels: Int8Array;
}

type Step<From, To> = (input: From) => To;

/** Converts what a carrier sends in `format`. @throws TranscoderError when the backend has no resampler for the rate. */
export function createInboundConverter(format: AudioFormat, backend: TranscoderBackend): InboundConverter {
  const fromHz = format.sampleRateHz;
  const toHz = PCM_16K.sampleRateHz;
  const decode = createDecoder(format, backend);
  const line = isTelephone(format) ? describeLine(format, backend) : undefined;
  if (fromHz === toHz) return { convert: decode, line, reset() {}, close() {} };
  const resampler = backend.createResampler(fromHz, toHz);
  const rest = { line, reset: () => resampler.reset(), close: () => resampler.free() };
  const output = createRoom((length) => new Int16Array(length));
  // The usual format in one step, which costs one crossing to the backend.
  if (format.encoding === 'mulaw') {
    return {
      convert: (bytes) => resampler.processFromMulaw(bytes, output(outputBound(bytes.length, fromHz, toHz))),
      ...rest,
    };
  }
  return {
    convert(bytes) {
      const pcm = decode(bytes);
      return resampler.process(pcm, output(outputBound(pcm.length, fromHz, toHz)));
    },
    ...rest,
  };
}

/** Converts to what a carrier takes. @throws TranscoderError when the backend has no resampler for the rate. */
export function createOutboundConverter(format: AudioFormat, backend: TranscoderBackend): OutboundConverter {
  const fromHz = PCM_16K.sampleRateHz;
  const toHz = format.sampleRateHz;
  const encode = createEncoder(format, backend);
  const line = isTelephone(format) ? describeLine(format, backend) : undefined;
  if (fromHz === toHz) return { convert: encode, line, reset() {}, close() {} };
  const resampler = backend.createResampler(fromHz, toHz);
  const rest = { line, reset: () => resampler.reset(), close: () => resampler.free() };
  if (format.encoding === 'mulaw') {
    const output = createRoom((length) => new Uint8Array(length));
    return {
      convert: (pcm) => resampler.processToMulaw(pcm, output(outputBound(pcm.length, fromHz, toHz))),
      ...rest,
    };
  }
  const output = createRoom((length) => new Int16Array(length));
  return {
    convert: (pcm) => encode(resampler.process(pcm, output(outputBound(pcm.length, fromHz, toHz)))),
    ...rest,
  };
}

/** By encoding: all backends give the same. */
const lines = new Map<AudioFormat['encoding'], TelephoneLine>();

function describeLine(format: AudioFormat, backend: TranscoderBackend): TelephoneLine {
  const known = lines.get(format.encoding);
  if (known !== undefined) return known;
  const [silentByte = 0] = createEncoder(format, backend)(new Int16Array(1));
  const samples = createDecoder(format, backend)(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  const line = { format, silentByte, levels: Int8Array.from(samples, (sample) => sample >> 8) };
  lines.set(format.encoding, line);
  return line;
}

/** Length of the longest result: a chunk that ends between two output samples may let one more out than its share. Exact for one that ends with a sample, as whole frames do. */
function outputBound(samples: number, fromHz: number, toHz: number): number {
  const share = (samples * toHz) / fromHz;
  return Number.isInteger(share) ? share : Math.ceil(share) + 2;
}

/** One array that is kept from call to call and grows when it must, and a view on it for as long as that is the right one. */
function createRoom<T extends Int16Array | Uint8Array>(
  allocate: (length: number) => T,
): (length: number) => T {
  let room = allocate(0);
  let view = room;
  return (length) => {
    if (view.length === length) return view;
    if (room.length < length) room = allocate(length);
    view = room.length === length ? room : (room.subarray(0, length) as T);
    return view;
  };
}

function createDecoder(format: AudioFormat, backend: TranscoderBackend): Step<Uint8Array, Int16Array> {
  if (format.encoding === 'pcm') {
    const reader = new SampleReader();
    return (bytes) => reader.read(bytes);
  }
  const output = createRoom((length) => new Int16Array(length));
  return format.encoding === 'mulaw'
    ? (bytes) => backend.mulawDecode(bytes, output(bytes.length))
    : (bytes) => backend.alawDecode(bytes, output(bytes.length));
}

function createEncoder(format: AudioFormat, backend: TranscoderBackend): Step<Int16Array, Uint8Array> {
  if (format.encoding === 'pcm') return toBytes;
  const output = createRoom((length) => new Uint8Array(length));
  return format.encoding === 'mulaw'
    ? (pcm) => backend.mulawEncode(pcm, output(pcm.length))
    : (pcm) => backend.alawEncode(pcm, output(pcm.length));
}
