// Carrier A's REST client against a fake of its API: what every one of its tests begins with.
import { afterEach, beforeEach, expect } from 'vitest';
import { CarrierError } from '../../../../src/base/errors.js';
import type { CarrierRest } from '../../../../src/carriers/carrier.js';
import { type FakeApi, startFakeApi } from '../fake-api.js';

export const CA = 'CA11111111111111111111111111111111';
export const webhookBaseUrl = 'https://voice.example/webhooks/carrier-a';
export const stream = { url: 'wss://voice.example/ws/stream/abc', parameters: {} };
export const dialRequest = {
  callId: 'abc',
  from: '+15005550010',
  to: '+15005550020',
  webhookBaseUrl,
  ringTimeoutSeconds: 25,
  maxCallSeconds: 3600,
  machineDetection: false,
  recording: false,
};
export const transferRequest = {
  callId: 'abc',
  to: '+15005550030',
  callerId: '+15005550010',
  webhookBaseUrl,
  ringTimeoutSeconds: 25,
};
export const urls = { voice: `${webhookBaseUrl}/voice`, status: `${webhookBaseUrl}/status` };

/** Every method, asked for something that makes sense. */
export const METHODS: [string, (rest: CarrierRest) => Promise<unknown>][] = [
  ['dial', (rest) => rest.dial(dialRequest)],
  ['hangUp', (rest) => rest.hangUp(CA)],
  ['limit', async (rest) => rest.limit?.(CA, 3660)],
  ['transfer', (rest) => rest.transfer(CA, transferRequest)],
  ['sendDigits', (rest) => rest.sendDigits(CA, '1', stream)],
  ['speak', (rest) => rest.speak(CA, 'Bye', { language: 'en' })],
  ['startRecording', (rest) => rest.startRecording(CA, { callId: 'abc', webhookBaseUrl })],
  ['deleteRecordings', async (rest) => rest.deleteRecordings?.(CA)],
  ['lookUp', (rest) => rest.lookUp(CA)],
  ['setVoiceUrl', (rest) => rest.setVoiceUrl('+15005550010', urls)],
];
export const IDEMPOTENT = ['hangUp', 'limit', 'deleteRecordings', 'lookUp', 'setVoiceUrl'];
export const ONCE = METHODS.filter(([name]) => !IDEMPOTENT.includes(name));
export const AGAIN = METHODS.filter(([name]) => IDEMPOTENT.includes(name));

export let api: FakeApi;
export let rest: CarrierRest;

/** Gives each test of a file an API of its own. */
export function useFakeApi(): void {
  beforeEach(async () => {
    api = await startFakeApi();
    ({ rest } = api);
  });
  afterEach(() => api.close());
}

export async function failureOf(asked: Promise<unknown>): Promise<CarrierError> {
  const error = await asked.then(
    () => new Error('it succeeded'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CarrierError);
  return error as CarrierError;
}
