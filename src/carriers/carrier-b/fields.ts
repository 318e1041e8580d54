// Reading JSON of others: everything may be missing, null or of another kind.

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object; none for anything else. */
export function toFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** The object that a text is the JSON of; undefined for any other text. */
export function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

/** A text that is neither empty nor longer than `maxLength`. */
export function toText(value: unknown, maxLength: number): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= maxLength ? value : undefined;
}

/** A whole number from 0 on, also in the digits of a text; undefined for anything else. */
export function toWholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** A key of a telephone; undefined for anything else. */
export function toDigit(value: unknown): string | undefined {
  return typeof value === 'string' && /^[0-9*#A-D]$/.test(value) ? value : undefined;
}
