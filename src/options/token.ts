// Tokens of dashboards: what a header and a cookie can carry.
import { ConfigError } from '../base/errors.js';
import { checkText } from '../base/option-checks.js';

/** How a token must look, for messages. */
export const TOKEN_RULE = 'must be printable ASCII without blanks, as a header carries it';

export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** The token, if one is given. @throws ConfigError, which does not show it. */
export function checkToken(name: string, value: unknown): string | undefined {
  const token = checkText(name, value);
  if (token === undefined || isToken(token)) return token;
  throw new ConfigError('CONFIG_INVALID', `${name} ${TOKEN_RULE}.`);
}
