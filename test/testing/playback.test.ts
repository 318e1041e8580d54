import { describe, expect, it } from 'vitest';
import { PlaybackClock } from '../../src/testing/playback.js';
import { FakeClock } from '../support/fake-clock.js';

const audio = (ms: number, sample = 8000) => new Int16Array(ms * 8).fill(sample);

function createPlayback() {
  const clock = new FakeClock();
  const echoes: [string, number][] = [];
  const playback = new PlaybackClock({ clock, echoMark: (name) => echoes.push([name, clock.now()]) });
  return { clock, echoes, playback };
}

describe('PlaybackClock', () => {
  it('plays queued audio at 8,000 samples a second and echoes each mark when what stands before it was heard', () => {
    const { clock, echoes, playback } = createPlayback();
    clock.advance(100);
    playback.enqueue(audio(500));
    playback.mark('one');
    playback.enqueue(audio(250));
    playback.mark('two');
    expect(playback.queuedMs).toBe(750);
    clock.advance(499);
    expect(echoes.map(([name]) => name)).toEqual([]);
    clock.advance(1000);
    expect(echoes.map(([name]) => name)).toEqual(['one', 'two']);
    expect(Math.abs((echoes[0]?.[1] ?? 0) - 600)).toBeLessThanOrEqual(1);
    expect(Math.abs((echoes[1]?.[1] ?? 0) - 850)).toBeLessThanOrEqual(1);
    expect(playback.log.pieces.map(({ startSample, start }) => [startSample, start])).toEqual([
      [800, 'first'],
      [4800, 'queued'],
    ]);
  });

  it('echoes a mark at once when nothing is queued', () => {
    const { echoes, playback } = createPlayback();
    playback.mark('alone');
    expect(echoes).toEqual([['alone', 0]]);
  });

  it('cuts playback on clear, echoes the pending marks in order at once, and starts afresh', () => {
    const { clock, echoes, playback } = createPlayback();
    playback.enqueue(audio(100));
    playback.mark('heard');
    playback.enqueue(audio(400));
    playback.mark('cut');
    playback.enqueue(audio(500));
    playback.mark('never');
    clock.advance(300);
    playback.clear();
    expect(echoes.map(([name]) => name)).toEqual(['heard', 'cut', 'never']);
    expect(playback.log.clears).toEqual([{ atMs: 300, droppedMs: 700, droppedMarks: 2 }]);
    expect(playback.queuedMs).toBe(0);
    expect(playback.log.pieces.map(({ samples }) => samples.length)).toEqual([800, 1600]);
    expect(playback.log.marks.map(({ cleared }) => cleared)).toEqual([false, true, true]);
    clock.advance(50);
    playback.enqueue(audio(20));
    playback.mark('after');
    clock.advance(1000);
    expect(echoes.map(([name]) => name)).toEqual(['heard', 'cut', 'never', 'after']);
    expect(playback.log.pieces.at(-1)).toMatchObject({ startSample: 2800, start: 'after-clear' });
  });

  it('tells a queue that ran dry from one that was filled in time', () => {
    const { clock, playback } = createPlayback();
    playback.enqueue(audio(20));
    clock.advance(20);
    playback.enqueue(audio(20));
    clock.advance(45);
    playback.enqueue(audio(20));
    expect(playback.log.pieces.map(({ start, startSample }) => [start, startSample])).toEqual([
      ['first', 0],
      ['queued', 160],
      ['refill', 520],
    ]);
  });

  it('knows when the agent is heard, and forgets what was cleared', () => {
    const { clock, playback } = createPlayback();
    playback.enqueue(audio(100, 0));
    playback.enqueue(audio(300));
    expect(playback.soundStartSince(0)).toBeUndefined();
    clock.advance(150);
    expect(playback.soundStartSince(0)).toBe(100);
    expect(playback.soundStartSince(120)).toBe(120);
    expect(playback.lastSoundMs).toBe(150);
    playback.clear();
    clock.advance(500);
    expect(playback.lastSoundMs).toBe(150);
    expect(playback.soundStartSince(150)).toBeUndefined();
  });

  it('takes and echoes nothing once it is closed, and keeps what was heard', () => {
    const { clock, echoes, playback } = createPlayback();
    playback.enqueue(audio(100));
    playback.mark('never');
    clock.advance(40);
    playback.close();
    playback.close();
    clock.advance(1000);
    expect(playback.enqueue(audio(20))).toBe(false);
    expect(echoes).toEqual([]);
    expect(clock.pending).toBe(0);
    expect(playback.log.pieces.map(({ samples }) => samples.length)).toEqual([320]);
    expect(playback.log.marks).toEqual([
      { name: 'never', receivedAtMs: 0, echoedAtMs: null, cleared: false },
    ]);
  });

  it('drops what is more than five minutes ahead', () => {
    const { playback } = createPlayback();
    expect(playback.enqueue(audio(300_001))).toBe(true);
    expect(playback.enqueue(audio(20))).toBe(false);
  });
});
