// Languages that the carrier's own voice speaks. One that it does not know would make it say nothing at all.

/** Source: the vendor's page on the Say verb, languages with a voice of their own. The first of a language stands for it. */
const SPOKEN = [
  ...['ca-ES', 'da-DK', 'de-DE', 'en-US', 'en-AU', 'en-CA', 'en-GB', 'en-IN', 'es-ES', 'es-MX', 'fi-FI'],
  ...['fr-FR', 'fr-CA', 'it-IT', 'ja-JP', 'ko-KR', 'nb-NO', 'nl-NL', 'pl-PL', 'pt-BR', 'pt-PT', 'ru-RU'],
  ...['sv-SE', 'zh-CN', 'zh-HK', 'zh-TW'],
];

/**
 * The spoken language that is nearest to a BCP 47 tag: the same region if there is one, else the same language. Undefined, which
 * leaves the choice to the account's settings, when there is none.
 */
export function toSpeechLanguage(tag: string | undefined): string | undefined {
  const parts = (tag ?? '').toLowerCase().split(/[-_]/);
  const [language = ''] = parts;
  const regional = SPOKEN.filter((each) => each.startsWith(`${language === 'no' ? 'nb' : language}-`));
  return regional.find((each) => parts.includes(each.slice(3).toLowerCase(), 1)) ?? regional[0];
}
