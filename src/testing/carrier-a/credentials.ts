// Where the webhook secret of carrier A is looked for when none is given: where the server looks for it.
import { readFirstEnv } from '../../base/env.js';

/** The auth token of the environment, or undefined. */
export function readAuthToken(): string | undefined {
  return readFirstEnv(['CARRIER_A_AUTH_TOKEN', 'TWILIO_AUTH_TOKEN']);
}
