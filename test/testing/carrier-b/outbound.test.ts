import { describe, expect, it } from 'vitest';
import type {
  CarrierBCallee,
  CarrierBSimulatorOptions,
  MachineDetection,
} from '../../../src/testing/carrier-b/options.js';
import {
  CONNECTION_ID,
  moveBy,
  moveUntil,
  moveWhile,
  nextCommandId,
  startScene,
  STREAM_FIELDS,
  type PhoneOptions,
} from './fake-phone.js';

const TO = '+15005550030';

async function start(
  callee: CarrierBCallee,
  options: Partial<CarrierBSimulatorOptions> = {},
  phoneOptions: PhoneOptions = {},
) {
  const { phone, ...scene } = await startScene(phoneOptions, { callees: { '*': callee }, ...options });
  const dial = (fields: Record<string, unknown> = {}) =>
    phone.request('POST', '/calls', {
      connection_id: CONNECTION_ID,
      to: TO,
      from: '+15005550010',
      command_id: nextCommandId(),
      client_state: Buffer.from('{"callId":"c1"}').toString('base64'),
      ...fields,
    });
  return { ...scene, phone, dial };
}

describe('an outbound call', () => {
  it('rings, is answered, talks and is hung up by the callee', async () => {
    const script = [{ type: 'pause', durationMs: 300 }, { type: 'hang-up' }] as const;
    const { clock, phone, simulator, dial } = await start(
      { type: 'human', ringMs: 1000, script },
      {},
      {
        onEvent(event, server) {
          const { call_control_id: id } = event.payload;
          if (event.type === 'call.answered') void server.command(id, 'streaming_start', STREAM_FIELDS);
        },
      },
    );
    const answer = await dial();
    expect(answer).toMatchObject({ status: 200, body: { data: { record_type: 'call', is_alive: false } } });
    await moveWhile(clock, simulator.settled());
    expect(phone.eventTypes()).toEqual([
      'call.initiated',
      'call.answered',
      'streaming.started',
      'streaming.stopped',
      'call.hangup',
    ]);
    const state = Buffer.from('{"callId":"c1"}').toString('base64');
    expect(phone.events.map(({ payload }) => payload.client_state)).toEqual(phone.events.map(() => state));
    expect(phone.events[0]?.payload).toMatchObject({
      call_control_id: answer.body.data?.call_control_id,
      direction: 'outgoing',
      state: 'bridging',
      to: TO,
    });
    const [leg] = simulator.legs;
    expect(leg).toMatchObject({ direction: 'outbound', violations: [], hangupCause: 'normal_clearing' });
    expect(leg?.reports[0]).toMatchObject({ ok: true, end: { by: 'caller', how: 'hang-up' } });
    expect(phone.streams[0]?.messages[1]?.start?.client_state).toBe(state);
  });

  it.each<[CarrierBCallee, string, string, Record<string, unknown>]>([
    [{ type: 'busy' }, 'user_busy', '486', {}],
    [{ type: 'rejects' }, 'call_rejected', '603', {}],
    [{ type: 'unreachable' }, 'not_found', '404', {}],
    [{ type: 'no-answer', ringMs: 2000 }, 'no_answer', '480', {}],
    [{ type: 'no-answer' }, 'timeout', '487', { timeout_secs: 5 }],
    [{ type: 'no-answer' }, 'no_answer', '480', { timeout_secs: 5, retry_on_timeout: false }],
    [{ type: 'human', ringMs: 20_000 }, 'timeout', '487', { timeout_secs: 5 }],
  ])('to %j ends with %s', async (callee, cause, sip, fields) => {
    const { clock, phone, simulator, dial } = await start(callee);
    await dial(fields);
    await moveWhile(clock, simulator.settled());
    expect(phone.eventTypes()).toEqual(['call.initiated', 'call.hangup']);
    expect(phone.find('call.hangup')?.payload).toMatchObject({ hangup_cause: cause, sip_hangup_cause: sip });
    expect(simulator.legs[0]?.reports).toEqual([]);
  });

  it('can be called off while it rings, and cannot be answered', async () => {
    const { clock, phone, simulator, dial } = await start({ type: 'no-answer' });
    await dial();
    const id = simulator.legs[0]?.carrierCallId;
    expect((await phone.command(id, 'answer')).body.errors?.[0]?.code).toBe('90102');
    expect((await phone.command(id, 'streaming_start', STREAM_FIELDS)).body.errors?.[0]?.code).toBe('90034');
    expect((await phone.command(id, 'hangup')).status).toBe(200);
    await moveWhile(clock, simulator.settled());
    expect(simulator.legs[0]).toMatchObject({
      hangupCause: 'originator_cancel',
      violations: ['answer: the leg is an outbound one', 'streaming_start: the call is not answered yet'],
    });
  });

  it('opens the socket of a dial early, and starts it with the answer', async () => {
    const { clock, phone, simulator, dial } = await start({ type: 'human', ringMs: 2000 });
    await dial(STREAM_FIELDS);
    await moveUntil(clock, () => phone.streams[0]?.messages.length === 1);
    await moveBy(clock, 500);
    expect(phone.streams[0]?.messages.map(({ event }) => event)).toEqual(['connected']);
    expect(phone.find('streaming.started')).toBeUndefined();
    await moveUntil(clock, () => (phone.streams[0]?.messages.length ?? 0) > 3);
    expect(phone.eventTypes()).toEqual(['call.initiated', 'call.answered', 'streaming.started']);
    simulator.legs[0]?.hangUp();
    await moveWhile(clock, simulator.settled());
    expect(simulator.legs[0]).toMatchObject({ violations: [], reports: [{ ok: true }] });
  });

  it('closes an early socket without start when nobody answers', async () => {
    const { clock, phone, simulator, dial } = await start({ type: 'no-answer', ringMs: 2000 });
    await dial(STREAM_FIELDS);
    await moveWhile(clock, simulator.settled());
    expect(phone.streams[0]?.messages.map(({ event }) => event)).toEqual(['connected']);
    expect(phone.eventTypes()).toEqual(['call.initiated', 'call.hangup']);
    expect(simulator.legs[0]?.reports).toEqual([]);
  });

  it('opens it with the answer where it is not early', async () => {
    const { clock, phone, simulator, dial } = await start(
      { type: 'human', ringMs: 500 },
      { earlySocket: false },
    );
    await dial(STREAM_FIELDS);
    await moveBy(clock, 300);
    expect(phone.streams).toHaveLength(0);
    await moveUntil(clock, () => (phone.streams[0]?.messages.length ?? 0) > 3);
    simulator.legs[0]?.hangUp();
    await moveWhile(clock, simulator.settled());
  });

  it('is over at its time limit', async () => {
    const { clock, simulator, dial } = await start({ type: 'human' });
    await dial({ time_limit_secs: 60 });
    await moveBy(clock, 1000);
    clock.advance(58_000);
    expect(simulator.legs[0]?.isOver).toBe(false);
    await moveWhile(clock, simulator.settled());
    expect(simulator.legs[0]?.hangupCause).toBe('time_limit');
  });
});

