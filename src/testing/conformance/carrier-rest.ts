// What every carrier's REST API must do: ask for what is meant, say clearly what failed, and never tell a secret.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { inspect } from 'node:util';
import { CarrierError, ConfigError } from '../../base/errors.js';
import type { Carrier } from '../../carriers/carrier.js';
import { type CarrierCheck, type CarrierFixtures, UNREACHABLE } from './carrier-fixtures.js';
import { type Behavior, type Endpoint, startEndpoint } from './endpoint.js';

const CALL_ID = 'call-1';
const OTHER_NUMBER = '+15005550020';

interface Method {
  readonly name: string;
  /** Only where the carrier can. */
  readonly isSupported: boolean;
  /** What the answer says is needed: garbage cannot be a success. */
  readonly needsAnswer: boolean;
  /** A call that the API does not know is one that is over: that may be a success. */
  readonly takesGone: boolean;
  call(): Promise<unknown>;
}

function methodsOf({ rest, commands, supports }: Carrier, fixtures: CarrierFixtures): Method[] {
  const { carrierCallId, phoneNumber } = fixtures.rest;
  const webhookBaseUrl = `https://${fixtures.host}/webhooks/carrier`;
  const stream = { url: `wss://${fixtures.host}/ws/stream/c1/token`, parameters: { caller: OTHER_NUMBER } };
  const order = { callId: CALL_ID, webhookBaseUrl };
  const method = (name: string, call: () => Promise<unknown>, more: Partial<Method> = {}): Method => ({
    name,
    isSupported: true,
    needsAnswer: false,
    takesGone: false,
    call,
    ...more,
  });
  return [
    method(
      'dial',
      () =>
        rest.dial({
          ...order,
          from: phoneNumber,
          to: OTHER_NUMBER,
          ringTimeoutSeconds: 25,
          maxCallSeconds: 600,
          machineDetection: true,
          recording: supports.recording,
        }),
      { needsAnswer: true },
    ),
    method('hangUp', () => rest.hangUp(carrierCallId), { takesGone: true }),
    ...(rest.limit === undefined ? [] : [method('limit', async () => rest.limit?.(carrierCallId, 3660))]),
    method('transfer', () =>
      rest.transfer(carrierCallId, {
        ...order,
        to: OTHER_NUMBER,
        callerId: phoneNumber,
        ringTimeoutSeconds: 20,
      }),
    ),
    method('sendDigits', () => rest.sendDigits(carrierCallId, '12w#', stream)),
    method('speak', () => rest.speak(carrierCallId, 'Sorry <&>.', { language: 'en-US' })),
    method('startRecording', () => rest.startRecording(carrierCallId, order), {
      isSupported: supports.recording,
    }),
    method('lookUp', () => rest.lookUp(carrierCallId), { needsAnswer: true, takesGone: true }),
    method(
      'setVoiceUrl',
      () =>
        rest.setVoiceUrl(phoneNumber, {
          voice: `${webhookBaseUrl}/voice`,
          status: `${webhookBaseUrl}/status`,
        }),
      { isSupported: supports.voiceUrl, needsAnswer: true },
    ),
    ...(commands === undefined
      ? []
      : [
          method('answer', () => commands.answer(carrierCallId, { callId: CALL_ID })),
          method('reject', () => commands.reject(carrierCallId, 'busy')),
          method('startStream', () =>
            commands.startStream(carrierCallId, { ...stream, callId: CALL_ID, codec: 'preferred' }),
          ),
          method('stopStream', () => commands.stopStream(carrierCallId), { takesGone: true }),
        ]),
  ];
}

async function failureOf(method: Method): Promise<unknown> {
  try {
    await method.call();
    return undefined;
  } catch (error) {
    return error ?? new Error('rejected with nothing');
  }
}

/** Nothing of an error, down to its last cause, may tell a secret. */
function assertNoSecret(error: unknown, { secrets }: CarrierFixtures): void {
  const told = [inspect(error, { depth: 10, showHidden: true }), JSON.stringify(error)].join('\n');
  for (const secret of secrets) ok(!told.includes(secret), 'an error tells a secret');
}

