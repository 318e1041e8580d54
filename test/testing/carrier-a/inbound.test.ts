import { afterEach, describe, expect, it } from 'vitest';
import type { FakeServerOptions } from '../fake-phone-server.js';
import { MARKUP } from '../fake-phone-server.js';
import { HOST, OTHER, OWN, type Rig, startRig, valuesOf } from './rig.js';

let rig: Rig;
afterEach(() => rig.close());

const STAY = [{ type: 'pause', durationMs: 60_000 }] as const;
const STREAM = '<Connect><Stream url="{url}"/></Connect>';
const document = (verbs: string) => `<Response>${verbs}</Response>`;

const start = async (server: FakeServerOptions = {}, simulator = {}) => {
  rig = await startRig({ server, simulator });
};
const call = (options: object = {}) => rig.pass(rig.simulator.call({ script: STAY, ...options }));

describe('an inbound call', () => {
  it('reports its end to the number, and its caller may be withheld', async () => {
    await start();
    const report = await call({
      script: [{ type: 'pause', durationMs: 1500 }],
      from: 'anonymous',
      maxDurationMs: 1500,
    });
    expect(report).toMatchObject({ ok: true, carrier: 'carrier-a' });
    expect(valuesOf(rig.posts('voice'), 'From', 'FromCity', 'CallStatus', 'StirVerstat')).toEqual([
      ['anonymous', '', 'ringing', null],
    ]);
    expect(valuesOf(rig.posts('status'), 'CallStatus', 'SequenceNumber', 'Direction')).toEqual([
      ['completed', '0', 'inbound'],
    ]);
  });

  it('reports to nobody while its number has no status callback, and then to where it points', async () => {
    await start({}, { phoneNumbers: [OWN] });
    await call({ to: OWN, maxDurationMs: 1000 });
    expect(rig.posts('status')).toEqual([]);
    const [number] = rig.simulator.numbers;
    await rig.ask(`IncomingPhoneNumbers/${number?.sid}.json`, {
      VoiceUrl: `https://${HOST}/webhooks/carrier-a/voice?tenant=a%20b`,
      StatusCallback: `https://${HOST}/webhooks/carrier-a/status?x=1`,
    });
    await call({ to: OWN, maxDurationMs: 1000 });
    expect(rig.server.webhooks.map(({ path }) => path)).toEqual([
      '/webhooks/carrier-a/voice',
      '/webhooks/carrier-a/voice?tenant=a%20b',
      '/webhooks/carrier-a/status?x=1',
    ]);
  });

  it('carries out the verbs in their order', async () => {
    await start({
      markup: document(
        `<Say>Hello</Say><Pause length="2"/><Play digits="12"/>${STREAM}<Say>Bye</Say><Hangup/><Say>no</Say>`,
      ),
      onMessage(message, { socket }) {
        if (message.event === 'media' && message.media?.chunk === '10') socket.close(1000);
      },
    });
    const report = await call();
    expect(report).toMatchObject({ ok: true, end: { by: 'server', how: 'closed' } });
    const [leg] = rig.simulator.legs;
    expect(leg).toMatchObject({ spoken: ['Hello', 'Bye'], sentDigits: ['12'], status: 'completed' });
    expect(leg?.durationMs).toBeGreaterThan(2400);
  });

  it('opens as many streams as the instructions say, one after the other', async () => {
    await start({
      markup: document('<Connect action="/webhooks/carrier-a/next"><Stream url="{url}"/></Connect>'),
      answer: ({ path }) => (path === '/webhooks/carrier-a/next' ? { body: MARKUP } : undefined),
      onMessage(message, { socket }) {
        if (message.event === 'media' && message.media?.chunk === '10') socket.close(1000);
      },
    });
    const report = await call();
    const starts = rig.server.messages.filter(({ event }) => event === 'start');
    expect(starts).toHaveLength(2);
    expect(new Set(starts.map(({ streamSid }) => streamSid)).size).toBe(2);
    expect(new Set(starts.map(({ start: { callSid } }) => callSid)).size).toBe(1);
    expect(rig.simulator.legs[0]?.reports.map(({ frames }) => frames.sent >= 10)).toEqual([true, true]);
    expect(report.frames.sent).toBeGreaterThanOrEqual(20);
    expect(valuesOf(rig.posts('next'), 'CallStatus')).toEqual([['in-progress']]);
  });

  it('follows a redirect, and gives up on a circle', async () => {
    await start({
      answer: ({ path }) =>
        path.endsWith('/voice')
          ? { body: document('<Redirect>second</Redirect>') }
          : {
              body: document(
                path.endsWith('/second')
                  ? '<Say>Moved</Say><Redirect method="GET">third</Redirect>'
                  : '<Redirect>third</Redirect>',
              ),
            },
    });
    const report = await call();
    const [leg] = rig.simulator.legs;
    expect(leg?.spoken).toEqual(['Moved']);
    expect(rig.server.webhooks.find(({ path }) => path.includes('/third'))?.method).toBe('GET');
    expect(report.protocolErrors.map(({ sentence }) => sentence)).toContain(
      'the instructions go round in circles',
    );
  });

  it.each<[string, string, string]>([
    ['busy', '<Reject reason="busy"/>', 'busy'],
    ['rejected', '<Reject/>', 'no-answer'],
    ['hung-up', '<Hangup/>', 'no-answer'],
  ])('that is turned away as %s is not answered', async (outcome, verb, status) => {
    await start({ markup: document(verb) });
    const report = await call();
    expect(report.answer.outcome).toBe(outcome);
    expect(rig.simulator.legs[0]).toMatchObject({ status, isAnswered: false, violations: [] });
  });

  it.each([
    [403, /answered 403: the signature was not accepted \(set --auth-token/],
    [404, /answered 404$/],
  ])(
    'whose webhook answers %i is refused, with what the command line has against it',
    async (status, reason) => {
      await start({ status });
      const { answer } = await call();
      expect(answer).toMatchObject({ outcome: 'refused', status, reason: expect.stringMatching(reason) });
    },
  );

  it.each([403, 429, 404])(
    'ends when the stream is refused with %i, and its end is reported',
    async (status) => {
      await start({ refuseUpgrade: status });
      const report = await call();
      expect(report.answer).toMatchObject({ outcome: 'refused', status });
      expect(report.notes.join()).toContain('31920');
      expect(valuesOf(rig.posts('status'), 'CallStatus')).toEqual([['completed']]);
    },
  );

  it('ends when the connection is lost, by either side', async () => {
    await start({ onStart: ({ socket }) => socket.terminate() });
    expect((await call()).end).toMatchObject({ by: 'network', how: 'lost' });
    expect(valuesOf(rig.posts('status'), 'CallStatus')).toEqual([['completed']]);
    await rig.close();
    await start();
    await call({
      script: [
        { type: 'pause', durationMs: 300 },
        { type: 'hang-up', abrupt: true },
      ],
    });
    expect(rig.server.messages.at(-1)?.event).not.toBe('stop');
  });

  it('hears the carrier speak', async () => {
    await start({ markup: document(`<Say>${'A long sentence. '.repeat(4)}</Say><Pause length="20"/>`) });
    await call({ script: [{ type: 'wait-for-agent' }, { type: 'hang-up' }] });
    const [leg] = rig.simulator.legs;
    expect(leg?.line.notes).toEqual([]);
    expect(leg?.durationMs).toBeGreaterThan(4000);
    expect(leg?.durationMs).toBeLessThan(10_000);
  });

  it.each<[string, string, RegExp]>([
    ['an unknown attribute', '<Response><Say speed="2">x</Say></Response>', /does not know/],
    ['a second stream', document(STREAM + STREAM), /more than one/],
    ['keys that are none', document('<Play digits="1,2"/>'), /digits of <Play>/],
    [
      'a number that is shown and not owned',
      document('<Dial callerId="+19995550000">+15005550030</Dial>'),
      /callerId/,
    ],
    ['a callback elsewhere', document('<Redirect>https://else.example/x</Redirect>'), /another host/],
    ['a late rejection', document('<Say>x</Say><Reject/>'), /not the first verb/],
    ['no markup', 'OK', /not well-formed/],
  ])('names %s', async (_, markup, sentence) => {
    await start(
      {
        answer: ({ path }) =>
          path.endsWith('/voice') ? { body: markup } : path === '/x' ? { body: document('') } : undefined,
      },
      { phoneNumbers: [OWN], callees: { '*': { type: 'busy' } } },
    );
    await call({ to: OWN, from: OTHER, maxDurationMs: 3000 });
    expect(rig.simulator.legs[0]?.violations.join('; ')).toMatch(sentence);
  });

  it('tells of its stream where the markup says', async () => {
    await start({ markup: document('<Connect><Stream url="{url}" statusCallback="stream"/></Connect>') });
    await call({ maxDurationMs: 1000 });
    expect(valuesOf(rig.posts('stream'), 'StreamEvent')).toEqual([['stream-started'], ['stream-stopped']]);
  });
});