describe('machine detection', () => {
  const MACHINE: CarrierBCallee = { type: 'machine', greetingMs: 4000, silenceMs: 4000 };
  const verdict = (result: string) => ['call.machine.premium.detection.ended', result];
  const greeting = (result: string) => ['call.machine.premium.greeting.ended', result];

  it.each<[string, CarrierBCallee, MachineDetection, string[][]]>([
    ['a person', { type: 'human' }, 'as-called', [verdict('human_residence')]],
    ['a machine, then its beep', MACHINE, 'as-called', [verdict('machine'), greeting('beep_detected')]],
    ['both the other way round', MACHINE, 'reversed', [greeting('beep_detected'), verdict('machine')]],
    ['a beep alone', { ...MACHINE, greetingMs: 1000 }, 'as-called', [greeting('beep_detected')]],
    ['no beep', { ...MACHINE, beep: false }, 'as-called', [verdict('machine'), greeting('no_beep_detected')]],
    ['a verdict alone', MACHINE, 'no-greeting', [verdict('machine')]],
    ['doubt', { type: 'human' }, 'not-sure', [verdict('not_sure')]],
    ['silence', { type: 'human' }, 'silence', [verdict('silence')]],
    ['a fax', { type: 'fax' }, 'as-called', [verdict('fax_detected')]],
  ])('tells %s', async (_, callee, machineDetection, expected) => {
    const { clock, phone, simulator, dial } = await start(callee, { machineDetection });
    await dial({ answering_machine_detection: 'premium' });
    await moveUntil(clock, () => phone.find('call.answered') !== undefined);
    await moveBy(clock, 7900);
    const told = phone.events
      .filter(({ type }) => type.startsWith('call.machine'))
      .map(({ type, payload }) => [type, payload.result]);
    expect(told).toEqual(expected);
    await phone.command(simulator.legs[0]?.carrierCallId, 'hangup');
    await moveWhile(clock, simulator.settled());
  });

  it.each([
    ['detect', ['call.machine.detection.ended', 'machine']],
    [
      'detect_beep',
      ['call.machine.detection.ended', 'machine'],
      ['call.machine.greeting.ended', 'beep_detected'],
    ],
    [
      'greeting_end',
      ['call.machine.detection.ended', 'machine'],
      ['call.machine.greeting.ended', 'beep_detected'],
    ],
  ])('knows the mode %s', async (mode, ...expected) => {
    const { clock, phone, simulator, dial } = await start(MACHINE);
    await dial({ answering_machine_detection: mode });
    await moveWhile(clock, simulator.settled());
    const told = phone.events.filter(({ type }) => type.startsWith('call.machine'));
    expect(told.map(({ type, payload }) => [type, payload.result])).toEqual(expected);
    // The machine has recorded silence, and hangs up.
    expect(simulator.legs[0]?.hangupCause).toBe('normal_clearing');
  });

  it('gives no verdict about one who hangs up before', async () => {
    const script = [{ type: 'pause', durationMs: 60_000 }, { type: 'hang-up' }] as const;
    const { clock, phone, simulator, dial } = await start({ type: 'human', script });
    await dial({ answering_machine_detection: 'premium' });
    await moveUntil(clock, () => phone.find('call.answered') !== undefined);
    simulator.legs[0]?.hangUp();
    await moveBy(clock, 10_000);
    expect(phone.eventTypes()).toEqual(['call.initiated', 'call.answered', 'call.hangup']);
  });

  it('a machine hears the voice of the carrier, and waits for its end', async () => {
    const { clock, phone, simulator, dial } = await start({ ...MACHINE, greetingMs: 500 });
    await dial({ answering_machine_detection: 'premium' });
    await moveUntil(clock, () => phone.find('call.machine.premium.greeting.ended') !== undefined);
    const payload = 'x'.repeat(200);
    await phone.command(simulator.legs[0]?.carrierCallId, 'speak', { payload, voice: 'female' });
    await moveUntil(clock, () => phone.find('call.speak.ended') !== undefined);
    expect(phone.find('call.speak.ended')?.payload.status).toBe('completed');
    await moveWhile(clock, simulator.settled());
  });
});
