// Where the secrets of a carrier are looked for when none is given: where the server looks for them.
import { readFirstEnv } from '../base/env.js';

/** The auth token of carrier A in the environment, or undefined. */
export function readAuthToken(): string | undefined {
  return readFirstEnv(['CARRIER_A_AUTH_TOKEN', 'TWILIO_AUTH_TOKEN']);
}

/** The API key of carrier B in the environment, or undefined. */
export function readApiKey(): string | undefined {
  return readFirstEnv(['CARRIER_B_API_KEY', 'TELNYX_API_KEY']);
}

/** The id of carrier B's application in the environment, or undefined. */
export function readConnectionId(): string | undefined {
  return readFirstEnv(['CARRIER_B_CONNECTION_ID', 'TELNYX_CONNECTION_ID']);
}
