import { type AddressInfo, createServer } from 'node:net';
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

  it.each([
    [
      'does not listen',
      async () => `redis://:a-password@127.0.0.1:${await freePort()}`,
      /does not listen \(ECONNREFUSED\)/,
    ],
    [
      'is nowhere',
      async () => 'redis://:a-password@no-such-host.invalid',
      /is not found \((?:ENOTFOUND|EAI_AGAIN)\)/,
    ],
    [
      'is none',
      async () => 'http://:a-password@127.0.0.1',
      /cannot be reached by that URL: it must be the URL of a Redis .* TLS\. Name/,
    ],
    ['is in this process', async () => 'memory:', /it must be the URL of a Redis/],
    [
      'has more than a database behind it',
      async () => 'redis://:a-password@127.0.0.1/0?tls=true',
      /it must end with its host and port/,
    ],
    ['has a % in its password', async () => 'redis://:a-password%@127.0.0.1', /% is %25/],
  ])('says why the one that was named %s, and what helps', async (_, url, because) => {
    const error = await useBroker(await url(), 'demo').catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringMatching(because) });
    const { message } = error as Error;
    expect(message).toMatch(/leave --broker out/);
    expect(message).not.toContain('a-password');
  });

  it('says that the one that was named does not answer, also where it takes the connection', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).resume());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      await expect(
        useBroker(`redis://:wrong@127.0.0.1:${port}`, 'demo', { waitMs: 100 }),
      ).rejects.toMatchObject({
        message: expect.stringMatching(/--broker has not answered within 0\.1 s\. Name/),
      });
    } finally {
      server.close();
    }
  });

  it('says what the one that was named says', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', () => socket.write('-WRONGPASS invalid username-password pair\r\n'.repeat(3)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await expect(useBroker(`redis://:wrong@127.0.0.1:${port}`, 'demo')).rejects.toMatchObject({
      message: expect.stringMatching(/refuses us: WRONGPASS invalid username-password pair/),
    });
    server.close();
  });
});
