// Models that their vendors stop. The days stand beside each vendor; what is done about them stands here.
import { systemClock } from '../../base/clock.js';
import { ConfigError } from '../../base/errors.js';
import type { ModelRetirement } from '../../contract/model-retirement.js';

export interface RetiringModels extends ModelRetirement {
  /** The names of the models, those with a date in them included. */
  readonly models: RegExp;
  /** Refused ahead of the day as well: nobody should begin with it now. @default false */
  readonly isRefusedNow?: boolean;
}

/**
 * What is known of the end of a model that is still there; undefined when nothing is. `where`: the call that takes the model.
 * @throws ConfigError that names the replacement, for a model that is gone
 */
export function checkRetirement(
  model: string,
  table: readonly RetiringModels[],
  where: string,
): ModelRetirement | undefined {
  const found = table.find(({ models }) => models.test(model));
  if (found === undefined) return undefined;
  const { lastDay, instead, isRefusedNow = false } = found;
  const today = new Date(systemClock.wallNow()).toISOString().slice(0, lastDay.length);
  const isGone = today > lastDay;
  if (!isGone && !isRefusedNow) return { lastDay, instead };
  throw new ConfigError(
    'CONFIG_INVALID',
    `${where}: the vendor ${isGone ? 'has stopped' : 'stops'} the model ${model} on ${lastDay}. Take ${instead}.`,
  );
}
