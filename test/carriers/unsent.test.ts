import { expect, it } from 'vitest';
import { wasNeverSent } from '../../src/carriers/unsent.js';

it.each([
  [{ code: 'ETIMEDOUT', syscall: 'connect' }, true],
  [{ code: 'EAI_FAIL', syscall: 'getaddrinfo' }, true],
  [{ errors: [{ code: 'EHOSTUNREACH', syscall: 'connect' }] }, true],
  [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, true],
  [{ code: 'CERT_HAS_EXPIRED' }, true],
  [{ code: 'ECONNRESET', syscall: 'read' }, false],
])('knows of %j whether the carrier was asked at all', (fields, isUnsent) => {
  expect(wasNeverSent(Object.assign(new Error('failed'), fields))).toBe(isUnsent);
});
