// What the carrier sends to a server of a cluster that does not have the call: verified there, answered by the one that has it, and taken once. Whole calls.
import { request as requestHttp } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import type { NodeMessage } from '../../src/cluster/coordinator.js';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { isNewer } from '../../src/events/reduce.js';
import { asksUpon } from '../support/asking-caller.js';
import { eventually } from '../support/carrier-phone.js';
import { ClusterPhones } from '../support/cluster-phones.js';
import type { TakenRequest } from '../support/round-robin-proxy.js';
import type { ServedPhone } from '../support/served-phone.js';

const SIGNATURE = /^(?:x-twilio-signature|telnyx-signature-ed25519)$/;

/** As the carrier has sent it, to one server. */
function resend({ method, path, headers, body }: TakenRequest, { port }: ServedPhone) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, headers, agent: false } as const;
    requestHttp(options, (response) => {
      text(response).then((answer) => resolve({ status: response.statusCode ?? 0, body: answer }), reject);
    })
      .on('error', reject)
      .end(body);
  });
}

/** What is wrong with a request that nobody with the secret has sent. */
const FORGERIES: readonly [string, (request: TakenRequest) => TakenRequest][] = [
  ['another signature', (request) => withSignature(request, (signature) => flipped(signature))],
  ['no signature', (request) => withSignature(request, () => undefined)],
  ['another body', (request) => ({ ...request, body: Buffer.from(String(request.body).replace('1', '2')) })],
];

function withSignature(
  request: TakenRequest,
  change: (signature: string) => string | undefined,
): TakenRequest {
  const headers = Object.entries(request.headers).flatMap(([name, value]) => {
    if (!SIGNATURE.test(name)) return [[name, value] as const];
    const changed = change(String(value));
    return changed === undefined ? [] : [[name, changed] as const];
  });
  return { ...request, headers: Object.fromEntries(headers) };
}

