// Numbers that a seed determines.

/** The seed of a run: `TEST_SEED=7 npm test` plays everything in another order of what happens at once. */
export const seed = Number(process.env.TEST_SEED ?? 1);

/** Uniform in [0, 1). Source: mulberry32, public domain. */
export function createRandom(from: number): () => number {
  let state = from >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** In place. */
export function shuffle<T>(items: T[], random: () => number): T[] {
  for (let last = items.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [items[last], items[other]] = [items[other] as T, items[last] as T];
  }
  return items;
}
