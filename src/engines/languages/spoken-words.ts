// What a call's own sentences are, in the language that it is in.
import { tagIn } from '../../conversation/language.js';
import type { EngineRecipe } from '../engine.js';
import { tagsOf } from './agent-words.js';
import { type SetPhrases, setPhrasesFor } from './set-phrases.js';

/** Of the language `tag` of the call; of the agent's first where it has none for it. */
export function phrasesIn(
  { languages = [], setPhrases }: Pick<EngineRecipe, 'languages' | 'setPhrases'>,
  tag: string | null,
): SetPhrases {
  const known = tagIn(tagsOf(languages), tag);
  const spoken = languages.find((each) => each.language !== undefined && each.language === known);
  return spoken?.setPhrases ?? setPhrases ?? setPhrasesFor(undefined);
}
