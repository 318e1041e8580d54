// Where the secrets of a carrier are looked for when none is given: where the server looks for them.
import { AUTH_TOKEN } from '../carriers/carrier-a/settings.js';
import { API_KEY, CONNECTION_ID } from '../carriers/carrier-b/settings.js';
import { readSetting } from '../carriers/setting.js';

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
