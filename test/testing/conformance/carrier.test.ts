import { describe, expect, it } from 'vitest';
import { CarrierError } from '../../../src/base/errors.js';
import type { Carrier, CarrierRest, MediaDialect, MediaMessage } from '../../../src/carriers/carrier.js';
import { type CarrierFixtures, testCarrier } from '../../../src/testing/index.js';

const SECRET = 'a-secret-token';
const START: MediaMessage = {
  type: 'start',
  carrierCallId: 'c',
  streamId: 's',
  format: null,
  outboundFormat: { encoding: 'mulaw', sampleRateHz: 8000 },
  codec: 'x',
  parameters: {},
};
const request = {
  method: 'POST',
  target: '/',
  headers: { 'x-signature': 'right' },
  rawBody: Buffer.from('{}'),
};

const refuse = async (): Promise<never> => {
  throw new CarrierError('The carrier refused to do it (HTTP 400).', { status: 400, retryable: false });
};

/** A carrier of a few lines: enough for the checks that the defects below break. */
function createCarrier(defect: Partial<Carrier> = {}): Carrier {
  const rest: CarrierRest = {
    configured: true,
    dial: refuse,
    hangUp: refuse,
    transfer: refuse,
    sendDigits: refuse,
    speak: refuse,
    startRecording: refuse,
    lookUp: refuse,
    setVoiceUrl: refuse,
  };
  const carrier: Carrier = {
    id: 'carrier-a',
    during: () => carrier,
    supports: {
      recording: true,
      voiceUrl: true,
      digitsReplaceStream: false,
      callCost: false,
      callCostCoversStream: false,
    },
    verifies: true,
    secretSetting: 'A_SECRET',
    streamTokenKey: new Uint8Array(32),
    prepare: async () => {},
    verify: () => {},
    verifyUpgrade: () => {},
    webhooks: {
      routes: ['voice'],
      parse: () => ({ type: 'acknowledged' }),
      answer: (answer) => ({ status: 200, contentType: 'text/plain', body: JSON.stringify(answer) }),
      acknowledge: () => ({ status: 200, contentType: 'text/plain', body: '' }),
    },
    openMedia: () => createDialect(),
    rest,
    ...defect,
  };
  return carrier;
}

function createDialect(defect: Partial<MediaDialect> = {}): MediaDialect {
  return {
    decode: () => ({ type: 'ignored' }),
    encodeAudio: () => '{}',
    encodeMark: () => '{}',
    encodeClear: () => '{}',
    ...defect,
  };
}

function fixturesOf(defect: Partial<Carrier>): CarrierFixtures {
  return {
    host: 'voice.example',
    create: () => createCarrier(defect),
    createBare: () => createCarrier({ ...defect, verifies: false }),
    secrets: [SECRET],
    sign: () => request,
    signed: [],
    webhooks: [{ title: 'one', route: 'voice', request, message: { type: 'acknowledged' } }],
    streams: [{ title: 'a stream', messages: [{ text: '{"event":"start"}', message: START }] }],
    rest: {
      carrierCallId: 'c',
      phoneNumber: '+15005550010',
      answer: () => ({ status: 200, body: '{}' }),
      callOver: { status: 400, body: '{}' },
    },
  };
}

async function failureOf(name: string, defect: Partial<Carrier>): Promise<unknown> {
  const check = testCarrier(fixturesOf(defect)).find((each) => each.name.startsWith(name));
  if (check === undefined) throw new Error(`there is no check "${name}"`);
  return check.run().then(
    () => undefined,
    (error: unknown) => error,
  );
}

const webhooks = createCarrier().webhooks;
const leak = async (): Promise<never> => {
  throw new CarrierError('The carrier refused to do it (HTTP 400).', {
    status: 400,
    retryable: false,
    cause: new Error(`Basic ${SECRET}`),
  });
};

describe('testCarrier', () => {
  it('passes what is in order', async () => {
    expect(await failureOf('has an id of its own', {})).toBeUndefined();
    expect(await failureOf('is steered either', {})).toBeUndefined();
    expect(await failureOf('fails with a CarrierError when the API answers 400', {})).toBeUndefined();
  });

  it.each<[string, string, Partial<Carrier>]>([
    ['a verifier that takes everything', 'refuses what has no signature', {}],
    ['a verifier that takes another body', 'accepts what was signed, and refuses', {}],
    [
      'a verifier that throws something else',
      'refuses what has no signature',
      {
        verify() {
          throw new TypeError('x');
        },
      },
    ],
    [
      'a reader that throws something else',
      'reads garbage as nothing',
      { webhooks: { ...webhooks, parse: () => JSON.parse('{') } },
    ],
    [
      'a reader that says something else',
      'reads one',
      {
        webhooks: {
          ...webhooks,
          parse: () => ({ type: 'cost', costUsd: 1, carrierCallId: 'c', callId: null }),
        },
      },
    ],
    [
      'instructions in the reply beside commands',
      'is steered either',
      { commands: { answer: refuse, reject: refuse, startStream: refuse, stopStream: refuse } },
    ],
    [
      'a stream in an acknowledgment',
      'acknowledges on every route',
      {
        webhooks: { ...webhooks, acknowledge: () => ({ status: 200, contentType: 'x', body: 'wss://x' }) },
      },
    ],
    ['an id that is none', 'has an id of its own', { id: 'Carrier Z' }],
    ['a secret in the open', 'names the setting that is missing', { secretSetting: SECRET }],
    ['a dialect that reads nothing', 'reads a stream', {}],
    [
      'a dialect that throws',
      'survives messages that are damaged',
      { openMedia: () => createDialect({ decode: (text) => JSON.parse(text) }) },
    ],
    ['marks that do not come back', 'writes audio and marks', {}],
    [
      'a dialect that starts twice',
      'starts once',
      { openMedia: () => createDialect({ decode: () => START }) },
    ],
    ['a request without credentials', 'asks for credentials', {}],
    [
      'an error that tells a secret',
      'fails with a CarrierError when the API answers 400',
      { rest: { ...createCarrier().rest, speak: leak } },
    ],
    ['an error with another status', 'fails with a CarrierError when the API answers 404', {}],
    [
      'an error of another kind',
      'fails with a CarrierError when the API answers 400',
      { rest: { ...createCarrier().rest, hangUp: () => Promise.reject(new TypeError('fetch failed')) } },
    ],
    [
      'a success that was none',
      'fails with a CarrierError when the API answers 400',
      { rest: { ...createCarrier().rest, transfer: async () => {} } },
    ],
    ['a hang-up that fails when the call is over', 'has hung up when', {}],
    [
      'an ability that is pretended',
      'refuses what it cannot do',
      {
        supports: { ...createCarrier().supports, recording: false },
        rest: { ...createCarrier().rest, startRecording: async () => {} },
      },
    ],
  ])('finds %s', async (_, name, defect) => {
    expect(await failureOf(name, defect)).toBeInstanceOf(Error);
  });
});
