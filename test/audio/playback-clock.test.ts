import { describe, expect, it } from 'vitest';
import { PlaybackClock } from '../../src/audio/playback-clock.js';

/** Frames of 20 ms, whole from `now` on. */
function send(clock: PlaybackClock, now: number, frames: number): void {
  for (let frame = 0; frame < frames; frame += 1) clock.frameSent(now, 20, 20);
}

describe('PlaybackClock', () => {
  it('reads how far the player lags from the last sample before a pause', () => {
    const clock = new PlaybackClock();
    send(clock, 0, 5);
    clock.acknowledge(150, 100);
    send(clock, 150, 5);
    expect(clock.playedMs(190)).toBe(100);
    expect(clock.playedMs(230)).toBe(130);
  });

  it('learns nothing of the lag from a mark in front of the first sample', () => {
    const clock = new PlaybackClock();
    send(clock, 0, 5);
    clock.acknowledge(60, 0);
    expect(clock.playedMs(60)).toBe(60);
  });

  it('learns nothing more from a second mark at the end of what was said before a pause', () => {
    const clock = new PlaybackClock();
    send(clock, 0, 5);
    send(clock, 500, 5);
    clock.acknowledge(130, 100);
    clock.acknowledge(590, 100);
    expect(clock.playedMs(590)).toBe(160);
  });

  it('takes a mark of what is later than it should be for the lag of all that follows', () => {
    const clock = new PlaybackClock();
    send(clock, 0, 5);
    send(clock, 500, 5);
    clock.acknowledge(590, 150);
    expect(clock.playedMs(600)).toBe(160);
  });

  it('reads the lag from a mark seconds ago', () => {
    const clock = new PlaybackClock();
    send(clock, 0, 200);
    clock.acknowledge(70, 20);
    expect(clock.playedMs(100)).toBe(50);
  });

  it('learns nothing of the lag from a mark many pauses ago', () => {
    const clock = new PlaybackClock();
    for (let run = 0; run < 100; run += 1) send(clock, run * 1000, 1);
    clock.acknowledge(99_010, 10);
    expect(clock.playedMs(99_010)).toBe(1990);
  });

  it('takes a mark that comes in time, or too early, for no lag, and for heard', () => {
    const clock = new PlaybackClock();
    send(clock, 0, 10);
    clock.acknowledge(60, 60);
    expect(clock.playedMs(70)).toBe(70);
    clock.acknowledge(90, 100);
    expect([clock.playedMs(90), clock.playedMs(150)]).toEqual([100, 150]);
  });

  it('is cut at a whole sample, and goes on from there', () => {
    const clock = new PlaybackClock();
    send(clock, 0, 5);
    expect(clock.cut(10.1)).toBe(10.0625);
    expect([clock.sentMs, clock.playedMs(50), clock.bufferedMs(10.1)]).toEqual([10.0625, 10.0625, 0]);
    send(clock, 50, 1);
    expect(clock.playedMs(60)).toBe(20.0625);
  });
});
