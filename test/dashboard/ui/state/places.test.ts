import { describe, expect, it } from 'vitest';
import type { AudioEnvelope, LocalRecording } from '../../../../src/contract/call-record.js';
import { axisOf, entryAt, pauseAt } from '../../../../src/dashboard/ui/state/places.js';

const recording: LocalRecording = {
  status: 'completed',
  file: 'c.wav',
  startedAt: 5000,
  durationMs: 60_000,
  bytes: 1,
  pauses: [],
  trouble: null,
};
const envelope: AudioEnvelope = {
  startedAt: 5040,
  bucketMs: 20,
  caller: '',
  agent: '',
  marksMs: [],
  clearsMs: [],
};
const call = { startedAt: 1000, answeredAt: 4000, endedAt: 70_000 };

describe('the axis of a call', () => {
  it.each([
    ['a recording', { localRecording: recording, envelope }, { zero: 5000, lengthMs: 60_040 }],
    [
      'a recording without an envelope',
      { localRecording: recording, envelope: null },
      { zero: 5000, lengthMs: 60_000 },
    ],
    [
      'a recording that is not there',
      { localRecording: { ...recording, status: 'failed' as const }, envelope },
      { zero: 5040, lengthMs: 60_000 },
    ],
    ['an envelope alone', { envelope }, { zero: 5040, lengthMs: 60_000 }],
    ['no audio', {}, { zero: 4000, lengthMs: 0 }],
    ['no answer', { answeredAt: null }, { zero: 1000, lengthMs: 0 }],
  ])('is that of %s', (_, change, axis) => {
    expect(
      axisOf({ ...call, ...change }, 'envelope' in change && change.envelope !== null ? 60_000 : 0),
    ).toEqual(axis);
  });

  it('has what is being said, also where entries come out of order', () => {
    const entry = (id: string, at: number) => ({
      id,
      at,
      turnIndex: 0,
      role: 'user' as const,
      text: id,
      final: true,
    });
    const entries = [entry('a', 100), entry('tool', 300), entry('b', 200)];
    expect([50, 100, 250, 300, 999].map((at) => entryAt(entries, at)?.id)).toEqual([
      undefined,
      'a',
      'b',
      'tool',
      'tool',
    ]);
  });

  it('has the pause that a moment is in', () => {
    const pauses = [
      { startedAt: 10, endedAt: 20, by: 'tool' as const },
      { startedAt: 30, endedAt: null, by: 'keys' as const },
    ];
    expect([5, 10, 20, 30, 99].map((at) => pauseAt(pauses, at)?.by)).toEqual([
      undefined,
      'tool',
      undefined,
      'keys',
      'keys',
    ]);
  });
});
