// JSON text in the parts that it is read in: names, strings and numbers as they read, and what stands between them.

/** A part of a text. */
export interface JsonPart {
  /** As it is written. */
  readonly raw: string;
  /** As it reads: without escapes and exponents, and a name like "cardNumber" as two words. */
  readonly reads: string;
  /** A name or a value, in the place of which another can be written. */
  readonly isLiteral: boolean;
}

const LITERAL = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const NAME_END = /\s*:/y;
/** The name of a value is no unit of the value before. */
const BEFORE_NAME = ' field ';
/** The seam in "cardNumber". */
const SEAM = /(?<=\p{Ll})(?=\p{Lu})/gu;

/** The parts of a text that is JSON, in order; undefined for any other text. */
export function jsonPartsOf(text: string): JsonPart[] | undefined {
  if (!isJson(text)) return undefined;
  const parts: JsonPart[] = [];
  let at = 0;
  const skipTo = (end: number, behind = '') => {
    const raw = text.slice(at, end);
    if (raw !== '') parts.push({ raw, reads: `${raw}${behind}`, isLiteral: false });
  };
  for (const { 0: raw, index } of text.matchAll(LITERAL)) {
    const end = index + raw.length;
    NAME_END.lastIndex = end;
    const isName = NAME_END.test(text);
    skipTo(index, isName ? BEFORE_NAME : '');
    const reads = raw.startsWith('"') ? readString(raw, { isName }) : readNumber(raw);
    parts.push({ raw, reads, isLiteral: true });
    at = end;
  }
  skipTo(text.length);
  return parts;
}

/** A string that reads as `reads`, with its quotes or without. */
export function writeString(reads: string): string {
  return JSON.stringify(reads.replace(/^"|"$/g, ''));
}

/** With its quotes: they part it from others. */
function readString(raw: string, { isName }: { isName: boolean }): string {
  const text = JSON.parse(raw) as string;
  return `"${isName ? text.replace(SEAM, ' ') : text}"`;
}

function readNumber(raw: string): string {
  const value = Number(raw);
  return /e/i.test(raw) && Number.isInteger(value) ? BigInt(value).toString() : raw;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
