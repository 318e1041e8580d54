// Registry of the carriers: one line each.
import type { CarrierId } from '../contract/call-record.js';
import type { WebhookDoor } from './carrier.js';
import { CarrierA } from './carrier-a/index.js';
import { CarrierB } from './carrier-b/index.js';

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
