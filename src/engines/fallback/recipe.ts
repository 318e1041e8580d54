// Several voice modes behind one another: a call begins with the first that is not known to fail, and goes on with the next when that
// one is at its end.
import { type CallLanguage, NO_LANGUAGE } from '../../conversation/language.js';
import type { Circuits } from '../../providers/circuits.js';
import type { EngineRecipe, Preparation, PreparationContext, UsageFact } from '../engine.js';
import { paidTo } from './engine-scope.js';
import { FallbackCall, type FallbackCallOptions } from './call.js';
import { type FallbackChoice, neededIn } from './choice.js';

/** What was readied for the recipe that a call will begin with. */
class ChosenPreparation implements Preparation {
  readonly choice: FallbackChoice;
  readonly inner: Preparation | undefined;

  constructor(choice: FallbackChoice, context: PreparationContext) {
    this.choice = choice;
    const { recipe } = choice;
    const spent = (fact: UsageFact) => context.spent?.(paidTo(recipe.payees, fact));
    this.inner = recipe.prepare?.({ ...context, spent });
  }

  answered(): void {
    this.inner?.answered?.();
  }

  close(): void {
    this.inner?.close();
  }
}

/**
 * A recipe of all of `choices`, which are tried in their order. It is told as the first of them; `provider.replaced` tells which one it
 * is. `circuits` are shared by the calls of a process. @throws TypeError without a choice
 */
export function createFallbackRecipe(
  choices: readonly FallbackChoice[],
  circuits: Circuits,
  agent: Pick<FallbackCallOptions, 'agentName' | 'handoffs'> = {},
): EngineRecipe {
  const [announced] = choices;
  if (announced === undefined) throw new TypeError('There is no voice mode to choose from.');
  const choose = (language?: CallLanguage) => soundFirst(choices, circuits, language)[0] ?? announced;
  const { prepare: _, create: __, ...told } = announced.recipe;
  return {
    ...told,
    prepare: (context) => new ChosenPreparation(choose(), context),
    create(context, preparation) {
      const prepared = preparation instanceof ChosenPreparation ? preparation : undefined;
      const language = context.resumed?.state.language;
      const first = prepared?.choice ?? choose(language);
      const others = choices.filter((choice) => choice !== first);
      const remaining = soundFirst(others, circuits, language);
      return new FallbackCall(context, {
        choices: [first, ...remaining],
        announced: announced.recipe,
        preparation: prepared?.inner,
        circuits,
        ...agent,
      });
    },
  };
}

/** As `createFallbackRecipe`; who has one voice mode and hands nobody over does without what goes on between several. */
export function createAgentRecipe(
  choices: readonly [FallbackChoice, ...FallbackChoice[]],
  circuits: Circuits,
  agent: Pick<FallbackCallOptions, 'agentName' | 'handoffs'>,
): EngineRecipe {
  const [{ recipe }, ...others] = choices;
  const whole = createFallbackRecipe(choices, circuits, agent);
  if (others.length > 0 || agent.handoffs !== undefined) return whole;
  return {
    ...recipe,
    create(context, preparation) {
      if (context.resumed?.state.handoffs?.say === undefined) return recipe.create(context, preparation);
      // What is said after a hand-off stays owed until it was heard, whoever dies in the middle of it: the engine alone does not know that.
      preparation?.close();
      return whole.create(context);
    },
  };
}

/** Those that are known to fail in `language` come last: they may be all that is left. */
export function soundFirst(
  choices: readonly FallbackChoice[],
  circuits: Circuits,
  language = NO_LANGUAGE,
): FallbackChoice[] {
  const isSound = (choice: FallbackChoice) =>
    !neededIn(choice, language).some(({ provider }) => circuits.isOpen(provider));
  return [...choices.filter(isSound), ...choices.filter((choice) => !isSound(choice))];
}
