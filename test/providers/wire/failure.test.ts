import { describe, expect, it } from 'vitest';
import { connectionFailure, refusalFailure, toProviderError } from '../../../src/providers/wire/failure.js';
import { closeFailure } from '../../../src/providers/wire/vendor-socket.js';

const NAMES = { vendor: 'Vendor', keyVariables: ['VENDOR_API_KEY', 'VENDOR_KEY'] };

describe('refusalFailure', () => {
  it.each([
    [400, 'fatal'],
    [401, 'fatal'],
    [402, 'fatal'],
    [403, 'fatal'],
    [404, 'fatal'],
    [408, 'transient'],
    [409, 'transient'],
    [429, 'throttled'],
    [500, 'transient'],
    [503, 'transient'],
    [529, 'throttled'],
  ])('%i is %s', (status, kind) => {
    const failure = refusalFailure({ status });
    expect(failure.kind).toBe(kind);
    const error = toProviderError(NAMES, failure);
    expect(error).toMatchObject({ code: 'PROVIDER_FAILED', status, retryable: kind !== 'fatal' });
    expect(error.message).toContain(`HTTP ${status}`);
  });

  it('shows a code, and nothing that may be a sentence', () => {
    expect(refusalFailure({ status: 400, code: 'INVALID_QUERY_PARAMETER' }).reason).toContain(
      'INVALID_QUERY',
    );
    expect(refusalFailure({ status: 400, code: 'the key sk-123 is wrong' }).reason).not.toContain('sk-123');
  });

  it.each([
    [401, undefined, 'refused the key (HTTP 401): check VENDOR_API_KEY or VENDOR_KEY, or the option apiKey.'],
    [
      403,
      'missing_permissions',
      'does not allow this with the key (HTTP 403, missing_permissions): check VENDOR_API_KEY or VENDOR_KEY, or the option apiKey.',
    ],
    [401, 'quota_exceeded', 'refused the request (HTTP 401, quota_exceeded).'],
    [
      403,
      'unsupported_country_region_territory',
      'refused the request (HTTP 403, unsupported_country_region_territory).',
    ],
    [400, 'invalid_value', 'refused the request (HTTP 400, invalid_value).'],
  ])('%i with the code %j blames the key only where it may be why', (status, code, sentence) => {
    expect(toProviderError(NAMES, refusalFailure({ status, code })).message).toBe(`Vendor ${sentence}`);
  });

  it('names the option alone where no variable counts', () => {
    const names = { vendor: 'Vendor', keyVariables: [] };
    expect(toProviderError(names, refusalFailure({ status: 401 })).message).toBe(
      'Vendor refused the key (HTTP 401): check the option apiKey.',
    );
  });

  it.each([
    ['2', 2000],
    ['0.25', 250],
    ['', null],
    ['Wed, 21 Oct 2026 07:28:00 GMT', null],
    ['-1', null],
    [undefined, null],
  ])('reads retry-after %j', (retryAfter, retryAfterMs) => {
    expect(refusalFailure({ status: 429, retryAfter }).retryAfterMs).toBe(retryAfterMs);
  });
});

describe('closeFailure', () => {
  it.each([
    [1000, 'transient'],
    [1006, 'transient'],
    [1011, 'transient'],
    [1003, 'fatal'],
    [1007, 'fatal'],
    [1008, 'fatal'],
  ])('%i is %s', (code, kind) => {
    expect(closeFailure({ code, reason: '' }).kind).toBe(kind);
  });

  it('shows the code that a reason begins with', () => {
    expect(closeFailure({ code: 1008, reason: 'DATA-0000: your audio "abc"' }).reason).toBe(
      'closed the connection (1008, DATA-0000)',
    );
  });
});

describe('connectionFailure', () => {
  const url = new URL('wss://name:secret@vendor.example:8443/secret?token=secret');
  const failed = (code?: string) => connectionFailure(url, Object.assign(new Error('secret'), { code }));

  it.each([
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ])('%s is no trouble of the network', (code) => {
    expect(failed(code).kind).toBe('fatal');
    expect(failed(code).reason).toContain(`(${code})`);
    expect(failed(code).reason).not.toContain('secret');
  });

  it.each(['ECONNREFUSED', 'ECONNRESET', 'EPROTO', undefined])('%s is, and says where', (code) => {
    const where = ['vendor.example:8443', ...(code === undefined ? [] : [code])].join(', ');
    expect(failed(code)).toMatchObject({ kind: 'transient', reason: `could not be reached (${where})` });
  });
});