function assertCarrierError(method: Method, error: unknown, fixtures: CarrierFixtures): CarrierError {
  if (!(error instanceof CarrierError)) {
    throw new Error(`${method.name} did not fail with a CarrierError but with ${inspect(error)}`);
  }
  ok(error.message.length > 10, `${method.name} says nothing`);
  ok(!error.message.includes(OTHER_NUMBER), `${method.name} names a telephone number`);
  assertNoSecret(error, fixtures);
  return error;
}

/** Runs a check against a carrier whose API behaves like that. */
async function withEndpoint(
  fixtures: CarrierFixtures,
  behavior: Behavior,
  body: (methods: Method[], endpoint: Endpoint) => Promise<void>,
): Promise<void> {
  const endpoint = await startEndpoint(behavior);
  try {
    const carrier = fixtures.create(endpoint.url);
    await carrier.prepare();
    await body(methodsOf(carrier, fixtures), endpoint);
  } finally {
    await endpoint.close();
  }
}

function refusalCheck(fixtures: CarrierFixtures, status: number): CarrierCheck {
  return {
    name: `fails with a CarrierError when the API answers ${status}`,
    run: () =>
      withEndpoint(fixtures, { type: 'answer', answer: () => ({ status, body: '' }) }, async (methods) => {
        await Promise.all(
          methods.map(async (method) => {
            const failure = await failureOf(method);
            if (failure === undefined && status === 404 && method.takesGone) return;
            const error = assertCarrierError(method, failure, fixtures);
            if (!method.isSupported || (method.name === 'dial' && status >= 500)) return;
            equal(error.status, status, `${method.name} names another status`);
            if (status < 429) equal(error.retryable, false, `${method.name} is worth no second try`);
          }),
        );
      }),
  };
}

