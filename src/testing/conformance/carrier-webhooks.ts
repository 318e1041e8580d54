// What every carrier must do with webhooks: refuse what was not signed, read what was, and survive everything else.
import { deepEqual, ok } from 'node:assert/strict';
import { RequestError, SignatureError } from '../../base/errors.js';
import type { Carrier, CarrierMessage, WebhookRequest } from '../../carriers/carrier.js';
import { type CarrierCheck, type CarrierFixtures, UNREACHABLE } from './carrier-fixtures.js';
import { GARBAGE_BYTES, GARBAGE_TEXTS, mutate } from './garbage.js';

const TYPES: ReadonlySet<CarrierMessage['type']> = new Set<CarrierMessage['type']>([
  'incoming-call',
  'status',
  'machine-detection',
  'recording',
  'dtmf',
  'transfer',
  'stream-failed',
  'hold',
  'speech-ended',
  'leg-event',
  'cost',
  'acknowledged',
]);

async function createReady(fixtures: CarrierFixtures): Promise<Carrier> {
  const carrier = fixtures.create(UNREACHABLE);
  await carrier.prepare();
  return carrier;
}

/** The verdict on a request. @throws what is no verdict. */
function isAccepted(carrier: Carrier, request: WebhookRequest, host: string): boolean {
  try {
    carrier.verify(request, host);
    return true;
  } catch (error) {
    if (error instanceof SignatureError) return false;
    throw error;
  }
}

/** Reads a request on every route. @throws what is neither a message nor a RequestError. */
function readEverywhere(carrier: Carrier, request: WebhookRequest): void {
  for (const route of carrier.webhooks.routes) {
    try {
      const message = carrier.webhooks.parse(route, request);
      ok(TYPES.has(message.type), `an unknown message ${message.type}`);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
    }
  }
}

export function webhookChecks(fixtures: CarrierFixtures): CarrierCheck[] {
  const { host } = fixtures;
  const body = Buffer.from(fixtures.webhooks[0]?.request.rawBody ?? new Uint8Array());
  return [
    ...fixtures.signed.map(({ title, request, accepted }) => ({
      name: `${accepted ? 'accepts' : 'refuses'} ${title}`,
      run: async () => {
        const carrier = await createReady(fixtures);
        ok(isAccepted(carrier, request(), host) === accepted);
      },
    })),
    {
      name: 'accepts what was signed, and refuses the same with another body',
      run: async () => {
        const carrier = await createReady(fixtures);
        const request = fixtures.sign(body);
        ok(isAccepted(carrier, request, host));
        ok(!isAccepted(carrier, { ...request, rawBody: Buffer.concat([body, Buffer.from('x')]) }, host));
        ok(!isAccepted(carrier, { ...request, rawBody: new Uint8Array() }, host));
      },
    },
    {
      name: 'refuses what has no signature, or one that is none',
      run: async () => {
        const carrier = await createReady(fixtures);
        const request = fixtures.sign(body);
        const plain = { 'content-type': request.headers['content-type'] };
        ok(!isAccepted(carrier, { ...request, headers: plain }, host));
        const signing = Object.keys(request.headers).filter((name) => /signature/i.test(name));
        ok(signing.length > 0, 'the fixture has no signature header');
        for (const name of signing) {
          for (const value of [
            '',
            ' ',
            'x',
            '='.repeat(28),
            'A'.repeat(88),
            '\u0000',
            'ä',
            'A'.repeat(10_000),
          ]) {
            const headers = { ...request.headers, [name]: value };
            ok(!isAccepted(carrier, { ...request, headers }, host));
          }
        }
      },
    },
    {
      name: 'verifies nothing without a secret',
      run: async () => {
        const bare = fixtures.createBare();
        await bare.prepare();
        bare.verify({ method: 'POST', target: '/', headers: {}, rawBody: new Uint8Array() }, host);
      },
    },
    {
      name: 'refuses an upgrade with a SignatureError or not at all',
      run: async () => {
        const carrier = await createReady(fixtures);
        const signing = Object.keys(fixtures.sign(body).headers).filter((name) => /signature/i.test(name));
        for (const value of [undefined, '', 'x', 'A'.repeat(28)]) {
          const headers = Object.fromEntries(signing.map((name) => [name, value]));
          for (const target of ['/ws/stream/c1/token?caller=%2B1', '//', '/%', '']) {
            try {
              carrier.verifyUpgrade({ method: 'GET', target, headers, rawBody: new Uint8Array() }, host);
            } catch (error) {
              if (!(error instanceof SignatureError)) throw error;
            }
          }
        }
      },
    },
    ...fixtures.webhooks.map(({ title, route, request, message }) => ({
      name: `reads ${title}`,
      run: async () => {
        deepEqual((await createReady(fixtures)).webhooks.parse(route, request), message);
      },
    })),
    {
      name: 'reads garbage as nothing, or refuses it with a RequestError',
      run: async () => {
        const carrier = await createReady(fixtures);
        const template = fixtures.sign(body);
        const bodies = [
          ...GARBAGE_TEXTS.map((text) => Buffer.from(text)),
          ...GARBAGE_BYTES,
          ...fixtures.webhooks.flatMap(({ request }) => mutate(request.rawBody)),
        ];
        for (const rawBody of bodies) {
          for (const type of [template.headers['content-type'], 'text/plain', undefined]) {
            readEverywhere(carrier, {
              ...template,
              rawBody,
              headers: { ...template.headers, 'content-type': type },
            });
          }
        }
      },
    },
    {
      name: 'reads any method and any target',
      run: async () => {
        const carrier = await createReady(fixtures);
        const template = fixtures.sign(body);
        for (const method of ['GET', 'PUT', 'OPTIONS', '']) {
          for (const target of [
            '/',
            '',
            '//',
            '/x?%zz',
            `/x?${'a=1&'.repeat(5000)}`,
            '/x?callId=%00&callId=2',
          ]) {
            readEverywhere(carrier, { ...template, method, target });
          }
        }
      },
    },
  ];
}
