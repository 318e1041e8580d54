import { describe, expect, it } from 'vitest';
import type { Playout } from '../../../../src/audio/playout.js';
import { SaidLately } from '../../../../src/engines/pipeline/hearing/said-lately.js';
import { FakeClock } from '../../../support/fake-clock.js';

function setUp() {
  const clock = new FakeClock();
  const state = { playedMs: 0 };
  const playout: Playout = {
    push() {},
    mark() {},
    clear: () => state.playedMs,
    pause() {},
    resume() {},
    onNextFrameSent() {},
    pushedMs: 0,
    get playedMs() {
      return state.playedMs;
    },
  };
  return {
    clock,
    lately: new SaidLately({ clock, playout }),
    wait(ms: number) {
      clock.advance(ms);
      state.playedMs += ms;
    },
  };
}

/** Says which words it was asked for. */
const createSource = (name: string, audible = true) => ({
  audible,
  saidBetween: (fromMs: number, toMs: number) => `${name} ${fromMs} to ${toMs}`,
});

describe('SaidLately', () => {
  it('is quiet since always before anything was said, and has no words', () => {
    const { lately, wait } = setUp();
    wait(1000);
    lately.silent();
    expect([lately.isSounding, lately.quietAt, lately.wordsWithin(500).trim()]).toEqual([
      false,
      Number.NEGATIVE_INFINITY,
      '',
    ]);
  });

  it('is never quiet while somebody can be heard, and then since their end', () => {
    const { lately, wait } = setUp();
    const source = createSource('one', false);
    lately.speaking(source);
    expect(lately.isSounding).toBe(false);
    source.audible = true;
    expect([lately.isSounding, lately.quietAt]).toEqual([true, Number.POSITIVE_INFINITY]);
    wait(700);
    lately.silent();
    wait(200);
    lately.silent();
    expect([lately.isSounding, lately.quietAt]).toEqual([false, 700]);
  });

  it('knows the words up to their end, a little ahead of the playback clock, and those before', () => {
    const { lately, wait } = setUp();
    lately.speaking(createSource('one'));
    wait(700);
    lately.silent();
    wait(300);
    lately.speaking(createSource('two'));
    wait(100);
    expect(lately.wordsWithin(1000)).toBe('one 100 to 950 two 100 to 1350');
  });

  it('does not let who was never heard push out the words before', () => {
    const { lately } = setUp();
    lately.speaking(createSource('one'));
    lately.silent();
    lately.speaking(createSource('unheard', false));
    lately.speaking(createSource('two', false));
    expect(lately.wordsWithin(0)).toContain('one');
  });
});
