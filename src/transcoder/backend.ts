// The one shape that the native addon, the WASM module and the JavaScript fallback share.
// It knows bytes and samples; which call they belong to is no business of this room.

/** Name of an implementation of the transcoder. */
export type BackendName = 'native' | 'wasm' | 'javascript';

/** A sample rate that a resampler can take or give, in hertz. */
export type SampleRateHz = 8000 | 16000 | 24000;

/**
 * Arithmetic on telephone audio. Every backend gives the same bytes for the same input.
 * PCM is 16-bit signed, mono, in an `Int16Array`; encoded audio is a `Uint8Array`.
 * Where an `output` may be given it must be at least as long as the result: the result is written to its
 * start and a view of exactly the written part is returned. Without it the result is freshly allocated.
 */
export interface TranscoderBackend {
  readonly name: BackendName;
  /** Mu-law to linear PCM, one byte in, one sample out, range ±32124. Source: ITU-T G.711, table 2a. */
  mulawDecode(input: Uint8Array, output?: Int16Array): Int16Array;
  /** Linear PCM to mu-law, one sample in, one byte out. Source: ITU-T G.711, table 2a. */
  mulawEncode(input: Int16Array, output?: Uint8Array): Uint8Array;
  /** A-law to linear PCM, one byte in, one sample out, range ±32256. Source: ITU-T G.711, table 1a. */
  alawDecode(input: Uint8Array, output?: Int16Array): Int16Array;
  /** Linear PCM to A-law, one sample in, one byte out. Source: ITU-T G.711, table 1a. */
  alawEncode(input: Int16Array, output?: Uint8Array): Uint8Array;
  /** A resampler with its own state: one per direction per call. @throws TranscoderError for a pair of rates that is not offered. */
  createResampler(fromHz: number, toHz: number): Resampler;
  /** A voice detector with its own state: one per direction per call. @throws TranscoderError when there is no room for it. */
  createVoiceDetector(): VoiceDetector;
  /** HMAC-SHA1 of `message`: 20 bytes. Source: RFC 2104, FIPS 180-4. */
  hmacSha1(key: Uint8Array, message: Uint8Array): Uint8Array;
  /** True when `mac` is the HMAC-SHA1 of `message`. Constant time in the content of `mac`; any wrong length is false. */
  verifyHmacSha1(key: Uint8Array, message: Uint8Array, mac: Uint8Array): boolean;
}

/**
 * Streaming polyphase resampler. Any chunking of the same input gives the same output. A whole 20 ms frame in
 * always gives a whole 20 ms frame out, from the first one on: the filter's delay shows as leading silence.
 */
export interface Resampler {
  readonly fromHz: number;
  readonly toHz: number;
  /** Delay of the filter, in milliseconds. */
  readonly delayMs: number;
  /**
   * Consumes `input` and returns the samples that are due. The state is made with the first input. @throws TranscoderError after `free`, when
   * `output` is too short, or when there is no room for the state.
   */
  process(input: Int16Array, output?: Int16Array): Int16Array;
  /** `process` for mu-law bytes, without the samples in between. */
  processFromMulaw(input: Uint8Array, output?: Int16Array): Int16Array;
  /** `process` for mu-law bytes in base64 (RFC 4648; padding may be missing). @throws TranscoderError for any other text, which changes nothing. */
  processFromMulawBase64(input: string, output?: Int16Array): Int16Array;
  /** `process` that gives mu-law bytes, without the samples in between. */
  processToMulaw(input: Int16Array, output?: Uint8Array): Uint8Array;
  /** The tail that the filter still holds: what comes out for `delayMs` of silence. The state is then that of a new resampler. */
  flush(): Int16Array;
  /** Forgets all input. */
  reset(): void;
  /** Gives the state back. Idempotent; every other method then throws TranscoderError. */
  free(): void;
}

/**
 * Tells speech from the rest, 20 ms by 20 ms: 320 samples at 16 kHz. It follows the noise of the line, so it is to hear every frame.
 * The same decisions as the WebRTC project's detector in its most aggressive mode. Source: `common_audio/vad` of that project, BSD.
 */
export interface VoiceDetector {
  /** Sum of the squares of the samples of the last frame; 0 before the first. */
  readonly energy: number;
  /** True when the frame sounds like speech, or comes shortly behind some. @throws TranscoderError after `free`, or for another length. */
  hear(frame: Int16Array): boolean;
  /**
   * `resampler.processFromMulaw(input, output)` and `hear` of what comes of it, in one step. `resampler` is one of the same backend that
   * gives 16 kHz; 20 ms of input are a frame. @throws TranscoderError for anything else, which changes nothing.
   */
  hearMulaw(input: Uint8Array, resampler: Resampler, output: Int16Array): boolean;
  /** Gives the state back. Idempotent; every other method then throws TranscoderError. */
  free(): void;
}
