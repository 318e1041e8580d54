import { describe, expect, it } from 'vitest';
import { loadRedisPackage } from '../../../src/cluster/redis/package.js';

describe('loadRedisPackage', () => {
  it('says how to install the client where it is missing', async () => {
    const missing = () => Promise.reject(new Error('Cannot find package'));
    await expect(loadRedisPackage(missing)).rejects.toMatchObject({
      code: 'CONFIG_MISSING',
      message: 'cluster needs the package @redis/client: npm install @redis/client',
    });
  });
});
