// The Rust core as a Node addon: the prebuilt package of this platform, or the one built in this source tree.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { TranscoderError } from '../base/errors.js';
import { PACKAGE_VERSION } from '../base/package-version.js';
import type { TranscoderBackend } from './backend.js';
import { haveOneLength } from './checked.js';
import type { CoreResampler, CoreVoiceDetector, TranscoderCore } from './core.js';

/** What the addon exports. Results go to the last array; it is as long as they are. */
export interface NativeAddon {
  mulawDecode(input: Uint8Array, output: Int16Array): void;
  mulawEncode(input: Int16Array, output: Uint8Array): void;
  alawDecode(input: Uint8Array, output: Int16Array): void;
  alawEncode(input: Int16Array, output: Uint8Array): void;
  /** Names with spaces between, the fastest last. */
  instructionSets(): string;
  /** A handle. `set` is the place of an instruction set; a number too high means the fastest. */
  resamplerCreate(fromHz: number, toHz: number, set: number): number;
  resamplerProcess(handle: number, input: Int16Array, output: Int16Array): void;
  resamplerProcessFromMulaw(handle: number, input: Uint8Array, output: Int16Array): void;
  resamplerProcessFromMulawBase64(handle: number, input: string, output: Int16Array): boolean;
  resamplerProcessToMulaw(handle: number, input: Int16Array, output: Uint8Array): void;
  resamplerFlush(handle: number, output: Int16Array): void;
  resamplerReset(handle: number): void;
  resamplerFree(handle: number): void;
  resamplerCount(): number;
  /** A handle. */
  detectorCreate(): number;
  /** What a `CoreVoiceDetector` gives. */
  detectorHear(handle: number, frame: Int16Array): number;
  detectorHearMulaw(handle: number, resampler: number, input: Uint8Array, output: Int16Array): number;
  detectorFree(handle: number): void;
  detectorCount(): number;
  hmacSha1(key: Uint8Array, message: Uint8Array, output: Uint8Array): void;
  verifyHmacSha1(key: Uint8Array, message: Uint8Array, mac: Uint8Array): boolean;
}

/** The fastest instruction set, whatever its place. */
const FASTEST = 0xffff;
const BINARY_NAME = 'offhook-transcoder';
const PACKAGE_NAME = '@offhook/transcoder';

/** Platform suffixes that may fit this process, as the addon's build tool names them. The C library is found by trying. */
export function platformNames(platform: string = process.platform, arch: string = process.arch): string[] {
  if (platform === 'linux') return [`linux-${arch}-gnu`, `linux-${arch}-musl`];
  if (platform === 'win32') return [`win32-${arch}-msvc`];
  return [`${platform}-${arch}`];
}

/** A platform package of another version may lack a function, or count differently. @throws Error with both versions and the fix. */
function checkVersion(name: string, version: string): void {
  if (version === PACKAGE_VERSION) return;
  throw new Error(
    `${name} is version ${version}, but offhook is ${PACKAGE_VERSION}: install ${name}@${PACKAGE_VERSION}`,
  );
}

/**
 * Loads the addon.
 * @param from URL of the module that looks for it, in the packages it sees and in the source tree around it.
 * @throws TranscoderError with every place that was tried and why it failed. Its message leaves out the places where there is nothing,
 * unless that is all there is to say.
 */
export function loadAddon(from: string = import.meta.url): NativeAddon {
  const require = createRequire(from);
  const attempts: { backend: string; reason: string }[] = [];
  const complaints: string[] = [];
  const names = platformNames();
  for (const name of names) {
    const local = fileURLToPath(new URL(`../../crates/transcoder-napi/${BINARY_NAME}.${name}.node`, from));
    const packaged = `${PACKAGE_NAME}-${name}`;
    for (const place of [packaged, local]) {
      try {
        if (place === packaged) checkVersion(place, require(`${place}/package.json`).version);
        return require(place) as NativeAddon;
      } catch (error) {
        // The message of a package that is not there goes on with everything that asked for it.
        const reason = error instanceof Error ? error.message.split('\n', 1)[0]! : String(error);
        attempts.push({ backend: 'native', reason });
        if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') complaints.push(reason);
      }
    }
  }
  const packages = names.map((name) => `${PACKAGE_NAME}-${name}`).join(' and ');
  const message =
    complaints.length === 0
      ? `no native addon for this platform is installed (looked for ${packages})`
      : complaints.join('; ');
  throw new TranscoderError('TRANSCODER_UNAVAILABLE', message, { attempts });
}

