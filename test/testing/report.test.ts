import { describe, expect, it } from 'vitest';
import type { PieceStart, PlaybackLog } from '../../src/testing/playback.js';
import { isClick } from '../../src/testing/clicks.js';
import {
  isInOrder,
  measureCall,
  renderAgent,
  UNHEARD_CALL,
  type CallReport,
} from '../../src/testing/report.js';
import { formatReport } from '../../src/testing/report-text.js';

const RATE = 8;
/** A tone whose phase goes on from the start of the call. */
const tone = (fromMs: number, ms: number, shift = 0) =>
  Int16Array.from({ length: ms * RATE }, (_, i) =>
    Math.round(8000 * Math.sin((fromMs * RATE + i) * 0.5 + shift)),
  );
const piece = (startMs: number, samples: Int16Array, start: PieceStart) => ({
  startSample: startMs * RATE,
  samples,
  start,
});
const log = (pieces: PlaybackLog['pieces'], more: Partial<PlaybackLog> = {}): PlaybackLog => ({
  pieces,
  clears: [],
  marks: [],
  ...more,
});

function measure(
  playback: PlaybackLog,
  callerSpeech: { startMs: number; endMs: number }[] = [],
  durationMs = 10_000,
) {
  return measureCall({
    playback,
    callerSpeech,
    durationMs,
    framesReceived: 0,
    framesSent: 0,
  });
}

describe('measureCall', () => {
  it('times the first audio and each answer from the end of what the caller said', () => {
    const figures = measure(
      log([
        piece(500, tone(500, 1000), 'first'),
        piece(4200, tone(4200, 800), 'refill'),
        piece(8000, tone(8000, 500), 'refill'),
      ]),
      [
        { startMs: 2500, endMs: 3000 },
        { startMs: 3200, endMs: 3600 },
        { startMs: 6000, endMs: 7000 },
        { startMs: 9000, endMs: 11_000 },
      ],
    );
    expect(figures.firstAudioAfterMs).toBe(500);
    expect(figures.turns).toEqual([
      { callerStartMs: 2500, callerEndMs: 3600, agentStartMs: 4200, responseMs: 600 },
      { callerStartMs: 6000, callerEndMs: 7000, agentStartMs: 8000, responseMs: 1000 },
      { callerStartMs: 9000, callerEndMs: 10_000, agentStartMs: null, responseMs: null },
    ]);
    expect(figures.agentSpeechMs).toBe(2300);
    expect(figures.gaps).toEqual([]);
    expect(figures.pauses).toEqual([]);
  });

  it('tells a hole in speech from a pause between sentences and from the next answer', () => {
    const quiet = new Int16Array(100 * RATE);
    const figures = measure(
      log([
        piece(0, tone(0, 200), 'first'),
        piece(235, tone(235, 200), 'refill'),
        piece(435, quiet, 'queued'),
        piece(800, tone(800, 200), 'refill'),
        piece(5000, tone(5000, 200), 'refill'),
      ]),
    );
    expect(figures.gaps).toEqual([{ atMs: 200, durationMs: 35 }]);
    expect(figures.pauses).toEqual([{ atMs: 535, durationMs: 265 }]);
  });

  it('finds pieces that do not fit together, and only those', () => {
    const figures = measure(
      log([
        piece(0, tone(0, 100), 'first'),
        piece(100, tone(100, 100), 'queued'),
        piece(200, tone(200, 100, 2), 'queued'),
        piece(300, tone(300, 100, 2), 'queued'),
      ]),
    );
    expect(figures.clicks).toEqual([{ atMs: 200 }]);
  });

  it('measures how soon the agent fell silent after an interruption', () => {
    const playback = log([piece(0, tone(0, 2150), 'first'), piece(2500, tone(2500, 500), 'after-clear')], {
      clears: [{ atMs: 2150, droppedMs: 900, droppedMarks: 2 }],
    });
    const figures = measure(playback, [{ startMs: 2000, endMs: 2300 }]);
    expect(figures.interruptions).toEqual([{ atMs: 2000, clearAfterMs: 150, silentAfterMs: 150 }]);
    expect(figures.clears).toEqual([{ atMs: 2150, droppedMs: 900, droppedMarks: 2 }]);
    expect(figures.clicks).toEqual([]);
    expect(figures.pauses).toEqual([]);
  });

  it('says how long an agent that is not stopped talks on', () => {
    const figures = measure(log([piece(0, tone(0, 5000), 'first')]), [{ startMs: 2000, endMs: 2300 }]);
    expect(figures.interruptions).toEqual([{ atMs: 2000, clearAfterMs: null, silentAfterMs: 3000 }]);
  });

  it('counts marks by their fate', () => {
    const mark = (echoedAtMs: number | null, cleared: boolean) => ({
      name: 'm',
      receivedAtMs: 0,
      echoedAtMs,
      cleared,
    });
    const figures = measure(log([], { marks: [mark(10, false), mark(20, true), mark(null, false)] }));
    expect(figures.marks).toEqual({ received: 3, played: 1, cleared: 1, pending: 1 });
  });

  it('renders the agent in its place, silence elsewhere', () => {
    const audio = renderAgent(log([piece(100, Int16Array.of(5, 6), 'first')]), 200);
    expect(audio).toHaveLength(1600);
    expect([...audio.subarray(799, 803)]).toEqual([0, 5, 6, 0]);
  });
});

