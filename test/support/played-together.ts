// Calls that are played together before the first test, because they mostly wait, and looked at one by one.
import { beforeAll, it } from 'vitest';

/** Calls that are played at a time: they mostly wait for each other's moments. */
const AT_A_TIME = 40;

/** A test for each call, by `nameOf`. Where a test is tried again its call is played again, alone. */
export function eachPlayed<Call, Outcome>(
  calls: readonly Call[],
  nameOf: (call: Call) => string,
  play: (call: Call) => Promise<Outcome>,
  check: (outcome: Outcome) => void,
): void {
  let outcomes: (Outcome | undefined)[] = [];
  beforeAll(async () => {
    outcomes = await atATime(calls, play);
  }, 400_000);

  it.each(calls.map((call, index) => [nameOf(call), call, index] as const))(
    '%s',
    async (_, call, index) => {
      const outcome = outcomes[index] ?? (await play(call));
      outcomes[index] = undefined;
      check(outcome);
    },
    60_000,
  );
}

export async function atATime<Call, Outcome>(
  calls: readonly Call[],
  play: (call: Call) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < calls.length; index = next++) {
      const call = calls[index];
      if (call !== undefined) outcomes[index] = await play(call);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return outcomes;
}
