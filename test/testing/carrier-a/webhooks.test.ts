import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { CarrierA } from '../../../src/carriers/carrier-a/index.js';
import { streamNoise } from '../../../src/testing/carrier-a/stream-noise.js';
import type { Received } from '../fake-phone-server.js';
import { ACCOUNT, HOST, type Rig, startRig, TOKEN, valuesOf } from './rig.js';

let rig: Rig;
afterEach(() => rig.close());

const tokenOf = ({ headers }: Received) => headers['i-twilio-idempotency-token'];
const carrier = new CarrierA({ accountSid: ACCOUNT, authToken: TOKEN });

/** The verdict of the phone server's own verifier. */
function isAccepted({ method, path, headers, body }: Received): boolean {
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  try {
    carrier.verify({ method, target: path, headers: own, rawBody: Buffer.from(body) }, HOST);
    return true;
  } catch {
    return false;
  }
}

describe('the webhooks of the simulated carrier', () => {
  it('are delivered again with the same token, each signed', async () => {
    rig = await startRig({ simulator: { disturbances: { duplicates: 2 } } });
    await rig.dial({ TimeLimit: '1' });
    await rig.pass(rig.simulator.settled());
    const tokens = [...rig.posts('status'), ...rig.posts('voice')].map(tokenOf);
    expect(tokens).toHaveLength(15);
    expect(new Set(tokens).size).toBe(5);
    expect(rig.server.webhooks.every(isAccepted)).toBe(true);
    expect(rig.server.messages.filter(({ event }) => event === 'start')).toHaveLength(1);
    expect(rig.simulator.webhooks).toHaveLength(15);
    expect(rig.simulator.webhooks.every(({ status }) => status === 200 || status === 204)).toBe(true);
  });

  it('leave in another order, the same for one seed', async () => {
    const order = async (shuffle: number) => {
      rig = await startRig({
        simulator: { disturbances: { shuffle }, callees: { '*': { type: 'human', ringMs: 100 } } },
      });
      await rig.dial({ TimeLimit: '1' });
      await rig.pass(rig.simulator.settled());
      const numbers = valuesOf(rig.posts('status'), 'SequenceNumber').flat().join('');
      await rig.close();
      return numbers;
    };
    const orders: string[] = [];
    for (const seed of [1, 2, 3, 4, 5, 6]) orders.push(await order(seed));
    expect(orders.every((each) => [...each].sort().join('') === '0123')).toBe(true);
    expect(orders.some((each) => each !== '0123')).toBe(true);
  });

  it.each([
    ['', 0, 1],
    ['#rc=5&rp=all', 0, 4],
    ['#rc=2&rp=5xx', 0, 3],
    ['#rc=5&rp=ct,4xx', 0, 1],
    ['#rc=5&rp=all', 700, 4],
  ])(
    'are repeated as the fragment of their URL says: %j, each after %i ms',
    async (fragment, retryPauseMs, attempts) => {
      const markup = (verbs: string) => `<?xml version="1.0" encoding="UTF-8"?><Response>${verbs}</Response>`;
      const at: number[] = [];
      const onward = `<Redirect method="POST">https://${HOST}/webhooks/carrier-a/next/1${fragment.replace('&', '&amp;')}</Redirect>`;
      rig = await startRig({
        simulator: { disturbances: { retryPauseMs } },
        server: {
          answer({ path }) {
            if (path.startsWith('/webhooks/carrier-a/voice')) return { body: markup(onward) };
            if (path !== '/webhooks/carrier-a/next/1') return undefined;
            at.push(rig.clock.now());
            // A proxy whose server is away for three requests.
            return at.length <= 3 ? { status: 502, body: '' } : { body: markup('<Hangup/>') };
          },
        },
      });
      await rig.dial();
      await rig.pass(rig.simulator.settled());
      expect(at).toHaveLength(attempts);
      const pauses = at.slice(1).map((time, index) => time - (at[index] ?? 0));
      expect(pauses.every((pause) => pause >= retryPauseMs)).toBe(true);
      const posts = rig.server.webhooks.filter(({ path }) => path.includes('/next/'));
      expect(posts.every(isAccepted)).toBe(true);
      expect(new Set(posts.map(tokenOf)).size).toBe(1);
    },
  );

  it('are dated by a clock that may be wrong', async () => {
    rig = await startRig({
      simulator: { disturbances: { clockSkewSeconds: -3600 }, callees: { '*': { type: 'busy' } } },
    });
    await rig.dial();
    await rig.pass(rig.simulator.settled());
    const dated = Date.parse(rig.posts('status')[0]?.form.get('Timestamp') ?? '');
    expect(Math.round((rig.clock.wallNow() - dated) / 3_600_000)).toBe(1);
  });

  it('carry parameters that nobody knows yet', async () => {
    rig = await startRig({ simulator: { extraParameters: { NewThing: 'ä &' } } });
    await rig.dial({ TimeLimit: '1' });
    await rig.pass(rig.simulator.settled());
    expect(rig.server.webhooks.every(({ form }) => form.get('NewThing') === 'ä &')).toBe(true);
    expect(rig.server.webhooks.every(isAccepted)).toBe(true);
  });

  it('are tried once more when the server was not reached, and only then', async () => {
    rig = await startRig({
      server: { answer: ({ path }) => (path.includes('status') ? { status: 503 } : undefined) },
    });
    const leg = await rig.dial({ TimeLimit: '1' });
    await rig.pass(rig.simulator.settled());
    expect(rig.posts('status')).toHaveLength(4);
    expect(leg.notes).toContain('The status callback was answered with 503.');
    await rig.server.close();
    const sent = rig.simulator.webhooks.length;
    const report = await rig.pass(rig.simulator.call({ script: [{ type: 'hang-up' }] }));
    expect(report).toMatchObject({
      answer: { outcome: 'failed', reason: expect.stringContaining('nobody listens') },
    });
    const failed = rig.simulator.webhooks.slice(sent);
    expect(failed.map(({ path, status }) => [path.split('/').at(-1), status])).toEqual([
      ['voice', null],
      ['voice', null],
      ['status', null],
      ['status', null],
    ]);
  });

  it('can be made by hand: unsigned, wrongly signed, as JSON, twice', async () => {
    rig = await startRig();
    const url = `https://${HOST}/webhooks/carrier-a/status#rc=2`;
    const webhook = {
      url,
      method: 'POST',
      parameters: [
        ['Tag', 'b'],
        ['Tag', 'a'],
        ['Tag', 'b'],
      ],
      deliveryId: 'same',
    } as const;
    await rig.simulator.send(webhook);
    await rig.simulator.send(webhook);
    await rig.simulator.send({ ...webhook, signature: 'wrong' });
    await rig.simulator.send({ ...webhook, signature: 'none' });
    await rig.simulator.send({ ...webhook, json: '{"CallSid":"CA1"}' });
    await rig.simulator.send({ ...webhook, method: 'GET' });
    const { webhooks } = rig.server;
    expect(webhooks.map(isAccepted)).toEqual([true, true, false, false, true, true]);
    expect(webhooks.map(tokenOf)).toEqual(Array(6).fill('same'));
    const hash = createHash('sha256').update('{"CallSid":"CA1"}').digest('hex');
    expect(webhooks[4]?.path).toBe(`/webhooks/carrier-a/status?bodySHA256=${hash}`);
    expect(webhooks[5]?.path).toBe('/webhooks/carrier-a/status?Tag=b&Tag=a&Tag=b');
  });
});

describe('a noisy stream', () => {
  it('sends what no carrier should, around a call that goes on', async () => {
    const texts: string[] = [];
    rig = await startRig({ simulator: { streamNoise }, server: { raw: (data) => texts.push(data) } });
    await rig.dial({ TimeLimit: '1' });
    await rig.pass(rig.simulator.settled());
    const start = texts.findIndex((text) => text.startsWith('{"event":"start"'));
    expect(texts.slice(0, start).some((text) => text.includes('"media"'))).toBe(true);
    expect(texts.slice(start + 1).filter((text) => text.startsWith('{"event":"start"'))).toHaveLength(1);
    expect(texts.some((text) => text.length > 200_000)).toBe(true);
    expect(texts.at(-1)).toContain('"stop"');
  });
});
