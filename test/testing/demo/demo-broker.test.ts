import { describe, expect, it } from 'vitest';
import { startBroker, useBroker } from '../../../src/testing/demo/demo-broker.js';
import { freePort } from '../../../src/testing/loopback.js';

describe('the broker of a demo', () => {
  it('says what to install where there is none', async () => {
    await expect(startBroker(['no-such-server', 'no-other-server'])).rejects.toMatchObject({
      code: 'CONFIG_MISSING',
      message: expect.stringMatching(/no-such-server or no-other-server is not in the PATH.*--broker redis:/),
    });
  });

  it('says which program does not start', async () => {
    await expect(startBroker(['no-such-server', 'false'])).rejects.toThrow(/^false did not start/);
  });

  it('says that the one that was named does not answer', async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    for (const broker of [url, 'http://127.0.0.1'])
      await expect(useBroker(broker, 'demo')).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('--broker'),
      });
  });
});
