// The end of a text without a sign that stands there once or many times.

/** Looks at the end alone: a search would try every place where the sign stands. */
export function withoutTrailing(text: string, sign: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === sign) end -= 1;
  return text.slice(0, end);
}
