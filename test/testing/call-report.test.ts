import { describe, expect, it } from 'vitest';
import { reportCall, type HeardStream } from '../../src/testing/call-report.js';
import type { StreamEnd } from '../../src/testing/stream-end.js';

const tone = (ms: number) =>
  Int16Array.from({ length: ms * 8 }, (_, i) => Math.round(9000 * Math.sin(i * 0.35)));
const HEAD = {
  carrier: 'carrier-a',
  carrierCallId: 'CA1',
  caller: '…0020',
  callee: '…0010',
  startedAt: 0,
} as const;
const REST = {
  answer: {
    outcome: 'answered',
    status: 200,
    webhookMs: 1,
    upgradeMs: 2,
    answeredAfterMs: 3,
    reason: null,
  },
  violations: [],
  notes: [],
  recording: null,
} as const;
const end = (how: StreamEnd['how']): StreamEnd => ({ by: 'agent', how, closeCode: null, reason: '' });

const stream = (offsetMs: number, how: StreamEnd['how'] | null): HeardStream => ({
  offsetMs,
  durationMs: 2000,
  playback: {
    pieces: [{ startSample: 500 * 8, samples: tone(1000), start: 'first' }],
    clears: [{ atMs: 1500, droppedMs: 100, droppedMarks: 1 }],
    marks: [{ name: 'a', receivedAtMs: 600, echoedAtMs: 1500, cleared: true }],
  },
  framesSent: 100,
  framesReceived: 50,
  violations: [],
  end: how === null ? null : end(how),
});

describe('reportCall', () => {
  it('joins streams on one clock, which begins with the first', () => {
    const streams = [stream(1000, 'replaced'), stream(5000, 'hang-up')];
    const speech = [
      { startMs: 200, endMs: 400 },
      { startMs: 2700, endMs: 3000 },
    ];
    const report = reportCall(HEAD, { streams, speech }, REST);
    expect(report).toMatchObject({
      ok: true,
      durationMs: 6000,
      firstAudioAfterMs: 500,
      callerSpeech: [{ startMs: 1700, endMs: 2000 }],
      agentSpeech: [
        { startMs: 500, endMs: 1500 },
        { startMs: 4500, endMs: 5500 },
      ],
      turns: [{ callerEndMs: 2000, agentStartMs: 4500, responseMs: 2500 }],
      clears: [{ atMs: 1500 }, { atMs: 5500 }],
      marks: { received: 2, cleared: 2 },
      frames: { sent: 200, received: 100 },
      gaps: [],
      end: { how: 'hang-up' },
    });
  });

  it('is not in order while a stream runs, or when a rule was broken outside of it', () => {
    expect(reportCall(HEAD, { streams: [stream(0, null)], speech: [] }, REST).ok).toBe(false);
    const violations = [{ atMs: 0, sentence: 'something', count: 1 }];
    const broken = reportCall(HEAD, { streams: [stream(0, 'hang-up')], speech: [] }, { ...REST, violations });
    expect(broken).toMatchObject({ ok: false, protocolErrors: violations });
  });

  it('has no figures without a stream', () => {
    const report = reportCall(HEAD, { streams: [], speech: [{ startMs: 0, endMs: 5 }] }, REST);
    expect(report).toMatchObject({ ok: false, durationMs: null, end: null, callerSpeech: [] });
  });
});
