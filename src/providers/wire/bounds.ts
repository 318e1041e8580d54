// What is kept of what a service sends without an end to it. More than an engine takes of an answer, which says so.

/** Calls of tools of one answer, and calls of which a result may still come. */
export const KEPT_CALLS = 128;

/** Characters of one text that comes in pieces. */
export const KEPT_CHARS = 16_000;

/** The newest stay. */
export function forgetOldest(kept: Map<string, unknown> | Set<string>, limit: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= limit) return;
    kept.delete(key);
  }
}
