// The option `budget` of `serve`: what it means, and what is refused. Documented here and nowhere else.
import { checkNumber, checkOptions } from '../base/option-checks.js';
import type { BudgetLimits } from '../calls/money/budget.js';

/** The option `budget` of `phone.serve(...)`: how much calls may cost, in US dollars, 0.001 to 1000000. Parts of a cost that are not known do not count. */
export interface BudgetOptions {
  /** Limit per call. At 80 % the record gets an incident; at 100 % the carrier's voice says goodbye and the call ends. @default no limit */
  perCall?: number | undefined;
  /** Limit for all calls, by what was spent in the last 60 minutes. At the limit, inbound calls get the busy answer and `call()` throws; live calls go on. In a `cluster`, of all servers together. @default no limit */
  perHour?: number | undefined;
  /** The same for the last 24 hours. After a restart, ended calls that are still stored count. @default no limit */
  perDay?: number | undefined;
}

const BUDGET_OPTIONS = ['perCall', 'perHour', 'perDay'] as const satisfies readonly (keyof BudgetOptions)[];

/** Undefined when nothing is limited. @throws ConfigError */
export function checkBudget(options: BudgetOptions | undefined): BudgetLimits | undefined {
  if (options === undefined) return undefined;
  checkOptions(options, { known: BUDGET_OPTIONS }, 'budget');
  const limit = (name: (typeof BUDGET_OPTIONS)[number]) =>
    checkNumber(`budget.${name}`, options[name], { min: 0.001, max: 1_000_000, fallback: undefined });
  const limits = { perCall: limit('perCall'), perHour: limit('perHour'), perDay: limit('perDay') };
  return Object.values(limits).every((each) => each === undefined) ? undefined : limits;
}
