// Secrets of a simulated carrier: what they must be, and where they are looked for when none is given, which is where the server looks.
import { AUTH_TOKEN } from '../carriers/carrier-a/settings.js';
import { API_KEY, CONNECTION_ID } from '../carriers/carrier-b/settings.js';
import { pastingComplaint, readSetting } from '../carriers/setting.js';
import { ConfigError } from '../base/errors.js';
import { requireText } from '../base/option-checks.js';

/** The auth token of carrier A in the environment, or undefined. */
export function readAuthToken(): string | undefined {
  return readSetting(AUTH_TOKEN);
}

/** The API key of carrier B in the environment, or undefined. */
export function readApiKey(): string | undefined {
  return readSetting(API_KEY);
}

/** The id of carrier B's application in the environment, or undefined. */
export function readConnectionId(): string | undefined {
  return readSetting(CONNECTION_ID);
}

/** A secret of a simulated carrier; the server's is taken without blanks around it. `where` is the call that takes it. @throws ConfigError */
export function requireSecret(where: string, name: string, value: unknown): void {
  const complaint = pastingComplaint(requireText(where, name, value));
  if (complaint !== undefined) throw new ConfigError('CONFIG_INVALID', `${name} of ${where} ${complaint}.`);
}
