import { describe, expect, it } from 'vitest';
import { CallerLoudness } from '../../../../src/engines/pipeline/hearing/caller-loudness.js';
import { LineSound } from '../../../../src/engines/pipeline/hearing/line-sound.js';
import { FakeClock } from '../../../support/fake-clock.js';

class Line {
  readonly clock = new FakeClock();
  readonly #sound = new LineSound();
  readonly loudness: CallerLoudness;

  constructor({ isLate = false } = {}) {
    this.loudness = new CallerLoudness(this.clock, this.#sound, { isLate });
  }

  hears(dbfs: number, ms = 1000): this {
    for (let at = 0; at < ms; at += 20) {
      this.clock.advance(20);
      this.#sound.add(dbfs, -96);
    }
    return this;
  }

  /** They were words. */
  says(dbfs: number): this {
    this.hears(dbfs).loudness.broughtWords();
    return this.hears(-96).hears(-96);
  }

  /** It silences the agent, and is none. */
  disturbs(dbfs: number): this {
    this.hears(dbfs).loudness.interrupts();
    this.loudness.broughtNone();
    return this;
  }

  isCallers(dbfs: number): boolean {
    return this.hears(dbfs).loudness.isCallers;
  }
}

describe('CallerLoudness', () => {
  it('takes no sound for the caller’s before they have said a word, unless words come late', () => {
    expect(new Line().isCallers(-5)).toBe(false);
    expect(new Line({ isLate: true }).isCallers(-40)).toBe(true);
  });

  it.each([-10, -20, -30])('knows the caller by the loudness of their words: %i dBFS', (dbfs) => {
    for (const isLate of [false, true]) {
      const line = new Line({ isLate }).says(dbfs);
      expect([dbfs + 8, dbfs, dbfs - 4].map((other) => line.isCallers(other))).toEqual([true, true, true]);
      expect([dbfs - 6, dbfs - 10, dbfs - 25].map((other) => line.isCallers(other))).toEqual([
        false,
        false,
        false,
      ]);
    }
  });

  it('is not misled by words that are quieter than others of the last minute', () => {
    const line = new Line().says(-15).says(-35);
    expect(line.isCallers(-35)).toBe(false);
    line.clock.advance(60_000);
    expect(line.says(-35).isCallers(-35)).toBe(true);
  });

  it('goes by the loudest tenth of a second: a click is no voice', () => {
    const line = new Line().says(-20);
    expect(line.hears(-60).hears(-3, 20).loudness.isCallers).toBe(false);
    expect(line.hears(-60).hears(-3, 100).loudness.isCallers).toBe(true);
  });

  it('gets used for a minute to a sound as loud as the caller that has brought no words', () => {
    const line = new Line().says(-20).disturbs(-18);
    expect(line.isCallers(-18)).toBe(false);
    expect(line.isCallers(-14)).toBe(true);
    line.clock.advance(60_000);
    expect(line.isCallers(-18)).toBe(true);
  });

  it('finds words that come long after they were said where they began', () => {
    const line = new Line({ isLate: true });
    line.hears(-20).hears(-96, 3000).loudness.broughtWords(0);
    expect(line.isCallers(-40)).toBe(false);
    expect(line.isCallers(-22)).toBe(true);
  });

  it('takes a caller who goes on more quietly for one who may be, and not a sound without words', () => {
    const line = new Line().says(-20).disturbs(-30);
    expect(line.hears(-26).loudness.isCallers).toBe(false);
    expect(line.loudness.mayBeCallers).toBe(true);
    expect(line.hears(-31).loudness.mayBeCallers).toBe(false);
  });

  it('does not get used to a sound that has brought words', () => {
    const line = new Line().says(-20);
    line.hears(-18).loudness.interrupts();
    line.loudness.broughtWords();
    line.loudness.broughtNone();
    expect(line.isCallers(-18)).toBe(true);
  });
});
