import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/log.js';
import { CarrierA } from '../../src/carriers/carrier-a/index.js';
import { Offhook } from '../../src/client.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import { DiskStore } from '../../src/stores/disk-store.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { makeFolder } from '../support/data-folder.js';
import { freePort } from '../support/free-port.js';
import { RecordedLogger } from '../support/recorded-logger.js';

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
  expect(await readdir(dataDir)).toEqual(['control', 'ended', 'live', 'server']);
});

describe('the data folder of a server', () => {
  const createPhone = () =>
    new Offhook({ carrier: new CarrierA({ authToken: '0f'.repeat(16) }), phoneNumber: '+15005550010' });

  async function serve(phone: Offhook, dataDir: string) {
    const logger = new RecordedLogger();
    const port = await freePort();
    const { url } = await phone.serve({
      agent: phone.agent({}),
      port,
      host: '127.0.0.1',
      logger,
      dataDir,
    });
    const warnings = () =>
      logger.lines.flatMap(({ fields, sentence }) =>
        /memory only/.test(sentence) ? [(fields as { message: string }).message] : [],
      );
    const calls = async () => {
      const answer = await fetch(`${url}/api/dashboard/calls`);
      return ((await answer.json()) as { calls: CallRecord[] }).calls.map(({ callId }) => callId);
    };
    return { warnings, calls };
  }

  async function leaveBehind(dataDir: string): Promise<void> {
    const past = await DiskStore.open({ folder: join(dataDir, 'server') });
    for (const event of stamp([started(), ended()], { callId: 'past' })) await past.append(event);
    await past.close();
  }

  it('is free again for the next server as soon as one has closed', async () => {
    const dataDir = await makeFolder();
    await leaveBehind(dataDir);
    const phone = createPhone();
    for (let round = 0; round < 3; round += 1) {
      const server = await serve(phone, dataDir);
      expect(await server.calls()).toEqual(['past']);
      await phone.disconnect();
      expect(server.warnings()).toEqual([]);
    }
  });

  it('belongs to the first of two servers in one process; the second says so and keeps its calls in memory', async () => {
    const dataDir = await makeFolder();
    await leaveBehind(dataDir);
    const phones = [createPhone(), createPhone()] as const;
    const first = await serve(phones[0], dataDir);
    const second = await serve(phones[1], dataDir);
    expect([await first.calls(), await second.calls()]).toEqual([['past'], []]);
    expect(first.warnings()).toEqual([]);
    expect(second.warnings()).toEqual([
      expect.stringMatching(/uses .*: stop it, or give this one a data folder/),
    ]);
    await phones[1].disconnect();
    await phones[0].disconnect();
    const next = await serve(phones[1], dataDir);
    expect(await next.calls()).toEqual(['past']);
    await phones[1].disconnect();
  });

  it('of a newer version is left as it is', async () => {
    const dataDir = await makeFolder();
    await leaveBehind(dataDir);
    const setVersion = async (version: string) => {
      const level = new ClassicLevel(join(dataDir, 'server', 'calls'));
      const before = await level.get('schema');
      await level.put('schema', version);
      await level.close();
      return before;
    };
    const today = await setVersion('99');
    const phone = createPhone();
    const server = await serve(phone, dataDir);
    expect(await server.calls()).toEqual([]);
    expect(server.warnings()).toEqual([expect.stringMatching(/newer version .*: update offhook/)]);
    await phone.disconnect();
    expect(await setVersion(today ?? '')).toBe('99');
    const after = await serve(phone, dataDir);
    expect(await after.calls()).toEqual(['past']);
    await phone.disconnect();
  });
});
