import { mergeConfig } from 'vitest/config';
import { common } from '../support/common-config.js';

const config = mergeConfig(common, {});
config.test = {
  ...config.test,
  include: ['test/live/**/*.live.test.ts'],
  exclude: ['**/node_modules/**'],
  // The keys of whoever runs these tests are what they are for.
  env: {},
  // One at a time: each of them costs money.
  maxWorkers: 1,
  testTimeout: 60_000,
  disableConsoleIntercept: true,
};

export default config;
