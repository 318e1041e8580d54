// What simulated carriers say that a caller says, where it is not as it should be: the same on each carrier's stream.

/** Name, message, and what it counts as. */
export const MALFORMED_SPOKEN_TEXTS: readonly [string, object, string][] = [
  ['a spoken text without an id', { text: 'x', final: true }],
  ['a spoken text without a text', { id: 'a', final: true }],
  ['half a spoken text', { id: 'a', text: 'x' }],
].map(([name, spokenText]) => [
  name as string,
  { event: 'spoken-text', spokenText },
  'malformed spoken text',
]);
