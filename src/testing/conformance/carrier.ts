// What every telephony carrier must do, as a list of named checks that any test runner can run.
import { deepEqual, equal, match, notDeepEqual, ok } from 'node:assert/strict';
import { CARRIER_ID } from '../../contract/call-record.js';
import type { CallAnswer } from '../../carriers/carrier.js';
import { type CarrierCheck, type CarrierFixtures, UNREACHABLE } from './carrier-fixtures.js';
import { mediaChecks } from './carrier-media.js';
import { restChecks } from './carrier-rest.js';
import { webhookChecks } from './carrier-webhooks.js';

const ANSWERS: readonly CallAnswer[] = [
  {
    type: 'stream',
    url: 'wss://voice.example/ws/stream/c1/token?caller=%2B15005550020&callee=%2B15005550010',
    parameters: { caller: '+15005550020', callee: '<&"\'>' },
  },
  { type: 'say', text: 'We are closed <today>.', language: 'en' },
  {
    type: 'transfer',
    callId: 'c1',
    to: '+15005550030',
    callerId: '+15005550010',
    webhookBaseUrl: 'https://voice.example/webhooks/carrier',
    ringTimeoutSeconds: 30,
  },
  { type: 'busy' },
  { type: 'reject' },
  { type: 'hang-up' },
];

function recipeChecks(fixtures: CarrierFixtures): CarrierCheck[] {
  return [
    {
      name: 'has an id of its own, and routes',
      run: async () => {
        const carrier = fixtures.create(UNREACHABLE);
        match(carrier.id, CARRIER_ID);
        ok(carrier.webhooks.routes.includes('voice'));
        equal(new Set(carrier.webhooks.routes).size, carrier.webhooks.routes.length);
      },
    },
    {
      name: 'names the setting that is missing, and keeps no secret in the open',
      run: async () => {
        const carrier = fixtures.create(UNREACHABLE);
        await carrier.prepare();
        ok(carrier.secretSetting !== '');
        equal(carrier.verifies, true);
        equal(carrier.rest.configured, true);
        const shown =
          JSON.stringify(carrier) + Object.values(carrier).filter((value) => typeof value === 'string');
        for (const secret of fixtures.secrets)
          ok(!shown.includes(secret), 'a secret can be read off the object');
        const bare = fixtures.createBare();
        await bare.prepare();
        equal(bare.verifies, false);
        equal(bare.rest.configured, false);
      },
    },
    {
      name: 'derives the key of stream tokens from its secret, the same on every process',
      run: async () => {
        const [one, two] = [fixtures.create(UNREACHABLE), fixtures.create(UNREACHABLE)];
        await Promise.all([one.prepare(), two.prepare()]);
        ok((one.streamTokenKey?.length ?? 0) >= 16);
        deepEqual(one.streamTokenKey, two.streamTokenKey);
        for (const secret of fixtures.secrets) notDeepEqual(one.streamTokenKey, Buffer.from(secret));
        equal(fixtures.createBare().streamTokenKey, undefined);
      },
    },
    {
      name: 'is steered either by replies or by commands',
      run: async () => {
        const { commands, webhooks } = fixtures.create(UNREACHABLE);
        const replies = ANSWERS.map((answer) => webhooks.answer(answer));
        for (const { status, contentType, body } of replies) {
          ok(status >= 200 && status <= 299);
          ok(contentType !== '' && typeof body === 'string');
        }
        const isInReply = replies[0]?.body.includes('/ws/stream/c1/token') === true;
        equal(isInReply, commands === undefined);
        if (commands === undefined) ok(new Set(replies.map(({ body }) => body)).size >= 3);
      },
    },
    {
      name: 'acknowledges on every route, and makes no call of it',
      run: async () => {
        const { webhooks } = fixtures.create(UNREACHABLE);
        for (const route of webhooks.routes) {
          const { status, contentType, body } = webhooks.acknowledge(route);
          ok(status >= 200 && status <= 299);
          ok(typeof contentType === 'string');
          ok(!body.includes('wss:'), 'an acknowledgment opens a stream');
        }
      },
    },
  ];
}

/** The checks for a carrier. Each makes objects of its own; the only network that they use is loopback. */
export function testCarrier(fixtures: CarrierFixtures): CarrierCheck[] {
  return [
    ...recipeChecks(fixtures),
    ...webhookChecks(fixtures),
    ...mediaChecks(fixtures),
    ...restChecks(fixtures),
  ];
}
