import { mergeConfig } from 'vitest/config';
import base from '../vitest.config.js';

const config = mergeConfig(base, {});
config.test = { ...config.test, include: ['test/conformance/**/*.test.ts'], exclude: ['**/node_modules/**'] };

export default config;
