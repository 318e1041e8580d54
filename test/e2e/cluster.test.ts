// Several servers behind a load balancer are one phone system. Whole calls, on both carriers.
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import type { CallEvent } from '../../src/contract/call-event.js';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { isNewer } from '../../src/events/reduce.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { emulateOpenAIRealtime, openToneVoice } from '../../src/testing/index.js';
import { asksUpon, WAIT } from '../support/asking-caller.js';
import { eventually } from '../support/carrier-phone.js';
import { listenTo } from '../support/event-stream.js';
import { ClusterPhones } from '../support/cluster-phones.js';
import type { ServedPhone } from '../support/served-phone.js';

const ASK = [WAIT, { type: 'say', text: 'What time is it?' }, WAIT, { type: 'hang-up' }] as const;

describe.each(SIMULATED_CARRIERS)('three servers behind one address, on %s', { timeout: 60_000 }, (id) => {
  it('make one record of a call, wherever its webhooks and its stream come to', async () => {
    await using phones = await ClusterPhones.three(id);
    // Each call begins at another server.
    for (let call = 1; call <= 3; call += 1) {
      const report = await phones.simulator.call({ script: [...ASK] });
      expect(report).toMatchObject({ ok: true, protocolErrors: [] });
      const records = await phones.records(report.carrierCallId);
      for (const record of records)
        expect(record).toMatchObject({
          endReason: 'caller-hangup',
          outcome: 'answered',
          error: null,
          incidents: [],
        });
      expect(records[0]?.transcript.map(({ text }) => text)).toEqual([
        'Hello, how can I help you?',
        'What time is it?',
        'I heard: What time is it? What else can I do for you?',
      ]);
      expect(records[1]).toEqual(records[0]);
      expect(records[2]).toEqual(records[0]);
      expect(phones.started).toHaveLength(call);
      expect(phones.ended).toHaveLength(call);
      expect(phones.facts.filter(({ type }) => type === 'call.ended')).toHaveLength(call);
    }
    // Not all of them talked where they rang.
    const nodesOf = (type: string) =>
      phones.facts.filter((fact) => fact.type === type).map(({ nodeId }) => nodeId);
    expect(new Set(nodesOf('call.started')).size).toBeGreaterThan(1);
    for (const { server, logger } of phones.phones) {
      expect((await server.calls.list()).total).toBe(3);
      expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
    }
  });

  it('go on with a call whose stream is lost, wherever the next one comes to', async () => {
    await using phones = await ClusterPhones.three(id);
    const { simulator } = phones;
    const isDone = new AbortController();
    const calling = simulator.call({ script: asksUpon(isDone.signal) });
    await greeted(phones);
    const owners = new Set([ownerOf(phones)]);
    for (let times = 1; times <= 3; times += 1) {
      const before = simulator.legs[0]?.reports.length ?? 0;
      simulator.legs[0]?.dropStream();
      await eventually('the next stream', () =>
        (simulator.legs[0]?.reports.length ?? 0) > before ? true : undefined,
      );
      await pause(systemClock, 1500);
      owners.add(ownerOf(phones));
    }
    isDone.abort();
    const report = await calling;
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    const [record, ...others] = await phones.records(report.carrierCallId);
    expect(owners.size).toBeGreaterThan(1);
    expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
    expect(record?.transcript.map(({ role }) => role)).toEqual(['agent', 'user', 'agent']);
    for (const other of others) expect(other).toEqual(record);
    expect([phones.started.length, phones.ended.length]).toEqual([1, 1]);
    expect(errorsOf(phones)).toEqual([]);
  });

  it('tell every fact once and in order on each of their dashboards, and show live calls', async () => {
    await using phones = await ClusterPhones.three(id);
    const pages = await Promise.all(phones.phones.map(({ server }) => listenTo(server.url)));
    const isSeen = new AbortController();
    const calling = phones.simulator.call({ script: asksUpon(isSeen.signal) });
    const callId = await greeted(phones);
    phones.simulator.legs[0]?.dropStream();
    await pause(systemClock, 2000);
    for (const { server } of phones.phones)
      expect((await server.calls.active()).map((record) => record.callId)).toEqual([callId]);
    isSeen.abort();
    await calling;
    await eventually('the end', () => (phones.ended.length > 0 ? true : undefined));
    await pause(systemClock, 500);
    const places = (facts: readonly CallEvent[]) => facts.map(({ term, seq, type }) => [term, seq, type]);
    const all = places(phones.facts.toSorted((a, b) => a.term - b.term || a.seq - b.seq));
    for (const page of pages) {
      expect(places(page.facts)).toEqual(all);
      page.close();
    }
  });

  it('carry out commands that are given to any of them', async () => {
    await using phones = await ClusterPhones.three(id);
    const calling = phones.simulator.call({ script: [WAIT, { type: 'pause', durationMs: 60_000 }] });
    const callId = await greeted(phones);
    const owner = ownerOf(phones);
    const others = phones.phones.filter(({ facts }) => facts.at(-1)?.nodeId !== owner);
    const [one, two] = others as [ServedPhone, ServedPhone];
    expect(await one.phone.say(callId, 'The shop closes at six.')).toBe('heard');
    await expect(two.phone.sendDigits(callId, 'x')).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    const hangUp = await fetch(`${two.server.url}/api/dashboard/calls/${callId}/hangup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    expect(hangUp.status).toBe(202);
    const report = await calling;
    const [record] = await phones.records(report.carrierCallId);
    expect(record).toMatchObject({ endReason: 'operator-hangup' });
    expect(record?.transcript.map(({ text }) => text)).toContain('The shop closes at six.');
    await expect(one.phone.say(callId, 'Hello?')).rejects.toMatchObject({ code: 'REQUEST_CONFLICT' });
    await expect(one.phone.say('no-such-call', 'Hello?')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(phones.ended).toHaveLength(1);
  });

  it('go on with a call of a node that they do not reach any more, which then lets it go', async () => {
    await using phones = await ClusterPhones.three(id);
    const isDone = new AbortController();
    const calling = phones.simulator.call({ script: asksUpon(isDone.signal) });
    const callId = await greeted(phones);
    const owner = ownerOf(phones);
    const cut = phones.phones.find(({ facts }) => facts.some(({ nodeId }) => nodeId === owner));
    const left = phones.phones.filter((each) => each !== cut);
    phones.proxy.useAll(left.map(({ port }) => port));
    phones.cluster.cut(owner);
    const moved = await eventually(
      'the call at another node',
      () =>
        left
          .flatMap(({ facts }) => facts)
          .find((fact) => fact.callId === callId && fact.type === 'incident.noted'),
      30_000,
    );
    expect(moved).toMatchObject({ code: 'process-replaced' });
    phones.cluster.heal(owner);
    // Told where the stream came to: at another node than the one that took the call over.
    await eventually('the word that the agent is back', () =>
      left
        .flatMap(({ facts }) => facts)
        .find((fact) => fact.type === 'transcript.segment' && fact.entry.text.startsWith('I am back.')),
    );
    isDone.abort();
    const report = await calling;
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    const [record, ...others] = await phones.records(report.carrierCallId);
    expect(record).toMatchObject({ endReason: 'caller-hangup', nodeId: moved.nodeId });
    expect(record?.transcript.filter(({ role }) => role === 'user')).toHaveLength(1);
    for (const other of others) expect(other).toEqual(record);
    expect(phones.facts.filter(({ type }) => type === 'call.ended')).toHaveLength(1);
    expect([phones.started.length, phones.ended.length]).toEqual([1, 1]);
  });

  it('greet a caller as was chosen where the call rang', async () => {
    await using phones = await ClusterPhones.three(id, {}, (phone) => {
      const billing = phone.agent({
        name: 'billing',
        firstMessage: 'Hello {who}, billing speaking.',
        idle: false,
      });
      return {
        agent: () => ({ agent: billing, variables: { who: 'Ada' } }),
        fallbackAgent: phone.agent({ name: 'reception', firstMessage: 'Reception speaking.', idle: false }),
      };
    });
    for (let call = 1; call <= 2; call += 1) {
      const report = await phones.simulator.call({ script: [WAIT, { type: 'hang-up' }] });
      const [record] = await phones.records(report.carrierCallId);
      expect(record?.transcript[0]?.text).toBe('Hello Ada, billing speaking.');
      expect(record).toMatchObject({ agent: 'billing' });
    }
  });

  it('take each webhook once that comes twice, to two of them at a time and in any order', async () => {
    const disturbances = { duplicates: 2, shuffle: 7 };
    await using phones = await ClusterPhones.three(id, {}, {}, { disturbances });
    const reports = await Promise.all([1, 2].map(() => phones.simulator.call({ script: [...ASK] })));
    for (const { carrierCallId, ok, protocolErrors } of reports) {
      expect([ok, protocolErrors]).toEqual([true, []]);
      const records = await phones.records(carrierCallId);
      for (const record of records)
        expect(record).toMatchObject({
          endReason: 'caller-hangup',
          turnCount: 2,
          incidents: [],
          error: null,
        });
    }
    expect(phones.facts.filter(({ type }) => type === 'call.ended')).toHaveLength(2);
    expect([phones.started.length, phones.ended.length]).toEqual([2, 2]);
    expect(errorsOf(phones)).toEqual([]);
  });

  it('go on with a realtime model, too', async () => {
    await using model = await emulateOpenAIRealtime({
      replies: [{ text: 'It is noon.' }, { text: 'Still noon.' }],
    });
    const engine = () => new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${model.url}/v1` });
    await using phones = await ClusterPhones.on(id, { openVoice: openToneVoice });
    for (let count = 0; count < 3; count += 1) await phones.serve({ engine: engine() });
    const isMoved = new AbortController();
    const say = { type: 'say', text: 'what time is it.' } as const;
    const calling = phones.simulator.call({
      script: [WAIT, say, ...asksUpon(isMoved.signal).slice(0, 2), say, WAIT, { type: 'hang-up' }],
    });
    await eventually('the answer', () =>
      phones.facts.find((fact) => fact.type === 'turn.completed' && fact.turn.index === 1),
    );
    const owner = ownerOf(phones);
    phones.simulator.legs[0]?.dropStream();
    await eventually('another node', () => (ownerOf(phones) === owner ? undefined : true));
    isMoved.abort();
    const report = await calling;
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    const [record, ...others] = await phones.records(report.carrierCallId);
    expect(record).toMatchObject({ mode: 'realtime', endReason: 'caller-hangup', error: null });
    expect(record?.transcript.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'agent: Hello, how can I help you?',
      'user: what time is it.',
      'agent: It is noon.',
      'user: what time is it.',
      'agent: Still noon.',
    ]);
    for (const other of others) expect(other).toEqual(record);
  });

  it('place calls whose end the one that placed them hears of', async () => {
    const callees = { '+15550123': { type: 'human', script: [WAIT, { type: 'hang-up' }] } as const };
    await using phones = await ClusterPhones.three(id, {}, {}, { callees });
    for (const { phone } of phones.phones) {
      const { callId, ended } = await phone.call({ to: '+15550123' });
      expect(await ended).toMatchObject({ callId, direction: 'outbound', outcome: 'answered' });
    }
    expect(phones.ended).toHaveLength(3);
    expect(errorsOf(phones)).toEqual([]);
  });
});

/** Resolves with the ID of the call once its caller was greeted. */
async function greeted(phones: ClusterPhones): Promise<string> {
  const fact = await eventually('the greeting', () =>
    phones.facts.find(({ type }) => type === 'turn.completed'),
  );
  return fact.callId;
}

/** The node that has stated the last of the only call. */
function ownerOf({ facts }: ClusterPhones): string {
  return facts.reduce((last, fact) => (isNewer(fact, last) ? fact : last)).nodeId;
}

function errorsOf({ phones }: ClusterPhones) {
  return phones.flatMap(({ logger }) => logger.lines.filter(({ level }) => level === 'error'));
}
