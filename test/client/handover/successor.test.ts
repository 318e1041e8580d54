import { expect, it } from 'vitest';
import { Successor } from '../../../src/client/handover/successor.js';
import { CallBench } from '../../support/call-bench.js';

const KEY = new Uint8Array([1, 2, 3]);

it('an invited call whose stream is claimed for the next process is none of this one any more', () => {
  const { desk, clock, logger } = new CallBench({ key: KEY });
  const nothing = () => {};
  const successor = new Successor(
    { path: 'nowhere', desk, clock, logger, timeoutMs: 1000 },
    { ready: nothing, done: nothing, refused: async () => {}, died: nothing },
  );
  desk.ring({
    callId: 'call-1',
    carrierCallId: 'carrier-1',
    caller: '+15550111',
    callee: '+15550100',
    direction: 'inbound',
    host: 'voice.example.com',
  });
  // While its place is kept, the stream belongs here.
  expect([successor.claim('call-1'), desk.isInvited('call-1')]).toEqual(['here', true]);
  clock.advance(10_000);
  expect([successor.claim('call-1'), desk.isInvited('call-1')]).toEqual([undefined, false]);
});
