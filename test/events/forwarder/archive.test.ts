import { describe, expect, it } from 'vitest';
import type { IngestPosition } from '../../../src/contract/ingest.js';
import { Archive, type StoredCall } from '../../../src/events/forwarder/archive.js';
import { callKey } from '../../../src/events/forwarder/call-log.js';
import { ended, stamp, started } from '../../support/call-facts.js';

const FACTS = stamp([started(), ended()]);
const STORED: StoredCall = { callId: 'call-1', nodeId: 'node-1', endedAt: 1000, term: 1, seq: 3 };
const WHOLE: IngestPosition = {
  callId: 'call-1',
  nodeId: 'node-1',
  term: 1,
  seq: 3,
  ended: true,
  wanted: true,
};

/** What is played of the call to a dashboard that has so much of it. */
async function played(stored: StoredCall, position: IngestPosition): Promise<number | undefined> {
  const archive = new Archive({
    calls: () =>
      (async function* () {
        yield [stored];
      })(),
    events: async () => FACTS,
  });
  archive.start();
  expect(await archive.questions(() => false)).toEqual([stored]);
  archive.learn(new Map([[callKey(position), position]]));
  return (await archive.next())?.events.length;
}

describe('a call from before', () => {
  it.each([
    ['lacks its end', { ended: false }],
    ['lacks what came behind its end', { seq: 2 }],
    ['has nothing of it', { seq: 0, ended: false }],
  ])('is played again to a dashboard that %s', async (_, had) => {
    expect(await played(STORED, { ...WHOLE, ...had })).toBe(2);
  });

  it.each([
    ['has all of it', {}],
    ['does not want it', { seq: 0, ended: false, wanted: false }],
    ['has it from the process that has taken it over', { term: 2, seq: 2, ended: false }],
  ])('is not played to one that %s', async (_, had) => {
    expect(await played(STORED, { ...WHOLE, ...had })).toBeUndefined();
  });

  it('is not played to one that has nothing of it, where it was deleted', async () => {
    const deleted = { ...STORED, isForgotten: true };
    expect(await played(deleted, { ...WHOLE, seq: 0, ended: false })).toBeUndefined();
    expect(await played(deleted, { ...WHOLE, seq: 2 })).toBe(2);
  });
});
