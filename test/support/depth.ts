// How much of the suite is played: `npm test` plays a part of what is large, `npm run test:deep` all of it.

/** Everything is played. */
export const isDeep = process.env.TEST_DEPTH === 'deep';

/** How many runs of something that is repeated: fewer in the shallow form. */
export function runs(shallow: number, deep: number): number {
  return isDeep ? deep : shallow;
}
