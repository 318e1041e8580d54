import { describe, expect, it } from 'vitest';
import type { Playout } from '../../../../src/audio/playout.js';
import { levelDbfs } from '../../../../src/audio/level.js';
import { MeteredPlayout } from '../../../../src/engines/pipeline/hearing/played-level.js';
import { liveBytes } from '../../../support/garbage.js';

const frame = (sample: number, frames = 1) => new Int16Array(320 * frames).fill(sample);

/** How much lower than the agent's voice a line brings it back, at least. */
const LOSS_DB = 15;

/** A playout that is heard as far as the test says. */
function createPlayout() {
  const state = { pushedMs: 0, playedMs: 0 };
  const playout: Playout = {
    push(pcm) {
      state.pushedMs += pcm.length / 16;
    },
    mark() {},
    clear() {
      state.pushedMs = state.playedMs;
      return state.playedMs;
    },
    pause() {},
    resume() {},
    onNextFrameSent() {},
    get pushedMs() {
      return state.pushedMs;
    },
    get playedMs() {
      return state.playedMs;
    },
  };
  const metered = new MeteredPlayout(playout);
  const mayEcho = (sample: number) => levelDbfs(frame(sample)) <= metered.loudestDbfs - LOSS_DB;
  return { state, metered, mayEcho };
}

describe('the level of a sound', () => {
  it('is in decibels of full scale', () => {
    expect(levelDbfs(frame(0))).toBe(-96);
    expect(levelDbfs(frame(-32_768))).toBeCloseTo(0);
    expect(levelDbfs(frame(328))).toBeCloseTo(-40, 0);
  });
});

describe('an echo', () => {
  it('is 15 dB and more below what is heard', () => {
    const { state, metered, mayEcho } = createPlayout();
    metered.push(frame(10_000, 100));
    state.playedMs = 1000;
    expect([1700, 1800, 10_000].map(mayEcho)).toEqual([true, false, false]);
  });

  it('may come after the sound, and not long after it', () => {
    const { state, metered, mayEcho } = createPlayout();
    metered.push(frame(10_000, 10));
    metered.push(frame(0, 200));
    const at = (playedMs: number) => {
      state.playedMs = playedMs;
      return mayEcho(500);
    };
    expect([at(0), at(200), at(700), at(900)]).toEqual([true, true, true, false]);
  });

  it('does not come of what is still to be heard, was dropped, or never said', () => {
    const { state, metered, mayEcho } = createPlayout();
    expect(mayEcho(100)).toBe(false);
    metered.push(frame(0, 50));
    metered.push(frame(10_000, 50));
    expect(mayEcho(500)).toBe(false);
    state.playedMs = 900;
    expect(mayEcho(500)).toBe(true);
    metered.clear();
    expect(mayEcho(500)).toBe(false);
  });

  it('does not come of what somebody else has dropped', () => {
    const { state, metered, mayEcho } = createPlayout();
    metered.push(frame(10_000, 500));
    state.playedMs = 2000;
    state.pushedMs = 2000;
    metered.push(frame(1, 500));
    state.playedMs = 4000;
    expect(mayEcho(500)).toBe(false);
  });

  it('is not remembered for ever where nobody asks for it', async () => {
    const { state, metered } = createPlayout();
    const short = new Int16Array(16).fill(1);
    const before = await liveBytes();
    for (let piece = 0; piece < 500_000; piece += 1) {
      metered.push(short);
      state.playedMs = state.pushedMs;
    }
    // Each level that is kept would be 16 bytes and more.
    expect((await liveBytes()) - before).toBeLessThan(2_000_000);
    expect(metered.pushedMs).toBe(500_000);
  });
});
