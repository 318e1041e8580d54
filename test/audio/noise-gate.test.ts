import { describe, expect, it } from 'vitest';
import { NoiseGate } from '../../src/audio/noise-gate.js';

/** Whether each of the frames gets through, when none of them is told to be speech. */
function hear(gate: NoiseGate, levels: readonly number[]): boolean[] {
  return levels.map((level) => {
    const isOpen = gate.isOpen(level);
    gate.learn(level, { isSpeech: false });
    return isOpen;
  });
}

const seconds = (count: number, level: number) => new Array<number>(count * 50).fill(level);

describe('NoiseGate', () => {
  it('lets through what is loud, and nothing below the level of speech', () => {
    expect(hear(new NoiseGate(), [-96, -46, -45, -20, -96])).toEqual([false, false, true, true, false]);
  });

  it('closes for noise that does not end, and opens for what stands out of it', () => {
    const gate = new NoiseGate();
    const noisy = hear(gate, seconds(15, -40));
    expect([noisy[0], noisy.at(-1)]).toEqual([true, false]);
    expect(gate.isOpen(-29)).toBe(true);
  });

  it('stays open for speech that is known as such, and for speech with gaps', () => {
    const known = new NoiseGate();
    for (const level of seconds(60, -30)) known.learn(level, { isSpeech: true });
    expect(known.isOpen(-30)).toBe(true);
    const withGaps = new NoiseGate();
    for (let count = 0; count < 60; count += 1) hear(withGaps, [...seconds(1, -30), -70]);
    expect(withGaps.isOpen(-30)).toBe(true);
  });
});
