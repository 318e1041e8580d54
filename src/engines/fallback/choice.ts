// What a call chooses from: voice modes, and what each cannot do without.
import type { ProviderStage } from '../../contract/call-record.js';
import type { EngineRecipe } from '../engine.js';

/** A voice mode that a call may begin with, or go on with. */
export interface FallbackChoice {
  readonly recipe: EngineRecipe;
  readonly needs: readonly NeededProvider[];
}

/** A provider without which a voice mode is at its end. */
export interface NeededProvider {
  readonly stage: ProviderStage;
  readonly provider: object;
}
