// What every vendor's emulator can be told to do wrong, on demand.
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  type Emulator,
  type EmulatorOptions,
  emulateChatCompletions,
  emulateDeepgram,
  emulateElevenLabs,
  type EmulatedReply,
  type WireTroubles,
} from '../../../src/testing/index.js';
import { FakeClock } from '../../support/fake-clock.js';
import { untilQuiet } from '../../support/virtual/quiet.js';
import { passUntil } from '../../support/pass-until.js';
import { openRaw } from './raw-socket.js';
import { closedAfterTest } from '../../support/closed-after-test.js';
import { soon } from '../../support/soon.js';

/** One client of one vendor. Its emulator says `''`, `'1'`, `'2'` … `'6'`, each in a message. */
interface Client {
  readonly emulator: Emulator;
  readonly words: () => unknown[];
  /** How it ended; undefined while it has not. */
  readonly end: () => string | undefined;
  speak(): void;
}

interface Vendor {
  readonly name: string;
  start(options: EmulatorOptions & { reply?: EmulatedReply }): Promise<Emulator>;
  connect(emulator: Emulator): Promise<Client>;
}

const WORDS = ['', '1', '2', '3', '4', '5', '6'];

function socketVendor(
  name: string,
  start: (options: EmulatorOptions) => Promise<Emulator>,
  path: string,
  headers: Record<string, string>,
): Vendor {
  return {
    name,
    // What a reply does wrong is a matter of the vendor that streams it.
    start: ({ reply: _, ...options }) => start(options),
    async connect(emulator) {
      const socket = await openRaw(`${emulator.url}${path}`, headers);
      return {
        emulator,
        words: () => socket.messages.map(({ n, ...other }) => n ?? other),
        end: socket.end,
        speak: () => {
          for (const n of WORDS) emulator.sendAll(JSON.stringify({ n }));
        },
      };
    },
  };
}

const REPLY: EmulatedReply = {
  text: '1 2 3 4 5 6',
  finishReason: null,
  usagePlacement: 'none',
  withoutDone: true,
};

