// What a call's own sentences are, in the language that it is in.
import { type CallLanguage, languageAmong, tagIn } from '../../conversation/language.js';
import type { CallProviders } from '../../contract/call-record.js';
import type { EngineRecipe } from '../engine.js';
import { tagsOf } from './agent-words.js';
import { type SetPhrases, setPhrasesFor } from './set-phrases.js';

/** What a call in `language` goes on in with an agent: in that, where the agent speaks it, else in the agent's own. Undefined where nobody knows. */
export function languageWith(
  { languages = [], language: own }: Pick<EngineRecipe, 'language' | 'languages'>,
  language: CallLanguage,
): string | undefined {
  return languageAmong(tagsOf(languages), language) ?? own;
}

/** Who serves a call in `language`: each language may have a voice of its own. */
export function providersIn(recipe: EngineRecipe, language: CallLanguage): CallProviders {
  const tag = languageWith(recipe, language);
  const spoken = recipe.languages?.find((each) => each.language === tag);
  return spoken?.providers ?? recipe.providers;
}

/** Of the language `tag` of the call; of the agent's first where it has none for it. */
export function phrasesIn(
  { languages = [], setPhrases }: Pick<EngineRecipe, 'languages' | 'setPhrases'>,
  tag: string | null,
): SetPhrases {
  const known = tagIn(tagsOf(languages), tag);
  const spoken = languages.find((each) => each.language !== undefined && each.language === known);
  return spoken?.setPhrases ?? setPhrases ?? setPhrasesFor(undefined);
}
