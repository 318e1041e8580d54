// All servers of a cluster are down at once: what was left to do for calls that were over is done by the next ones.
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { WAIT } from '../support/asking-caller.js';
import { eventually } from '../support/carrier-phone.js';
import { ClusterPhones } from '../support/cluster-phones.js';
import { makeFolder } from '../support/data-folder.js';

/** Two servers with folders of their own; what they leave behind is found by the next two. */
async function open(...[id, options]: Parameters<typeof ClusterPhones.on>) {
  const phones = await ClusterPhones.on(id, options);
  const folders = [await makeFolder(), await makeFolder()];
  const serve = async () => {
    for (const dataDir of folders) await phones.serve({}, { dataDir });
  };
  await serve();
  const restart = async () => {
    await Promise.all(phones.phones.splice(0).map(({ phone }) => phone.disconnect()));
    await serve();
  };
  return { phones, restart };
}

describe('servers that start after all others have gone', { timeout: 60_000 }, () => {
  it('ask for the prices that were pending, one of them for each', async () => {
    const { phones, restart } = await open('carrier-a');
    await using _ = phones;
    const report = await phones.simulator.call({ script: [WAIT, { type: 'hang-up' }] });
    await phones.records(report.carrierCallId);
    await restart();
    await eventually('the price', () => (priced(phones).length > 0 ? true : undefined), 60_000);
    await pause(systemClock, 60_000);
    const records = await phones.records(report.carrierCallId);
    expect(records[1]).toEqual(records[0]);
    expect(priced(phones)).toHaveLength(1);
    expect(phones.ended).toEqual([]);
  });

  it.each(SIMULATED_CARRIERS)(
    'hang up what was yet to be hung up, one of them each call, on %s',
    async (id) => {
      const restFailures = [{ purpose: 'hang-up' as const, status: 500, times: 12 }];
      const { phones, restart } = await open(id, { disturbances: { restFailures } });
      await using _ = phones;
      const script = [WAIT, { type: 'pause' as const, durationMs: 3_600_000 }];
      const calling = phones.simulator.call({ script, maxDurationMs: 3_600_000 });
      const { callId } = await eventually('the greeting', () =>
        phones.facts.find(({ type }) => type === 'turn.completed'),
      );
      expect(await phones.phones[0]?.phone.hangUp(callId)).toBe('pending');
      await restart();
      const report = await calling;
      expect(report.durationMs).toBeLessThan(1_800_000);
      for (const { server } of phones.phones)
        await eventually('the hang-up', async () =>
          (await server.calls.get(report.carrierCallId))?.hangUp === 'done' ? true : undefined,
        );
      const told = phones.facts.filter(({ type }) => type === 'hangup.updated');
      expect(told).toHaveLength(1);
    },
  );
});

function priced({ facts }: ClusterPhones) {
  return facts.filter(({ type }) => type === 'cost.updated');
}
