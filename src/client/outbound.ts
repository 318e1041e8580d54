// Outbound calls as the application asks for them -> as the call desk places them.
import { ConfigError } from '../base/errors.js';
import type { OutboundRequest } from '../calls/call-desk.js';
import type { Carrier } from '../carriers/carrier.js';
import { nameCredentials } from '../carriers/index.js';
import type { Agent } from '../options/agent.js';
import { type CallOptions, checkCallOptions } from '../options/call.js';
import type { CheckedClientOptions } from '../options/client.js';
import type { Recipes } from './recipes.js';
import type { ServingAgents } from './serving-agents.js';

/** What outbound calls are placed with. */
export interface OutboundParts {
  readonly carrier: Carrier;
  readonly numbers: CheckedClientOptions['numbers'];
  readonly publicHost: string | undefined;
  readonly voicemailMessage: string | undefined;
  readonly agents: Pick<ServingAgents, 'own' | 'current' | 'checkHandoffs'>;
  readonly recipes: Recipes;
}

/** @throws ConfigError for options that cannot work, and naming the setting that an outbound call needs and that is not there. */
export function toOutboundRequest(options: CallOptions, parts: OutboundParts): OutboundRequest {
  const { carrier, agents, recipes, numbers, voicemailMessage } = parts;
  const current = (agent: Agent) => agents.current(agent);
  const defaults = { agent: agents.own, numbers, voicemailMessage, current };
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
    recipes.placeholders.note(options.voicemailMessage ?? voicemailMessage ?? '', agent, {
      variables,
    });
  }
  agents.checkHandoffs(agent);
  const isOwn = agent === agents.own && firstMessage === undefined && Object.keys(variables).length === 0;
  return {
    ...call,
    texts: isOwn ? undefined : { variables, firstMessage },
    recipe: isOwn ? undefined : recipes.create(agent, { variables, firstMessage }),
  };
}
