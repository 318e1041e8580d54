import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OffhookError } from '../../src/base/errors.js';
import { parseStreamTarget } from '../../src/server/stream-target.js';

describe('parseStreamTarget', () => {
  it.each([
    ['/ws/stream/CA1', { callId: 'CA1', token: undefined, caller: null, callee: null }],
    ['/ws/stream/CA1/', { callId: 'CA1', token: undefined, caller: null, callee: null }],
    ['/ws/stream/CA1/a.b', { callId: 'CA1', token: 'a.b', caller: null, callee: null }],
    ['/ws/stream/CA1/a/b', { callId: 'CA1', token: 'a/b', caller: null, callee: null }],
    ['/ws/stream/%43A1', { callId: 'CA1', token: undefined, caller: null, callee: null }],
    [
      '/ws/stream/CA1?caller=%2B15005550020&callee=anonymous',
      { callId: 'CA1', token: undefined, caller: '+15005550020', callee: 'anonymous' },
    ],
    [
      '/ws/stream/CA1?caller=+15005550020&callee=',
      { callId: 'CA1', token: undefined, caller: '+15005550020', callee: null },
    ],
    [
      '/ws/stream/CA1?caller=%0A1%00&callee=%E0%A4',
      { callId: 'CA1', token: undefined, caller: '1', callee: '\ufffd' },
    ],
    [
      `/ws/stream/CA1?caller=${'1'.repeat(300)}`,
      { callId: 'CA1', token: undefined, caller: '1'.repeat(128), callee: null },
    ],
    ['/ws/stream/CA1?x='.padEnd(4096, '1'), { callId: 'CA1', token: undefined, caller: null, callee: null }],
  ])('reads %s', (target, expected) => {
    expect(parseStreamTarget(target)).toEqual(expected);
  });

  it.each([
    ['/ws/stream/CA1?x='.padEnd(4097, '1'), 'REQUEST_INVALID'],
    ['ws/stream/CA1', 'REQUEST_INVALID'],
    ['*', 'REQUEST_INVALID'],
    ['/ws/stream//CA1', 'REQUEST_INVALID'],
    ['/ws/stream/%zz', 'REQUEST_INVALID'],
    ['/ws/stream/', 'REQUEST_INVALID'],
    ['/ws/stream/..', 'REQUEST_INVALID'],
    ['/ws/streams', 'NOT_FOUND'],
  ])('refuses %.30s with %s', (target, code) => {
    expect(() => parseStreamTarget(target)).toThrow(expect.objectContaining({ code }));
  });

  it('throws only what a door can answer', () => {
    const path = fc.oneof(
      fc.string(),
      fc.webPath(),
      fc.string().map((text) => `/ws/stream/${text}`),
      fc.string({ unit: fc.constantFrom('/', '%', '2', 'F', 'a', '?', '.', '#') }),
    );
    fc.assert(
      fc.property(path, (target) => {
        try {
          expect(parseStreamTarget(target).callId).toMatch(/^[\w.~-]{1,128}$/);
        } catch (error) {
          if (!OffhookError.isInstance(error)) throw error;
          expect(['REQUEST_INVALID', 'NOT_FOUND']).toContain(error.code);
        }
      }),
    );
  });
});
