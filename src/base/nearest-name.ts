// Finds the name that was probably meant.

/** The one of `names` that is at most two letters, or a third of its own, away from `name`, ignoring case; undefined when none is near. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  let best: { name: string; distance: number } | undefined;
  for (const candidate of names) {
    const longest = Math.max(2, candidate.length / 3);
    if (Math.abs(name.length - candidate.length) > longest) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance > longest) continue;
    if (best === undefined || distance < best.distance) best = { name: candidate, distance };
  }
  return best?.name;
}

/** Insertions, deletions and replacements between two words (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
