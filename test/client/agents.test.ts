import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CarrierError } from '../../src/base/errors.js';
import type { CallEvent } from '../../src/contract/call-event.js';
import { refusal } from '../options/refusal.js';
import { ClientBench, toneVoice, until } from '../support/client-bench.js';
import { createPlainCarrier, PlainRest } from '../support/plain-carrier.js';

let bench: ClientBench;

beforeEach(async () => {
  bench = await ClientBench.open();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe('the name of an agent', () => {
  it('is given once by a client', () => {
    const { phone } = bench;
    phone.agent({ name: 'desk' });
    expect(refusal(() => phone.agent({ name: 'desk' }))).toMatchObject({
      code: 'CONFIG_CONFLICT',
      message: 'name must be unique: this client already has an agent named "desk".',
    });
    phone.agent({ name: 'desk-2' });
    phone.agent({});
    phone.agent({});
    bench.create().agent({ name: 'desk' });
  });

  it('is free while an agent was refused for something else', () => {
    const { phone } = bench;
    expect(refusal(() => phone.agent({ name: 'desk', language: 'klingon' })).code).toBe('CONFIG_INVALID');
    expect(phone.agent({ name: 'desk' }).options.name).toBe('desk');
  });

  it('is told with its calls: in facts, callbacks, record and REST', async () => {
    const [events, told]: [CallEvent[], (string | null)[]] = [[], []];
    const server = await bench.serve(
      { onCallStart: ({ agent }) => void told.push(agent), onCallEnd: ({ agent }) => void told.push(agent) },
      { name: 'front-desk', tts: toneVoice },
    );
    server.events.subscribe((event) => void events.push(event));
    const call = await bench.dial('+15550111');
    await until(async () => (await bench.active())[0]?.agent === 'front-desk');
    call.hangUp();
    await call.closed;
    await until(async () => (await bench.finished()).length === 1);
    expect((await bench.finished())[0]).toMatchObject({ agent: 'front-desk', outcome: 'answered' });
    expect(told).toEqual(['front-desk', 'front-desk']);
    expect(events.find(({ type }) => type === 'call.started')).toMatchObject({ agent: 'front-desk' });
  });

  it('is told with the language of the agent', async () => {
    const events: CallEvent[] = [];
    const server = await bench.serve({}, { language: 'de-CH', tts: toneVoice });
    server.events.subscribe((event) => void events.push(event));
    const call = await bench.dial('+15550111');
    await until(async () => (await bench.active())[0]?.language === 'de-CH');
    call.hangUp();
    await call.closed;
    expect(events.find(({ type }) => type === 'call.started')).toMatchObject({ language: 'de-CH' });
  });

  it('is null of an agent that has none', async () => {
    const server = await bench.serve();
    const events: CallEvent[] = [];
    server.events.subscribe((event) => void events.push(event));
    const call = await bench.dial('+15550111');
    call.hangUp();
    await call.closed;
    await until(async () => (await bench.finished()).length === 1);
    expect((await bench.finished())[0]?.agent).toBeNull();
    expect(events.find(({ type }) => type === 'call.started')).not.toHaveProperty('agent');
  });

  it('is that of the agent that a call is placed with, answered or not', async () => {
    const rest = new PlainRest();
    rest.failure = new CarrierError('The number cannot be reached.', { status: 400, retryable: false });
    bench.phone = bench.create({ carrier: createPlainCarrier({ rest }), webhookUrl: 'voice.example.com' });
    await bench.serve({}, { name: 'desk', tts: toneVoice });
    const sales = bench.phone.agent({ name: 'sales', tts: toneVoice });
    for (const agent of [sales, undefined])
      await expect(bench.phone.call({ to: '+15550111', agent })).rejects.toThrow(CarrierError);
    await until(async () => (await bench.finished()).length === 2);
    expect((await bench.finished()).map(({ agent }) => agent).sort()).toEqual(['desk', 'sales']);
  });
});
