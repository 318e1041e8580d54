// Registry of the carriers: one line each. What belongs to one of them stands in its folder.
import type { CallPrices } from '../contract/price.js';
import type { Carrier, ShippedCarrier, WebhookDoor } from './carrier.js';
import { carrierA } from './carrier-a/index.js';
import { carrierB } from './carrier-b/index.js';
import type { CarrierSetting } from './setting.js';

/** By id. */
export const CARRIERS: ReadonlyMap<string, ShippedCarrier> = new Map([
  ['carrier-a', carrierA],
  ['carrier-b', carrierB],
]);

/** The shipped prices, by carrier. */
export function carrierPrices(): Readonly<Record<string, CallPrices>> {
  return Object.fromEntries([...CARRIERS].map(([id, { prices }]) => [id, prices]));
}

/** The webhook doors of every carrier but the configured one, with what secrets the environment has for them. @throws ConfigError */
export function createOtherDoors(configured: string): WebhookDoor[] {
  return [...CARRIERS].filter(([id]) => id !== configured).map(([, { create }]) => create());
}

/**
 * The settings that a carrier's REST API needs, as messages name them: `apiKey (CARRIER_B_API_KEY)`. `more`: what else they shall be good
 * for. A carrier that names none has credentials all the same.
 */
export function nameCredentials({ settings = [] }: Carrier, more?: CarrierSetting['neededFor']): string {
  const purposes = ['the REST API', 'the REST API and verifying webhooks', 'every call', more];
  const names = settings
    .filter(({ neededFor }) => purposes.includes(neededFor))
    .map(({ option, variables: [variable] }) => `${option} (${variable})`);
  return names.join(' and ') || 'those of its constructor';
}
