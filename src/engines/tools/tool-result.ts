// What the model is told of a tool that was run: bounded text.

/** Longest result that a model is given, in characters: some 4000 tokens. */
export const MAX_RESULT_CHARS = 16_384;

export interface ResultText {
  readonly text: string;
  /** True when the result was longer than a model is given. */
  readonly cut: boolean;
}

/** A text as it is, anything else as JSON; nothing becomes `null`. @throws TypeError for what is not JSON. */
export function toResultText(value: unknown): ResultText {
  if (typeof value === 'string') return bounded(value);
  if (value === undefined) return { text: 'null', cut: false };
  const json: unknown = JSON.stringify(value);
  if (typeof json !== 'string') throw new TypeError('not JSON');
  return bounded(json);
}

/** The first characters of `text`, and a note when that is not all of it. */
export function bounded(text: string): ResultText {
  if (text.length <= MAX_RESULT_CHARS) return { text, cut: false };
  // Never between the two halves of a character beyond the basic plane.
  const end = /[\uD800-\uDBFF]/.test(text[MAX_RESULT_CHARS - 1] ?? '')
    ? MAX_RESULT_CHARS - 1
    : MAX_RESULT_CHARS;
  return { text: `${text.slice(0, end)}\n[The rest was cut off: the result was too long.]`, cut: true };
}
