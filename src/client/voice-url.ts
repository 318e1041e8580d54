// Points the own numbers at this server when it starts.
import { describeError, type Logger } from '../base/log.js';
import { maskPhone } from '../base/redact.js';
import type { Carrier } from '../carriers/carrier.js';
import type { OwnNumber } from '../options/client.js';

/** What numbers are pointed at, and with. */
export interface NumbersToPoint {
  readonly carrier: Carrier;
  readonly numbers: readonly Pick<OwnNumber, 'number'>[];
  readonly publicHost: string | undefined;
  readonly logger: Logger;
  /** The server stops: what was not begun is left as it is. */
  isClosing(): boolean;
}

/** A carrier's API takes so many requests at a time from anybody. */
const AT_A_TIME = 5;

/** The webhooks of a carrier on a public host. */
export function webhookUrls(carrierId: string, publicHost: string): { voice: string; status: string } {
  const base = `https://${publicHost}/webhooks/${carrierId}`;
  return { voice: `${base}/voice`, status: `${base}/status` };
}

/** Sets the URLs of each number in the background: the carrier's API may be slow or down. Says in the log what became of each. */
export function pointNumbers(parts: NumbersToPoint): void {
  const { carrier, numbers, publicHost, logger } = parts;
  if (!carrier.supports.voiceUrl) return;
  if (publicHost === undefined || !carrier.rest.configured) {
    const missing = publicHost === undefined ? 'webhookUrl' : 'carrier credentials';
    logger.warn(
      { missing, numbers: numbers.length },
      'manageWebhook skipped: nothing is changed at the carrier',
    );
    return;
  }
  const urls = webhookUrls(carrier.id, publicHost);
  const waiting = [...numbers];
  const pointSome = async () => {
    for (let next = waiting.shift(); next !== undefined && !parts.isClosing(); next = waiting.shift())
      await pointNumber(next.number, urls, parts);
  };
  for (const _ of numbers.slice(0, AT_A_TIME)) void pointSome();
}

/** Never rejects. */
async function pointNumber(
  phoneNumber: string,
  urls: { voice: string; status: string },
  { carrier, logger }: NumbersToPoint,
): Promise<void> {
  const fields = { number: maskPhone(phoneNumber), voiceUrl: urls.voice };
  try {
    await carrier.rest.setVoiceUrl(phoneNumber, urls);
    logger.info(fields, 'the number points at this server');
  } catch (error) {
    logger.warn(
      { ...describeError(error), ...fields },
      'could not set the voice URL of the number: enter this one at the carrier',
    );
  }
}
