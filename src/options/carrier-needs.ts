// What serving needs of the carrier and of the public host, beside webhooks. Said before anything listens: later it costs calls.
import { ConfigError } from '../base/errors.js';
import { nameCredentials } from '../carriers/index.js';
import type { ServedClient } from './client.js';

/** @throws ConfigError that names the setting. */
export function checkCarrierNeeds(
  { carrier, webhookUrl }: ServedClient,
  wanted: { readonly recording: boolean; readonly tunnel: boolean },
): void {
  const { commands, rest, supports } = carrier;
  if (commands !== undefined && !rest.configured) {
    throw new ConfigError(
      'CONFIG_MISSING',
      `serve() needs this carrier's credentials, because its calls are controlled by API requests: set ${nameCredentials(carrier)}.`,
    );
  }
  if (!wanted.recording) return;
  if (!supports.recording) {
    throw new ConfigError(
      'CONFIG_INVALID',
      'This carrier cannot record calls: remove recording, or use a carrier that can.',
    );
  }
  if (!rest.configured) {
    throw new ConfigError(
      'CONFIG_MISSING',
      `recording needs the carrier's credentials: set ${nameCredentials(carrier)}.`,
    );
  }
  if (webhookUrl === undefined && !wanted.tunnel) {
    throw new ConfigError(
      'CONFIG_MISSING',
      'recording needs webhookUrl, or tunnel: true: the carrier reports recordings to that host.',
    );
  }
}
