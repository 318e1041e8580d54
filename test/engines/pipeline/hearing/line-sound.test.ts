import { describe, expect, it } from 'vitest';
import { LineSound } from '../../../../src/engines/pipeline/hearing/line-sound.js';

/** Level of a voice that says a word every so many frames, in decibels of full scale; the words are of different loudness. */
const voice = (every: number) => (frame: number) => {
  if (frame < 0 || frame % every > every * 0.6) return -96;
  return -12 - ((Math.floor(frame / every) * 7) % 5) * 3;
};
const agent = voice(17);

/** `frames` of what a line brings back, and how much it is like the agent in the last `ms`. */
function likeness(heard: (frame: number) => number, { frames = 150, ms = 2000 } = {}): number {
  const sound = new LineSound();
  for (let frame = 0; frame < frames; frame += 1) sound.add(heard(frame), agent(frame));
  return sound.likeness(ms) ?? Number.NaN;
}

/** With the noise that every line has. */
const noisy = (dbfs: number) => 10 * Math.log10(10 ** (dbfs / 10) + 10 ** -6);

describe('what a line brings', () => {
  const losses = [0, 10, 20, 30];
  const lags = [-5, 0, 3, 10, 25, 30];
  it.each(losses.flatMap((loss) => lags.map((lag) => [loss, lag] as const)))(
    '%i dB lower, %i frames later, is the agent',
    (loss, lag) => {
      expect(likeness((frame) => noisy(agent(frame - lag) - loss))).toBeGreaterThan(0.95);
    },
  );

  it('is the agent as well from its first sound on', () => {
    expect(likeness((frame) => agent(frame - 8) - 20, { frames: 30, ms: 400 })).toBeGreaterThan(0.95);
  });

  it.each([11, 14, 23, 29])('is not, where another says a word every %i frames', (every) => {
    expect(likeness((frame) => noisy(voice(every)(frame - 6)))).toBeLessThan(0.6);
  });

  it('is not, where it comes later than any line brings it', () => {
    expect(likeness((frame) => agent(frame - 60), { frames: 250, ms: 5000 })).toBeLessThan(0.85);
  });

  it('is known behind a click', () => {
    const clicked = (frame: number) => (frame === 120 ? -3 : agent(frame - 8) - 25);
    expect(likeness(clicked)).toBeGreaterThan(0.85);
  });

  it.each([
    ['silence', () => -96],
    ['an even sound', () => -30],
  ])('says nothing where it is %s', (_, heard) => {
    expect(likeness(heard, { frames: 400 })).toBeNaN();
  });

  it('is remembered for so long as it must be, also behind an hour', () => {
    const sound = new LineSound();
    for (let frame = 0; frame < 180_000; frame += 1) sound.add(agent(frame - 8) - 10, agent(frame));
    expect(sound.likeness(60_000)).toBeGreaterThan(0.95);
    expect(sound.loudestDbfs(1000)).toBeCloseTo(-22, 0);
  });
});
