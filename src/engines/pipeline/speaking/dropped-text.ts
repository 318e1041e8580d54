// What guardrails have dropped of an answer keeps its place among what was said.

/** A sentence that was dropped, and how many characters of the text around it stand before it. */
export interface Dropped {
  readonly offset: number;
  readonly text: string;
}

/** What of `text` was not heard, when its first `heard` characters were, with what was dropped in its places. */
export function unheardPart(text: string, dropped: readonly Dropped[], heard = 0): string {
  const parts: string[] = [];
  let at = heard;
  for (const { offset, text: lost } of dropped) {
    const next = Math.max(at, offset);
    parts.push(text.slice(at, next).trim(), lost);
    at = next;
  }
  return [...parts, text.slice(at).trim()].filter((part) => part !== '').join(' ');
}
