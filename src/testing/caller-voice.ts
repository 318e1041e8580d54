// The default voice of simulated callers: the embedded one, loaded only when a script speaks.
import { ConfigError } from '../base/errors.js';
import { silentLogger } from '../base/log.js';
import type { TextToSpeechSession } from '../providers/text-to-speech.js';
import type { FliteVoice } from '../providers/tts/flite/flite.js';
import type { OpenVoice } from './caller-script.js';

/** Voices of the embedded synthesizer. */
export type CallerVoice = FliteVoice;

const DEFAULT_VOICE: CallerVoice = 'rms';

/** Opens the embedded voice of that name. @throws ConfigError for an unknown voice, or when its package is not installed. */
export async function openEmbeddedVoice(name: string | undefined): Promise<TextToSpeechSession> {
  const { FLITE_VOICES, FliteTextToSpeech } = await import('../providers/tts/flite/flite.js');
  const voice = name === undefined ? DEFAULT_VOICE : FLITE_VOICES.find((known) => known === name);
  if (voice === undefined) {
    throw new ConfigError(
      'CONFIG_INVALID',
      `The voice of a caller must be one of: ${FLITE_VOICES.join(', ')}.`,
    );
  }
  return new FliteTextToSpeech({ voice }).open({ logger: silentLogger, language: 'en-US' });
}

/** The same voice, each text spoken once however many calls ask for it. Keeps the audio as long as it is itself kept. */
export function cacheVoice(openVoice: OpenVoice): OpenVoice {
  const spoken = new Map<string, Promise<Int16Array[]>>();
  const speak = async (
    voice: string | undefined,
    text: string,
    signal: AbortSignal,
  ): Promise<Int16Array[]> => {
    const session = await openVoice(voice);
    try {
      const chunks: Int16Array[] = [];
      for await (const chunk of session.synthesize(text, signal)) chunks.push(chunk.slice());
      return chunks;
    } finally {
      session.close();
    }
  };
  return (voice) => ({
    async *synthesize(text, signal) {
      const key = JSON.stringify([voice, text]);
      const audio = spoken.get(key) ?? speak(voice, text, signal);
      spoken.set(key, audio);
      yield* await audio;
    },
    close() {},
  });
}
