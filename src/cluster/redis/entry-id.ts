// IDs of entries in the log of facts: `<ms>-<number>`. Source: Redis, Streams: both parts have 64 bits.

export const START = '0-0';
const LAST_NUMBER = 2n ** 64n - 1n;

function partsOf(id: string): [ms: bigint, number: bigint] {
  const [ms = '', number = ''] = id.split('-');
  return [BigInt(ms), BigInt(number)];
}

export function timeOf(id: string): number {
  return Number(partsOf(id)[0]);
}

export function isBefore(one: string, other: string): boolean {
  const [[oneMs, oneNumber], [otherMs, otherNumber]] = [partsOf(one), partsOf(other)];
  return oneMs === otherMs ? oneNumber < otherNumber : oneMs < otherMs;
}

/** The one in front of it: who asks for what comes next gets this one, if it is there. */
export function idBefore(id: string): string {
  const [ms, number] = partsOf(id);
  return number > 0n ? `${ms}-${number - 1n}` : `${ms - 1n}-${LAST_NUMBER}`;
}
