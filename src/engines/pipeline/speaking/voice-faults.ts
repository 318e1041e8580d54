// What a voice can do wrong with a text.
import { ProviderError } from '../../../base/errors.js';
import { gaveNothing } from '../../../base/owed-words.js';

export const FINAL = { status: null, retryable: false };

export function muteVoice(): ProviderError {
  return gaveNothing('text-to-speech gave no audio for a text');
}

/** A voice of the application may be plain JavaScript: what is no audio must not reach the playout. */
export function checkChunk(chunk: unknown): asserts chunk is Int16Array {
  if (!(chunk instanceof Int16Array))
    throw new ProviderError('text-to-speech must yield Int16Array chunks', FINAL);
}
