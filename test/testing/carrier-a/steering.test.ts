import { afterEach, describe, expect, it } from 'vitest';
import type { Callee, InboundCall } from '../../../src/testing/simulator.js';
import type { FakeServerOptions } from '../fake-phone-server.js';
import { MARKUP } from '../fake-phone-server.js';
import { HOST, OWN, type Rig, startRig, valuesOf } from './rig.js';

let rig: Rig;
afterEach(() => rig.close());

const THIRD = '+15005550030';
const STREAM = '<Connect><Stream url="wss://voice.example/ws/stream/again"/></Connect>';
const ACTION = `https://${HOST}/webhooks/carrier-a/voice?callId=c1&amp;transfer=1`;
const dial = `<Response><Dial callerId="${OWN}" timeout="10" action="${ACTION}">${THIRD}</Dial></Response>`;

/** A call with its stream open. */
async function startCall(call: Partial<InboundCall> = {}, server: FakeServerOptions = {}) {
  rig = await startRig({ server, simulator: { phoneNumbers: [OWN] } });
  const script = [{ type: 'pause', durationMs: 60_000 }] as const;
  const report = rig.simulator.call({ script, to: OWN, ...call });
  await rig.passUntil(() => rig.server.messages.some(({ event }) => event === 'media'));
  const [leg] = rig.simulator.legs;
  if (leg === undefined) throw new Error('there is no leg');
  const update = (form: Record<string, string>) => rig.ask(`Calls/${leg.carrierCallId}.json`, form);
  return { leg, report, update };
}

