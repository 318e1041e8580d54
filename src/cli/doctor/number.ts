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
    const urls = await carrier.rest.voiceUrls(phoneNumber);
    const voice = withoutCredentials(urls?.voice ?? null);
    const failed = (message: string): CheckResult => ({
      name,
      status: 'failed',
      message: `${carrier.id}: ${message}`,
      details: { wanted: wanted.voice, found: voice },
    });
    if (urls === undefined) return failed('the account does not own the number.');
    if (urls.isOverridden) {
      return failed(
        'an application or a trunk outranks the voice URL of the number: unbind it at the carrier.',
      );
    }
    // Connection settings in the fragment are the operator's to choose.
    if (voice?.split('#')[0] !== wanted.voice) {
      return failed(
        `the number's voice URL is ${voice ?? 'not set'}: it should be ${wanted.voice}, which serve() sets with manageWebhook.`,
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

/** A user name and a password in the URL are for the carrier alone, which does not sign them either. */
function withoutCredentials(url: string | null): string | null {
  return url?.replace(/^(https?:\/\/)[^/?#]*@/i, '$1') ?? null;
}
