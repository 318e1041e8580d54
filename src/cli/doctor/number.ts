// Whether the number leads to this server. Nothing is changed at the carrier.
import { describeError } from '../../base/log.js';
import type { Carrier } from '../../carriers/carrier.js';
import { webhookUrls } from '../../client/voice-url.js';
import type { CheckResult } from './check.js';

/** Reads the number's URLs at the carrier and compares. */
export async function checkNumber(
  carrier: Carrier,
  phoneNumber: string,
  publicHost: string,
): Promise<CheckResult> {
  const name = `${carrier.id}.number`;
  const skipped = (why: string): CheckResult => ({
    name,
    status: 'skipped',
    message: `${carrier.id}: the number was not checked: ${why}.`,
  });
  if (carrier.rest.voiceUrls === undefined) return skipped('where it leads cannot be asked for');
  if (!carrier.rest.configured) return skipped('credentials are missing');
  const wanted = webhookUrls(carrier.id, publicHost);
  try {
    const found = await carrier.rest.voiceUrls(phoneNumber);
    const failed = (message: string): CheckResult => ({
      name,
      status: 'failed',
      message: `${carrier.id}: ${message}`,
      details: { wanted: wanted.voice, found: found?.voice ?? null },
    });
    if (found === undefined) return failed('the account does not own the number.');
    if (found.isOverridden) {
      return failed(
        'an application or a trunk outranks the voice URL of the number: unbind it at the carrier.',
      );
    }
    // Connection settings in the fragment are the operator's to choose.
    if (found.voice?.split('#')[0] !== wanted.voice) {
      return failed(
        `the number's voice URL is ${found.voice ?? 'not set'}: it should be ${wanted.voice}, which serve() sets with manageWebhook.`,
      );
    }
    return { name, status: 'ok', message: `${carrier.id}: the number leads to ${wanted.voice}` };
  } catch (error) {
    const { message = 'it failed' } = describeError(error);
    return {
      name,
      status: 'failed',
      message: `${carrier.id}: the number could not be looked up: ${message}`,
    };
  }
}
