import { afterEach, expect, it, vi } from 'vitest';
import { namesAt, resolveKey } from '../../../src/providers/wire/access.js';

const NAMES = {
  vendor: 'Vendor',
  keyVariables: ['VENDOR_API_KEY'],
  baseUrlVariable: 'VENDOR_BASE_URL',
  defaultBaseUrl: 'https://api.vendor.example/v1',
};

afterEach(() => vi.unstubAllEnvs());

it.each([
  [undefined, 'sk-mine'],
  ['https://api.vendor.example/v2', 'sk-mine'],
  ['https://elsewhere.example/v1', undefined],
  ['http://127.0.0.1:8000/v1', undefined],
])('shows the key of the environment to the vendor alone: %s', (baseUrl, key) => {
  vi.stubEnv('VENDOR_API_KEY', 'sk-mine');
  expect(resolveKey(undefined, namesAt(baseUrl, NAMES))).toBe(key);
  expect(resolveKey('sk-said', namesAt(baseUrl, NAMES))).toBe('sk-said');
});
