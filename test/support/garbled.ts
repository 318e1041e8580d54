// Messages with parts cut out, and others in their place: mostly of what has a meaning in JSON or base64.
import fc from 'fast-check';

interface Mutation {
  /** Where, as a share of the text. */
  readonly at: number;
  /** So many characters go. */
  readonly cut: number;
  readonly piece: string;
}

const PIECES = [
  '"',
  '\\',
  '\\u0041',
  '{',
  '}',
  ',',
  ':',
  ' ',
  '=',
  '==',
  '+',
  '/',
  '-',
  '_',
  'A',
  '0',
  '\u0000',
];
const LONGER_PIECES = ['ä', '"x":1,', 'null'];

/** Three at most. */
export const mutations: fc.Arbitrary<readonly Mutation[]> = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.integer({ min: 0, max: 6 }),
    piece: fc.oneof(
      fc.constant(''),
      fc.constantFrom(...PIECES, ...LONGER_PIECES),
      fc.string({ maxLength: 4 }),
    ),
  }),
  { maxLength: 3 },
);

export function garbled(text: string, changes: readonly Mutation[]): string {
  return changes.reduce((changed, { at, cut, piece }) => {
    const from = Math.floor(at * (changed.length + 1));
    return changed.slice(0, from) + piece + changed.slice(from + cut);
  }, text);
}
