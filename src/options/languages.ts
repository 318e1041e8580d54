// The option `languages` of an agent: what it rules out, and what its other options say of each language. Documented at `AgentOptions`.
import { ConfigError } from '../base/errors.js';
import { primaryOf } from '../conversation/language.js';
import { obstacleOf } from '../providers/language-obstacle.js';
import type { SpeechToText } from '../providers/speech-to-text.js';

/** One value for every language, or one for each: `{ en: …, de: … }`. */
export type ByLanguage<T> = T | Readonly<Record<string, T>>;

/** The tags of an agent that speaks several languages; undefined for one that speaks one. @throws ConfigError */
export function checkLanguages(
  { languages, language, engine }: { languages?: unknown; language?: unknown; engine?: unknown },
  checkTag: (tag: unknown, name: string) => string | undefined,
  { isSubstitute }: { isSubstitute: boolean },
): readonly string[] | undefined {
  if (languages === undefined) return undefined;
  const count = Array.isArray(languages) ? languages.length : 0;
  const wrongCount = new ConfigError(
    'CONFIG_INVALID',
    `languages must be a list of 2 to ${MAX_LANGUAGES} language tags, such as ['en', 'de']. For one language, use language.`,
  );
  if (!Array.isArray(languages) || count > MAX_LANGUAGES) throw wrongCount;
  const tags = languages.map((tag, place) => {
    const name = `languages[${place}]`;
    const checked = typeof tag === 'string' ? checkTag(tag, name) : undefined;
    if (checked !== undefined) return checked;
    throw new ConfigError('CONFIG_INVALID', `${name} must be a language tag like en or de-CH (BCP 47).`);
  });
  // Behind the tags: who names one language by its name is told its tag first.
  if (count < 2) throw wrongCount;
  const twice = tags.find(
    (tag, place) => tags.findIndex((each) => primaryOf(each) === primaryOf(tag)) < place,
  );
  if (twice !== undefined)
    throw new ConfigError(
      'CONFIG_INVALID',
      `languages names ${primaryOf(twice)} twice, and recognizers do not tell its regions apart. Keep one of them.`,
    );
  if (language !== undefined)
    throw new ConfigError(
      'CONFIG_CONFLICT',
      'languages and language exclude each other: a call begins in the first of languages. Remove language.',
    );
  if (engine !== undefined && !isSubstitute)
    throw new ConfigError(
      'CONFIG_CONFLICT',
      'languages does not apply with engine: a realtime model follows the caller by itself, and tells nobody which language they speak. Name the languages in systemPrompt instead.',
    );
  return Object.freeze(tags);
}

/** The second recognizer of a chain hears the caller, too. `where`: the option. @throws ConfigError */
export function assertTellsLanguages(
  where: string,
  provider: SpeechToText,
  languages: readonly string[],
): void {
  const obstacle = obstacleOf(provider, languages);
  if (obstacle === undefined) return;
  throw new ConfigError(
    'CONFIG_CONFLICT',
    `languages needs recognizers that tell which language is spoken, and ${provider.name} in ${where} ${obstacle}. docs/languages.md lists those that do.`,
  );
}

/** `value` of the option `name` for the language `tag`. @throws ConfigError that lists what is missing */
export function valueIn<T>(
  name: string,
  value: ByLanguage<T> | undefined,
  tag: string,
  { languages, isText }: { languages: readonly string[]; isText: boolean },
): T | undefined {
  if (value === undefined) return undefined;
  if (!isByLanguage(value)) {
    const isNone = Array.isArray(value) && value.length === 0;
    if (!isText || isNone) return value as T;
    throw new ConfigError(
      'CONFIG_CONFLICT',
      `${name} is in one language, and the agent speaks ${languages.join(', ')}. Give one for each: { ${languages.map((each) => `${keyOf(each)}: …`).join(', ')} }.`,
    );
  }
  const given = Object.keys(value);
  const unknown = given.find((each) => !languages.includes(each));
  const missing = languages.filter((each) => !Object.hasOwn(value, each) || value[each] === undefined);
  if (unknown !== undefined || missing.length > 0)
    throw new ConfigError(
      'CONFIG_INVALID',
      `${name} must have one entry for each of languages (${languages.join(', ')}): ${
        missing.length > 0
          ? `${missing.join(', ')} is missing`
          : `${JSON.stringify(unknown?.slice(0, 40))} is none of them`
      }.`,
    );
  return value[tag];
}

const MAX_LANGUAGES = 10;

/** True for an object of values by language, and for no provider. */
export function isByLanguage<T>(value: ByLanguage<T>): value is Readonly<Record<string, T>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !('open' in value);
}

function keyOf(tag: string): string {
  return tag.includes('-') ? `'${tag}'` : tag;
}
