// Messages that a vendor mixes up or leaves incomplete: another call's ids in them, or nothing about what was used.

export interface FieldTroubles {
  /** Every id in a message is that of another call. */
  readonly foreignIds?: boolean;
  /** No message says what was used. */
  readonly withoutUsage?: boolean;
}

const ID = /"(\w*_id|\w*Id|id)":"([^"]*)"/g;
const USAGE = /^(usage|usageMetadata|x_groq)$/;

/** A message as its sender writes it by mistake: JSON, or events with JSON in them. Everything else stays as it is. */
export function mixUp(
  message: string | Buffer,
  { foreignIds, withoutUsage }: FieldTroubles,
): string | Buffer {
  if (foreignIds !== true && withoutUsage !== true) return message;
  const text = message.toString('utf8');
  // What is not text, like audio, would not survive the way there and back.
  if (Buffer.isBuffer(message) && !Buffer.from(text).equals(message)) return message;
  const named = foreignIds === true ? text.replace(ID, '"$1":"$2-of-another-call"') : text;
  const result = withoutUsage === true ? named.replace(/\{.*\}/g, dropUsage) : named;
  return Buffer.isBuffer(message) ? Buffer.from(result) : result;
}

function dropUsage(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json, (name, value) => (USAGE.test(name) ? undefined : value)));
  } catch {
    return json;
  }
}
