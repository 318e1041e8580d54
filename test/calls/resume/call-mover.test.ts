import { describe, expect, it } from 'vitest';
import { CallMover, type MovableCall } from '../../../src/calls/resume/call-mover.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

function setUp(count: number) {
  const clock = new FakeClock();
  const logger = new RecordedLogger();
  /** Calls whose next stream is asked for, and those that were sent without one, in order. */
  const [asked, sent]: [string[], string[]] = [[], []];
  const calls = Array.from({ length: count }, (_, index) => {
    const callId = `call-${index}`;
    const call = {
      callId,
      carrierCallId: null,
      wayOut: 'stream' as MovableCall['wayOut'],
      isQuiet: true,
      mayLeave: true,
      awaitsStream: false,
      renewStream() {
        call.awaitsStream = true;
        asked.push(callId);
      },
    };
    return call;
  });
  const other = { isStill: false };
  const mover = new CallMover({
    isReceived: () => !other.isStill,
    calls: () => calls,
    send: ({ callId }) => void sent.push(callId),
    clock,
    logger,
  });
  const takeOver = (callId: string) =>
    void calls.splice(
      calls.findIndex((call) => call.callId === callId),
      1,
    );
  return { clock, logger, calls, asked, sent, mover, other, takeOver };
}

describe('calls on their way to another process', () => {
  it('have their streams replaced four at a time', () => {
    const { clock, asked, mover, takeOver } = setUp(6);
    mover.start();
    expect(asked).toEqual(['call-0', 'call-1', 'call-2', 'call-3']);
    clock.advance(100);
    expect(asked.length).toBe(4);
    takeOver('call-2');
    clock.advance(20);
    expect(asked.slice(4)).toEqual(['call-4']);
    expect([mover.isMoving('call-4'), mover.isMoving('call-5')]).toEqual([true, false]);
    mover.stop();
    expect(clock.pending).toBe(0);
  });

  it('leave room for others after a stream that does not come, and are tried again', () => {
    const { clock, asked, logger, mover } = setUp(5);
    mover.start();
    clock.advance(2980);
    expect(asked.length).toBe(4);
    clock.advance(40);
    expect(asked.slice(4)).toEqual(['call-4']);
    expect(mover.isMoving('call-0')).toBe(false);
    expect(logger.lines.filter(({ level }) => level === 'warn').length).toBe(4);
    clock.advance(5040);
    expect(asked.slice(5)).toEqual(['call-0', 'call-1', 'call-2', 'call-3']);
  });

  it('go when nobody speaks, and after five seconds in any case', () => {
    const { clock, calls, asked, mover } = setUp(2);
    for (const call of calls) call.isQuiet = false;
    mover.start();
    clock.advance(1000);
    expect(asked).toEqual([]);
    const [first] = calls;
    if (first) first.isQuiet = true;
    clock.advance(20);
    expect(asked).toEqual(['call-0']);
    clock.advance(3960);
    expect(asked.length).toBe(1);
    clock.advance(40);
    expect(asked).toEqual(['call-0', 'call-1']);
  });

  it('leave room for others once their streams have come here, and are tried again after longer and longer', () => {
    const { clock, calls, asked, mover } = setUp(5);
    const comeHere = () => {
      for (const call of calls) call.awaitsStream = false;
    };
    mover.start();
    expect(asked).toHaveLength(4);
    comeHere();
    clock.advance(40);
    expect(asked.slice(4)).toEqual(['call-4']);
    calls.splice(1);
    const at = () => asked.filter((callId) => callId === 'call-0').length;
    for (const [tries, pauseMs] of [1000, 2000, 4000, 8000].entries()) {
      comeHere();
      clock.advance(pauseMs - 40);
      expect(at()).toBe(tries + 1);
      clock.advance(80);
      expect(at()).toBe(tries + 2);
    }
  });

  it('stay while that process stands still', () => {
    const { clock, calls, asked, sent, mover, other } = setUp(2);
    const [, dialed] = calls;
    if (dialed !== undefined) dialed.wayOut = 'state';
    other.isStill = true;
    mover.start();
    clock.advance(20_000);
    expect([asked, sent, mover.isMoving('call-0')]).toEqual([[], [], false]);
    other.isStill = false;
    clock.advance(20);
    expect([asked, sent]).toEqual([['call-0'], ['call-1']]);
  });

  it('do not wait for a place without a stream', () => {
    const { calls, asked, sent, mover } = setUp(6);
    for (const call of calls.slice(4)) call.wayOut = 'state';
    mover.start();
    expect([asked.length, sent]).toEqual([4, ['call-4', 'call-5']]);
  });

  it('stay where they are kept, or have no way out', () => {
    const { clock, calls, asked, mover } = setUp(2);
    const [first] = calls;
    if (first) first.wayOut = undefined;
    mover.keep('call-1');
    mover.start();
    clock.advance(60_000);
    expect(asked).toEqual([]);
  });
});
