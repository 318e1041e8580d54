// Calls that are played together before the first test, because they mostly wait, and looked at one by one.
import { beforeAll, expect, it } from 'vitest';

/** A test for each call, by `nameOf`. Where a test is tried again its call is played again, alone. */
export function eachPlayed<Call, Outcome>(
  calls: readonly Call[],
  nameOf: (call: Call) => string,
  playAll: (calls: readonly Call[]) => Promise<readonly Outcome[]>,
  check: (outcome: Outcome) => void,
): void {
  let outcomes: (Outcome | undefined)[] = [];
  beforeAll(async () => {
    outcomes = [...(await playAll(calls))];
  }, 400_000);

  it.each(calls.map((call, index) => [nameOf(call), call, index] as const))(
    '%s',
    async (_, call, index) => {
      const [outcome] = outcomes[index] === undefined ? await playAll([call]) : [outcomes[index]];
      outcomes[index] = undefined;
      expect(outcome).toBeDefined();
      if (outcome !== undefined) check(outcome);
    },
    60_000,
  );
}
