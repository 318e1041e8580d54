// Servers of a cluster whose clocks differ by an hour: streams are taken, and calls that move have dates that make sense. Whole calls, on both carriers.
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import { type CallRecord, SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { asksUpon, WAIT } from '../support/asking-caller.js';
import { eventually } from '../support/carrier-phone.js';
import { ClusterPhones } from '../support/cluster-phones.js';
import type { ServedPhone } from '../support/served-phone.js';

const HOUR_MS = 3_600_000;
/** No call here lasts longer. */
const LONGEST_MS = 5 * 60_000;
const CASES = SIMULATED_CARRIERS.flatMap((id) =>
  [HOUR_MS, -HOUR_MS].map((aheadMs) => [id, aheadMs] as const),
);

describe.each(CASES)(
  'servers of which one has a clock that is wrong, on %s, by %i ms',
  { timeout: 60_000 },
  (id, aheadMs) => {
    const open = async (): Promise<ClusterPhones> => {
      const phones = await ClusterPhones.on(id);
      await phones.serve();
      await phones.serve({}, {}, { clockAheadMs: aheadMs });
      await phones.serve();
      return phones;
    };

    it('take each other’s streams, and agree on the record', async () => {
      await using phones = await open();
      for (let call = 1; call <= 3; call += 1) {
        const report = await phones.simulator.call({
          script: [WAIT, { type: 'say', text: 'What time is it?' }, WAIT, { type: 'hang-up' }],
        });
        expect(report).toMatchObject({ ok: true, protocolErrors: [] });
        const [record, ...others] = await phones.records(report.carrierCallId);
        for (const other of others) expect(other).toEqual(record);
        expect(record).toMatchObject({
          endReason: 'caller-hangup',
          error: null,
          incidents: [],
          turnCount: 2,
        });
        expectPlausible(record as CallRecord);
      }
      // One rang at each.
      expect(new Set(phones.facts.map(({ nodeId }) => nodeId)).size).toBeGreaterThan(1);
    });

    it('go on with a call whose streams are lost, from one to the other', async () => {
      await using phones = await open();
      const isDone = new AbortController();
      const calling = phones.simulator.call({ script: asksUpon(isDone.signal) });
      await greeted(phones);
      for (let times = 1; times <= 3; times += 1) {
        const before = phones.simulator.legs[0]?.reports.length ?? 0;
        phones.simulator.legs[0]?.dropStream();
        await eventually('the next stream', () =>
          (phones.simulator.legs[0]?.reports.length ?? 0) > before ? true : undefined,
        );
        await pause(systemClock, 1500);
      }
      isDone.abort();
      const report = await calling;
      expect(report).toMatchObject({ ok: true, protocolErrors: [] });
      const [record] = await phones.records(report.carrierCallId);
      expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
      expect(record?.transcript.map(({ role }) => role)).toEqual(['agent', 'user', 'agent']);
      expectPlausible(record as CallRecord);
      expect(phones.started).toHaveLength(1);
    });

    it.each(['wrong', 'right'])(
      'go on with a call of one whose clock is %s, and that is gone',
      async (which) => {
        await using phones = await open();
        const [right, wrong] = phones.phones as [ServedPhone, ServedPhone];
        const [first, owner] = which === 'wrong' ? [right, wrong] : [wrong, right];
        let target: ServedPhone | undefined = first;
        phones.proxy.choose(({ url = '' }) => (url.startsWith('/ws/stream/') ? target?.port : undefined));
        const isDone = new AbortController();
        const calling = phones.simulator.call({ script: asksUpon(isDone.signal) });
        await greeted(phones);
        target = owner;
        phones.simulator.legs[0]?.dropStream();
        await eventually('the other node', () => (ownerOf(phones) === owner ? true : undefined));
        await pause(systemClock, 1500);
        target = undefined;
        const left = phones.phones.filter((each) => each !== owner);
        phones.proxy.useAll(left.map(({ port }) => port));
        phones.cluster.cut(owner.facts[0]?.nodeId ?? '');
        await eventually(
          'the call at another node',
          () => left.flatMap(({ facts }) => facts).findLast(({ type }) => type === 'incident.noted'),
          30_000,
        );
        phones.cluster.heal(owner.facts[0]?.nodeId ?? '');
        isDone.abort();
        const report = await calling;
        expect(report).toMatchObject({ ok: true, protocolErrors: [] });
        const [record] = await phones.records(report.carrierCallId);
        expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
        expectPlausible(record as CallRecord);
        expect([phones.started.length, phones.ended.length]).toEqual([1, 1]);
      },
    );
  },
);

/** Nothing in it is as long as the clocks differ, and nothing lasts less than nothing. */
function expectPlausible(record: CallRecord): void {
  const { startedAt, answeredAt, endedAt, durationMs, turns, transcript, incidents, usage } = record;
  const isShort = (ms: number | null | undefined, what: string) => {
    expect(ms ?? 0, what).toBeGreaterThanOrEqual(0);
    expect(ms ?? 0, what).toBeLessThan(LONGEST_MS);
  };
  isShort((endedAt ?? Number.NaN) - startedAt, 'the call');
  isShort((answeredAt ?? Number.NaN) - startedAt, 'the ringing');
  isShort(durationMs ?? Number.NaN, 'its duration');
  isShort((usage?.telephonySeconds ?? 0) * 1000, 'what is billed');
  for (const { startedAt: at } of turns) isShort(at - startedAt, 'a turn');
  for (const { at } of transcript) isShort(at - startedAt, 'a segment');
  for (const { at, durationMs: gapMs } of incidents) {
    isShort(at - startedAt, 'an incident');
    isShort(gapMs, 'a gap');
  }
  for (const { latency } of turns)
    for (const value of Object.values(latency)) if (typeof value === 'number') isShort(value, 'a latency');
}

async function greeted(phones: ClusterPhones): Promise<void> {
  await eventually('the greeting', () => phones.facts.find(({ type }) => type === 'turn.completed'));
}

/** Who has stated the last fact of the only call. */
function ownerOf({ facts, phones }: ClusterPhones) {
  const last = facts.reduce((newest, fact) =>
    fact.term > newest.term || (fact.term === newest.term && fact.seq > newest.seq) ? fact : newest,
  );
  return phones.find((phone) => phone.facts.includes(last));
}
