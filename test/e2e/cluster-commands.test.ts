// Commands on a call that are given to a server of a cluster that does not have it: the same comes of them as at a single server. Whole calls, on both carriers, in
// both voice modes.
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { OffhookError } from '../../src/base/errors.js';
import { pause } from '../../src/base/pause.js';
import { type CarrierId, SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { isNewer } from '../../src/events/reduce.js';
import type { AgentOptions } from '../../src/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { type InboundCall, emulateOpenAIRealtime, type SimulatorOptions } from '../../src/testing/index.js';
import { WAIT } from '../support/asking-caller.js';
import { eventually, startCarrierPhone } from '../support/carrier-phone.js';
import { ClusterPhones } from '../support/cluster-phones.js';
import { rotated } from '../support/rotated.js';
import { DESK, type ServedPhone } from '../support/served-phone.js';

const OTHER = '+15005550030';
const QUIET = { script: [WAIT, { type: 'pause', durationMs: 90_000 }], maxDurationMs: 90_000 } as const;
const REFUSES: Partial<SimulatorOptions> = {
  disturbances: { restFailures: [{ purpose: 'transfer', status: 422, times: 9 }] },
};
/** Who is not reached is known to be gone by then. */
const SOON_MS = 1000;

const MODES = ['pipeline', 'realtime'] as const;
const CASES = rotated(
  SIMULATED_CARRIERS.flatMap((id) => MODES.map((mode) => ({ id, mode }))),
  [({ id }) => id, ({ mode }) => mode],
);

interface Answering extends AsyncDisposable {
  agent(): AgentOptions;
}

async function answering(mode: (typeof MODES)[number]): Promise<Answering> {
  if (mode === 'pipeline') return { agent: () => ({}), async [Symbol.asyncDispose]() {} };
  const model = await emulateOpenAIRealtime({ replies: [{ text: 'Yes.' }, { text: 'Yes.' }] });
  const engine = () => new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${model.url}/v1` });
  return { agent: () => ({ engine: engine() }), [Symbol.asyncDispose]: () => model.close() };
}

async function serveThree(
  { id, mode }: { id: CarrierId; mode: (typeof MODES)[number] },
  options: Partial<SimulatorOptions> = {},
) {
  const made = await answering(mode);
  const phones = await ClusterPhones.on(id, options);
  for (let count = 0; count < 3; count += 1) await phones.serve(made.agent());
  return {
    phones,
    async [Symbol.asyncDispose]() {
      await phones[Symbol.asyncDispose]();
      await made[Symbol.asyncDispose]();
    },
  };
}

/** A call whose caller was greeted: who has it, and the two that do not. */
async function talking(phones: ClusterPhones, options: Partial<InboundCall> = {}) {
  const calling = phones.simulator.call({ ...QUIET, script: [...QUIET.script], ...options });
  const { callId } = await eventually('the greeting', () =>
    phones.facts.find(({ type }) => type === 'turn.completed'),
  );
  const { nodeId } = phones.facts.reduce((last, fact) => (isNewer(fact, last) ? fact : last));
  const owner = phones.phones.find(({ facts }) => facts.some((fact) => fact.nodeId === nodeId));
  const others = phones.phones.filter((each) => each !== owner) as [ServedPhone, ServedPhone];
  return { calling, callId, nodeId, owner: owner as ServedPhone, others };
}

/** What comes of it, as a program sees it: all of an error. */
async function outcomeOf(given: Promise<unknown>) {
  try {
    return { value: await given };
  } catch (error) {
    if (!OffhookError.isInstance(error)) return { error };
    const { name, code, message } = error;
    const { status, retryable } = error as { status?: number; retryable?: boolean };
    return { name, code, message, status, retryable };
  }
}

/** Whoever has the call says that nothing of it is recorded, whatever is going on. */
const FOUND = 'Calls are neither recorded nor listened in to here: set localRecording or listenIn.';
const ask = async ({ phone }: Pick<ServedPhone, 'phone'>, callId: string) => {
  const { message } = (await outcomeOf(phone.pauseRecording(callId))) as { message?: string };
  return message;
};

/** Messages to a node take a moment, in which much may happen. */
function delay(node: { answer(...asked: never[]): Promise<string> }): void {
  const answer = node.answer.bind(node);
  node.answer = async (...asked) => {
    await pause(systemClock, 30);
    return answer(...asked);
  };
}

const order = ({ server }: ServedPhone, path: string, body?: object) =>
  fetch(`${server.url}/api/dashboard/calls/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });

