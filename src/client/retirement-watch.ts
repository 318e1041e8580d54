// Models that a vendor will stop: said once for each when an agent is given calls, so that none of them fails on the day by surprise.
import type { Logger } from '../base/log.js';
import type { ModelRetirement } from '../contract/model-retirement.js';

/** What the watch looks at in a provider. */
export interface RetiringProvider {
  readonly name: string;
  readonly retirement?: ModelRetirement | undefined;
}

export class RetirementWatch {
  readonly #logger: Logger;
  readonly #told = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  note(providers: readonly (RetiringProvider | undefined)[]): void {
    for (const provider of providers) {
      if (provider?.retirement === undefined || this.#told.has(provider.name)) continue;
      this.#told.add(provider.name);
      const { lastDay, instead } = provider.retirement;
      this.#logger.warn(
        { model: provider.name, lastDay, instead },
        'the vendor retires this model: agents that use it will not start after its last day',
      );
    }
  }
}
