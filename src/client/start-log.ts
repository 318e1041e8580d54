// What a server says in its log as it begins: what anybody can reach, and which URL its numbers are to have.
import type { Logger } from '../base/log.js';
import type { CheckedServeOptions } from '../options/serve.js';
import { transcoder } from '../transcoder/select.js';
import type { ServingClient } from './serving-agents.js';
import { pointNumbers, webhookUrls } from './voice-url.js';

export interface StartLogParts {
  readonly options: Pick<CheckedServeOptions, 'dashboardToken' | 'tunnel' | 'manageWebhook'>;
  readonly client: Pick<ServingClient, 'carrier' | 'numbers' | 'webhookUrl'>;
  /** Undefined on a server of the application's. */
  readonly listening: string | undefined;
  readonly publicHost: string | undefined;
  isClosing(): boolean;
  readonly logger: Logger;
}

/** Points numbers at this server, too, where that is wanted. */
export function logStart(parts: StartLogParts): void {
  parts.logger.info({ backend: transcoder.name }, 'transcoder chosen');
  warnOfOpenDoors(parts);
  announceNumbers(parts);
}

function warnOfOpenDoors({ options, client, listening, logger }: StartLogParts): void {
  const { carrier, webhookUrl } = client;
  if (options.dashboardToken === undefined) {
    const addresses = [listening, webhookUrl && `https://${webhookUrl}`].filter((each) => each !== undefined);
    logger.warn(
      { addresses },
      'dashboard and API are open to anyone who can reach these addresses: set dashboardToken',
    );
  }
  if (!carrier.verifies) {
    logger.warn(
      { setting: carrier.secretSetting },
      'webhooks are not verified, so anyone can fake calls: set this secret',
    );
  }
}

/** A tunnel's host is gone tomorrow: a number is not pointed at it by us. */
function announceNumbers({ options, client, publicHost, isClosing, logger }: StartLogParts): void {
  const { carrier, numbers } = client;
  const { tunnel, manageWebhook } = options;
  if (tunnel && publicHost !== undefined) {
    logger.info(
      { voiceUrl: webhookUrls(carrier.id, publicHost).voice },
      numbers.length === 1
        ? 'the tunnel is open: point your number at this voice URL'
        : 'the tunnel is open: point your numbers at this voice URL',
    );
  } else if (manageWebhook && !tunnel) pointNumbers({ carrier, numbers, publicHost, logger, isClosing });
}
