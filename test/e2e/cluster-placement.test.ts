// A server of a cluster that has no room for a call gives it to one that has.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LoadJudge } from '../../src/base/load-judge.js';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { WAIT } from '../support/asking-caller.js';
import { eventually, PUBLIC_HOST } from '../support/carrier-phone.js';
import { ClusterPhones } from '../support/cluster-phones.js';
import { freePort } from '../support/free-port.js';
import type { ServedPhone } from '../support/served-phone.js';

const SHORT = [WAIT, { type: 'hang-up' }] as const;
const LONG = [WAIT, { type: 'pause', durationMs: 20_000 }, { type: 'hang-up' }] as const;

type Trio = readonly [ServedPhone, ServedPhone, ServedPhone];

afterEach(() => {
  vi.restoreAllMocks();
});

/** Has servers say that they cannot keep up. */
function watchLoad() {
  const overloaded = new Set<LoadJudge>();
  let asked: LoadJudge | undefined;
  vi.spyOn(LoadJudge.prototype, 'isOverloaded', 'get').mockImplementation(function (this: LoadJudge) {
    asked = this;
    return overloaded.has(this);
  });
  return {
    async overload({ server }: ServedPhone) {
      await fetch(`${server.url}/ready`);
      if (asked !== undefined) overloaded.add(asked);
      const ready = await fetch(`${server.url}/ready`);
      expect(await ready.json()).toMatchObject({ status: 'unavailable', reason: 'overloaded' });
    },
  };
}

const hostOf = (index: number) => `node-${index}.${PUBLIC_HOST}`;

/** Three servers, each of which is reached by a host of its own. What else comes goes to the first; streams that the load balancer sends go to the ports of `balanced`. */
async function three(id: (typeof SIMULATED_CARRIERS)[number], { hosts = true } = {}) {
  const phones = await ClusterPhones.on(id);
  for (let index = 0; index < 3; index += 1)
    await phones.serve({}, {}, hosts ? { streamHost: hostOf(index) } : {});
  const trio = phones.phones as unknown as Trio;
  const ports = new Map(trio.map(({ port }, index) => [hostOf(index), port]));
  const hosted: string[] = [];
  const balanced: number[] = [];
  phones.proxy.choose(({ url = '', headers: { host = '' } }) => {
    if (!url.startsWith('/ws/stream/')) return trio[0].port;
    hosted.push(host);
    return ports.get(host) ?? balanced.shift() ?? trio[1].port;
  });
  return { phones, trio, ports, hosted, balanced };
}

/** Where the call with that number was answered. */
function answeredAt({ phones }: ClusterPhones, call: number): ServedPhone | undefined {
  const started = phones.flatMap((phone) =>
    phone.facts.filter(({ type }) => type === 'call.started').map(({ at }) => ({ phone, at })),
  );
  return started.toSorted((a, b) => a.at - b.at)[call - 1]?.phone;
}

function errorsOf({ phones }: ClusterPhones) {
  return phones.flatMap(({ logger }) => logger.lines.filter(({ level }) => level === 'error'));
}

describe.each(SIMULATED_CARRIERS)('a server without room for a call, on %s', { timeout: 60_000 }, (id) => {
  it('names the host of another one that has some, the one with fewer calls', async () => {
    const load = watchLoad();
    const { phones, trio, hosted } = await three(id);
    await using _ = phones;
    await load.overload(trio[0]);
    const first = phones.simulator.call({ script: [...LONG] });
    await eventually('the first call', () => answeredAt(phones, 1));
    const [report] = await Promise.all([phones.simulator.call({ script: [...SHORT] }), first]);
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(new Set(hosted)).toEqual(new Set([hostOf(1), hostOf(2)]));
    expect(hosted).toHaveLength(2);
    const records = await phones.records(report.carrierCallId);
    for (const record of records)
      expect(record).toMatchObject({
        outcome: 'answered',
        endReason: 'caller-hangup',
        incidents: [],
        turnCount: 1,
      });
    expect(trio[0].started).toEqual([]);
    expect([phones.started.length, phones.ended.length]).toEqual([2, 2]);
    expect(errorsOf(phones)).toEqual([]);
  });

  it('answers for the others where they have no hosts', async () => {
    const load = watchLoad();
    const { phones, trio, hosted } = await three(id, { hosts: false });
    await using _ = phones;
    await load.overload(trio[0]);
    const report = await phones.simulator.call({ script: [...SHORT] });
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(hosted).toEqual([PUBLIC_HOST]);
    expect(answeredAt(phones, 1)).toBe(trio[1]);
  });

  it('refuses the call only where all have none', async () => {
    const load = watchLoad();
    const { phones, trio, hosted } = await three(id);
    await using _ = phones;
    for (const phone of trio) await load.overload(phone);
    expect(await phones.simulator.call({ script: [...SHORT] })).toMatchObject({ ok: false });
    expect(hosted).toEqual([]);
    expect(phones.ended).toMatchObject([{ outcome: 'busy', endReason: 'over-capacity' }]);
  });

  it('has the next stream come to any of them where the one it has named is gone', async () => {
    const load = watchLoad();
    const { phones, trio, ports, hosted, balanced } = await three(id);
    await using _ = phones;
    await load.overload(trio[0]);
    // Nobody listens there.
    const nowhere = await freePort();
    for (const host of [hostOf(1), hostOf(2)]) ports.set(host, nowhere);
    balanced.push(trio[2].port);
    const report = await phones.simulator.call({ script: [...SHORT] });
    expect(report.protocolErrors).toEqual([]);
    expect(hosted).toEqual([expect.stringMatching(/^node-[12]/), PUBLIC_HOST]);
    const [record] = await phones.records(report.carrierCallId);
    expect(record).toMatchObject({ outcome: 'answered', endReason: 'caller-hangup', turnCount: 1 });
    expect(phones.ended).toHaveLength(1);
  });

  it('has new calls go elsewhere while it drains', async () => {
    const { phones, trio, hosted } = await three(id);
    await using _ = phones;
    const up = phones.simulator.call({ script: [...LONG] });
    await eventually('a call', () => answeredAt(phones, 1));
    const before = hosted.length;
    const drained = trio[1].phone.drain();
    phones.proxy.choose(({ url = '', headers: { host = '' } }) => {
      if (!url.startsWith('/ws/stream/')) return trio[1].port;
      hosted.push(host);
      return trio[Number(/^node-(\d)/.exec(host)?.[1] ?? 2)]?.port;
    });
    const report = await phones.simulator.call({ script: [...SHORT] });
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(hosted[before]).toMatch(/^node-[02]/);
    phones.proxy.choose(({ url = '' }) => (url.startsWith('/ws/stream/') ? trio[2].port : trio[0].port));
    await drained;
    await up;
  });

  it('does not ask others for an outbound call', async () => {
    const load = watchLoad();
    const { phones, trio } = await three(id);
    await using _ = phones;
    await load.overload(trio[0]);
    await expect(trio[0].phone.call({ to: '+15550111' })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });
});
