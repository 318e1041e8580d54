// Why a recognizer cannot tell which of several languages a caller speaks.
import type { SpeechToText } from './speech-to-text.js';

/** The end of a sentence that begins with its name; undefined where it can. */
export function obstacleOf(provider: SpeechToText, languages: readonly string[]): string | undefined {
  if (provider.languageObstacle === undefined) return 'does not tell which language a caller speaks';
  return provider.languageObstacle(languages);
}
