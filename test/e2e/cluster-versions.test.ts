// A server of the next version among those of this one: it states facts, keeps states and sends messages that they do not know. Whole calls, on both carriers, in both
// voice modes.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import type { KeptState, NodeMessage } from '../../src/cluster/coordinator.js';
import type { CallEvent } from '../../src/contract/call-event.js';
import { type CarrierId, SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { EventBus } from '../../src/events/bus.js';
import { isNewer } from '../../src/events/reduce.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { emulateOpenAIRealtime } from '../../src/testing/index.js';
import { asksUpon } from '../support/asking-caller.js';
import { eventually } from '../support/carrier-phone.js';
import { ClusterPhones } from '../support/cluster-phones.js';
import { listenTo } from '../support/event-stream.js';
import { rotated } from '../support/rotated.js';
import type { ServedPhone } from '../support/served-phone.js';

const MODES = ['pipeline', 'realtime'] as const;
interface Scene {
  readonly id: CarrierId;
  readonly mode: (typeof MODES)[number];
}
const SCENES = rotated<Scene>(
  SIMULATED_CARRIERS.flatMap((id) => MODES.map((mode) => ({ id, mode }))),
  [({ id }) => id, ({ mode }) => mode],
);

/** What the next version says in place of this, and whatever it adds to all of them. */
const RENAMED: Readonly<Record<string, string>> = {
  'phase.changed': 'mood.changed',
  'audio.measured': 'line.measured',
};

function asNext(fact: CallEvent): CallEvent {
  const mood = { name: 'calm', since: 1 };
  return { ...fact, type: RENAMED[fact.type] ?? fact.type, mood } as unknown as CallEvent;
}

/** Two servers of this version, and one of the next, to which everything comes first. */
async function serveThree({ id, mode }: Scene) {
  const model =
    mode === 'realtime'
      ? await emulateOpenAIRealtime({ utterances: ['What time is it?'], replies: [{ text: 'It is noon.' }] })
      : undefined;
  const phones = await ClusterPhones.on(id);
  const serve = () =>
    phones.serve(model && { engine: new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${model.url}/v1` }) });
  const old = [await serve(), await serve()] as [ServedPhone, ServedPhone];
  const next = await serve();
  const nodeId = [...phones.cluster.nodes.keys()].at(-1) ?? '';
  phones.proxy.choose(undefined);
  phones.proxy.useAll([next.port]);
  const { publish } = EventBus.prototype;
  vi.spyOn(EventBus.prototype, 'publish').mockImplementation(function (this: EventBus, fact) {
    publish.call(this, fact.nodeId === nodeId ? asNext(fact) : fact);
  });
  return {
    phones,
    old,
    next,
    nodeId,
    async [Symbol.asyncDispose]() {
      await phones[Symbol.asyncDispose]();
      await model?.close();
    },
  };
}

const greeted = async (phones: ClusterPhones) =>
  (await eventually('the greeting', () => phones.facts.find(({ type }) => type === 'turn.completed'))).callId;

const errorsOf = ({ phones }: ClusterPhones) =>
  phones.flatMap(({ logger }) => logger.lines.filter(({ level }) => level === 'error'));

const ofTheNext = (text: string) => text.replace(/^\d+/, (version) => String(Number(version) + 1));

afterEach(() => vi.restoreAllMocks());

describe.each(SCENES)(
  'servers of this version and one of the next, on $id, in $mode',
  { timeout: 60_000 },
  (scene) => {
    it('show a call that is up there, with facts that they do not know, and all that they do', async () => {
      await using world = await serveThree(scene);
      const { phones, old, next } = world;
      const pages = await Promise.all(old.map(({ server }) => listenTo(server.url)));
      const isSeen = new AbortController();
      const calling = phones.simulator.call({ script: asksUpon(isSeen.signal) });
      const callId = await greeted(phones);
      await pause(systemClock, 1000);
      for (const { server } of old) {
        const [live] = await server.calls.active();
        expect(live).toMatchObject({ callId, status: 'active', transcript: [{ role: 'agent' }] });
        const shown = await fetch(`${server.url}/api/dashboard/calls/${callId}`);
        expect([shown.status, await shown.json()]).toMatchObject([200, { callId, status: 'active' }]);
      }
      // A page that opens in the middle.
      const late = await listenTo(old[0].server.url);
      isSeen.abort();
      const { carrierCallId, ok } = await calling;
      expect(ok).toBe(true);
      const records = await phones.records(carrierCallId);
      for (const record of records)
        expect(record).toMatchObject({
          endReason: 'caller-hangup',
          outcome: 'answered',
          error: null,
          turnCount: 2,
        });
      expect(records[1]).toEqual(records[0]);
      await pause(systemClock, 1000);
      const stated = next.facts.map(({ type, term, seq }) => [term, seq, type]);
      expect(stated.map(([, , type]) => type)).toContain('mood.changed');
      for (const page of pages) {
        expect(page.facts.map(({ type, term, seq }) => [term, seq, type])).toEqual(stated);
        expect(page.facts[0]).toHaveProperty('mood.name', 'calm');
        page.close();
      }
      expect(late.facts.at(-1)).toMatchObject({ callId });
      expect(late.events[0]).toMatchObject(['snapshot', { active: [{ callId }] }]);
      late.close();
      for (const { server } of old) {
        expect((await server.calls.list()).total).toBe(1);
        expect((await fetch(`${server.url}/metrics`)).status).toBe(200);
        const exported = await fetch(`${server.url}/api/dashboard/export/calls?format=csv`);
        expect(exported.status).toBe(200);
      }
      expect(errorsOf(phones)).toEqual([]);
      expect(phones.ended).toHaveLength(1);
    });

    it.each([
      ['which they can read', (text: string) => text],
      ['of a later version', ofTheNext],
      ['that is damaged', (text: string) => text.slice(0, text.length / 2)],
    ])('go on with a call of the one that has died, with a state %s', async (_, change) => {
      await using world = await serveThree(scene);
      const { phones, old, nodeId } = world;
      const node = phones.cluster.nodes.get(nodeId);
      if (node === undefined) throw new Error('no node');
      const keepState = node.keepState.bind(node);
      node.keepState = (callId, term, text) => keepState(callId, term, change(text));
      const isDone = new AbortController();
      const calling = phones.simulator.call({ script: asksUpon(isDone.signal), maxDurationMs: 60_000 });
      const callId = await greeted(phones);
      await eventually('a state', () => phones.cluster.states.get(callId) as KeptState | undefined);
      await pause(systemClock, 1000);
      phones.proxy.useAll(old.map(({ port }) => port));
      phones.cluster.cut(nodeId);
      phones.simulator.legs[0]?.dropStream();
      await eventually(
        'the call at a server of this version',
        () => old.flatMap(({ facts }) => facts).find(({ type }) => type === 'incident.noted'),
        30_000,
      );
      await pause(systemClock, 3000);
      isDone.abort();
      const { carrierCallId, ok, protocolErrors } = await calling;
      expect([ok, protocolErrors]).toEqual([true, []]);
      const records = await Promise.all(
        old.map(({ server }) =>
          eventually('the record', async () => {
            const record = await server.calls.get(carrierCallId);
            return record?.status === 'completed' && record.hangUp !== 'pending' ? record : undefined;
          }),
        ),
      );
      expect(records[0]).toMatchObject({ endReason: 'caller-hangup', outcome: 'answered', error: null });
      expect(records[0]?.transcript.map(({ role }) => role)).toEqual(['agent', 'agent', 'user', 'agent']);
      expect(records[1]).toEqual(records[0]);
      phones.cluster.heal(nodeId);
      expect(old.flatMap(({ ended }) => ended)).toHaveLength(1);
      expect(old.flatMap(({ facts }) => facts).filter(({ type }) => type === 'call.ended')).toHaveLength(1);
      expect(old.flatMap(({ logger }) => logger.lines.filter(({ level }) => level === 'error'))).toEqual([]);
    });

    it('give it no call that they cannot go on with: it keeps it, and has its streams', async () => {
      await using world = await serveThree(scene);
      const { phones, old, next, nodeId } = world;
      const node = phones.cluster.nodes.get(nodeId);
      if (node === undefined) throw new Error('no node');
      let offered = 0;
      const answer = node.answer.bind(node);
      node.answer = async (message: NodeMessage, from) => {
        const said = await answer(message, from);
        const given = JSON.parse(said) as { type?: string; state?: string };
        offered += Number(given.state !== undefined);
        return given.state === undefined ? said : JSON.stringify({ ...given, state: ofTheNext(given.state) });
      };
      const isDone = new AbortController();
      const calling = phones.simulator.call({ script: asksUpon(isDone.signal), maxDurationMs: 60_000 });
      await greeted(phones);
      phones.proxy.useAll([old[0].port, next.port, old[1].port]);
      phones.simulator.legs[0]?.dropStream();
      await pause(systemClock, 10_000);
      expect(offered).toBeGreaterThan(0);
      isDone.abort();
      const { carrierCallId, ok } = await calling;
      expect(ok).toBe(true);
      const records = await phones.records(carrierCallId);
      for (const record of records)
        expect(record).toMatchObject({ endReason: 'caller-hangup', outcome: 'answered', error: null });
      expect(phones.ended).toHaveLength(1);
      expect(phones.facts.filter(({ type }) => type === 'call.ended')).toHaveLength(1);
    });

    it('answer messages that they do not know, and fields', async () => {
      await using world = await serveThree(scene);
      const { phones, old, nodeId } = world;
      const isDone = new AbortController();
      phones.proxy.useAll([old[0].port]);
      const calling = phones.simulator.call({ script: asksUpon(isDone.signal) });
      const callId = await greeted(phones);
      const next = phones.cluster.nodes.get(nodeId);
      const { nodeId: owner } = phones.facts.reduce((last, fact) => (isNewer(fact, last) ? fact : last));
      const send = (type: string, ask: object) =>
        next?.send(owner, { type, callId, body: JSON.stringify(ask) }, 1000);
      await expect(send('applaud', { loudly: true })).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(send('toString', {})).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(send('command', { type: 'applaud' })).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
      expect(JSON.parse((await send('who-has', { callIds: [callId], loudly: true })) ?? '')).toMatchObject({
        places: [{ callId, state: 'live' }],
      });
      isDone.abort();
      const { carrierCallId, ok } = await calling;
      expect(ok).toBe(true);
      for (const record of await phones.records(carrierCallId))
        expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
      expect(errorsOf(phones)).toEqual([]);
    });
  },
);
