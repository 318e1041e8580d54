import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { silentLogger } from '../../src/base/log.js';
import { CarrierA } from '../../src/carriers/carrier-a/index.js';
import { Offhook } from '../../src/client.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import { DiskStore } from '../../src/stores/disk-store.js';
import { stamp, started } from '../support/call-facts.js';
import { makeFolder } from '../support/data-folder.js';
import { freePort } from '../support/free-port.js';

it('a server that starts again tells the application of calls that its predecessor lost, once, and shows them as over', async () => {
  const dataDir = await makeFolder();
  const past = await DiskStore.open({ folder: join(dataDir, 'server') });
  for (const event of stamp([started()], { callId: 'lost' })) await past.append(event);
  await past.close();
  const told: CallRecord[] = [];
  for (const expected of [1, 1]) {
    const phone = new Offhook({
      carrier: new CarrierA({ authToken: '0f'.repeat(16) }),
      phoneNumber: '+15005550010',
    });
    const port = await freePort();
    const { url } = await phone.serve({
      agent: phone.agent({}),
      port,
      host: '127.0.0.1',
      logger: silentLogger,
      dataDir,
      onCallEnd: (record) => told.push(record),
    });
    const response = await fetch(`${url}/api/dashboard/calls/lost`);
    expect(await response.json()).toMatchObject({ status: 'completed', endReason: 'process-lost' });
    await phone.disconnect();
    expect(told).toHaveLength(expected);
  }
  expect(await readdir(dataDir)).toEqual(['server']);
});
