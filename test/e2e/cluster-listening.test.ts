// Who listens in to a call of a cluster at another server than the one that has it.
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import { type CarrierId, SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { openToneVoice, readWav } from '../../src/testing/index.js';
import { readTones } from '../../src/testing/tone-reader.js';
import { asksUpon } from '../support/asking-caller.js';
import { eventually } from '../support/carrier-phone.js';
import { ClusterPhones } from '../support/cluster-phones.js';
import type { ServedPhone } from '../support/served-phone.js';

const TOKEN = 'a-token-of-sixteen-characters';

/** Three servers, one of which has a call that has been greeted. */
async function begin(id: CarrierId) {
  const agent = { tts: { name: 'tones', open: openToneVoice } };
  const serve = { listenIn: true, dashboardToken: TOKEN };
  const phones = await ClusterPhones.three(id, agent, serve, { openVoice: openToneVoice });
  const isDone = new AbortController();
  const calling = phones.simulator.call({ script: asksUpon(isDone.signal) });
  const { callId, nodeId } = await eventually('the greeting', () =>
    phones.facts.find(({ type }) => type === 'turn.completed'),
  );
  const isOwner = ({ facts }: ServedPhone) => facts.some((fact) => fact.nodeId === nodeId);
  const owner = phones.phones.find(isOwner) as ServedPhone;
  const [one, two] = phones.phones.filter((phone) => phone !== owner) as [ServedPhone, ServedPhone];
  const ask = () => {
    isDone.abort();
    return calling;
  };
  return { phones, callId, nodeId, owner, one, two, ask };
}

function listen({ server }: ServedPhone, callId: string, init: RequestInit = {}): Promise<Response> {
  const headers = { Authorization: `Bearer ${TOKEN}`, ...init.headers };
  return fetch(`${server.url}/api/dashboard/calls/${callId}/listen`, { ...init, headers });
}

/** Everything until the end, as a file whose length is right. */
async function wordsOf(response: Response): Promise<string[]> {
  const bytes = Buffer.from(await response.arrayBuffer());
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.writeUInt32LE(bytes.length - 44, 40);
  const { channels, sampleRateHz } = readWav(bytes);
  return channels.map((samples) => {
    const words = readTones(samples, { sampleRateHz });
    return words.map(({ text }) => text).join(' ');
  });
}

function saidOfListeners({ logger }: ServedPhone) {
  return logger.lines.flatMap(({ fields }) => (fields.reason === undefined ? [] : [fields.reason]));
}

describe.each(SIMULATED_CARRIERS)(
  'who listens in to a call of a cluster, on %s',
  { timeout: 60_000 },
  (id) => {
    it('hears both sides at any server, until the call ends', async () => {
      const { phones, callId, owner, one, two, ask } = await begin(id);
      await using _ = phones;
      const responses = await Promise.all([owner, one, two].map((phone) => listen(phone, callId)));
      for (const { status, headers } of responses) {
        expect([status, headers.get('content-type')]).toEqual([200, 'audio/wav']);
        expect(headers.get('x-offhook-delay-ms')).toBe('300');
      }
      const hearing = responses.map(wordsOf);
      await ask();
      for (const [caller = '', agent = ''] of await Promise.all(hearing)) {
        expect(caller).toBe('what time is it?');
        expect(agent).toContain('what time is it?');
      }
      expect([owner, one, two].map(saidOfListeners)).toEqual([
        ['call-ended'],
        ['call-ended'],
        ['call-ended'],
      ]);
    });

    it('is told where nobody can be heard, and where the token is another one', async () => {
      const { phones, callId, one, two, ask } = await begin(id);
      await using _ = phones;
      const head = await listen(one, callId, { method: 'HEAD' });
      expect([head.status, head.headers.get('x-offhook-delay-ms')]).toEqual([200, '300']);
      const foreign = await listen(one, callId, { headers: { Authorization: 'Bearer another-token' } });
      expect(foreign.status).toBe(401);
      for (let count = 0; count < 3; count += 1) expect((await listen(two, callId)).status).toBe(200);
      expect((await listen(two, callId)).status).toBe(429);
      await ask();
      await eventually('the end', () => (phones.ended.length > 0 ? true : undefined));
      expect((await listen(one, callId)).status).toBe(409);
    });

    it('is told that there is no more as the call moves, or its server is cut off, and is sent nothing once gone', async () => {
      const { phones, callId, nodeId, one, two, ask } = await begin(id);
      await using _ = phones;
      const leaving = new AbortController();
      const left = await listen(two, callId, { signal: leaving.signal });
      const moved = await listen(one, callId);
      const hearing = wordsOf(moved);
      leaving.abort();
      await expect(left.arrayBuffer()).rejects.toThrow();
      await eventually('the end of listening', () => (saidOfListeners(two).length > 0 ? true : undefined));
      phones.simulator.legs[0]?.dropStream();
      await hearing;
      expect(saidOfListeners(one)).toContain('moved');
      await pause(systemClock, 2000);
      const now =
        phones.facts.findLast((fact) => fact.callId === callId && fact.nodeId !== nodeId)?.nodeId ?? '';
      const isElsewhere = ({ facts }: ServedPhone) => facts.every((fact) => fact.nodeId !== now);
      const other = phones.phones.find(isElsewhere) as ServedPhone;
      const again = await listen(other, callId);
      expect(again.status).toBe(200);
      phones.cluster.cut(now);
      await again.arrayBuffer();
      expect(saidOfListeners(other).at(-1)).toBe('failed');
      phones.cluster.heal(now);
      await ask();
    });
  },
);
