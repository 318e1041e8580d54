// Outbound calls as the application asks for them -> as the call desk places them.
import { ConfigError } from '../base/errors.js';
import type { OutboundRequest } from '../calls/call-desk.js';
import type { Carrier } from '../carriers/carrier.js';
import { nameCredentials } from '../carriers/index.js';
import { type CallDefaults, type CallOptions, checkCallOptions } from '../options/call.js';
import type { Recipes } from './recipes.js';

/** What outbound calls are placed with. */
export interface OutboundParts {
  readonly carrier: Carrier;
  readonly phoneNumber: string;
  readonly publicHost: string | undefined;
  readonly defaults: CallDefaults;
  readonly recipes: Recipes;
}

/** @throws ConfigError for options that cannot work, and naming the setting that an outbound call needs and that is not there. */
export function toOutboundRequest(options: CallOptions, parts: OutboundParts): OutboundRequest {
  const { carrier, defaults, recipes } = parts;
  const { agent, variables, firstMessage, ...call } = checkCallOptions(options, defaults);
  if (!carrier.rest.configured) {
    const names = nameCredentials(carrier, 'outbound calls');
    throw new ConfigError('CONFIG_MISSING', `call() needs the carrier's credentials: set ${names}.`);
  }
  if (parts.publicHost === undefined) {
    throw new ConfigError(
      'CONFIG_MISSING',
      'call() needs webhookUrl, or tunnel: true in serve(): the carrier reports call progress to that host.',
    );
  }
  if (call.voicemailMessage !== undefined) {
    recipes.placeholders.note(options.voicemailMessage ?? defaults.voicemailMessage ?? '', agent, {
      variables,
    });
  }
  const isOwn = agent === defaults.agent && firstMessage === undefined && Object.keys(variables).length === 0;
  return {
    ...call,
    from: parts.phoneNumber,
    texts: isOwn ? undefined : { variables, firstMessage },
    recipe: isOwn ? undefined : recipes.create(agent, { variables, firstMessage }),
  };
}
