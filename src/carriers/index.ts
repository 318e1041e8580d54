// Registry of the carriers: one line each.
import type { CarrierId } from '../contract/call-record.js';
import type { WebhookDoor } from './carrier.js';
import { CarrierA } from './carrier-a/index.js';
import { CARRIER_A_API, carrierASettings } from './carrier-a/settings.js';
import { CarrierB } from './carrier-b/index.js';
import { CARRIER_B_API, carrierBSettings } from './carrier-b/settings.js';
import type { CarrierSetting } from './setting.js';

const DOORS: Readonly<Record<CarrierId, () => WebhookDoor>> = {
  'carrier-a': () => new CarrierA(),
  'carrier-b': () => new CarrierB(),
};

/** The webhook doors of every carrier but the configured one, with what secrets the environment has for them. @throws ConfigError */
export function createOtherDoors(configured: CarrierId): WebhookDoor[] {
  return Object.entries(DOORS)
    .filter(([id]) => id !== configured)
    .map(([, create]) => create());
}

/** What each carrier takes from the environment, and the origin of its REST API. */
export const CARRIER_SETTINGS: Readonly<
  Record<CarrierId, { readonly settings: readonly CarrierSetting[]; readonly api: string }>
> = {
  'carrier-a': { settings: carrierASettings, api: CARRIER_A_API },
  'carrier-b': { settings: carrierBSettings, api: CARRIER_B_API },
};

/** The settings that a carrier's REST API needs, as messages name them: `apiKey (CARRIER_B_API_KEY)`. `more`: what else they shall be good for. */
export function nameCredentials(id: CarrierId, more?: CarrierSetting['neededFor']): string {
  const purposes = ['the REST API', 'the REST API and verifying webhooks', 'every call', more];
  return CARRIER_SETTINGS[id].settings
    .filter(({ neededFor }) => purposes.includes(neededFor))
    .map(({ option, variables: [variable] }) => `${option} (${variable})`)
    .join(' and ');
}
