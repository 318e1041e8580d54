import { mergeConfig } from 'vitest/config';
import { common } from '../support/common-config.js';

const config = mergeConfig(common, {});
config.test = { ...config.test, include: ['test/conformance/**/*.test.ts'], exclude: ['**/node_modules/**'] };

export default config;