const chat: Vendor = {
  name: 'Chat Completions',
  start: ({ reply = {}, ...options }) =>
    emulateChatCompletions({ ...options, replies: () => ({ ...REPLY, ...reply }) }),
  async connect(emulator) {
    let [text, end, speak] = ['', undefined as string | undefined, () => {}];
    const asked = new Promise<void>((resolve) => {
      speak = resolve;
    });
    const run = async () => {
      await asked;
      const response = await fetch(`${emulator.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: 'Bearer test-key' },
        body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
      });
      if (!response.ok) end = String(response.status);
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString('latin1');
    };
    run().then(
      () => {
        end ??= 'over';
      },
      () => {
        end ??= 'cut';
      },
    );
    const words = () =>
      text
        .split('\n\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line.replace(/^data: /, '')))
        .map((chunk) => chunk.choices?.[0]?.delta.content.trim() ?? chunk);
    return { emulator, words, end: () => end, speak };
  },
};

const VENDORS: Vendor[] = [
  socketVendor('Deepgram', emulateDeepgram, '/v1/listen?model=nova-3&encoding=linear16&sample_rate=16000', {
    authorization: 'Token test-key',
  }),
  socketVendor(
    'ElevenLabs',
    emulateElevenLabs,
    '/v1/text-to-speech/voice/multi-stream-input?model_id=m&output_format=pcm_16000',
    { 'xi-api-key': 'test-key' },
  ),
  chat,
];
const SOCKETS = VENDORS.slice(0, 2);

async function open(
  vendor: Vendor,
  options: EmulatorOptions & { reply?: EmulatedReply } = {},
): Promise<Client> {
  const emulator = closedAfterTest(await vendor.start(options));
  return vendor.connect(emulator);
}

describe.each(VENDORS)('$name, in trouble', (vendor) => {
  it.each<[string, WireTroubles, string[]]>([
    ['none', {}, WORDS],
    ['dropped', { dropEvery: 2 }, ['', '2', '4', '6']],
    ['repeated', { duplicateEvery: 3 }, ['', '1', '2', '2', '3', '4', '5', '5', '6']],
    ['swapped', { reorderEvery: 2 }, ['', '2', '1', '4', '3', '6', '5']],
    ['split over TCP segments', { segmentBytes: 7 }, WORDS],
  ])('messages: %s', async (_, troubles, expected) => {
    const client = await open(vendor);
    client.emulator.troubles = troubles;
    client.speak();
    await soon(() => expect(client.words()).toEqual(expected));
  });

  it('messages: late, and each as late as chance will have it, on a clock that is moved by hand', async () => {
    const clock = new FakeClock();
    const client = await open(vendor, { clock });
    const before = clock.pending;
    client.emulator.troubles = { delayMs: 1000, jitterMs: 500 };
    client.speak();
    await soon(() => expect(clock.pending).toBeGreaterThanOrEqual(before + WORDS.length));
    clock.advance(999);
    expect(client.words()).toEqual([]);
    clock.advance(501);
    await soon(() => expect(client.words()).toEqual(WORDS));
  });

  it.each([401, 429, 503])('refuses with %i, as often as it is told to', async (status) => {
    const emulator = closedAfterTest(await vendor.start({}));
    emulator.refuseNext({ status });
    const refused = await vendor.connect(emulator);
    refused.speak();
    await soon(() => expect(refused.end()).toBe(String(status)));
    const welcome = await vendor.connect(emulator);
    welcome.speak();
    await soon(() => expect(welcome.words()).toEqual(WORDS));
  });

  it.each<[string, (emulator: Emulator) => void]>([
    [
      'refuses',
      (emulator) => {
        emulator.refuseNext({ status: 503, times: 3 });
        emulator.refuseNext({ times: 0 });
      },
    ],
    [
      'resets',
      (emulator) => {
        emulator.resetNext(3);
        emulator.resetNext(0);
      },
    ],
    [
      'ignores',
      (emulator) => {
        emulator.ignoreNext(3);
        emulator.ignoreNext(0);
      },
    ],
  ])('%s no more when it is told so', async (_, order) => {
    const emulator = closedAfterTest(await vendor.start({}));
    order(emulator);
    const client = await vendor.connect(emulator);
    client.speak();
    await soon(() => expect(client.words()).toEqual(WORDS));
  });

  it('stands still without closing, and answers no more', async () => {
    const clock = new FakeClock();
    const client = await open(vendor, { clock, reply: { tokenMs: 20 } });
    client.speak();
    await passUntil(clock, 20, () => expect(client.words().length).toBeGreaterThan(1));
    client.emulator.freeze();
    const heard = client.words().length;
    client.emulator.sendAll('{"n":"7"}');
    await clock.advanceAsync(1000);
    await untilQuiet();
    expect(client.words().length).toBeLessThanOrEqual(heard + 1);
    if (vendor === chat) expect(client.words().length).toBeLessThan(WORDS.length);
    else expect(client.words()).not.toContain('7');
    expect(client.end()).toBeUndefined();
  });

  it('cuts the connection', async () => {
    const client = await open(vendor, { reply: { tokenMs: 20 } });
    client.speak();
    await soon(() => expect(client.words().length).toBeGreaterThan(1));
    client.emulator.disconnectAll();
    client.emulator.cutRequests();
    await soon(() => expect(client.end()).toMatch(/^(1006|cut)/));
  });

  it('says in the stream that something went wrong, and things that nobody knows', async () => {
    const reply = { noise: 'data: {"type":"weather"}\n\n', errorAfter: 2, error: { code: 'out_of_order' } };
    const client = await open(vendor, { reply });
    client.speak();
    client.emulator.sendAll('{"type":"weather"}');
    client.emulator.sendAll('{"error":{"code":"out_of_order"}}');
    await soon(() => {
      expect(client.words()).toContainEqual({ type: 'weather' });
      expect(client.words()).toContainEqual({ error: { code: 'out_of_order' } });
    });
  });
});

describe.each(SOCKETS)('the socket of $name', (vendor) => {
  it('is closed with any code', async () => {
    const client = await open(vendor);
    client.emulator.disconnectAll(1011, 'no audio');
    await soon(() => expect(client.end()).toBe('1011 no audio'));
  });

  it('sends messages in several frames', async () => {
    const client = await open(vendor);
    client.emulator.troubles = { split: true };
    client.speak();
    await soon(() => expect(client.words()).toEqual(WORDS));
  });

  it('does what its timeline says, when it says so', async () => {
    const clock = new FakeClock();
    let isAsked = false;
    const client = await open(vendor, {
      clock,
      timeline: [
        { atMs: 100, send: { n: 'hello' } },
        { atMs: 200, expect: () => isAsked, sentence: 'nobody has asked' },
        { atMs: 300, troubles: { duplicateEvery: 1 } },
        { atMs: 400, send: '{"n":"twice"}' },
        { atMs: 500, expect: () => isAsked, sentence: 'still nobody has asked' },
        { atMs: 600, close: 1011, reason: 'enough' },
        { atMs: 9000, send: { n: 'never' } },
      ],
    });
    clock.advance(99);
    clock.advance(201);
    isAsked = true;
    clock.advance(150);
    await soon(() => expect(client.words()).toEqual(['hello', 'twice', 'twice']));
    clock.advance(200);
    await soon(() => expect(client.end()).toBe('1011 enough'));
    expect(client.emulator.violations).toEqual(['nobody has asked']);
    await soon(() => expect(clock.pending).toBe(0));
  });

  it('stands still from a moment on', async () => {
    const clock = new FakeClock();
    const timeline = [
      { atMs: 100, freeze: true },
      { atMs: 200, send: { n: 'no' } },
    ] as const;
    const client = await open(vendor, { clock, timeline });
    clock.advance(300);
    await untilQuiet();
    expect([client.words(), client.end()]).toEqual([[], undefined]);
  });
});

it('TCP segments are as small as was asked for', async () => {
  const emulator = closedAfterTest(await emulateDeepgram());
  emulator.troubles = { segmentBytes: 8 };
  const pieces: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(new URL(emulator.url).port), '127.0.0.1', () =>
      socket.write('GET /nowhere HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'),
    );
    socket.on('data', (piece) => pieces.push(piece));
    socket.on('end', resolve);
    socket.on('error', reject);
  });
  const answer = Buffer.concat(pieces);
  expect(answer.toString()).toMatch(/^HTTP\/1.1 404/);
  // A machine that stands still joins some of them.
  expect(pieces.length).toBeGreaterThan(3);
  expect(pieces[0]?.length).toBeLessThanOrEqual(16);
});

it.each<[string, (emulator: Emulator) => void, string]>([
  ['refused', (emulator) => emulator.refuseNext({ status: 401 }), '401'],
  ['reset', (emulator) => emulator.resetNext(), 'cut'],
])('a request that warms a connection up of a model is not the one that is %s', async (_, order, end) => {
  const emulator = closedAfterTest(await chat.start({}));
  order(emulator);
  const headers = { authorization: 'Bearer test-key' };
  expect((await fetch(`${emulator.url}/v1/models`, { headers })).status).toBe(200);
  const client = await chat.connect(emulator);
  client.speak();
  await soon(() => expect(client.end()).toBe(end));
});
