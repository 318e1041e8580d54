// Points a number of the account at our webhooks.
import { CarrierError } from '../../base/errors.js';
import type { CarrierRest } from '../carrier.js';
import type { ApiClient } from './api-client.js';
import type { Fields, FormField } from './api-exchange.js';
import { isWireId } from './wire-id.js';

/** The methods of `CarrierRest` that are about numbers. */
export function createNumberMethods(
  api: ApiClient,
): Required<Pick<CarrierRest, 'setVoiceUrl' | 'voiceUrls'>> {
  return {
    async voiceUrls(phoneNumber) {
      const number = await findNumber(api, phoneNumber);
      if (number === undefined) return undefined;
      return {
        voice: toUrl(number.voice_url),
        status: toUrl(number.status_callback),
        isOverridden: isOverridden(number),
      };
    },

    async setVoiceUrl(phoneNumber, urls) {
      const number = await findNumber(api, phoneNumber);
      if (number === undefined) {
        throw new CarrierError('The carrier account does not own the phone number.', {
          status: null,
          retryable: false,
        });
      }
      if (isOverridden(number)) {
        throw new CarrierError(
          'The number is bound to an application or a trunk at the carrier, which overrides its voice URL. Unbind it there, or set manageWebhook to false.',
          { status: null, retryable: false },
        );
      }
      const form: FormField[] = [
        ...(pointsTo(number, 'voice', urls.voice) ? [] : voiceFields(urls.voice)),
        ...(pointsTo(number, 'status', urls.status) ? [] : statusFields(urls.status)),
      ];
      if (form.length === 0) return;
      await api.send({
        purpose: 'set the voice URL of a number',
        path: `/IncomingPhoneNumbers/${encodeURIComponent(String(number.sid))}.json`,
        form,
        isIdempotent: true,
      });
    },
  };
}

/** The filter of the list is a pattern, so the number is compared once more. */
async function findNumber(api: ApiClient, phoneNumber: string): Promise<Fields | undefined> {
  const { incoming_phone_numbers: list } = await api.send({
    purpose: 'look up a number',
    path: `/IncomingPhoneNumbers.json?PhoneNumber=${encodeURIComponent(phoneNumber)}`,
    isIdempotent: true,
  });
  return (Array.isArray(list) ? list : [])
    .map(toFields)
    .find((each) => each.phone_number === phoneNumber && isWireId(each.sid));
}

function voiceFields(url: string): FormField[] {
  return [
    ['VoiceUrl', url],
    ['VoiceMethod', 'POST'],
  ];
}

function statusFields(url: string): FormField[] {
  return [
    ['StatusCallback', url],
    ['StatusCallbackMethod', 'POST'],
  ];
}

/** An application or a trunk outranks the voice URL. */
function isOverridden(number: Fields): boolean {
  return isSet(number.voice_application_sid) || isSet(number.trunk_sid);
}

function toUrl(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** True when a URL of the number is the wanted one; connection settings in its fragment are the operator's to choose. */
function pointsTo(number: Fields, kind: 'voice' | 'status', wanted: string): boolean {
  const url = kind === 'voice' ? number.voice_url : number.status_callback;
  const method = kind === 'voice' ? number.voice_method : number.status_callback_method;
  return typeof url === 'string' && url.split('#')[0] === wanted && (method ?? 'POST') === 'POST';
}

function isSet(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function toFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
