// REST API of carrier A, put together: form-encoded requests with Basic authentication, JSON answers.
import type { CarrierRest } from '../carrier.js';
import { type ApiAccess, ApiClient } from './api-client.js';
import { createCallMethods } from './calls.js';
import { createNumberMethods } from './numbers.js';

/** The API as one account sees it. Nothing is sent before a method is called. */
export function createRest(access: ApiAccess): CarrierRest {
  const api = new ApiClient(access);
  return { configured: api.configured, ...createCallMethods(api), ...createNumberMethods(api) };
}
