import { lookup } from 'node:dns';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { OperatorEndpoint, readBody } from '../../../src/engines/responder/operator-endpoint.js';
import { FakeClock } from '../../support/fake-clock.js';
import { answers, OperatorServer } from '../operator-server.js';

// Loopback stands for the public internet here.
vi.mock('../../../src/base/public-address.js', async (original) => ({
  ...(await original<object>()),
  isPublicAddress: () => true,
  lookupPublic: lookup,
}));

describe('an address of the operator', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each([false, true])('gets a signature unless the model had a say in it (%s)', async (publicOnly) => {
    vi.stubEnv('OFFHOOK_WEBHOOK_SECRET', 'a secret');
    await using operator = await OperatorServer.start(answers('text/plain', 'yes'));
    const endpoint = new OperatorEndpoint({ keepAlive: false });
    const answer = await endpoint.post({
      url: new URL(operator.url),
      publicOnly,
      body: '{}',
      accept: 'text/plain',
      signal: new AbortController().signal,
      clock: new FakeClock(),
      timeoutMs: 1000,
    });
    expect(await readBody(answer, { maxBytes: 10 })).toBe('yes');
    expect('x-offhook-signature' in (operator.received[0]?.headers ?? {})).toBe(!publicOnly);
  });
});
