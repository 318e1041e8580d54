import { describe, expect, it } from 'vitest';
import { LineNoise } from '../../src/audio/line-noise.js';

/** Whether each of the frames gets through. */
function hear(gate: LineNoise, levels: readonly number[]): boolean[] {
  return levels.map((level) => {
    const isOpen = gate.isOpen(level);
    gate.learn(level);
    return isOpen;
  });
}

const seconds = (count: number, level: number) => new Array<number>(count * 50).fill(level);

/** Four syllables a second, 10 frames of voice and 3 between them that are `depthDb` lower; not below the noise. */
const speech = (count: number, level: number, { noise = -70, depthDb = 25 } = {}) =>
  Array.from({ length: count * 50 }, (_, at) =>
    Math.max(noise, at % 13 < 10 ? level - (at % 5) : level - depthDb),
  );

const share = (open: readonly boolean[]) => open.filter((each) => each).length / open.length;

describe('LineNoise', () => {
  it('lets through what is loud, and nothing below the level of speech', () => {
    expect(hear(new LineNoise(), [-96, -46, -45, -20, -96])).toEqual([false, false, true, true, false]);
  });

  it('opens for what is 6 dB above the noise, and for nothing less', () => {
    const gate = new LineNoise();
    hear(gate, seconds(2, -40));
    expect([gate.isOpen(-34.1), gate.isOpen(-34)]).toEqual([false, true]);
  });

  it.each([-10, -20, -30, -40])('closes for steady noise of any level: %i dBFS', (level) => {
    const even = Array.from({ length: 250 }, (_, at) => level + (at % 3) * 0.5);
    for (const before of [[], seconds(5, -70), speech(5, -12)]) {
      const gate = new LineNoise();
      hear(gate, before);
      expect(hear(gate, even).lastIndexOf(true)).toBeLessThan(20);
    }
  });

  it.each([
    [-10, -20],
    [-10, -25],
    [-20, -30],
    [-25, -35],
  ])('opens for speech at %i dBFS over noise at %i that was never silent', (level, noise) => {
    const gate = new LineNoise();
    hear(gate, seconds(5, noise));
    expect(share(hear(gate, speech(10, level, { noise })))).toBeGreaterThan(0.6);
    expect(hear(gate, seconds(5, noise)).includes(true)).toBe(false);
  });

  it('opens for a voice that is there with the first frame', () => {
    expect(share(hear(new LineNoise(), speech(1, -30, { depthDb: 10 })))).toBeGreaterThan(0.9);
  });

  it('stays open for speech that goes on for minutes', () => {
    const gate = new LineNoise();
    expect(share(hear(gate, speech(120, -30)))).toBeGreaterThan(0.7);
  });

  it('hears noise as noise though every tenth frame is lost', () => {
    const gate = new LineNoise();
    const lossy = Array.from({ length: 500 }, (_, at) => (at % 10 === 0 ? -96 : -20));
    expect(hear(gate, lossy).slice(100).includes(true)).toBe(false);
  });
});
