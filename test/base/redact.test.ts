import { expect, it } from 'vitest';
import { maskPhone } from '../../src/base/redact.js';

it.each([
  ['+15550100', '…0100'],
  ['0100', '…0100'],
  ['', ''],
  ['anonymous', '…'],
  ['sip:anna.smith@clinic.example', '…'],
  ['sip:anna.smith@10.20.30.40', '…'],
  ['sip:1001@clinic.example', '…'],
  ['sip:+15550100@clinic.example', '…0100'],
])('shows %j as %j', (value, masked) => {
  expect(maskPhone(value)).toBe(masked);
});
