import { describe, expect, it } from 'vitest';
import type { CallerStep } from '../../../src/testing/caller-script.js';
import type { CarrierBSimulatorOptions } from '../../../src/testing/carrier-b/options.js';
import type { Callee } from '../../../src/testing/simulator.js';
import { answerCalls, moveBy, moveUntil, moveWhile, startScene } from './fake-phone.js';

const TALK: CallerStep[] = [{ type: 'pause', durationMs: 60_000 }, { type: 'hang-up' }];
const TO = '+15005550044';
const STATE = Buffer.from('{"callId":"c1","leg":"transfer"}').toString('base64');

/** A call that talks, and is transferred. */
async function transferred(transferTo: Callee | undefined, options: Partial<CarrierBSimulatorOptions> = {}) {
  const { clock, phone, simulator } = await startScene(
    {
      onEvent(event, server) {
        if (event.payload.client_state !== STATE) answerCalls(event, server);
      },
    },
    options,
  );
  const running = simulator.call({ script: TALK, ...(transferTo === undefined ? {} : { transferTo }) });
  await moveUntil(clock, () => (phone.streams[0]?.messages.length ?? 0) > 5);
  const [first] = simulator.legs;
  const fields = { to: TO, timeout_secs: 10, target_leg_client_state: STATE };
  const answer = await phone.command(first?.carrierCallId, 'transfer', fields);
  const ofSecond = () =>
    phone.events.filter(({ payload }) => payload.call_control_id === simulator.legs[1]?.carrierCallId);
  return { clock, phone, simulator, running, first, answer, ofSecond };
}

describe('a transfer', () => {
  it('dials a leg, connects it, keeps the stream open, and ends both legs together', async () => {
    const { clock, phone, simulator, running, first, answer, ofSecond } = await transferred({
      type: 'human',
      ringMs: 1000,
    });
    expect(answer.status).toBe(200);
    await moveUntil(clock, () => phone.eventTypes().filter((type) => type === 'call.bridged').length === 2);
    const [, second] = simulator.legs;
    expect(second).toMatchObject({
      direction: 'outbound',
      to: TO,
      from: '+15005550010',
      clientState: STATE,
      callSessionId: first?.callSessionId,
      bridgedWith: first,
    });
    expect(ofSecond().map(({ type }) => type)).toEqual(['call.initiated', 'call.answered', 'call.bridged']);
    expect(ofSecond()[0]?.payload).toMatchObject({ direction: 'outgoing', client_state: STATE });
    expect(phone.find('streaming.stopped')).toBeUndefined();
    await phone.command(first?.carrierCallId, 'streaming_stop');
    await moveBy(clock, 100);
    expect(phone.find('streaming.stopped')).toBeDefined();
    expect(first?.isOver).toBe(false);
    second?.hangUp();
    const report = await moveWhile(clock, running);
    await moveWhile(clock, simulator.settled());
    expect(report).toMatchObject({ ok: true, end: { by: 'agent', how: 'transfer' } });
    const hangups = phone.events.filter(({ type }) => type === 'call.hangup');
    expect(new Set(hangups.map(({ payload }) => payload.call_control_id)).size).toBe(2);
    expect(simulator.legs.map(({ violations }) => violations)).toEqual([[], []]);
  });

  it.each([
    ['caller', 0],
    ['target', 1],
  ] as const)('can tell the connection with the %s alone', async (bridgedLegs, index) => {
    const { clock, phone, simulator, running } = await transferred({ type: 'human' }, { bridgedLegs });
    await moveUntil(clock, () => phone.find('call.bridged') !== undefined);
    await moveBy(clock, 200);
    const bridged = phone.events.filter(({ type }) => type === 'call.bridged');
    expect(bridged.map(({ payload }) => payload.call_control_id)).toEqual([
      simulator.legs[index]?.carrierCallId,
    ]);
    simulator.legs[0]?.hangUp();
    await moveWhile(clock, running);
    await moveWhile(clock, simulator.settled());
  });

  it.each<[Callee, string]>([
    [{ type: 'busy' }, 'user_busy'],
    [{ type: 'no-answer', ringMs: 1000 }, 'no_answer'],
    [{ type: 'no-answer' }, 'timeout'],
    [{ type: 'unreachable' }, 'not_found'],
  ])('to %j fails, and the call goes on', async (callee, cause) => {
    const { clock, phone, simulator, running, first, ofSecond } = await transferred(callee);
    await moveUntil(clock, () => ofSecond().some(({ type }) => type === 'call.hangup'));
    expect(ofSecond().map(({ type }) => type)).toEqual(['call.initiated', 'call.hangup']);
    expect(ofSecond()[1]?.payload).toMatchObject({ hangup_cause: cause, client_state: STATE });
    expect(first).toMatchObject({ isOver: false, violations: [] });
    const sent = phone.streams[0]?.messages.length ?? 0;
    await moveBy(clock, 200);
    expect(phone.streams[0]?.messages.length).toBeGreaterThan(sent);
    expect((await phone.command(first?.carrierCallId, 'transfer', { to: TO })).status).toBe(200);
    first?.hangUp();
    expect((await moveWhile(clock, running)).ok).toBe(true);
    await moveWhile(clock, simulator.settled());
  });

  it('is called off when the caller hangs up meanwhile', async () => {
    const { clock, simulator, running, first } = await transferred({ type: 'no-answer' });
    first?.hangUp();
    await moveWhile(clock, running);
    await moveWhile(clock, simulator.settled());
    expect(simulator.legs[1]?.hangupCause).toBe('originator_cancel');
  });

  it('reaches who answers at the number, and only one at a time', async () => {
    const { clock, phone, simulator, running, first } = await transferred(undefined, {
      callees: { [TO]: { type: 'no-answer' } },
    });
    const second = await phone.command(first?.carrierCallId, 'transfer', { to: TO });
    expect(second.status).toBe(422);
    const senseless = await phone.command(first?.carrierCallId, 'transfer', { to: 'nobody' });
    expect(senseless.status).toBe(422);
    await moveUntil(clock, () => simulator.legs[1]?.isOver === true);
    expect(simulator.legs[1]?.hangupCause).toBe('timeout');
    expect(first?.violations).toHaveLength(1);
    first?.hangUp();
    await moveWhile(clock, running);
  });
});
