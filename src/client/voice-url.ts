// Points the own number at this server when it starts.
import { describeError, type Logger } from '../base/log.js';
import type { Carrier } from '../carriers/carrier.js';

/** What a number is pointed at, and with. */
export interface NumberToPoint {
  readonly carrier: Carrier;
  readonly phoneNumber: string;
  readonly publicHost: string | undefined;
  readonly logger: Logger;
}

/** The webhooks of a carrier on a public host. */
export function webhookUrls(carrierId: string, publicHost: string): { voice: string; status: string } {
  const base = `https://${publicHost}/webhooks/${carrierId}`;
  return { voice: `${base}/voice`, status: `${base}/status` };
}

/** Sets the number's URLs in the background: the carrier's API may be slow or down. Says in the log what became of it. */
export function pointNumber({ carrier, phoneNumber, publicHost, logger }: NumberToPoint): void {
  if (!carrier.supports.voiceUrl) return;
  if (publicHost === undefined || !carrier.rest.configured) {
    const missing = publicHost === undefined ? 'webhookUrl' : 'carrier credentials';
    logger.warn({ missing }, 'manageWebhook skipped: the number is unchanged');
    return;
  }
  const urls = webhookUrls(carrier.id, publicHost);
  void (async () => carrier.rest.setVoiceUrl(phoneNumber, urls))().then(
    () => logger.info({ voiceUrl: urls.voice }, 'the number points at this server'),
    (error: unknown) =>
      logger.warn(
        { ...describeError(error), voiceUrl: urls.voice },
        'could not set the voice URL of the number: enter this one at the carrier',
      ),
  );
}
