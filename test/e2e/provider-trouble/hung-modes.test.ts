// Two voice modes hang, one after the other: the caller hears something within five seconds all the same.
import { describe, expect } from 'vitest';
import { HUNG_ASPECTS, hungCalls, nameOfHung, playHung } from '../../support/hung-modes.js';
import { eachPlayed, together } from '../../support/played-together.js';
import { rotated } from '../../support/rotated.js';
import { LONGEST_WAIT_MS } from '../../support/vendor-scene.js';

describe('two voice modes hang', () => {
  eachPlayed(rotated(hungCalls(), HUNG_ASPECTS), nameOfHung, together(playHung), (outcome) => {
    const { call, longestWaitMs, ending, timersLeft, socketsLeft, violations } = outcome;
    expect(longestWaitMs).toBeLessThanOrEqual(LONGEST_WAIT_MS);
    expect({ timersLeft, socketsLeft, violations }).toEqual({
      timersLeft: 0,
      socketsLeft: 0,
      violations: [],
    });
    // Who has heard most of the goodbye does not wait for the rest.
    if (call.phase !== 'goodbye') expect(['agent-hangup', 'provider-failed']).toContain(ending?.reason);
  });
});
