// A server of a cluster that drains gives its calls to the others, while people are speaking on them.
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { isNewer } from '../../src/events/reduce.js';
import type { CallReport } from '../../src/testing/index.js';
import { asksUpon, WAIT } from '../support/asking-caller.js';
import { eventually } from '../support/carrier-phone.js';
import { ClusterPhones } from '../support/cluster-phones.js';
import { freePort } from '../support/free-port.js';
import type { ServedPhone } from '../support/served-phone.js';

/** What a caller may be without a stream for while nothing else is wrong. */
const GAP_MS = 500;

/** Each stream goes to the next of these servers, and once there is one left, to that; requests are for all that listen. */
function send(phones: ClusterPhones, ...streams: readonly number[]): number[] {
  const taken: number[] = [];
  phones.proxy.choose(({ url = '' }) => {
    if (!url.startsWith('/ws/stream/')) return undefined;
    const port = streams[Math.min(taken.length, streams.length - 1)] as number;
    taken.push(port);
    return port;
  });
  return taken;
}

/** One call, which has been greeted. */
async function begin(phones: ClusterPhones) {
  const isDone = new AbortController();
  const calling = phones.simulator.call({ script: asksUpon(isDone.signal) });
  const greeting = await eventually('the greeting', () =>
    phones.facts.find(({ type }) => type === 'turn.completed'),
  );
  const ask = async (): Promise<CallReport> => {
    isDone.abort();
    return calling;
  };
  return { callId: greeting.callId, ask };
}

/** Who has stated the last of the call, and the others. */
function parted({ phones }: ClusterPhones, callId: string) {
  const last = ({ facts }: ServedPhone) => facts.findLast((fact) => fact.callId === callId);
  const owner = phones.reduce((one, other) => {
    const [had, has] = [last(one), last(other)];
    return has !== undefined && (had === undefined || isNewer(has, had)) ? other : one;
  });
  const [one, two] = phones.filter((phone) => phone !== owner);
  return { owner, one: one as ServedPhone, two: two as ServedPhone };
}

function replacements(phones: ClusterPhones) {
  return phones.facts.flatMap((fact) =>
    fact.type === 'incident.noted' && fact.code === 'process-replaced' ? [fact] : [],
  );
}

function errorsOf({ phones }: ClusterPhones) {
  return phones.flatMap(({ logger }) => logger.lines.filter(({ level }) => level === 'error'));
}

/** The call went on as if nothing had been, `times` at another server. */
async function expectWhole(phones: ClusterPhones, report: CallReport, times: number) {
  expect(report).toMatchObject({ ok: true, protocolErrors: [] });
  const record = await eventually('the record', async () => {
    for (const { server } of phones.phones) {
      const found = await server.calls.get(report.carrierCallId);
      if (found?.status === 'completed') return found;
    }
    return undefined;
  });
  expect(record).toMatchObject({ endReason: 'caller-hangup', outcome: 'answered', error: null });
  expect(record.transcript.map(({ text }) => text)).toEqual([
    'Hello, how can I help you?',
    'What time is it?',
    'I heard: What time is it? What else can I do for you?',
  ]);
  const gaps = replacements(phones).map(({ durationMs }) => durationMs ?? 0);
  expect(gaps).toHaveLength(times);
  expect(Math.max(0, ...gaps)).toBeLessThan(GAP_MS);
  expect(phones.facts.filter(({ type }) => type === 'call.ended')).toHaveLength(1);
  expect([phones.started.length, phones.ended.length]).toEqual([1, 1]);
  expect(errorsOf(phones)).toEqual([]);
  return record;
}

