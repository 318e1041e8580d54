import { expect, it } from 'vitest';
import type { CallRecordings } from '../../../src/calls/recording/call-recordings.js';
import { CallBench, text } from '../../support/call-bench.js';

it('a key that may be a secret pauses from a second before it, or from the beginning of the recording', () => {
  const pauses: [by: string, atMs: number][] = [];
  const live = {
    tape: undefined,
    isPausedBy: () => false,
    pause: (by: string, atMs: number) => void pauses.push([by, atMs]),
    resume() {},
  };
  const keeper: CallRecordings = {
    pausesForKeys: true,
    begin: () => live,
    endLeft() {},
    end() {},
    leave() {},
  };
  const bench = new CallBench({ localRecordings: () => keeper });
  const { receiver } = bench.call();
  bench.clock.advance(200);
  receiver.receiveText(text({ type: 'dtmf', digit: '1' }));
  bench.clock.advance(1800);
  receiver.receiveText(text({ type: 'dtmf', digit: '2' }));
  expect(pauses).toEqual([
    ['keys', 0],
    ['keys', 1000],
  ]);
});
