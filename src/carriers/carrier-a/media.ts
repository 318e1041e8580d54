// Media stream of carrier A: one JSON object per text message. Reads leniently, writes exactly, never throws.
import { type AudioFormat, MULAW_8K } from '../../audio/format.js';
import { asBuffer } from '../../audio/pcm-bytes.js';
import type { MediaDialect, MediaMessage } from '../carrier.js';
import { isWireId } from './wire-id.js';

/** Longest audio payload in one message: 3 seconds, as base64. */
const MAX_PAYLOAD_LENGTH = 32_768;
const MAX_TEXT_LENGTH = 10_000;
const MAX_PARAMETERS = 64;

type Fields = Readonly<Record<string, unknown>>;

/** One dialect per stream: it learns the stream's id from `start` and holds every later message against it. */
export function openMediaDialect(): MediaDialect {
  return new StreamDialect();
}

class StreamDialect implements MediaDialect {
  #state: 'new' | 'connected' | 'started' | 'stopped' = 'new';
  #streamId = '';
  #mediaPrefix = mediaPrefix('');
  #usual: UsualEnds | undefined;

  decode(text: string): MediaMessage {
    const usual = this.#state === 'started' ? this.#usual : undefined;
    const audio = usual === undefined ? undefined : readUsual(text, usual);
    if (audio !== undefined) return audio;
    const message = parseObject(text);
    if (message === undefined) return unexpected('message is not a JSON object');
    const event = message.event;
    if (event === 'connected') return this.#connected();
    if (event === 'start') return this.#start(message);
    if (typeof event !== 'string') return unexpected('message without an event');
    return this.#later(event, message);
  }

  encodeAudio(payload: Uint8Array): string {
    return `${this.#mediaPrefix}${asBuffer(payload).toString('base64')}"}}`;
  }