/** Another one of the same form. */
function flipped(signature: string): string {
  return `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
}

/** What servers ask each other from now on. */
function overhear({ cluster }: ClusterPhones): NodeMessage[] {
  const asked: NodeMessage[] = [];
  for (const node of cluster.nodes.values()) {
    const answer = node.answer.bind(node);
    node.answer = (message, from) => {
      asked.push(message);
      return answer(message, from);
    };
  }
  return asked;
}

function ownerOf(phones: ClusterPhones): ServedPhone {
  const { nodeId } = phones.facts.reduce((last, fact) => (isNewer(fact, last) ? fact : last));
  return phones.phones.find(({ facts }) => facts.some((fact) => fact.nodeId === nodeId)) as ServedPhone;
}

/** No webhook comes to the server that has the call. */
function awayFromOwner(phones: ClusterPhones): void {
  let count = 0;
  phones.proxy.choose((_, ports) => {
    const stated = phones.facts.filter(({ type }) => type !== 'call.ended').length > 0;
    const others = stated ? ports.filter((port) => port !== ownerOf(phones).port) : ports;
    count += 1;
    return others[count % others.length];
  });
}

describe.each(SIMULATED_CARRIERS)(
  'a server that does not have the call, on %s',
  { timeout: 60_000 },
  (id) => {
    it('refuses what is not signed by the carrier, and asks no other server about it', async () => {
      await using phones = await ClusterPhones.three(id, {}, { recording: id === 'carrier-a' });
      awayFromOwner(phones);
      const isForged = new AbortController();
      const calling = phones.simulator.call({ script: asksUpon(isForged.signal) });
      const { callId } = await eventually('the greeting', () =>
        phones.facts.find(({ type }) => type === 'turn.completed'),
      );
      const refuse = async () => {
        const owner = ownerOf(phones);
        const before = phones.facts.length;
        const asked = overhear(phones);
        const came = phones.proxy.took.filter(({ path }) => path.startsWith('/webhooks/'));
        expect(came.length).toBeGreaterThan(0);
        const refused: string[] = [];
        for (const other of phones.phones.filter((each) => each !== owner))
          for (const request of came)
            for (const [what, forge] of FORGERIES) {
              const forged = forge(request);
              if (forged.body.equals(request.body) && what === 'another body') continue;
              const { status, body } = await resend(forged, other);
              expect([status, body], `${what}: ${request.path}`).toEqual([
                403,
                expect.stringContaining('SIGNATURE_MISMATCH'),
              ]);
              refused.push(what);
            }
        expect(new Set(refused)).toEqual(new Set(FORGERIES.map(([what]) => what)));
        const about = asked.filter((message) => message.callId === callId || message.body.includes(callId));
        expect(about).toEqual([]);
        expect(phones.facts).toHaveLength(before);
      };
      await refuse();
      isForged.abort();
      const { carrierCallId, ok } = await calling;
      expect(ok).toBe(true);
      await phones.records(carrierCallId);
      await pause(systemClock, 5000);
      await refuse();
    });

    it('has every repeat of it taken for the same, at whichever server it comes', async () => {
      await using phones = await ClusterPhones.three(id, {}, { recording: id === 'carrier-a' });
      awayFromOwner(phones);
      const isDone = new AbortController();
      const calling = phones.simulator.call({ script: asksUpon(isDone.signal) });
      await eventually('the greeting', () => phones.facts.find(({ type }) => type === 'turn.completed'));
      const repeat = async () => {
        const came = phones.proxy.took.filter(({ path }) => path.startsWith('/webhooks/'));
        const again = came.flatMap((request) =>
          phones.phones.map(async (each) => [request, await resend(request, each)] as const),
        );
        for (const [request, { status }] of await Promise.all(again)) expect(status).toBe(request.status);
        for (const request of came)
          for (const each of phones.phones) expect((await resend(request, each)).status).toBe(request.status);
        await pause(systemClock, 2000);
        return came.map(({ path }) => path.split('?', 1)[0]?.split('/')[3]);
      };
      await repeat();
      isDone.abort();
      const { carrierCallId, ok, protocolErrors } = await calling;
      expect([ok, protocolErrors]).toEqual([true, []]);
      await phones.records(carrierCallId);
      // The recording comes later.
      await pause(systemClock, 10_000);
      const before = phones.facts.map(({ type, term, seq }) => [type, term, seq]);
      const recorded = before.filter(([type]) => type === 'recording.completed');
      expect(recorded).toHaveLength(id === 'carrier-a' ? 1 : 0);
      const doors = await repeat();
      expect(doors).toContain(id === 'carrier-a' ? 'recording' : 'voice');
      expect(phones.facts.map(({ type, term, seq }) => [type, term, seq])).toEqual(before);
      const [record, ...others] = await phones.records(carrierCallId);
      expect(record).toMatchObject({
        endReason: 'caller-hangup',
        outcome: 'answered',
        incidents: [],
        error: null,
      });
      if (id === 'carrier-a') expect(record?.recording).toMatchObject({ status: 'completed' });
      for (const other of others) expect(other).toEqual(record);
      expect([phones.started.length, phones.ended.length]).toEqual([1, 1]);
      expect(phones.simulator.legs).toHaveLength(1);
      for (const { logger } of phones.phones)
        expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
    });
  },
);

it('a recording that the carrier reports to another server than that of its call is in the record of all', async () => {
  await using phones = await ClusterPhones.three('carrier-a', {}, { recording: true });
  awayFromOwner(phones);
  for (let call = 1; call <= 3; call += 1) {
    const { carrierCallId } = await phones.simulator.call({ script: asksUpon(AbortSignal.abort()) });
    for (const { server } of phones.phones) {
      const record = await eventually('the recording', async () => {
        const found = await server.calls.get(carrierCallId);
        return found?.recording == null ? undefined : found;
      });
      expect(record.recording).toMatchObject({ status: 'completed', url: expect.stringMatching(/^https?:/) });
    }
    expect(phones.facts.filter(({ type }) => type === 'recording.completed')).toHaveLength(call);
  }
});
