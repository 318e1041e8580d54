// Tokens of dashboards: what a header and a cookie can carry, and nobody guesses.
import { ConfigError } from '../base/errors.js';
import { checkText } from '../base/option-checks.js';

const MIN_LENGTH = 16;
const MAKING_ONE = `Make one with: node -p "crypto.randomBytes(24).toString('base64url')"`;

/** What is wrong with a token, as the rest of a sentence that begins with its name; undefined when nothing is. */
export function complainOf(token: string): string | undefined {
  if (!/^[\x21-\x7e]+$/.test(token))
    return `must be printable ASCII without blanks, as a header carries it. ${MAKING_ONE}`;
  if (token.length < MIN_LENGTH) return `must be ${MIN_LENGTH} characters or more. ${MAKING_ONE}`;
  return undefined;
}

/** The token, if one is given. @throws ConfigError, which does not show it. */
export function checkToken(name: string, value: unknown): string | undefined {
  const token = checkText(name, value);
  const complaint = token === undefined ? undefined : complainOf(token);
  if (complaint === undefined) return token;
  throw new ConfigError('CONFIG_INVALID', `${name} ${complaint}`);
}
