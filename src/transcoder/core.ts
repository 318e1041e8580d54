// What a backend has to bring: arithmetic between arrays that are known to fit. `checked.ts` puts the contract around it.
import type { BackendName, TranscoderBackend } from './backend.js';

/**
 * The bare backend. Inputs are of the right type and attached, outputs exactly as long as the result. They may share
 * memory: an input is read as it was at the call.
 * Whatever it throws or answers beyond that is a defect, not a reaction to input.
 */
export interface TranscoderCore {
  readonly name: BackendName;
  mulawDecode(input: Uint8Array, output: Int16Array): void;
  mulawEncode(input: Int16Array, output: Uint8Array): void;
  alawDecode(input: Uint8Array, output: Int16Array): void;
  alawEncode(input: Int16Array, output: Uint8Array): void;
  /** Rates that `rates.ts` has a path for. */
  createResampler(fromHz: number, toHz: number): CoreResampler;
  createVoiceDetector(): CoreVoiceDetector;
  hmacSha1(key: Uint8Array, message: Uint8Array, output: Uint8Array): void;
  verifyHmacSha1(key: Uint8Array, message: Uint8Array, mac: Uint8Array): boolean;
  /** The backend around this core by a shorter way, where it checks what it is given itself: the same answers and refusals. */
  shorten?(checked: TranscoderBackend): TranscoderBackend;
}

/** The bare resampler. Not called after `free`. */
export interface CoreResampler {
  process(input: Int16Array, output: Int16Array): void;
  processFromMulaw(input: Uint8Array, output: Int16Array): void;
  /** False, and nothing changed, when `input` is not base64. The output fits the length of the text. */
  processFromMulawBase64(input: string, output: Int16Array): boolean;
  processToMulaw(input: Int16Array, output: Uint8Array): void;
  flush(output: Int16Array): void;
  reset(): void;
  free(): void;
}

/**
 * The bare voice detector. Not called after `free`. What it hears is one frame, and what it gives is both of what there is to know
 * of it: the sum `e` of the squares of its samples where it is not voiced, `-1 - e` where it is.
 */
export interface CoreVoiceDetector {
  hear(frame: Int16Array): number;
  /** `resampler` is one of the same core, and makes exactly a frame of `input`, for which `output` has room. */
  hearMulaw(resampler: CoreResampler, input: Uint8Array, output: Int16Array): number;
  free(): void;
}
