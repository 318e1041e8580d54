// Messages of clients, which may be anything, as the emulators read them.

export type Fields = Readonly<Record<string, unknown>>;

/** Bytes of base64, undefined for what is none. */
export function readBase64(text: unknown): Buffer | undefined {
  if (typeof text !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function toFields(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** The JSON object in a text, undefined when there is none. */
export function readFields(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
