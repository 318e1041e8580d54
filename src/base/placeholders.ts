// {name} placeholders in texts of the operator, filled with values that may come from a caller.
import type { Variables } from '../contract/call-context.js';

/** Longest value that is put in, in characters. */
const MAX_VALUE_LENGTH = 500;
const PLACEHOLDER = /\{([\w-]+)\}/g;

/**
 * `template` with each `{name}` of `variables` replaced, once: a value is never read as a template. Control characters of a value
 * are dropped and what is longer than 500 characters is cut. Braces around anything else stay as they are.
 */
export function fillPlaceholders(template: string, variables: Variables): string {
  return template.replace(PLACEHOLDER, (placeholder, name: string) =>
    Object.hasOwn(variables, name) ? toPlainText(String(variables[name])) : placeholder,
  );
}

/** Names of the placeholders of `template` that no variable fills, each once. */
export function findUnfilled(template: string, variables: Variables): string[] {
  const names = Array.from(template.matchAll(PLACEHOLDER), ([, name = '']) => name);
  return [...new Set(names)].filter((name) => !Object.hasOwn(variables, name));
}

function toPlainText(value: string): string {
  return Array.from(value.replace(/[\p{Cc}\u2028\u2029]/gu, ''))
    .slice(0, MAX_VALUE_LENGTH)
    .join('');
}
