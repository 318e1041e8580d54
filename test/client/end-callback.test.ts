// `onCallEnd` of calls that a process before has left.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { silentLogger } from '../../src/base/log.js';
import { CarrierA } from '../../src/carriers/carrier-a/index.js';
import { type CallEndPayload, Offhook } from '../../src/index.js';
import { DiskStore } from '../../src/stores/disk-store.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { makeFolder } from '../support/data-folder.js';
import { freePort } from '../support/free-port.js';

const CREDENTIALS = { accountSid: `AC${'0a'.repeat(16)}`, authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0' };

/** A server in this process, on the folder of those before. */
async function tell(dataDir: string, onCallEnd: (record: CallEndPayload) => unknown) {
  const phone = new Offhook({ carrier: new CarrierA(CREDENTIALS), phoneNumber: '+15005550010' });
  await phone.serve({
    agent: phone.agent({}),
    port: await freePort(),
    host: '127.0.0.1',
    logger: silentLogger,
    dataDir,
    drainSeconds: 0,
    onCallEnd,
  });
  await phone.disconnect();
}

it('a callback that never returns is left to the next process by a server that stops', async () => {
  const dataDir = await makeFolder();
  const store = await DiskStore.open({ folder: join(dataDir, 'server') });
  for (const event of stamp([started()], { callId: 'call-1' })) await store.append(event);
  await store.close();
  const told: (true | undefined)[] = [];
  const note = ({ redelivered }: CallEndPayload) => void told.push(redelivered);
  for (const deliveries of [1, 2]) {
    await tell(dataDir, (record) => {
      note(record);
      return new Promise(() => {});
    });
    const file = await readFile(join(dataDir, 'ended', 'call-1.json'), 'utf8');
    expect(JSON.parse(file)).toEqual({ deliveries });
  }
  await tell(dataDir, (record) => {
    note(record);
    throw new Error('A callback that throws has returned.');
  });
  // A server without time to stop does not wait for the disk.
  await expect.poll(() => readdir(join(dataDir, 'ended'))).toEqual([]);
  await tell(dataDir, note);
  expect(told).toEqual([undefined, true, true]);
  expect(await readdir(join(dataDir, 'ended'))).toEqual([]);
});

it('a second server on the folder of one that runs leaves its files alone', async () => {
  const dataDir = await makeFolder();
  const store = await DiskStore.open({ folder: join(dataDir, 'server') });
  for (const event of stamp([started(), ended()], { callId: 'call-1' })) await store.append(event);
  await mkdir(join(dataDir, 'ended'));
  await writeFile(join(dataDir, 'ended', 'call-1.json'), '{"deliveries":1}');
  const told: CallEndPayload[] = [];
  await tell(dataDir, (record) => told.push(record));
  expect(told).toEqual([]);
  await store.close();
  await tell(dataDir, (record) => told.push(record));
  expect(told).toMatchObject([{ callId: 'call-1', redelivered: true }]);
});