  encodeMark(name: string): string {
    return JSON.stringify({ event: 'mark', streamSid: this.#streamId, mark: { name } });
  }

  encodeClear(): string {
    return JSON.stringify({ event: 'clear', streamSid: this.#streamId });
  }

  #connected(): MediaMessage {
    if (this.#state !== 'new') return unexpected('connected is not the first message');
    this.#state = 'connected';
    return { type: 'connected' };
  }

  #start(message: Fields): MediaMessage {
    if (this.#state === 'started' || this.#state === 'stopped') return unexpected('second start');
    const start = toFields(message.start);
    const carrierCallId = toId(start.callSid);
    const streamId = toId(start.streamSid ?? message.streamSid);
    if (carrierCallId === undefined || streamId === undefined) return unexpected('start without its ids');
    if (message.streamSid !== undefined && message.streamSid !== streamId) {
      return unexpected('start of a foreign stream');
    }
    this.#state = 'started';
    this.#streamId = streamId;
    this.#mediaPrefix = mediaPrefix(streamId);
    this.#usual = usualEnds(streamId);
    const parameters = toParameters(start.customParameters);
    const format = toFormat(start.mediaFormat);
    return { type: 'start', carrierCallId, streamId, ...format, outboundFormat: MULAW_8K, parameters };
  }

  /** Everything that makes sense only between `start` and `stop`. */
  #later(event: string, message: Fields): MediaMessage {
    const decode = DECODERS.get(event);
    if (decode === undefined) return unexpected('unknown event');
    if (this.#state === 'stopped') return unexpected('message after stop');
    if (this.#state !== 'started') return unexpected('message before start');
    if (message.streamSid !== undefined && message.streamSid !== this.#streamId) {
      return unexpected('message of a foreign stream');
    }
    if (event === 'stop') this.#state = 'stopped';
    return decode(message);
  }
}

/** How the carrier writes a frame of the caller up to its audio: the stream is named behind it, or before. */
const BEGIN =
  /\{"event":"media","sequenceNumber":"\d{1,15}","media":\{"track":"inbound","chunk":"\d{1,15}","timestamp":"\d{1,15}","payload":"/y;
const BEGIN_WITH_ID =
  /\{"event":"media","sequenceNumber":"\d{1,15}","streamSid":"[^"\\]{1,128}","media":\{"track":"inbound","chunk":"\d{1,15}","timestamp":"\d{1,15}","payload":"/y;
const END = '"}}';

/** What is behind the audio where the stream is named last, and its id as messages name it. */
interface UsualEnds {
  readonly idField: string;
  readonly namedLast: string;
}

/** Made once: a joined string is copied together where it is first looked at. */
function usualEnds(streamId: string): UsualEnds {
  const idField = `"streamSid":${JSON.stringify(streamId)}`;
  return { idField, namedLast: `"},${idField}}` };
}

/** Audio of a message that is written as usual: what reading the whole of it gives, in a third of the time. Undefined for any other message. */
function readUsual(text: string, { idField, namedLast }: UsualEnds): MediaMessage | undefined {
  const isNamedLast = text.endsWith(namedLast);
  const begin = isNamedLast ? BEGIN : BEGIN_WITH_ID;
  begin.lastIndex = 0;
  if (!begin.test(text)) return undefined;
  const from = begin.lastIndex;
  const to = text.length - (isNamedLast ? namedLast : END).length;
  const payload = text.slice(from, to);
  if (payload === '' || payload.length > MAX_PAYLOAD_LENGTH) return undefined;
  if (!isNamedLast && !text.endsWith(END)) return undefined;
  if (!isNamedLast && !text.slice(0, from).includes(idField)) return undefined;
  const bytes = Buffer.from(payload, 'base64');
  return bytes.toString('base64') === payload ? { type: 'audio', payload: bytes } : undefined;
}

const DECODERS: ReadonlyMap<string, (message: Fields) => MediaMessage> = new Map([
  ['media', decodeMedia],
  ['dtmf', decodeDtmf],
  ['mark', decodeMark],
  ['stop', () => ({ type: 'stop' })],
  ['spoken-text', decodeSpokenText],
]);

function decodeMedia(message: Fields): MediaMessage {
  const media = toFields(message.media);
  if (media.track === 'outbound') return { type: 'ignored' };
  if (media.track !== undefined && media.track !== 'inbound') return unexpected('media of an unknown track');
  const text = media.payload;
  if (typeof text !== 'string' || text === '') return unexpected('media without a payload');
  if (text.length > MAX_PAYLOAD_LENGTH) return unexpected('media payload too long');
  const payload = Buffer.from(text, 'base64');
  // The decoder skips what is not base64, so only the way back tells.
  if (payload.toString('base64') !== text) return unexpected('media payload is not base64');
  return { type: 'audio', payload };
}

function decodeDtmf(message: Fields): MediaMessage {
  const { digit } = toFields(message.dtmf);
  const key = typeof digit === 'number' ? String(digit) : digit;
  if (typeof key !== 'string' || !/^[0-9*#A-D]$/i.test(key)) return unexpected('dtmf without a digit');
  return { type: 'dtmf', digit: key.toUpperCase() };
}

function decodeMark(message: Fields): MediaMessage {
  const name = toFields(message.mark).name;
  return typeof name === 'string' ? { type: 'mark', name } : unexpected('mark without a name');
}

function decodeSpokenText(message: Fields): MediaMessage {
  const { id, text, final, language } = toFields(message.spokenText);
  const name = toId(id);
  if (name === undefined || typeof text !== 'string' || typeof final !== 'boolean') {
    return unexpected('malformed spoken text');
  }
  if (text.length > MAX_TEXT_LENGTH) return unexpected('spoken text too long');
  const spoken = typeof language === 'string' ? { language: language.slice(0, 40) } : {};
  return { type: 'spoken-text', id: name, text, final, ...spoken };
}

/** The carrier speaks mu-law; another codec is named, so that the call can say why it ends. Numbers may be strings. */
function toFormat(value: unknown): { format: AudioFormat | null; codec: string } {
  const { encoding = 'audio/x-mulaw', sampleRate = 8000, channels = 1 } = toFields(value);
  const codec = [encoding, sampleRate, channels].map(codecWord).join('/');
  return { format: codec === 'audio/x-mulaw/8000/1' ? MULAW_8K : null, codec };
}

function codecWord(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.replace(/[^\w/.-]/g, '').slice(0, 32) : '?';
}

function toParameters(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(toFields(value)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries.slice(0, MAX_PARAMETERS));
}

function toId(value: unknown): string | undefined {
  return isWireId(value) ? value : undefined;
}

/** The fields of an object; none for anything else. */
function toFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

function mediaPrefix(streamId: string): string {
  return `{"event":"media","streamSid":${JSON.stringify(streamId)},"media":{"payload":"`;
}

function unexpected(reason: string): MediaMessage {
  return { type: 'unexpected', reason };
}