describe.each(SIMULATED_CARRIERS)('a server of a cluster that drains, on %s', { timeout: 60_000 }, (id) => {
  it('gives its call to another one, and ends', async () => {
    await using phones = await ClusterPhones.three(id);
    const { callId, ask } = await begin(phones);
    const { owner, one, two } = parted(phones, callId);
    const drained = owner.phone.drain();
    expect(await (await fetch(`${owner.server.url}/ready`)).json()).toMatchObject({ status: 'draining' });
    phones.proxy.useAll([one.port, two.port]);
    await drained;
    expect(phones.ended).toEqual([]);
    expect(parted(phones, callId).owner).not.toBe(owner);
    await expectWhole(phones, await ask(), 1);
  });

  it('gives each of several calls away when nobody speaks in it', async () => {
    await using phones = await ClusterPhones.three(id);
    const isDone = new AbortController();
    const script = [WAIT, { type: 'say', text: 'My name is Ada.' } as const, ...asksUpon(isDone.signal)];
    const first = phones.phones[0] as ServedPhone;
    send(phones, first.port);
    const calls = [1, 2, 3, 4, 5, 6].map(() => phones.simulator.call({ script }));
    await eventually('the calls', () => (first.started.length === 6 ? true : undefined));
    const [, second, third] = phones.phones.map(({ port }) => port) as [number, number, number];
    send(phones, second, third, second, third, second, third);
    phones.proxy.useAll([second, third]);
    await first.phone.drain();
    expect(phones.ended).toEqual([]);
    isDone.abort();
    const reports = await Promise.all(calls);
    for (const report of reports) expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    const gaps = replacements(phones).map(({ durationMs }) => durationMs ?? 0);
    expect(gaps).toHaveLength(6);
    expect(Math.max(...gaps)).toBeLessThan(GAP_MS);
    const ends = phones.facts.filter(({ type }) => type === 'call.ended');
    expect(ends).toHaveLength(6);
    expect(phones.started).toHaveLength(6);
    expect(errorsOf(phones)).toEqual([]);
  });

  it('tries again where the load balancer still sends streams to it', async () => {
    await using phones = await ClusterPhones.three(id);
    const { callId, ask } = await begin(phones);
    const { owner, one } = parted(phones, callId);
    const taken = send(phones, owner.port, owner.port, one.port);
    await owner.phone.drain();
    expect(taken).toEqual([owner.port, owner.port, one.port]);
    phones.proxy.useAll([one.port]);
    await expectWhole(phones, await ask(), 1);
  });

  it('has its call go on where a server is gone that was to have it', async () => {
    await using phones = await ClusterPhones.three(id);
    const { callId, ask } = await begin(phones);
    const { owner, one } = parted(phones, callId);
    // Nobody listens there.
    send(phones, await freePort(), one.port);
    await owner.phone.drain();
    expect(phones.ended).toEqual([]);
    expect(parted(phones, callId).owner).toBe(one);
    const report = await ask();
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(phones.started).toHaveLength(1);
    await eventually('the end', () => (phones.ended.length > 0 ? true : undefined));
    expect(phones.facts.filter(({ type }) => type === 'call.ended')).toHaveLength(1);
  });

  it('may do so beside another one, to which its call goes on the way', async () => {
    await using phones = await ClusterPhones.three(id);
    const [first, second, third] = phones.phones as [ServedPhone, ServedPhone, ServedPhone];
    const isDone = new AbortController();
    const calls: Promise<CallReport>[] = [];
    for (const phone of [first, second]) {
      send(phones, phone.port);
      calls.push(phones.simulator.call({ script: asksUpon(isDone.signal) }));
      await eventually('the call', () => (phone.started.length > 0 ? true : undefined));
    }
    // Both streams come to the second one first, which drains as well.
    const next = new Map(phones.started.map((callId) => [callId, second]));
    phones.proxy.choose(({ url = '' }) => {
      const callId = /^\/ws\/stream\/([^/]+)/.exec(url)?.[1];
      if (callId === undefined) return undefined;
      const { port } = next.get(callId) ?? third;
      next.delete(callId);
      return port;
    });
    await Promise.all([first.phone.drain(), second.phone.drain()]);
    expect(phones.ended).toEqual([]);
    phones.proxy.useAll([third.port]);
    isDone.abort();
    for (const report of await Promise.all(calls))
      expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    await eventually('the ends', () => (third.ended.length === 2 ? true : undefined));
    const gaps = replacements(phones).map(({ durationMs }) => durationMs ?? 0);
    expect(gaps).toHaveLength(3);
    expect(Math.max(...gaps)).toBeLessThan(GAP_MS);
    expect(errorsOf(phones)).toEqual([]);
  });

  it('finishes its call where all others drain as well', async () => {
    await using phones = await ClusterPhones.three(id);
    const { callId, ask } = await begin(phones);
    const { owner } = parted(phones, callId);
    const streams = phones.simulator.legs[0]?.reports.length;
    const drained = Promise.all(phones.phones.map(({ phone }) => phone.drain()));
    await pause(systemClock, 10_000);
    expect(phones.simulator.legs[0]?.reports.length).toBe(streams);
    expect(await ask()).toMatchObject({ ok: true, protocolErrors: [] });
    await drained;
    expect(owner.ended).toMatchObject([{ callId, endReason: 'caller-hangup', incidents: [] }]);
    expect(replacements(phones)).toEqual([]);
  });

  it('finishes its call, or hangs up, where it is alone', async () => {
    await using phones = await ClusterPhones.on(id);
    const owner = await phones.serve();
    send(phones, owner.port);
    const { ask } = await begin(phones);
    await owner.phone.drain({ timeoutSeconds: 8 });
    await ask();
    expect(owner.ended).toMatchObject([{ endReason: 'server-shutdown', incidents: [] }]);
  });

  it('gives a call away that has just begun to ring', async () => {
    await using phones = await ClusterPhones.three(id);
    const [first, second] = phones.phones as [ServedPhone, ServedPhone];
    // The webhook is for the first one.
    phones.proxy.choose(({ url = '' }) => (url.startsWith('/ws/stream/') ? second.port : first.port));
    const isDone = new AbortController();
    const calling = phones.simulator.call({ script: asksUpon(isDone.signal) });
    await eventually('the call', () => (phones.simulator.webhooks.length > 0 ? true : undefined));
    const drained = first.phone.drain();
    await eventually('the greeting', () => phones.facts.find(({ type }) => type === 'turn.completed'));
    phones.proxy.choose(undefined);
    phones.proxy.useAll([second.port]);
    await drained;
    expect(phones.ended).toEqual([]);
    isDone.abort();
    expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
    await eventually('the end', () => (phones.ended.length > 0 ? true : undefined));
    expect(second.ended).toMatchObject([{ endReason: 'caller-hangup', error: null }]);
    expect(errorsOf(phones)).toEqual([]);
  });

  it('gives a call away that it has placed', async () => {
    const isDone = new AbortController();
    const callees = { '+15550123': { type: 'human', script: asksUpon(isDone.signal) } as const };
    await using phones = await ClusterPhones.three(id, {}, {}, { callees });
    const [first, second] = phones.phones as [ServedPhone, ServedPhone];
    send(phones, first.port, second.port);
    await first.phone.call({ to: '+15550123' });
    await eventually('the greeting', () => phones.facts.find(({ type }) => type === 'turn.completed'));
    await first.phone.drain();
    expect(phones.ended).toEqual([]);
    phones.proxy.useAll([second.port]);
    isDone.abort();
    await eventually('the end', () => (phones.ended.length > 0 ? true : undefined));
    expect(second.ended).toMatchObject([{ direction: 'outbound', outcome: 'answered', error: null }]);
    expect(errorsOf(phones)).toEqual([]);
  });
});
