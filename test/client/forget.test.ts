// A call that is deleted where the store or the carrier fails, and then once more.
import { describe, expect, it } from 'vitest';
import { StoreError } from '../../src/base/errors.js';
import { createForget } from '../../src/client/forget.js';
import { EventBus } from '../../src/events/bus.js';
import type { CallEvent } from '../../src/contract/call-event.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import type { Carrier } from '../../src/carriers/carrier.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { FakeClock } from '../support/fake-clock.js';
import { RecordedLogger } from '../support/recorded-logger.js';

/** Forgets calls, and cannot write that down as often as it is told. */
class FailingStore extends MemoryStore {
  failures = 0;

  override async append(event: CallEvent): Promise<void> {
    await super.append(event);
    if (event.type !== 'call.forgotten' || this.failures === 0) return;
    this.failures -= 1;
    throw new StoreError('The disk is full.');
  }
}

/** A call that the carrier has recorded. `carrierFailures`: how often it does not delete that. `keepsIds`: the store lists what was deleted. */
async function rig({ storeFailures = 0, carrierFailures = 0, keepsIds = true }) {
  const [store, logger, clock] = [new FailingStore(), new RecordedLogger(), new FakeClock()];
  let failuresLeft = carrierFailures;
  const asked: string[] = [];
  const rest = {
    async deleteRecordings(carrierCallId: string) {
      asked.push(carrierCallId);
      failuresLeft -= 1;
      if (failuresLeft >= 0) throw new Error('the carrier is down');
    },
  };
  const carrier = { id: 'carrier-a', rest } as unknown as Carrier;
  const facts = [started({ carrierCallId: 'CA1' }), ended()];
  for (const event of stamp(facts, { callId: 'c1' })) await store.append(event);
  store.failures = storeFailures;
  if (!keepsIds) Object.assign(store, { forgotten: undefined });
  const parts = {
    store,
    bus: new EventBus(logger),
    carrier,
    isRecording: true,
    nodeId: 'node',
    clock,
    logger,
  };
  return { forget: createForget(parts), asked };
}

describe('a call that is deleted again', () => {
  it('tells then what became of its recording at the carrier, where the store has failed', async () => {
    const { forget, asked } = await rig({ storeFailures: 1 });
    await expect(forget('c1')).rejects.toMatchObject({ code: 'STORE_FAILED' });
    expect(await forget('c1')).toEqual({ carrierRecording: 'deleted', carrierCallId: null });
    expect(await forget('c1')).toEqual({ carrierRecording: null, carrierCallId: null });
    expect(asked).toEqual(['CA1']);
  });

  it.each([0, 1])(
    'asks the carrier again that has failed, after %s failures of the store',
    async (failures) => {
      const { forget, asked } = await rig({ storeFailures: failures, carrierFailures: 2 });
      if (failures > 0) await expect(forget('c1')).rejects.toMatchObject({ code: 'STORE_FAILED' });
      else expect(await forget('c1')).toEqual({ carrierRecording: 'failed', carrierCallId: 'CA1' });
      expect(await forget('c1')).toEqual({ carrierRecording: 'failed', carrierCallId: 'CA1' });
      expect(await forget('c1')).toEqual({ carrierRecording: 'deleted', carrierCallId: null });
      expect(asked).toEqual(['CA1', 'CA1', 'CA1']);
    },
  );

  it.each([true, false])(
    'asks the carrier again by the id that the carrier gave the call, lists of deleted calls: %s',
    async (keepsIds) => {
      const { forget, asked } = await rig({ carrierFailures: 2, keepsIds });
      for (let time = 0; time < 2; time += 1)
        expect(await forget('CA1')).toEqual({ carrierRecording: 'failed', carrierCallId: 'CA1' });
      expect(await forget('CA1')).toEqual({ carrierRecording: 'deleted', carrierCallId: null });
      await expect(forget('CA1')).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect(asked).toEqual(['CA1', 'CA1', 'CA1']);
    },
  );

  it('asks the carrier again where the store keeps no list of deleted calls', async () => {
    const { forget, asked } = await rig({ carrierFailures: 1, keepsIds: false });
    expect(await forget('c1')).toEqual({ carrierRecording: 'failed', carrierCallId: 'CA1' });
    expect(await forget('c1')).toEqual({ carrierRecording: 'deleted', carrierCallId: null });
    await expect(forget('c1')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(asked).toEqual(['CA1', 'CA1']);
  });
});
