// Placeholders that nothing fills are spoken as they stand, most often because a name is mistyped: that is said once per name, when a
// call comes to it. Before that nobody knows what variables calls will bring.
import type { Logger } from '../base/log.js';
import { findUnfilled } from '../base/placeholders.js';
import type { EngineRecipe } from '../engines/engine.js';
import type { Agent, CallTexts } from '../options/agent.js';

export class PlaceholderWatch {
  readonly #logger: Logger;
  readonly #told = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** A recipe that speaks up when the first call is made with it. */
  watch(recipe: EngineRecipe, agent: Agent, call: CallTexts): EngineRecipe {
    const { systemPrompt, firstMessage = '' } = agent.options;
    const texts = [systemPrompt, call.firstMessage ?? firstMessage];
    return {
      ...recipe,
      create: (context, preparation) => {
        for (const text of texts) this.note(text, agent, call);
        return recipe.create(context, preparation);
      },
    };
  }

  /** A text of a call that is made now. */
  note(text: string, agent: Agent, call: CallTexts): void {
    for (const placeholder of findUnfilled(text, agent.variablesFor(call))) {
      if (this.#told.has(placeholder)) continue;
      this.#told.add(placeholder);
      this.#logger.warn({ placeholder }, 'a placeholder has no value: it is used as it is');
    }
  }
}
