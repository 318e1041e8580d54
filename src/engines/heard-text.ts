// Which words of a sentence had been heard when it was cut off.

/** Speed of speech where nothing better is known. Source: conversational English, about 3.8 syllables in a second. */
const SYLLABLES_PER_SECOND = 3.8;

/**
 * The words of `text` that lie wholly within the first `heardMs` of it, by their share of the text. `producedMs` is how much
 * audio there is so far; while `complete` is false the rest is estimated.
 */
export function heardPart(
  text: string,
  heardMs: number,
  audio: { producedMs: number; complete: boolean },
): string {
  const totalMs = audio.complete ? audio.producedMs : Math.max(audio.producedMs, estimateMs(text));
  if (heardMs <= 0 || totalMs <= 0) return '';
  if (heardMs >= totalMs) return text;
  const limit = text.length * (heardMs / totalMs);
  let end = 0;
  for (const word of text.matchAll(/\S+/g)) {
    const wordEnd = word.index + word[0].length;
    if (wordEnd > limit) break;
    end = wordEnd;
  }
  return text.slice(0, end);
}

/** The words of `text` that lie at least partly between two moments of it. */
export function partBetween(
  text: string,
  range: { fromMs: number; toMs: number },
  audio: { producedMs: number; complete: boolean },
): string {
  const totalMs = audio.complete ? audio.producedMs : Math.max(audio.producedMs, estimateMs(text));
  if (totalMs <= 0 || range.toMs <= 0 || range.fromMs >= totalMs) return '';
  const from = text.length * (range.fromMs / totalMs);
  const to = text.length * (range.toMs / totalMs);
  const words = [...text.matchAll(/\S+/g)].filter(
    (word) => word.index < to && word.index + word[0].length > from,
  );
  return words.map((word) => word[0]).join(' ');
}

function estimateMs(text: string): number {
  const syllables = text.match(/[aeiouyáéíóúäöüàèìòùâêîôû]+|\d/giu)?.length ?? 1;
  return (syllables / SYLLABLES_PER_SECOND) * 1000;
}