/** Frees what was dropped without `free`. */
const dropped = new FinalizationRegistry<() => void>((free) => free());

class NativeResampler implements CoreResampler {
  readonly handle: number;
  readonly #addon: NativeAddon;

  constructor(addon: NativeAddon, handle: number) {
    this.#addon = addon;
    this.handle = handle;
    dropped.register(this, () => addon.resamplerFree(handle), this);
  }

  process(input: Int16Array, output: Int16Array): void {
    this.#addon.resamplerProcess(this.handle, input, output);
  }

  processFromMulaw(input: Uint8Array, output: Int16Array): void {
    this.#addon.resamplerProcessFromMulaw(this.handle, input, output);
  }

  processFromMulawBase64(input: string, output: Int16Array): boolean {
    return this.#addon.resamplerProcessFromMulawBase64(this.handle, input, output);
  }

  processToMulaw(input: Int16Array, output: Uint8Array): void {
    this.#addon.resamplerProcessToMulaw(this.handle, input, output);
  }

  flush(output: Int16Array): void {
    this.#addon.resamplerFlush(this.handle, output);
  }

  reset(): void {
    this.#addon.resamplerReset(this.handle);
  }

  free(): void {
    dropped.unregister(this);
    this.#addon.resamplerFree(this.handle);
  }
}

class NativeVoiceDetector implements CoreVoiceDetector {
  readonly #addon: NativeAddon;
  readonly #handle: number;

  constructor(addon: NativeAddon) {
    const handle = addon.detectorCreate();
    this.#addon = addon;
    this.#handle = handle;
    dropped.register(this, () => addon.detectorFree(handle), this);
  }

  hear(frame: Int16Array): number {
    return this.#addon.detectorHear(this.#handle, frame);
  }

  hearMulaw(resampler: NativeResampler, input: Uint8Array, output: Int16Array): number {
    return this.#addon.detectorHearMulaw(this.#handle, resampler.handle, input, output);
  }

  free(): void {
    dropped.unregister(this);
    this.#addon.detectorFree(this.#handle);
  }
}

/**
 * Companding costs little more than the way there, and the addon looks at kind, memory and room itself. So an output that
 * just fits goes there at once; whatever the addon refuses, and everything else, goes the long way, which says why.
 */
function shorten(checked: TranscoderBackend, addon: NativeAddon): TranscoderBackend {
  return {
    ...checked,
    mulawDecode(input, output) {
      try {
        if (output !== undefined && haveOneLength(input, output)) {
          addon.mulawDecode(input, output);
          return output;
        }
      } catch {}
      return checked.mulawDecode(input, output);
    },
    mulawEncode(input, output) {
      try {
        if (output !== undefined && haveOneLength(input, output)) {
          addon.mulawEncode(input, output);
          return output;
        }
      } catch {}
      return checked.mulawEncode(input, output);
    },
    alawDecode(input, output) {
      try {
        if (output !== undefined && haveOneLength(input, output)) {
          addon.alawDecode(input, output);
          return output;
        }
      } catch {}
      return checked.alawDecode(input, output);
    },
    alawEncode(input, output) {
      try {
        if (output !== undefined && haveOneLength(input, output)) {
          addon.alawEncode(input, output);
          return output;
        }
      } catch {}
      return checked.alawEncode(input, output);
    },
  };
}

/** @param addon what `loadAddon` gave. @param set forces an instruction set, by its place in `instructionSets()`. */
export function createNativeCore(addon: NativeAddon, set: number = FASTEST): TranscoderCore {
  return {
    name: 'native',
    mulawDecode(input, output) {
      addon.mulawDecode(input, output);
    },
    mulawEncode(input, output) {
      addon.mulawEncode(input, output);
    },
    alawDecode(input, output) {
      addon.alawDecode(input, output);
    },
    alawEncode(input, output) {
      addon.alawEncode(input, output);
    },
    createResampler(fromHz, toHz) {
      return new NativeResampler(addon, addon.resamplerCreate(fromHz, toHz, set));
    },
    createVoiceDetector: () => new NativeVoiceDetector(addon),
    hmacSha1(key, message, output) {
      addon.hmacSha1(key, message, output);
    },
    verifyHmacSha1(key, message, mac) {
      return addon.verifyHmacSha1(key, message, mac);
    },
    shorten: (checked) => shorten(checked, addon),
  };
}

/** The native backend. @throws TranscoderError when there is no addon for this platform. */
export function loadNativeCore(): TranscoderCore {
  return createNativeCore(loadAddon());
}
