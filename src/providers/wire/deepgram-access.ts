// Where Deepgram is and how a key is shown to it: the same for its recognizers and its voices.
import type { AccessNames } from './access.js';

export const DEEPGRAM_ACCESS: AccessNames = {
  vendor: 'Deepgram',
  keyVariables: ['DEEPGRAM_API_KEY'],
  baseUrlVariable: 'DEEPGRAM_BASE_URL',
  defaultBaseUrl: 'https://api.deepgram.com',
};

/** Access tokens are JSON web tokens and go by another word than keys. */
export function toDeepgramAuthorization(key: string): string {
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(key) ? `Bearer ${key}` : `Token ${key}`;
}
