// A text of an option that is one, or one per language.
import { ConfigError } from '../base/errors.js';

/** One text, or one per language tag in lower case. */
export type TextByLanguage = string | Readonly<Record<string, string>>;

/** The text for an agent that speaks `language`, a BCP 47 tag: Austrian German is German, too. Undefined where there is none. */
export function textIn(language = 'en', text: TextByLanguage | undefined): string | undefined {
  if (typeof text !== 'object') return text;
  const tag = language.toLowerCase();
  return text[tag] ?? text[tag.split('-')[0] ?? tag];
}

/** @throws ConfigError */
export function checkTextByLanguage(
  name: string,
  value: unknown,
  { maxChars, example }: { readonly maxChars: number; readonly example: string },
): TextByLanguage | undefined {
  const isText = (text: unknown): text is string => typeof text === 'string' && text.length <= maxChars;
  const refuse = () =>
    new ConfigError(
      'CONFIG_INVALID',
      `${name} must be a text of at most ${maxChars} characters, or one per language, such as ${example}.`,
    );
  if (value === undefined || isText(value)) return value;
  if (typeof value !== 'object' || value === null) throw refuse();
  const texts = Object.entries(value).map(([tag, text]) => {
    if (!isText(text) || !isLanguage(tag)) throw refuse();
    return [tag.toLowerCase(), text];
  });
  return Object.freeze({ __proto__: null, ...Object.fromEntries(texts) });
}

function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
