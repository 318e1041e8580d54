// The strict check of what a server sends on the media stream. The carrier ignores bad messages silently; here each one is named.

export type ServerMessage =
  | { type: 'media'; payload: Uint8Array }
  | { type: 'mark'; name: string }
  | { type: 'clear' };

export type MessageReading = { message: ServerMessage } | { violation: string };

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

function readMedia(value: Record<string, unknown>): MessageReading {
  const { media } = value;
  if (
    !hasExactly(value, ['event', 'streamSid', 'media']) ||
    !isObject(media) ||
    !hasExactly(media, ['payload'])
  ) {
    return { violation: 'a media message with missing or surplus fields' };
  }
  const payload = typeof media.payload === 'string' ? decodeBase64(media.payload) : undefined;
  if (payload === undefined) return { violation: 'a media payload that is no canonical base64' };
  if (payload.length === 0) return { violation: 'a media message without audio' };
  if (payload.length >= 4 && Buffer.from(payload.subarray(0, 4)).toString('latin1') === 'RIFF') {
    return { violation: 'a WAV header in the audio' };
  }
  return { message: { type: 'media', payload } };
}

/** Reads one message of the server, or says how it breaks the protocol. The sentences hold no content of the message. */
export function readServerMessage(text: string, streamSid: string): MessageReading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { violation: 'a message that is not JSON' };
  }
  if (!isObject(value)) return { violation: 'a message that is not a JSON object' };
  const { event } = value;
  if (event !== 'media' && event !== 'mark' && event !== 'clear') {
    return { violation: 'a message with an unknown event' };
  }
  if (value.streamSid !== streamSid)
    return { violation: `a ${event} message with a missing or foreign streamSid` };
  if (event === 'media') return readMedia(value);
  if (event === 'clear') {
    return hasExactly(value, ['event', 'streamSid'])
      ? { message: { type: 'clear' } }
      : { violation: 'a clear message with surplus fields' };
  }
  const { mark } = value;
  if (!hasExactly(value, ['event', 'streamSid', 'mark']) || !isObject(mark) || !hasExactly(mark, ['name'])) {
    return { violation: 'a mark message with missing or surplus fields' };
  }
  if (typeof mark.name !== 'string' || mark.name === '')
    return { violation: 'a mark message without a name' };
  return { message: { type: 'mark', name: mark.name } };
}