describe.each(CASES)(
  'a server that does not have the call, on $id, in $mode',
  { timeout: 60_000 },
  (scene) => {
    it('has its keys sent', async () => {
      await using world = await serveThree(scene);
      const { phones } = world;
      const { calling, callId, others } = await talking(phones);
      await others[0].phone.sendDigits(callId, '12#');
      const [leg] = phones.simulator.legs;
      await eventually('the keys', () => (leg?.sentDigits.join('') === '12#' ? true : undefined));
      await pause(systemClock, 3000);
      await others[1].phone.hangUp(callId);
      const { carrierCallId } = await calling;
      for (const record of await phones.records(carrierCallId))
        expect(record).toMatchObject({ endReason: 'operator-hangup', outcome: 'answered', error: null });
      expect(phones.ended).toHaveLength(1);
    });

    it.each(['by the client', 'by REST'])('has it transferred, %s', async (by) => {
      await using world = await serveThree(scene);
      const { phones } = world;
      const transferTo = { type: 'human', ringMs: 300, script: [{ type: 'hang-up' }] } as const;
      const { calling, callId, others } = await talking(phones, {
        transferTo: { ...transferTo, script: [...transferTo.script] },
      });
      const [, other] = others;
      if (by === 'by REST') {
        const answer = await order(other, `${callId}/transfer`, { to: OTHER });
        expect([answer.status, await answer.json()]).toEqual([202, { callId }]);
      } else await other.phone.transfer(callId, OTHER);
      const { carrierCallId } = await calling;
      for (const record of await phones.records(carrierCallId))
        expect(record).toMatchObject({
          endReason: 'transferred',
          transfer: { to: OTHER, result: 'connected' },
        });
      expect(phones.ended).toHaveLength(1);
    });

    it('gets the caller back where the number is busy, and orders again', async () => {
      await using world = await serveThree(scene);
      const { phones } = world;
      const { calling, callId, others } = await talking(phones, { transferTo: { type: 'busy' } });
      const [one, two] = others;
      await one.phone.transfer(callId, OTHER);
      await eventually('the result', async () => {
        const [record] = await two.server.calls.active();
        return record?.transfer?.result === 'busy' ? true : undefined;
      });
      await pause(systemClock, 3000);
      expect(await two.phone.say(callId, 'They are busy.')).toBe('heard');
      await two.phone.hangUp(callId);
      const { carrierCallId } = await calling;
      for (const record of await phones.records(carrierCallId))
        expect(record).toMatchObject({ endReason: 'operator-hangup', transfer: { result: 'busy' } });
    });

    it('says of what cannot be done the same as a single server', async () => {
      await using single = await startCarrierPhone(scene.id, DESK, { simulator: REFUSES });
      const alone = single.simulator.call({ ...QUIET, script: [...QUIET.script] });
      const [live] = await single.active(1, ({ turnCount }) => turnCount > 0);
      await using world = await serveThree(scene, REFUSES);
      const { phones } = world;
      const { calling, callId, others } = await talking(phones);
      const places = [[single, live?.callId ?? ''], ...others.map((other) => [other, callId] as const)] as [
        Pick<ServedPhone, 'phone'>,
        string,
      ][];
      const commands = {
        'no number': (at: number) => places[at]?.[0].phone.transfer(places[at][1], '12'),
        'a number that the carrier refuses': (at: number) =>
          places[at]?.[0].phone.transfer(places[at][1], OTHER),
        'no keys': (at: number) => places[at]?.[0].phone.sendDigits(places[at][1], 'x'),
        'no words': (at: number) => places[at]?.[0].phone.say(places[at][1], ''),
        'no call': (at: number) => places[at]?.[0].phone.transfer('no-such-call', OTHER),
        'keys for no call': (at: number) => places[at]?.[0].phone.sendDigits('no-such-call', '1'),
      };
      for (const [name, command] of Object.entries(commands)) {
        const outcomes: object[] = [];
        for (let at = 0; at < places.length; at += 1)
          outcomes.push(await outcomeOf(command(at) ?? Promise.resolve()));
        expect(outcomes[0], name).toHaveProperty('code');
        expect(outcomes, name).toEqual(outcomes.map(() => outcomes[0]));
      }
      // Two at once, and while keys are sent.
      const digits = await Promise.all(others.map(({ phone }) => outcomeOf(phone.sendDigits(callId, '1w1'))));
      const { phone } = single;
      const id = live?.callId ?? '';
      const digitsAlone = await Promise.all([1, 2].map(() => outcomeOf(phone.sendDigits(id, '1w1'))));
      const both = (outcomes: object[]) => new Set(outcomes.map((outcome) => JSON.stringify(outcome)));
      expect(both(digits)).toEqual(both(digitsAlone));
      expect(both(digits).size).toBe(2);
      await pause(systemClock, 5000);
      for (const ended of [others[0].phone.hangUp(callId), phone.hangUp(id)]) await ended;
      await Promise.all([calling, alone]);
      // At once, and later.
      for (let times = 0; times < 2; times += 1) {
        const over = [await outcomeOf(phone.transfer(id, OTHER))];
        for (const other of others) over.push(await outcomeOf(other.phone.transfer(callId, OTHER)));
        expect(over[0]).toMatchObject({ code: 'REQUEST_CONFLICT', message: 'The call is over.' });
        expect(over).toEqual(over.map(() => over[0]));
        for (const other of others)
          expect((await order(other, `${callId}/transfer`, { to: OTHER })).status).toBe(409);
        await pause(systemClock, 10_000);
      }
    });

    it('lets one of two transfers happen that are ordered at once', async () => {
      await using world = await serveThree(scene);
      const { phones } = world;
      const { calling, callId, others } = await talking(phones, {
        transferTo: { type: 'human', ringMs: 300, script: [{ type: 'hang-up' }] },
      });
      const outcomes = await Promise.all(others.map(({ phone }) => outcomeOf(phone.transfer(callId, OTHER))));
      expect(outcomes.filter((outcome) => 'value' in outcome)).toHaveLength(1);
      expect(outcomes).toContainEqual(
        expect.objectContaining({
          name: 'RequestError',
          code: 'REQUEST_CONFLICT',
          message: expect.stringMatching(/It is being handed over already\.$/),
        }),
      );
      const { carrierCallId } = await calling;
      for (const record of await phones.records(carrierCallId))
        expect(record).toMatchObject({ endReason: 'transferred' });
    });

    it.each(['there', 'away'])(
      'finds it in every moment in which it goes to another one, and as it ends, where the broker is %s',
      async (broker) => {
        await using world = await serveThree(scene);
        const { phones } = world;
        const { calling, callId, nodeId } = await talking(phones);
        const asking: Promise<string | undefined>[] = [];
        for (const node of phones.cluster.nodes.values()) delay(node);
        if (broker === 'away')
          for (const each of phones.cluster.nodes.keys()) phones.cluster.cut(each, { reachesNodes: true });
        const ownerNow = () =>
          phones.facts.reduce((last, fact) => (isNewer(fact, last) ? fact : last)).nodeId;
        phones.simulator.legs[0]?.dropStream();
        for (let ms = 0; ms < 2000; ms += 10) {
          for (const each of phones.phones) asking.push(ask(each, callId));
          await pause(systemClock, 10);
        }
        expect(ownerNow()).not.toBe(nodeId);
        expect(new Set(await Promise.all(asking.splice(0)))).toEqual(new Set([FOUND]));
        await phones.phones[0]?.phone.hangUp(callId);
        for (let ms = 0; ms < 1000; ms += 10) {
          for (const each of phones.phones) asking.push(ask(each, callId));
          await pause(systemClock, 10);
        }
        expect(new Set(await Promise.all(asking))).toEqual(new Set(['The call is over.']));
        await calling;
      },
    );

    it.each(['dead', 'frozen'])(
      'says soon that nobody carries a command out whose server is %s',
      async (how) => {
        await using world = await serveThree(scene);
        const { phones } = world;
        const { calling, callId, nodeId, others } = await talking(phones);
        const node = phones.cluster.nodes.get(nodeId);
        phones.proxy.useAll(others.map(({ port }) => port));
        if (how === 'dead') phones.cluster.cut(nodeId);
        else if (node !== undefined) node.answer = () => new Promise(() => {});
        for (const other of others)
          for (const command of [
            () => other.phone.transfer(callId, OTHER),
            () => other.phone.sendDigits(callId, '1'),
            () => other.phone.hangUp(callId),
          ]) {
            const begun = systemClock.now();
            expect(await outcomeOf(command())).toMatchObject({
              name: 'RequestError',
              code: 'REQUEST_CONFLICT',
            });
            expect(systemClock.now() - begun).toBeLessThan(SOON_MS);
          }
        if (how === 'dead') {
          // Another one has it by then.
          await eventually('the call at another server', async () =>
            (await ask(others[0], callId)) === FOUND ? true : undefined,
          );
          await others[1].phone.hangUp(callId);
          phones.cluster.heal(nodeId);
        } else if (node !== undefined) Reflect.deleteProperty(node, 'answer');
        if (how === 'frozen') await others[1].phone.hangUp(callId);
        const { carrierCallId } = await calling;
        for (const record of await phones.records(carrierCallId))
          expect(record).toMatchObject({ endReason: 'operator-hangup' });
        expect(phones.facts.filter(({ type }) => type === 'call.ended')).toHaveLength(1);
      },
    );
  },
);
