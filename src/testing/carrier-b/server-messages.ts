// The strict check of what a server sends on carrier B's media stream, with the error that the carrier answers a bad message with.

export type ServerMessage =
  | { type: 'media'; payload: Uint8Array }
  | { type: 'mark'; name: string }
  | { type: 'clear' };

/** Errors of the stream, by their numbers on the wire. */
export const STREAM_ERRORS = {
  100003: 'malformed_frame',
  100004: 'invalid_media',
  100005: 'rate_limit_reached',
} as const;
export type StreamErrorCode = keyof typeof STREAM_ERRORS;

export type MessageReading =
  | { message: ServerMessage }
  /** `code` is null where the carrier would take the message, or drop it without a word. */
  | { violation: string; code: StreamErrorCode | null; message?: ServerMessage };

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasExactly(value: Record<string, unknown>, names: readonly string[]): boolean {
  const keys = Object.keys(value);
  return keys.length === names.length && names.every((name) => Object.hasOwn(value, name));
}

/** Bytes of standard base64 with padding, or undefined: white space, other alphabets and stray bits are refused. */
function decodeBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

function malformed(violation: string): MessageReading {
  return { violation, code: 100003 };
}

/** A message that can be used all the same, when something is in it that the carrier passes over. */
function exactly(isExact: boolean, event: string, message: ServerMessage): MessageReading {
  return isExact ? { message } : { violation: `a ${event} message with surplus fields`, code: null, message };
}

function readMedia(value: Record<string, unknown>): MessageReading {
  const { media } = value;
  if (!isObject(media) || typeof media.payload !== 'string') {
    return malformed('a media message without a payload');
  }
  const payload = decodeBase64(media.payload);
  if (payload === undefined) {
    return { violation: 'a media payload that is no canonical base64', code: 100004 };
  }
  if (payload.length === 0) return { violation: 'a media message without audio', code: 100004 };
  if (Buffer.from(payload.subarray(0, 4)).toString('latin1') === 'RIFF') {
    return { violation: 'a WAV header in the audio', code: 100004 };
  }
  const isExact = hasExactly(value, ['event', 'media']) && hasExactly(media, ['payload']);
  return exactly(isExact, 'media', { type: 'media', payload });
}

function readMark(value: Record<string, unknown>): MessageReading {
  const { mark } = value;
  if (!isObject(mark) || typeof mark.name !== 'string' || mark.name === '') {
    return malformed('a mark message without a name');
  }
  const isExact = hasExactly(value, ['event', 'mark']) && hasExactly(mark, ['name']);
  return exactly(isExact, 'mark', { type: 'mark', name: mark.name });
}

/** Reads one message of the server, or says how it breaks the protocol. The sentences hold no content of the message. */
export function readServerMessage(text: string): MessageReading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return malformed('a message that is not JSON');
  }
  if (!isObject(value)) return malformed('a message that is not a JSON object');
  switch (value.event) {
    case 'media':
      return readMedia(value);
    case 'mark':
      return readMark(value);
    case 'clear':
      return exactly(hasExactly(value, ['event']), 'clear', { type: 'clear' });
    default:
      return malformed('a message with an unknown event');
  }
}
