// Several voice modes behind one another: a call begins with the first that is not known to fail, and goes on with the next when that
// one is at its end.
import type { CallProviders } from '../contract/call-record.js';
import type { Circuits } from '../providers/circuits.js';
import type { EngineRecipe, Preparation, PreparationContext } from './engine.js';
import { FallbackCall } from './fallback-call.js';

export interface FallbackOptions {
  /** The first choice, and what may take its place, in order. */
  readonly recipes: readonly [EngineRecipe, ...EngineRecipe[]];
  readonly circuits: Circuits;
}

/** What was readied for the recipe that a call will begin with. */
class ChosenPreparation implements Preparation {
  readonly recipe: EngineRecipe;
  readonly inner: Preparation | undefined;

  constructor(recipe: EngineRecipe, context: PreparationContext) {
    this.recipe = recipe;
    this.inner = recipe.prepare?.(context);
  }

  close(): void {
    this.inner?.close();
  }
}

/** A recipe of all of `recipes`. It is told as the first of them; `provider.replaced` tells which one it is. */
export function createFallbackRecipe({ recipes, circuits }: FallbackOptions): EngineRecipe {
  const [announced] = recipes;
  const choose = () => recipes.find(({ providers }) => isSound(providers, circuits)) ?? announced;
  return {
    mode: announced.mode,
    providers: announced.providers,
    chargers: announced.chargers,
    prepare: (context) => new ChosenPreparation(choose(), context),
    create(context, preparation) {
      const prepared = preparation instanceof ChosenPreparation ? preparation : undefined;
      const first = prepared?.recipe ?? choose();
      return new FallbackCall(context, {
        recipes: [first, ...inOrder(recipes, first, circuits)],
        announced,
        preparation: prepared?.inner,
        failed: (name) => circuits.failed(name),
        worked: (providers) => {
          for (const name of namesOf(providers)) circuits.worked(name);
        },
      });
    },
  };
}

/** The others: those that are not known to fail before those that are. */
function inOrder(recipes: readonly EngineRecipe[], first: EngineRecipe, circuits: Circuits): EngineRecipe[] {
  const others = recipes.filter((recipe) => recipe !== first);
  const sound = others.filter(({ providers }) => isSound(providers, circuits));
  return [...sound, ...others.filter((recipe) => !sound.includes(recipe))];
}

function isSound(providers: CallProviders, circuits: Circuits): boolean {
  return !namesOf(providers).some((name) => circuits.isOpen(name));
}

function namesOf({ engine, stt, llm, tts }: CallProviders): string[] {
  return [engine, stt, llm, tts].filter((name) => name !== null);
}
