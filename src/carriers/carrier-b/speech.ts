// The carrier's own voice: which one, for which language.
import type { Fields } from './fields.js';

/** Longest text that is spoken, in characters. Source: the vendor's reference of the speak command. */
const MAX_LENGTH = 3000;
const DEFAULT_LANGUAGE = 'en-US';

/** Languages of the command. The first one of a language speaks for its regions that are not listed. */
const LANGUAGES: readonly string[] = [
  DEFAULT_LANGUAGE,
  ...['arb', 'cmn-CN', 'cy-GB', 'da-DK', 'de-DE', 'en-AU', 'en-GB', 'en-IN', 'es-ES', 'es-MX', 'es-US'],
  ...['fr-FR', 'fr-CA', 'hi-IN', 'is-IS', 'it-IT', 'ja-JP', 'ko-KR', 'nb-NO', 'nl-NL', 'pl-PL', 'pt-PT'],
  ...['pt-BR', 'ro-RO', 'ru-RU', 'sv-SE', 'tr-TR'],
];

/** Languages that the list has under a narrower name. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['ar', 'arb'],
  ['zh', 'cmn'],
  ['no', 'nb'],
]);

/** Fields of the speak command. `language` is a BCP 47 tag; one that the carrier does not speak gets the American voice. */
export function speechFields(text: string, language: string | undefined): Fields {
  const spoken = toLanguage(language ?? DEFAULT_LANGUAGE);
  return {
    // Half a surrogate pair is not text that JSON readers agree on.
    payload: text.slice(0, MAX_LENGTH).replace(/\p{Cs}/gu, ''),
    payload_type: 'text',
    // The voices by sex are those that need no further vendor; the basic level has them for American English alone.
    voice: 'female',
    service_level: spoken === DEFAULT_LANGUAGE ? 'basic' : 'premium',
    language: spoken,
  };
}

function toLanguage(tag: string): string {
  const [primary = '', ...rest] = tag.toLowerCase().split('-');
  const wanted = [ALIASES.get(primary) ?? primary, ...rest].join('-');
  const [language] = wanted.split('-');
  return (
    LANGUAGES.find((each) => each.toLowerCase() === wanted) ??
    LANGUAGES.find((each) => each.toLowerCase().split('-')[0] === language) ??
    DEFAULT_LANGUAGE
  );
}