export function restChecks(fixtures: CarrierFixtures): CarrierCheck[] {
  const supported = (methods: Method[]) => methods.filter(({ isSupported }) => isSupported);
  return [
    {
      name: 'asks for credentials with a ConfigError before it asks the API',
      run: async () => {
        const bare = fixtures.createBare();
        for (const method of methodsOf(bare, fixtures)) {
          const error = await failureOf(method);
          ok(
            error instanceof ConfigError || (!method.isSupported && error instanceof CarrierError),
            `${method.name} without credentials: ${inspect(error)}`,
          );
        }
      },
    },
    {
      name: 'does what is asked of it',
      run: () => {
        const { answer } = fixtures.rest;
        return withEndpoint(fixtures, { type: 'answer', answer }, async (methods, endpoint) => {
          for (const method of supported(methods)) {
            const before = endpoint.requests.length;
            const result = await method.call();
            ok(endpoint.requests.length > before, `${method.name} asks nobody`);
            if (method.name === 'dial') deepEqual(result, { carrierCallId: fixtures.rest.carrierCallId });
            if (method.name === 'lookUp') equal((result as { isOver?: unknown }).isOver, true);
          }
        });
      },
    },
    {
      name: 'tells the carrier the id of the call and where its webhooks go',
      run: () => {
        const { answer } = fixtures.rest;
        return withEndpoint(fixtures, { type: 'answer', answer }, async (methods, endpoint) => {
          for (const method of methods.filter(({ name }) => name === 'dial' || name === 'transfer')) {
            await method.call();
            const body = decodeURIComponent(endpoint.requests.at(-1)?.body ?? '');
            const inState = Buffer.from(JSON.stringify({ callId: CALL_ID }))
              .toString('base64')
              .slice(0, 16);
            ok(body.includes(CALL_ID) || body.includes(inState), `${method.name} does not name the call`);
            ok(body.includes(fixtures.host), `${method.name} does not name the host`);
          }
        });
      },
    },
    {
      name: 'refuses what it cannot do',
      run: () => {
        const { answer } = fixtures.rest;
        return withEndpoint(fixtures, { type: 'answer', answer }, async (methods, endpoint) => {
          for (const method of methods.filter(({ isSupported }) => !isSupported)) {
            assertCarrierError(method, await failureOf(method), fixtures);
          }
          equal(endpoint.requests.length, 0);
        });
      },
    },
    {
      name: 'has hung up when the call is over already',
      run: () => {
        const { callOver } = fixtures.rest;
        return withEndpoint(fixtures, { type: 'answer', answer: () => callOver }, async (methods) => {
          equal(await failureOf(methods.find(({ name }) => name === 'hangUp') ?? failing), undefined);
        });
      },
    },
    ...[400, 401, 403, 404, 422, 429, 500, 503].map((status) => refusalCheck(fixtures, status)),
    {
      name: 'does not place a call twice when it is open whether it was placed',
      run: async () => {
        const behaviors: Behavior[] = [
          { type: 'cut' },
          { type: 'answer', answer: () => ({ status: 500, body: '' }) },
          { type: 'answer', answer: () => ({ status: 200, body: '<html>' }) },
        ];
        for (const behavior of behaviors) {
          await withEndpoint(fixtures, behavior, async ([dial = failing], endpoint) => {
            assertCarrierError(dial, await failureOf(dial), fixtures);
            const { idempotencyField } = fixtures.rest;
            const bodies = endpoint.requests.map(({ body }) => body);
            if (idempotencyField === undefined) equal(bodies.length, 1);
            // Where a repetition is recognized, it must be one: the same request under the same key.
            else ok(bodies.every((body) => body === bodies[0] && body.includes(idempotencyField)));
          });
        }
      },
    },
    {
      name: 'fails with a CarrierError when the API cannot be reached, or breaks off',
      run: async () => {
        const away = fixtures.create(UNREACHABLE);
        await away.prepare();
        const check = async (method: Method) => {
          const error = assertCarrierError(method, await failureOf(method), fixtures);
          equal(error.status, null, `${method.name} names a status`);
        };
        await Promise.all(supported(methodsOf(away, fixtures)).map(check));
        await withEndpoint(fixtures, { type: 'cut' }, async (methods) => {
          await Promise.all(supported(methods).map(check));
        });
      },
    },
    {
      name: 'takes no garbage for an answer',
      run: async () => {
        for (const body of ['', '<html>', '[]', 'null', '{"data":7}', '{"sid":7,"status":[]}', '"x"']) {
          await withEndpoint(
            fixtures,
            { type: 'answer', answer: () => ({ status: 200, body }) },
            async (methods) => {
              await Promise.all(
                supported(methods).map(async (method) => {
                  const error = await failureOf(method);
                  if (error !== undefined || method.needsAnswer) assertCarrierError(method, error, fixtures);
                }),
              );
            },
          );
        }
      },
    },
    {
      name: 'carries its credentials nowhere else',
      run: async () => {
        const elsewhere = await startEndpoint({ type: 'answer', answer: fixtures.rest.answer });
        try {
          await withEndpoint(fixtures, { type: 'redirect', to: elsewhere.url }, async (methods) => {
            for (const method of supported(methods)) {
              assertCarrierError(method, await failureOf(method), fixtures);
            }
          });
          deepEqual(elsewhere.requests, []);
        } finally {
          await elsewhere.close();
        }
      },
    },
    {
      name: 'gives up on an API that never answers',
      slow: true,
      run: () =>
        withEndpoint(fixtures, { type: 'hang' }, async (methods) => {
          await Promise.all(
            supported(methods).map(async (method) => {
              const error = assertCarrierError(method, await failureOf(method), fixtures);
              equal(error.status, null, `${method.name} names a status`);
            }),
          );
        }),
    },
  ];
}

/** Stands where a method is missing. */
const failing: Method = {
  name: 'missing',
  isSupported: true,
  needsAnswer: true,
  takesGone: false,
  call: () => Promise.reject(new Error('the method is missing')),
};
