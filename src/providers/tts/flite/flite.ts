// The embedded voice: Flite in a worker thread. No key, no network; synthetic, and always the same for the same text.
import { PCM_16K } from '../../../audio/format.js';
import { ConfigError } from '../../../base/errors.js';
import { keepSpares } from '../../../base/spares.js';
import { FREE } from '../../../contract/price.js';
import type { TextToSpeech, TextToSpeechContext, TextToSpeechSession } from '../../text-to-speech.js';
import { toHouseAudio } from './audio.js';
import { FliteHost } from './host.js';
import { locateFlite } from './package.js';
import { toFliteRequests } from './text.js';
import { SentenceCache } from '../sentence-cache.js';

/** `slt` is a woman's voice, the others are men's; `kal` has the band of a telephone. */
export const FLITE_VOICES = ['slt', 'kal16', 'awb', 'rms', 'kal'] as const;

export type FliteVoice = (typeof FLITE_VOICES)[number];

/**
 * Brings every voice to -22 LUFS on a telephone line, so that agent and simulated callers are equally loud: by themselves the voices
 * range from -16 to -28. Nothing else is leveled; the audio of real callers and of other voices is passed on as it is.
 */
const GAINS: Readonly<Record<FliteVoice, number>> = { slt: 0.5, kal16: 2, awb: 0.87, rms: 1, kal: 0.85 };

export interface FliteTextToSpeechOptions {
  /** @default 'slt' */
  readonly voice?: FliteVoice;
}

/** Five minutes of audio, about 10 MB. */
const CACHE_SAMPLES = 300 * PCM_16K.sampleRateHz;

/** Audio is handed on in pieces of 100 ms. */
const CHUNK_SAMPLES = PCM_16K.sampleRateHz / 10;

/** One thread and one cache serve all calls of the process: they hold code and public sentences, nothing of a call. */
const hosts = new Map<string, FliteHost>();
const cache = new SentenceCache(CACHE_SAMPLES);

export class FliteTextToSpeech implements TextToSpeech {
  readonly kind = 'tts';
  readonly name: string;
  readonly price = FREE;
  readonly #voice: FliteVoice;
  readonly #wasmPath: string;

  /** @throws ConfigError when the package is not installed, or for a voice that it does not have. */
  constructor(options: FliteTextToSpeechOptions = {}) {
    const voice = options.voice ?? 'slt';
    if (!FLITE_VOICES.includes(voice))
      throw new ConfigError('CONFIG_INVALID', `\`voice\` must be one of ${FLITE_VOICES.join(', ')}.`);
    this.#wasmPath = locateFlite();
    this.#voice = voice;
    this.name = `flite/${voice}`;
  }

  open(_context: TextToSpeechContext): TextToSpeechSession {
    const host = hosts.get(this.#wasmPath) ?? createHost(this.#wasmPath);
    host.warmUp();
    return new FliteSession(host, this.#voice);
  }
}

function createHost(wasmPath: string): FliteHost {
  const host = new FliteHost({ wasmPath });
  hosts.set(wasmPath, host);
  keepSpares(() => host.closeIdle());
  return host;
}

class FliteSession implements TextToSpeechSession {
  readonly #host: FliteHost;
  readonly #voice: FliteVoice;
  readonly #closing = new AbortController();

  constructor(host: FliteHost, voice: FliteVoice) {
    this.#host = host;
    this.#voice = voice;
  }

  async *synthesize(text: string, signal: AbortSignal): AsyncGenerator<Int16Array> {
    for (const request of toFliteRequests(text)) {
      const pcm = await this.#speak(request, signal);
      for (let at = 0; at < pcm.length; at += CHUNK_SAMPLES) {
        if (signal.aborted || this.#closing.signal.aborted) return;
        yield pcm.slice(at, at + CHUNK_SAMPLES);
      }
    }
  }

  close(): void {
    this.#closing.abort();
  }

  /** Empty when it is aborted. */
  async #speak(text: string, signal: AbortSignal): Promise<Int16Array> {
    const key = `${this.#voice} ${text}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const either = AbortSignal.any([signal, this.#closing.signal]);
    try {
      const { pcm, sampleRateHz } = await this.#host.speak(this.#voice, text, either);
      const audio = toHouseAudio(pcm, sampleRateHz, GAINS[this.#voice]).slice();
      cache.set(key, audio);
      return audio;
    } catch (error) {
      if (either.aborted) return new Int16Array(0);
      throw error;
    }
  }
}
