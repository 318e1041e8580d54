// What a call chooses from: voice modes, and what each cannot do without.
import type { ProviderStage } from '../../contract/call-record.js';
import type { CallLanguage } from '../../conversation/language.js';
import type { EngineRecipe } from '../engine.js';
import { languageWith } from '../languages/spoken-words.js';

/** A voice mode that a call may begin with, or go on with. */
export interface FallbackChoice {
  readonly recipe: EngineRecipe;
  readonly needs: readonly NeededProvider[];
}

/** A provider without which a voice mode is at its end. */
export interface NeededProvider {
  readonly stage: ProviderStage;
  readonly provider: object;
  /** BCP 47 tag of the language, as the agent names it, in which the call needs it. @default in each */
  readonly language?: string | undefined;
}

/** What a call in `language` cannot do without. */
export function neededIn({ recipe, needs }: FallbackChoice, language: CallLanguage): NeededProvider[] {
  const tag = languageWith(recipe, language);
  return needs.filter((need) => need.language === undefined || need.language === tag);
}