describe('isClick', () => {
  it('hears no click in noise and none at the edge of the audio', () => {
    let seed = 7;
    const noise = Int16Array.from({ length: 1600 }, () => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return (seed % 16_000) - 8000;
    });
    const borders = Array.from({ length: 11 }, (_, index) => index * 160);
    expect(borders.filter((border) => isClick(noise, border))).toEqual([]);
    expect(isClick(noise, 1600)).toBe(false);
  });

  it('hears a sample that fell out of a loud voice', () => {
    const voice = tone(0, 100);
    const broken = Int16Array.from([...voice.subarray(0, 400), ...voice.subarray(404)]);
    expect(isClick(voice, 400)).toBe(false);
    expect(isClick(broken, 400)).toBe(true);
  });
});

describe('the verdict and the text', () => {
  const report: CallReport = {
    ok: true,
    carrier: 'carrier-a',
    carrierCallId: 'CA1',
    caller: '…0020',
    callee: '…0010',
    startedAt: 0,
    ...UNHEARD_CALL,
    durationMs: 4000,
    answer: {
      outcome: 'answered',
      status: 200,
      webhookMs: 10,
      upgradeMs: 5,
      answeredAfterMs: 15,
      reason: null,
    },
    protocolErrors: [],
    notes: [],
    end: { by: 'caller', how: 'hang-up', closeCode: null, reason: '' },
    recording: null,
  };
  const violation = { atMs: 5, sentence: 'a binary message', count: 2 };

  it.each<[string, Partial<CallReport>, boolean]>([
    ['answered and hung up', {}, true],
    [
      'closed by the server at its shutdown',
      { end: { by: 'server', how: 'closed', closeCode: 1001, reason: 'Server shutting down' } },
      true,
    ],
    [
      'closed by the server with an error',
      { end: { by: 'server', how: 'closed', closeCode: 1011, reason: '' } },
      false,
    ],
    ['lost', { end: { by: 'network', how: 'lost', closeCode: null, reason: '' } }, false],
    ['called off', { end: { by: 'caller', how: 'aborted', closeCode: null, reason: '' } }, false],
    ['a protocol error', { protocolErrors: [violation] }, false],
    ['busy', { answer: { ...report.answer, outcome: 'busy' }, end: null }, false],
  ])('%s', (_, change, ok) => {
    expect(isInOrder({ ...report, ...change })).toBe(ok);
  });

  it('says plainly what happened', () => {
    expect(formatReport({ ...report, protocolErrors: [violation] })).toMatch(
      /answered[\s\S]*never: the agent said nothing[\s\S]*the caller hung up[\s\S]*a binary message \(2 times\)/,
    );
    const refused = {
      ...report,
      answer: { ...report.answer, outcome: 'refused' as const, reason: 'the voice webhook answered 403' },
      end: null,
    };
    expect(formatReport(refused)).toMatch(/not answered: refused[\s\S]*answered 403/);
  });
});
