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
    const port = await freePort();
    const server = await phone.serve({
      agent: phone.agent({ systemPrompt: 'You help.' }),
      port,
      host: '127.0.0.1',
      manageWebhook: false,
      logger,
      dataDir: false,
      cluster: {
        url: `redis://127.0.0.1:${await freePort()}`,
        name: 'phones',
        secret: CLUSTER_SECRET,
        address: `http://127.0.0.1:${port}`,
      },
    });
    expect(logger.sentences('warn')).toContain('the broker of the cluster is away: calls go on');
    const refused = await fetch(`http://127.0.0.1:${port}/cluster`, { method: 'POST', body: 'nonsense' });
    expect(refused.status).toBe(403);
    await phone.disconnect();
    await server.closed;
    await simulator.close();
  });
});