describe('a running call', () => {
  it('plays keys between two streams of the same call', async () => {
    const { leg, report, update } = await startCall();
    const answered = await update({ Twiml: `<Response><Play digits="1w2#"/>${STREAM}</Response>` });
    expect(answered).toMatchObject({ status: 200, body: { status: 'in-progress' } });
    const starts = () => rig.server.messages.filter(({ event }) => event === 'start');
    await rig.passUntil(() => starts().length === 2);
    const events = rig.server.messages.map(({ event }) => event);
    expect(events.slice(events.lastIndexOf('stop'), events.lastIndexOf('start') + 1)).toEqual([
      'stop',
      'connected',
      'start',
    ]);
    const [first, second] = starts();
    expect(second?.start.callSid).toBe(first?.start.callSid);
    expect(second?.streamSid).not.toBe(first?.streamSid);
    await update({ Status: 'completed' });
    expect((await rig.pass(report)).end).toMatchObject({ by: 'agent', how: 'hang-up' });
    expect(leg.sentDigits).toEqual(['1w2#']);
    expect(leg.reports.map(({ end }) => end?.how)).toEqual(['replaced', 'hang-up']);
    expect(leg.violations).toEqual([]);
  });

  it('goes on with the script of the caller while there is no stream', async () => {
    const { report, update, leg } = await startCall({
      script: [{ type: 'pause', durationMs: 3000 }, { type: 'hang-up' }],
    });
    await update({ Twiml: '<Response><Pause length="30"/></Response>' });
    await rig.pass(report);
    expect(leg.durationMs).toBeLessThan(5000);
  });

  it('speaks a text and hangs up', async () => {
    const { leg, report, update } = await startCall();
    await update({ Twiml: '<Response><Say language="en-US">Sorry.</Say><Hangup/></Response>' });
    expect((await rig.pass(report)).end).toMatchObject({ by: 'agent', how: 'hang-up' });
    expect(leg).toMatchObject({ spoken: ['Sorry.'], status: 'completed', violations: [] });
    expect(rig.simulator.requests.map(({ purpose }) => purpose)).toEqual(['speak']);
  });

  it.each<[Callee, string]>([
    [{ type: 'busy' }, 'busy'],
    [{ type: 'no-answer' }, 'no-answer'],
    [{ type: 'unreachable' }, 'failed'],
  ])('that is transferred to %j asks what to do, and gets its agent back', async (transferTo, status) => {
    const { leg, report, update } = await startCall(
      { transferTo },
      { answer: ({ form }) => (form.has('DialCallStatus') ? { body: MARKUP } : undefined) },
    );
    await update({ Twiml: dial });
    await rig.passUntil(() => rig.server.messages.filter(({ event }) => event === 'start').length === 2);
    const [action] = rig.server.webhooks.filter(({ form }) => form.has('DialCallStatus'));
    expect(action?.path).toBe('/webhooks/carrier-a/voice?callId=c1&transfer=1');
    const child = rig.simulator.legs.at(-1);
    expect(Object.fromEntries(action?.form ?? [])).toMatchObject({
      CallSid: leg.carrierCallId,
      CallStatus: 'in-progress',
      DialCallSid: child?.carrierCallId,
      DialCallStatus: status,
      DialBridged: 'false',
    });
    expect(child).toMatchObject({ direction: 'outbound', facts: { from: OWN, to: THIRD } });
    await update({ Status: 'completed' });
    await rig.pass(report);
    expect(leg.reports.map(({ end }) => end?.how)).toEqual(['transfer', 'hang-up']);
    expect(leg.violations).toEqual([]);
  });

  it('that is transferred stays up until the other one hangs up', async () => {
    const { leg, report, update } = await startCall(
      { transferTo: { type: 'human', script: [{ type: 'pause', durationMs: 4000 }, { type: 'hang-up' }] } },
      { answer: ({ form }) => (form.has('DialCallStatus') ? { body: '<Response/>' } : undefined) },
    );
    await update({ Twiml: dial });
    await rig.pass(report);
    const action = rig.server.webhooks.find(({ form }) => form.has('DialCallStatus'))?.form;
    expect(action?.get('DialCallStatus')).toBe('completed');
    expect(action?.get('DialBridged')).toBe('true');
    expect(action?.get('DialCallDuration')).toMatch(/^[45]$/);
    expect(leg.durationMs).toBeGreaterThan(4000);
    expect(rig.simulator.requests.map(({ purpose }) => purpose)).toEqual(['transfer']);
  });

  it('ends the other leg when the caller hangs up, and says so', async () => {
    const { report, update } = await startCall({
      script: [{ type: 'pause', durationMs: 3000 }, { type: 'hang-up' }],
    });
    await update({ Twiml: dial });
    await rig.pass(report);
    await rig.pass(rig.simulator.settled());
    expect(rig.simulator.legs.map(({ isOver }) => isOver)).toEqual([true, true]);
    const action = rig.server.webhooks.find(({ form }) => form.has('DialCallStatus'))?.form;
    expect(action?.get('CallStatus')).toBe('completed');
  });

  it('takes its instructions from a URL as well', async () => {
    const { leg, report, update } = await startCall(
      {},
      {
        answer: ({ path }) =>
          path === '/more' ? { body: '<Response><Say>More</Say></Response>' } : undefined,
      },
    );
    await update({ Url: `https://${HOST}/more` });
    await rig.pass(report);
    expect(leg.spoken).toEqual(['More']);
  });

  it('is refused when it is over: the caller was faster', async () => {
    const { report, update } = await startCall({ script: [{ type: 'hang-up' }] });
    await rig.pass(report);
    expect(await update({ Status: 'completed' })).toMatchObject({ status: 400, body: { code: 21_220 } });
    expect(await update({ Twiml: '<Response/>' })).toMatchObject({ status: 400, body: { code: 21_220 } });
  });

  it('that has been answered cannot be canceled', async () => {
    const { leg, update } = await startCall();
    expect(await update({ Status: 'canceled' })).toMatchObject({
      status: 200,
      body: { status: 'in-progress' },
    });
    expect(leg.isOver).toBe(false);
  });

  it('can be told of a callee by number for the second leg', async () => {
    rig = await startRig({
      server: { answer: () => ({ body: '<Response/>' }) },
      simulator: { callees: { [THIRD]: { type: 'busy' } } },
    });
    const leg = await rig.dial({ Twiml: dial, Url: '' });
    await rig.pass(rig.simulator.settled());
    expect(leg.isOver).toBe(true);
    expect(
      valuesOf(
        rig.server.webhooks.filter(({ form }) => form.has('DialCallStatus')),
        'DialCallStatus',
      ),
    ).toEqual([['busy']]);
  });
});
