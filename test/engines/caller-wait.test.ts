import { beforeEach, describe, expect, it } from 'vitest';
import { CallerWait } from '../../src/engines/caller-wait.js';
import { FakeClock } from '../support/fake-clock.js';

describe('CallerWait', () => {
  let clock: FakeClock;
  let wait: CallerWait;

  beforeEach(() => {
    clock = new FakeClock();
    wait = new CallerWait(clock);
  });

  it('has no end while nobody waits', () => {
    expect(wait.leftMs()).toBe(Number.POSITIVE_INFINITY);
    wait.begin(0);
    wait.end();
    expect([wait.leftMs(), wait.thinking.leftMs()]).toEqual([Infinity, Infinity]);
  });

  it('leaves the carrier time to be heard within five seconds, and the voice some before that', () => {
    clock.advance(1000);
    wait.begin(400);
    expect([wait.leftMs(), wait.thinking.leftMs()]).toEqual([4000, 3600]);
  });

  it('is shorter where another voice mode can answer', () => {
    wait.replaceable();
    wait.begin(0);
    expect(wait.leftMs()).toBe(2950);
  });

  it('goes on until it is ended, and is then for what is owed after that', () => {
    wait.begin(0);
    clock.advance(3000);
    wait.begin(2900);
    expect([wait.leftMs(), wait.silentMs()]).toEqual([1600, 3000]);
    wait.end();
    wait.begin(2900);
    expect([wait.leftMs(), wait.silentMs()]).toEqual([4500, 100]);
  });

  it('leaves an answer the time that it has in any case, and then none for the voice to say sorry', () => {
    clock.advance(3500);
    wait.begin(0);
    expect([wait.leftMs(), wait.thinking.leftMs()]).toEqual([1100, 700]);
    wait.begin(0, wait.minAnswerMs);
    expect([wait.leftMs(), wait.thinking.leftMs()]).toEqual([1600, 1600]);
  });

  it('leaves an answer less where another voice mode can answer', () => {
    wait.replaceable();
    clock.advance(3000);
    wait.begin(0, wait.minAnswerMs);
    expect([wait.leftMs(), wait.thinking.leftMs()]).toEqual([800, 800]);
  });

  it('begins behind the last sound', () => {
    wait.begin(0);
    wait.sounds(2000);
    clock.advance(1500);
    expect(wait.leftMs()).toBe(5100);
    wait.silenced();
    expect(wait.leftMs()).toBe(4600);
  });

  it('does not count the silence that the application needs', () => {
    wait.begin(0);
    wait.sounds(1000);
    clock.advance(3000);
    // Of these 2500 ms the caller heard something for 500.
    wait.excuse(500);
    expect(wait.leftMs()).toBe(4600);
    clock.advance(1000);
    wait.excuse(3500);
    expect(wait.leftMs()).toBe(4100);
  });

  it('counts what the application takes once, whoever tells of it', () => {
    wait.begin(-2000);
    clock.advance(1000);
    wait.excuse(0);
    clock.advance(200);
    wait.excuse(500);
    expect(wait.leftMs()).toBe(2600);
  });

  it('excuses nothing while the voice has words that do not sound', () => {
    wait.begin(0);
    wait.hasWords(true);
    clock.advance(2000);
    wait.excuse(500);
    expect(wait.leftMs()).toBe(2600);
  });

  it('says how long the caller has waited, whatever they wait longer for an answer', () => {
    expect(wait.waitedMs()).toBe(0);
    clock.advance(4000);
    wait.begin(0, 1200);
    expect([wait.waitedMs(), wait.thinking.waitedMs(), wait.leftMs()]).toEqual([4000, 4000, 1200]);
    wait.sounds(5000);
    expect([wait.waitedMs(), wait.leftMs()]).toEqual([0, 5600]);
    clock.advance(1500);
    expect([wait.waitedMs(), wait.leftMs()]).toEqual([500, 4100]);
    // Another wait has its own.
    wait.end();
    wait.begin(5400);
    expect([wait.waitedMs(), wait.leftMs()]).toEqual([100, 4500]);
  });

  it('excuses the application from a wait that is longer than others', () => {
    clock.advance(4000);
    wait.begin(0, 1200);
    clock.advance(1000);
    wait.excuse(4000);
    expect(wait.leftMs()).toBe(1200);
  });

  it('is not for words while the voice has some to say', () => {
    wait.begin(0);
    wait.hasWords(true);
    expect(wait.thinking.leftMs()).toBe(Number.POSITIVE_INFINITY);
    wait.sounds(500);
    expect(wait.thinking.leftMs()).toBe(4700);
    clock.advance(500);
    wait.hasWords(false);
    expect(wait.thinking.leftMs()).toBe(4200);
  });

  it('gives the voice an end also where nobody waits, and a moment in any case', () => {
    expect(wait.voice.leftMs()).toBe(Number.POSITIVE_INFINITY);
    clock.advance(1000);
    wait.hasWords(true);
    expect(wait.voice.leftMs()).toBe(4600);
    wait.begin(-3500);
    expect([wait.leftMs(), wait.voice.leftMs()]).toEqual([100, 400]);
    clock.advance(400);
    wait.hasWords(true);
    expect(wait.voice.leftMs()).toBe(0);
  });

  it('that was taken over goes on in what is said first', () => {
    clock.advance(9000);
    wait.takeOver(2000);
    wait.begin(9000, 3000);
    expect(wait.leftMs()).toBe(2600);
    wait.end();
    wait.begin(9000);
    expect(wait.leftMs()).toBe(4600);
  });

  it('tells how long nothing was heard in it, whoever took the time', () => {
    expect(wait.silentMs()).toBe(0);
    wait.begin(0);
    wait.sounds(1000);
    clock.advance(900);
    expect(wait.silentMs()).toBe(0);
    clock.advance(5000);
    wait.excuse(2000);
    expect(wait.silentMs()).toBe(4900);
    wait.end();
    expect(wait.silentMs()).toBe(0);
    wait.takeOver(9000);
    expect(wait.silentMs()).toBe(4900);
  });

  it('is on until it has been over for a second', () => {
    expect(wait.isOn).toBe(false);
    wait.begin(0);
    clock.advance(5599);
    expect(wait.isOn).toBe(true);
    clock.advance(1);
    expect(wait.isOn).toBe(false);
  });

  it.each([
    [0, 4600],
    [1000, 3600],
    [3080, 1520],
    [9000, 1250],
  ])('is taken over after %i ms with %i left', (waitedMs, leftMs) => {
    clock.advance(20_000);
    wait.takeOver(waitedMs);
    expect(wait.leftMs()).toBe(leftMs);
  });
});
