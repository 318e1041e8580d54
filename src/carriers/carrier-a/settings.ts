// What carrier A takes from the environment.
import { type CarrierSetting, pastingComplaint } from '../setting.js';

export const ACCOUNT_SID: CarrierSetting = {
  option: 'accountSid',
  variables: ['CARRIER_A_ACCOUNT_SID', 'TWILIO_ACCOUNT_SID'],
  neededFor: 'the REST API',
  complaint: (value) =>
    /^AC[A-Za-z0-9]+$/.test(value)
      ? undefined
      : (pastingComplaint(value) ?? 'is no account identifier, which begins with AC'),
};

export const AUTH_TOKEN: CarrierSetting = {
  option: 'authToken',
  variables: ['CARRIER_A_AUTH_TOKEN', 'TWILIO_AUTH_TOKEN'],
  neededFor: 'the REST API and verifying webhooks',
  complaint: pastingComplaint,
};

export const carrierASettings: readonly CarrierSetting[] = [ACCOUNT_SID, AUTH_TOKEN];

/** Origin of the REST API. */
export const CARRIER_A_API = 'https://api.twilio.com';
