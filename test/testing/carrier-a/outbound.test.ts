import { afterEach, describe, expect, it } from 'vitest';
import type { Callee } from '../../../src/testing/simulator.js';
import { signRequest } from '../../../src/testing/carrier-a/signing.js';
import { HOST, OTHER, OWN, type Rig, startRig, TOKEN, valuesOf } from './rig.js';

let rig: Rig;
afterEach(() => rig.close());

const start = async (callee: Callee, options: Parameters<typeof startRig>[0] = {}) => {
  rig = await startRig({ ...options, simulator: { callees: { '*': callee }, ...options.simulator } });
};

describe('an outbound call', () => {
  it('is queued, dialed, rung, answered, asks for instructions, and ends', async () => {
    await start({ type: 'human', script: [{ type: 'pause', durationMs: 1000 }, { type: 'hang-up' }] });
    const leg = await rig.dial();
    expect(leg.status).toBe('queued');
    await rig.pass(rig.simulator.settled());
    expect(valuesOf(rig.posts('status'), 'CallStatus', 'SequenceNumber')).toEqual([
      ['initiated', '0'],
      ['ringing', '1'],
      ['in-progress', '2'],
      ['completed', '3'],
    ]);
    const [voice, ...more] = rig.posts('voice');
    expect(more).toEqual([]);
    expect(voice?.path).toBe('/webhooks/carrier-a/voice?callId=c1');
    expect(Object.fromEntries(voice?.form ?? [])).toMatchObject({
      CallStatus: 'in-progress',
      Direction: 'outbound-api',
      From: OWN,
      To: OTHER,
    });
    const signed = { url: `https://${HOST}${voice?.path}`, parameters: [...(voice?.form ?? [])] };
    expect(voice?.headers['x-twilio-signature']).toBe(signRequest(TOKEN, signed));
    const final = rig.posts('status').at(-1)?.form;
    expect(final?.get('SipResponseCode')).toBe('200');
    expect(Number(final?.get('CallDuration'))).toBeGreaterThanOrEqual(1);
    expect(final?.get('Timestamp')).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/);
    expect(leg).toMatchObject({ isOver: true, direction: 'outbound', violations: [] });
    expect(leg.reports).toMatchObject([{ ok: true, answer: { outcome: 'answered' }, end: { by: 'caller' } }]);
  });

  it.each<[Callee, string, string, string[]]>([
    [{ type: 'busy' }, 'busy', '486', ['initiated', 'busy']],
    [{ type: 'unreachable' }, 'failed', '404', ['initiated', 'failed']],
    [{ type: 'no-answer' }, 'no-answer', '487', ['initiated', 'ringing', 'no-answer']],
    [{ type: 'human', ringMs: 26_000 }, 'no-answer', '487', ['initiated', 'ringing', 'no-answer']],
  ])('to %j is %s', async (callee, status, code, statuses) => {
    await start(callee);
    const leg = await rig.dial();
    await rig.pass(rig.simulator.settled());
    expect(valuesOf(rig.posts('status'), 'CallStatus').flat()).toEqual(statuses);
    expect(rig.posts('status').at(-1)?.form.get('SipResponseCode')).toBe(code);
    expect(rig.posts('voice')).toEqual([]);
    expect(leg).toMatchObject({ status, isAnswered: false, reports: [] });
  });

  it('is canceled while it rings, and never asks for instructions', async () => {
    await start({ type: 'no-answer' });
    const leg = await rig.dial();
    await rig.passUntil(() => leg.status === 'ringing');
    const answered = await rig.ask(`Calls/${leg.carrierCallId}.json`, { Status: 'canceled' });
    expect(answered).toMatchObject({ status: 200, body: { status: 'canceled' } });
    await rig.pass(rig.simulator.settled());
    expect(rig.posts('status').at(-1)?.form.get('CallStatus')).toBe('canceled');
    expect(rig.posts('status').at(-1)?.form.get('SipResponseCode')).toBe('487');
    expect(rig.posts('voice')).toEqual([]);
  });

  it('that is canceled in the queue is not reported', async () => {
    await start({ type: 'human' });
    const leg = await rig.dial();
    await rig.ask(`Calls/${leg.carrierCallId}.json`, { Status: 'completed' });
    await rig.pass(rig.simulator.settled());
    expect(leg.status).toBe('canceled');
    expect(rig.server.webhooks).toEqual([]);
  });

  it('reports only what was asked for, `completed` when nothing was', async () => {
    await start({ type: 'busy' });
    await rig.dial({ StatusCallbackEvent: ['ringing', 'completed'] });
    await rig.dial({ StatusCallbackEvent: [] });
    await rig.pass(rig.simulator.settled());
    expect(valuesOf(rig.posts('status'), 'CallStatus', 'SequenceNumber')).toEqual([
      ['busy', '0'],
      ['busy', '0'],
    ]);
  });

  it('ends by itself after its time limit', async () => {
    await start({ type: 'human' });
    const leg = await rig.dial({ TimeLimit: '3' });
    await rig.pass(rig.simulator.settled());
    expect(leg.status).toBe('completed');
    expect(leg.reports[0]?.end).toMatchObject({ how: 'time-limit' });
    expect(Math.round(leg.durationMs / 1000)).toBe(3);
  });

  it('plays keys at the answer, and then detects no machine', async () => {
    await start({ type: 'machine', greetingMs: 500, silenceMs: 1000 });
    const leg = await rig.dial({
      SendDigits: '12w#',
      MachineDetection: 'Enable',
      AsyncAmd: 'true',
      AsyncAmdStatusCallback: `https://${HOST}/webhooks/carrier-a/amd`,
    });
    await rig.pass(rig.simulator.settled());
    expect(leg.sentDigits).toEqual(['12w#']);
    expect(rig.posts('amd')).toEqual([]);
  });

  it('runs inline instructions, and the fallback when the first URL fails', async () => {
    const fallback = '<Response><Say>Sorry</Say></Response>';
    await start(
      { type: 'human' },
      {
        server: {
          answer: ({ path }) =>
            path.startsWith('/fallback')
              ? { body: fallback }
              : path.includes('voice')
                ? { status: 500 }
                : undefined,
        },
      },
    );
    const inline = await rig.dial({ Url: '', Twiml: '<Response><Say>Hello &amp; bye</Say></Response>' });
    const fallen = await rig.dial({ FallbackUrl: `https://${HOST}/fallback` });
    await rig.pass(rig.simulator.settled());
    expect(inline).toMatchObject({ spoken: ['Hello & bye'], status: 'completed' });
    expect(fallen).toMatchObject({ spoken: ['Sorry'], status: 'completed' });
    const asked = rig.server.webhooks.find(({ path }) => path === '/fallback');
    expect(asked?.form.get('ErrorCode')).toBe('11200');
    expect(asked?.form.get('ErrorUrl')).toContain('/voice');
  });

  it('hears a callee that speaks, by their script', async () => {
    await start({
      type: 'human',
      script: [
        // The stream needs a moment; who speaks at once is not heard by the agent.
        { type: 'pause', durationMs: 1000 },
        { type: 'press', digits: '7' },
        { type: 'play', samples: new Int16Array(1600).fill(5000), sampleRateHz: 8000, text: 'hello' },
        { type: 'hang-up' },
      ],
    });
    await rig.dial();
    await rig.pass(rig.simulator.settled());
    const events = rig.server.messages.map(({ event }) => event);
    expect(events.filter((event) => event === 'dtmf')).toHaveLength(1);
    expect(events).toContain('spoken-text');
  });
});

