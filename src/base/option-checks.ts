// Checks of options that rooms share. Each throws a ConfigError that names the option and the fix, and shows no secret.
import { ConfigError } from './errors.js';
import { nearestName } from './nearest-name.js';

/** Refuses names that are not `known`. `where` is the call, as users write it. */
export function checkNames(options: object, known: readonly string[], where: string): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const near = nearestName(name, known);
    const hint = near === undefined ? `It takes: ${known.join(', ')}.` : `Did you mean ${near}?`;
    throw new ConfigError('CONFIG_INVALID', `${where} has no option "${name}". ${hint}`);
  }
}

/** The options of a call, when they are an object and every name in it is known. Who gave none is told `needed` first. */
export function checkOptions(
  options: object,
  { known, needed = [] }: { readonly known: readonly string[]; readonly needed?: readonly string[] },
  where: string,
): void {
  if (!isObject(options)) {
    const others = known.filter((name) => !needed.includes(name));
    const first = needed.length === 0 ? 'It takes' : `It needs ${needed.join(' and ')}, and takes`;
    throw new ConfigError('CONFIG_INVALID', `${where} takes an object. ${first}: ${others.join(', ')}.`);
  }
  checkNames(options, known, where);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The options, when they are an object. `example` shows one, as users write it. */
export function requireObject<T extends object>(options: T, where: string, example?: string): T {
  if (isObject(options)) return options;
  const shape = example === undefined ? '' : `, such as ${example}`;
  throw new ConfigError('CONFIG_INVALID', `${where} takes an object${shape}.`);
}

/** The value or, when it is not set, `fallback`. */
export function checkBoolean(name: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value === 'boolean') return value;
  throw new ConfigError('CONFIG_INVALID', `${name} must be true or false.`);
}

/** The value, one of `choices`; the first of them when it is not set. */
export function checkChoice<T extends string>(
  name: string,
  value: unknown,
  choices: readonly [T, ...T[]],
): T {
  if (value === undefined) return choices[0];
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  const near = typeof value === 'string' ? nearestName(value, choices) : undefined;
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  throw new ConfigError('CONFIG_INVALID', `${name} must be one of ${choices.join(', ')}.${hint}`);
}

export interface NumberRange {
  readonly min: number;
  readonly max: number;
  /** Whole numbers only. */
  readonly whole?: boolean;
}

/** The value or, when it is not set, `fallback`. */
export function checkNumber<T extends number | undefined>(
  name: string,
  value: unknown,
  range: NumberRange & { fallback: T },
): number | T {
  if (value === undefined) return range.fallback;
  const { min, max, whole = false } = range;
  const fits =
    typeof value === 'number' && value >= min && value <= max && (!whole || Number.isInteger(value));
  if (fits) return value;
  const kind = whole ? 'a whole number' : 'a number';
  const limits = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
  throw new ConfigError('CONFIG_INVALID', `${name} must be ${kind}, ${limits}.`);
}

/** The value, when it is a text with more in it than blanks. */
export function checkText(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new ConfigError('CONFIG_INVALID', `${name} must be a non-empty string, or left out.`);
}

/** The value, which has to be there and a text with more in it than blanks. `where` is the call that takes it; `fix` says how to get one. */
export function requireText(where: string, name: string, value: unknown, fix?: string): string {
  // An environment variable that is not set is often blank.
  const isBlank = typeof value === 'string' && value.trim() === '';
  const text = isBlank ? undefined : checkText(`${name} of ${where}`, value);
  if (text !== undefined) return text;
  throw new ConfigError('CONFIG_MISSING', `${where} needs ${name}.${fix === undefined ? '' : ` ${fix}`}`);
}

/** An object of the application that must have certain methods. */
export function checkMethods(
  name: string,
  value: unknown,
  shape: { methods: readonly string[]; example: string },
): void {
  const isObject = typeof value === 'object' && value !== null;
  if (isObject && shape.methods.every((method) => typeof Reflect.get(value, method) === 'function')) return;
  // A class has no object's methods.
  const hint = typeof value === 'function' ? ' Did you forget new?' : '';
  throw new ConfigError('CONFIG_INVALID', `${name} must be ${shape.example}.${hint}`);
}

/** A function, or nothing. */
export function checkFunction(name: string, value: unknown): void {
  if (value === undefined || typeof value === 'function') return;
  throw new ConfigError('CONFIG_INVALID', `${name} must be a function.`);
}
