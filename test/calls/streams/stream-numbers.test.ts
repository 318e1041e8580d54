// Each stream of a call has a number, and opens once.
import { expect, it } from 'vitest';
import { CallBench, startText, text } from '../../support/call-bench.js';

const KEY = new Uint8Array([1, 2, 3]);
const PARTIES = { caller: '+15550111', callee: '+15550100', direction: 'inbound' } as const;

/** A call with stream 1, of a carrier that asks what comes next. */
function up(options: { resumes?: boolean } = {}) {
  const bench = new CallBench({ key: KEY, resumes: true, ...options });
  bench.ring();
  const { receiver, socket } = bench.admit({
    callId: 'call-1',
    carrierCallId: 'carrier-call-1',
    ...PARTIES,
    number: 1,
  });
  receiver.receiveText(startText({ carrierCallId: 'carrier-call-1' }));
  return { bench, receiver, socket };
}

const resumed = (bench: CallBench, number: number) =>
  bench.desk.report(
    { type: 'resume', number, callId: 'call-1', carrierCallId: 'carrier-call-1' },
    'voice.example',
  );

const takes = (bench: CallBench, number: number) => bench.desk.expectsStream('call-1', number);

it('is invited with the address that goes on with the call', () => {
  const { bench } = up();
  expect(resumed(bench, 2)).toMatchObject({
    type: 'stream',
    resume: { url: 'https://voice.example/webhooks/carrier-a/resume/call-1/3', holdSeconds: 2 },
  });
});

it('is refused a second time, and beside one that brings audio', async () => {
  const { bench, receiver } = up();
  expect([takes(bench, 1), takes(bench, 2)]).toEqual([false, false]);
  resumed(bench, 2);
  receiver.receiveText(text({ type: 'audio', samples: 0 }));
  await bench.pass(900);
  expect(takes(bench, 2)).toBe(false);
});

it('takes the place of one that has brought nothing for a second', async () => {
  const { bench, receiver, socket } = up();
  resumed(bench, 2);
  receiver.receiveText(text({ type: 'audio', samples: 0 }));
  await bench.pass(1000);
  expect([takes(bench, 1), takes(bench, 2)]).toEqual([false, true]);
  const next = bench.admit({ callId: 'call-1', carrierCallId: 'carrier-call-1', ...PARTIES, number: 2 });
  next.receiver.receiveText(startText({ carrierCallId: 'carrier-call-1' }));
  expect(socket.closes).toHaveLength(1);
  expect(bench.engines).toHaveLength(1);
  expect(bench.engine.heard).toContain('hold');
  expect(bench.ofType('call.ended')).toEqual([]);
  expect(bench.ofType('incident.noted')).toHaveLength(1);
  expect(takes(bench, 2)).toBe(false);
});

it('ends the call that has no working one after four', () => {
  const { bench, receiver } = up();
  receiver.socketClosed(1006);
  expect(takes(bench, 2)).toBe(true);
  for (const number of [2, 3, 4]) expect(resumed(bench, number)).toMatchObject({ type: 'stream' });
  expect(resumed(bench, 5)).toEqual({ type: 'hang-up' });
});

it('is hung up on behind the end of the call', () => {
  const { bench, receiver } = up();
  receiver.receiveText(text({ type: 'stop' }));
  expect(bench.ofType('call.ended')).toHaveLength(1);
  expect(resumed(bench, 2)).toEqual({ type: 'hang-up' });
});

it('is the only way on for a call whose carrier never asks', () => {
  const { bench, receiver } = up({ resumes: false });
  receiver.socketClosed(1006);
  expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'stream-lost' }]);
});
