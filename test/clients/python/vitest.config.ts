import { mergeConfig } from 'vitest/config';
import { common } from '../../support/common-config.js';

const config = mergeConfig(common, {});
config.test = { ...config.test, include: ['test/clients/python/*.test.ts'] };

export default config;
