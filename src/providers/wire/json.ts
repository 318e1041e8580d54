// Reads what a vendor writes. Nothing in it is what it should be until it was looked at.

export type Json = Readonly<Record<string, unknown>>;

/** The JSON object in a text, undefined when there is none. */
export function parseObject(text: string): Json | undefined {
  try {
    return toObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export function toObject(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

export function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A finite number, undefined for everything else. */
export function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A number of things: not below 0. */
export function toCount(value: unknown): number {
  return Math.max(0, toNumber(value) ?? 0);
}
