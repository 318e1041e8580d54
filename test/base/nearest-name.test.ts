import { expect, it } from 'vitest';
import { nearestName } from '../../src/base/nearest-name.js';

it.each([
  ['prot', 'port'],
  ['PORT', 'port'],
  ['dashbordToken', 'dashboardToken'],
  ['maxStreamsPerIP', 'maxStreamsPerIp'],
  ['onMesage', 'onMessage'],
  ['color', undefined],
  ['', undefined],
])('%j is meant as %s', (name, expected) => {
  const names = ['port', 'dashboard', 'dashboardToken', 'maxStreamsPerIp', 'onMessage'];
  expect(nearestName(name, names)).toBe(expected);
});
