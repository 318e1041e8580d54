// What serving needs of the carrier and of the public host, beside webhooks. Said before anything listens: later it costs calls.
import { ConfigError } from '../base/errors.js';
import { nameCredentials } from '../carriers/index.js';
import type { CheckedClientOptions } from './client.js';

/** @throws ConfigError that names the setting. */
export function checkCarrierNeeds(
  { carrier, webhookUrl }: CheckedClientOptions,
  wanted: { readonly recording: boolean; readonly tunnel: boolean },
): void {
  const { commands, rest, supports } = carrier;
  if (commands !== undefined && !rest.configured) {
    throw new ConfigError(
      'CONFIG_MISSING',
      `serve() needs the credentials of a carrier that is steered by commands, or every call is lost: set ${nameCredentials(carrier)}.`,
    );
  }
  if (!wanted.recording) return;
  if (!supports.recording) {
    throw new ConfigError(
      'CONFIG_INVALID',
      'recording is not possible with this carrier: leave it out, or use a carrier that records calls.',
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
      'recording needs webhookUrl, or tunnel: true: the carrier tells under that host where a recording is.',
    );
  }
}