describe('machine detection', () => {
  const AMD = {
    MachineDetection: 'DetectMessageEnd',
    AsyncAmd: 'true',
    AsyncAmdStatusCallback: `https://${HOST}/webhooks/carrier-a/amd?callId=c1`,
  };

  it.each<[string, Callee, Record<string, string>]>([
    ['human', { type: 'human', script: [{ type: 'pause', durationMs: 3000 }] }, {}],
    ['machine_end_beep', { type: 'machine', greetingMs: 2000 }, {}],
    ['machine_end_silence', { type: 'machine', greetingMs: 2000, beep: false }, {}],
    ['machine_end_other', { type: 'machine', greetingMs: 6000 }, { MachineDetectionTimeout: '3' }],
    ['machine_start', { type: 'machine', greetingMs: 2000 }, { MachineDetection: 'Enable' }],
    ['fax', { type: 'fax' }, {}],
    ['unknown', { type: 'human', script: [{ type: 'hang-up' }] }, {}],
  ])('says %s once, beside the call', async (answeredBy, callee, form) => {
    await start(callee);
    const leg = await rig.dial({ ...AMD, ...form });
    await rig.passUntil(() => rig.posts('amd').length > 0);
    await rig.ask(`Calls/${leg.carrierCallId}.json`, { Status: 'completed' });
    await rig.pass(rig.simulator.settled());
    const [report, ...more] = rig.posts('amd');
    expect(more).toEqual([]);
    expect(report?.path).toBe('/webhooks/carrier-a/amd?callId=c1');
    expect([...(report?.form.keys() ?? [])].sort()).toEqual([
      'AccountSid',
      'AnsweredBy',
      'CallSid',
      'MachineDetectionDuration',
    ]);
    expect(report?.form.get('AnsweredBy')).toBe(answeredBy);
    expect(rig.posts('voice')).toHaveLength(1);
  });

  it('holds the instructions back when it is not asynchronous', async () => {
    await start({ type: 'machine', greetingMs: 1000, silenceMs: 500 });
    await rig.dial({ MachineDetection: 'DetectMessageEnd' });
    await rig.pass(rig.simulator.settled());
    expect(valuesOf(rig.posts('voice'), 'AnsweredBy', 'MachineDetectionDuration')).toEqual([
      ['machine_end_beep', '1400'],
    ]);
    expect(rig.posts('amd')).toEqual([]);
  });
});
