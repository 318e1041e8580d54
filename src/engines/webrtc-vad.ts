// The face of the WebRTC voice activity detector's WebAssembly build (libfvad). Its package brings no types.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** What the package's module offers of libfvad's C interface. Addresses are numbers. */
interface FvadModule {
  _fvad_new(): number;
  _fvad_free(handle: number): void;
  /** 0 is the least aggressive, 3 the most. Returns 0, or -1 for a bad mode. */
  _fvad_set_mode(handle: number, mode: number): number;
  _fvad_set_sample_rate(handle: number, rateHz: number): number;
  /** 10, 20 or 30 ms of samples. Returns 1 for speech, 0 for none, -1 for a bad length. */
  _fvad_process(handle: number, samples: number, length: number): number;
  _malloc(bytes: number): number;
  _free(address: number): void;
  /** Replaced when the memory grows: read it anew for every use. */
  readonly HEAP16: Int16Array;
}

/** One detector's state inside the shared module. */
export interface VoiceDetectorHandle {
  process(frame: Int16Array): boolean;
  close(): void;
}

export interface VoiceDetector {
  open(rateHz: number, mode: number, frameSamples: number): VoiceDetectorHandle;
}

/** Loads the module once for the process. It holds code; all state is in the handles. */
export async function loadVoiceDetector(): Promise<VoiceDetector> {
  const path = createRequire(import.meta.url).resolve('@echogarden/fvad-wasm');
  const loaded: { default: () => Promise<FvadModule> } = await import(pathToFileURL(path).href);
  const fvad = await loaded.default();
  return {
    open(rateHz, mode, frameSamples) {
      const handle = fvad._fvad_new();
      const samples = fvad._malloc(frameSamples * Int16Array.BYTES_PER_ELEMENT);
      if (handle === 0 || samples === 0) throw new RangeError('no memory for a voice activity detector');
      fvad._fvad_set_mode(handle, mode);
      fvad._fvad_set_sample_rate(handle, rateHz);
      return {
        process(frame) {
          fvad.HEAP16.set(frame, samples / Int16Array.BYTES_PER_ELEMENT);
          return fvad._fvad_process(handle, samples, frameSamples) === 1;
        },
        close() {
          fvad._free(samples);
          fvad._fvad_free(handle);
        },
      };
    },
  };
}
