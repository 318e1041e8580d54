// A carrier that asks what comes after a stream may ask at any moment: what else is going on with the call goes on.
import { expect, it } from 'vitest';
import { CarrierError } from '../../../src/base/errors.js';
import type { StreamReceiver } from '../../../src/calls/call-desk.js';
import { NOBODY_WAITS } from '../../../src/conversation/wait.js';
import { CallBench, startText, text } from '../../support/call-bench.js';

const KEY = new Uint8Array([1, 2, 3]);
const NAMED = { callId: 'call-1', carrierCallId: 'carrier-call-1' } as const;
const PARTIES = { caller: '+15550111', callee: '+15550100', direction: 'inbound' } as const;
const never = new Promise<void>(() => {});

/** A call with stream 1. */
function up() {
  const bench = new CallBench({ key: KEY, resumes: true });
  bench.ring();
  return { bench, ...open(bench, 1) };
}

function open(bench: CallBench, number: number) {
  const { receiver, socket } = bench.admit({ ...NAMED, ...PARTIES, number });
  receiver.receiveText(startText());
  return { receiver, socket };
}

/** Stream `number - 1` is over for the carrier. */
const ask = (bench: CallBench, number: number) =>
  bench.desk.report({ type: 'resume', number, ...NAMED }, 'voice.example');

/** A second of audio. */
function work(receiver: StreamReceiver): void {
  for (let frame = 0; frame < 50; frame += 1) receiver.receiveText(text({ type: 'audio', samples: 0 }));
}

const ended = (bench: CallBench) => bench.ofType('call.ended');

it('leaves a caller alone who is being handed over', async () => {
  const { bench, receiver } = up();
  await bench.desk.transfer('call-1', '+15550155');
  receiver.receiveText(text({ type: 'stop' }));
  // It was on its way when the order came.
  expect(ask(bench, 2)).toMatchObject({ type: 'hold' });
  await bench.pass(40_000);
  expect(ended(bench)).toEqual([]);
});

it('keeps a caller whose transfer the carrier has not taken yet, and goes on when it refuses', async () => {
  const { bench, receiver } = up();
  let refuse = (_: Error) => {};
  bench.rest.answers.transfer = new Promise((_, reject) => {
    refuse = reject;
  });
  const ordered = bench.desk.transfer('call-1', '+15550155').catch(() => 'refused');
  receiver.socketClosed(1006);
  const answer = ask(bench, 2);
  expect(answer).toMatchObject({ type: 'hold' });
  refuse(new CarrierError('No.', { status: 400, retryable: false }));
  expect(await ordered).toBe('refused');
  expect(bench.desk.expectsStream('call-1', 9)).toBe(true);
  expect(ask(bench, 3)).toMatchObject({ type: 'stream' });
});

it('does not cut short the time that keys take', async () => {
  const { bench, receiver } = up();
  const sent = bench.desk.sendDigits('call-1', 'W'.repeat(32));
  await bench.pass();
  await sent;
  receiver.receiveText(text({ type: 'stop' }));
  ask(bench, 2);
  await bench.pass(35_000);
  expect(ended(bench)).toEqual([]);
});

it('is kept while the carrier is told what to say last', async () => {
  const { bench } = up();
  bench.rest.answers.speak = never;
  const failure = { code: 'X', message: '', wait: NOBODY_WAITS };
  bench.engine.context.endCall('provider-failed', failure);
  await bench.pass();
  expect(bench.rest.of('speak')).toHaveLength(1);
  const first = ask(bench, 2);
  expect(first).toMatchObject({ type: 'hold', resume: { holdSeconds: 1 } });
});

it('goes on after trouble long ago, also where the stream is dead without our knowing', async () => {
  const { bench, receiver } = up();
  let last = receiver;
  for (let number = 2; number <= 5; number += 1) {
    last.socketClosed(1006);
    last = open(bench, number).receiver;
  }
  work(last);
  await bench.pass(1500);
  expect(ask(bench, 9)).toMatchObject({ type: 'stream' });
});

it('does not fail because a request fails that came too late', async () => {
  const { bench, receiver } = up();
  let fail = () => {};
  bench.rest.answers.openStream = new Promise((_, reject) => {
    fail = () => reject(new Error('too late'));
  });
  receiver.socketClosed(1006);
  await bench.pass(2000);
  ask(bench, 2);
  fail();
  await bench.pass(6000);
  expect(ended(bench)).toEqual([]);
});

it('goes on when the first stream is lost before it has said what it is', async () => {
  const bench = new CallBench({ key: KEY, resumes: true });
  bench.ring();
  const { receiver } = bench.admit({ ...NAMED, ...PARTIES, number: 1 });
  receiver.socketClosed(1006);
  expect(ended(bench)).toEqual([]);
  expect(ask(bench, 2)).toMatchObject({ type: 'stream' });
  open(bench, 3);
  await bench.pass(20_000);
  expect(ended(bench)).toEqual([]);
  expect(bench.engines).toHaveLength(1);
});

it('ends the call whose first stream is lost again and again before it has said what it is', async () => {
  const bench = new CallBench({ key: KEY, resumes: true });
  bench.ring();
  for (let number = 1; number <= 5; number += 1) {
    bench.admit({ ...NAMED, ...PARTIES, number }).receiver.socketClosed(1006);
    await bench.pass(1000);
  }
  expect(ended(bench)).toMatchObject([{ endReason: 'stream-lost' }]);
  expect(ask(bench, 9)).toEqual({ type: 'hang-up' });
});
