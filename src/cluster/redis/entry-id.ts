// IDs of entries in the log of facts: `<ms>-<number>`.

export const START = '0-0';
/** Source: Redis, Streams: both parts have 64 bits. */
const LAST_NUMBER = '18446744073709551615';

export function timeOf(id: string): number {
  return Number(id.slice(0, id.indexOf('-')));
}

function numberOf(id: string): number {
  return Number(id.slice(id.indexOf('-') + 1));
}

export function isBefore(one: string, other: string): boolean {
  const [oneMs, otherMs] = [timeOf(one), timeOf(other)];
  return oneMs === otherMs ? numberOf(one) < numberOf(other) : oneMs < otherMs;
}

/** The one in front of it: who asks for what comes next gets this one, if it is there. */
export function idBefore(id: string): string {
  const [ms, number] = [timeOf(id), numberOf(id)];
  return number > 0 ? `${ms}-${number - 1}` : `${ms - 1}-${LAST_NUMBER}`;
}
