import { describe, expect, it } from 'vitest';
import { Offhook } from '../../../src/index.js';
import { startCarrier, OWN_NUMBER, PUBLIC_HOST } from '../../support/carrier-phone.js';
import { CLUSTER_SECRET } from '../../support/cluster-node.js';
import { freePort } from '../../support/free-port.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

describe('a server of a cluster', () => {
  it('starts while its broker is away, says so, and ends', async () => {
    const { simulator, carrier } = await startCarrier('carrier-a', { url: 'http://127.0.0.1:1' });
    const phone = new Offhook({ carrier, phoneNumber: OWN_NUMBER, webhookUrl: PUBLIC_HOST });
    const logger = new RecordedLogger();
    const [port, brokerPort] = [await freePort(), await freePort()];
    const server = await phone.serve({
      agent: phone.agent({ systemPrompt: 'You help.' }),
      port,
      host: '127.0.0.1',
      manageWebhook: false,
      logger,
      dataDir: false,
      cluster: {
        url: `redis://offhook:a-password@127.0.0.1:${brokerPort}`,
        name: 'phones',
        secret: CLUSTER_SECRET,
        address: `http://127.0.0.1:${port}`,
      },
    });
    const told = logger.lines.filter(({ fields }) => fields.code === 'CLUSTER_FAILED');
    expect(told).toMatchObject([
      {
        level: 'warn',
        sentence:
          'the broker of the cluster is away: this server says joining at /ready until it answers, and takes what calls come meanwhile',
        fields: { broker: `127.0.0.1:${brokerPort}`, because: expect.stringContaining('ECONNREFUSED') },
      },
    ]);
    expect(JSON.stringify(logger.lines)).not.toContain('a-password');
    const ready = await fetch(`http://127.0.0.1:${port}/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([503, { reason: 'joining' }]);
    const refused = await fetch(`http://127.0.0.1:${port}/cluster`, { method: 'POST', body: 'nonsense' });
    expect(refused.status).toBe(403);
    await phone.disconnect();
    await server.closed;
    await simulator.close();
  });
});
