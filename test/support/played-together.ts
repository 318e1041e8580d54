// Calls that are played before the first test, because they mostly wait for each other, and looked at one by one.
import { beforeAll, it, vi } from 'vitest';

/** Calls that are played at a time: they mostly wait for each other's moments. */
const AT_A_TIME = 40;
/** The largest that `Math.random` gives: what spreads its retries waits longest. */
const LARGEST_RANDOM = 1 - Number.EPSILON / 2;
/** No limit of a call: a busy machine needs long for so many. */
const ALL_TOGETHER_MS = 400_000;

/** A test for each call, by `nameOf`. `playAll` gives what became of each, in the same order. */
export function eachPlayed<Call, Outcome>(
  calls: readonly Call[],
  nameOf: (call: Call) => string,
  playAll: (calls: readonly Call[]) => Promise<readonly Outcome[]>,
  check: (outcome: Outcome) => void,
): void {
  let outcomes: readonly Outcome[] = [];
  beforeAll(async () => {
    outcomes = await playAll(calls);
  }, ALL_TOGETHER_MS);

  it.each(calls.map((call, index) => [nameOf(call), index] as const))('%s', (_, index) => {
    const outcome = outcomes[index];
    if (outcome === undefined) throw new Error('the call was not played');
    check(outcome);
  });
}

/** Plays calls that have nothing to do with each other, a few at a time, whose retries all take as long as they may. */
export function together<Call, Outcome>(
  play: (call: Call) => Promise<Outcome>,
): (calls: readonly Call[]) => Promise<readonly Outcome[]> {
  return async (calls) => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(LARGEST_RANDOM);
    const outcomes: Outcome[] = [];
    let next = 0;
    const work = async () => {
      for (let index = next++; index < calls.length; index = next++) {
        const call = calls[index];
        if (call !== undefined) outcomes[index] = await play(call);
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
    random.mockRestore();
    return outcomes;
  };
}
