// Media stream of carrier B: one JSON object per text message. Reads leniently, writes exactly, never throws.
import type { AudioFormat } from '../../audio/format.js';
import { asBuffer } from '../../audio/pcm-bytes.js';
import type { MediaDialect, MediaMessage, StreamCodec } from '../carrier.js';
import { toCallControlId } from './call-control-id.js';
import { ChunkOrder } from './chunk-order.js';
import { type Fields, parseObject, toDigit, toFields, toWholeNumber, toText } from './fields.js';
import { REQUESTED, readMediaFormat } from './media-format.js';

/** Longest audio payload in one message: 3 seconds of 16 kHz PCM, as base64. */
const MAX_PAYLOAD_LENGTH = 128_000;
const MAX_ID_LENGTH = 128;
const MAX_TEXT_LENGTH = 10_000;
const MAX_PARAMETERS = 64;
const MEDIA_PREFIX = '{"event":"media","media":{"payload":"';

/** Order of the two bytes of a sample on the wire. */
export type ByteOrder = 'little' | 'big';

export interface MediaOptions {
  /** What the stream was asked for with; it is what the carrier takes, whatever it sends. */
  readonly codec: StreamCodec;
  readonly l16ByteOrder: ByteOrder;
}

/** One dialect per stream: it learns the stream's id and format from `start`, and puts its audio in order. */
export function openMediaDialect(options: MediaOptions): MediaDialect {
  return new StreamDialect(options);
}

class StreamDialect implements MediaDialect {
  readonly #outboundFormat: AudioFormat;
  readonly #swapsBytes: boolean;
  readonly #order = new ChunkOrder();
  #state: 'new' | 'connected' | 'started' | 'stopped' = 'new';
  #streamId = '';
  /** How a frame of the stream ends. */
  #end = '';
  #isInboundPcm = false;

  constructor({ codec, l16ByteOrder }: MediaOptions) {
    this.#outboundFormat = REQUESTED[codec].format;
    this.#swapsBytes = l16ByteOrder === 'big';
  }

  decode(text: string): MediaMessage {
    const usual = this.#state === 'started' ? readUsual(text, this.#end) : undefined;
    if (usual !== undefined) return this.#media(usual);
    const message = parseObject(text);
    if (message === undefined) return unexpected('message is not a JSON object');
    switch (message.event) {
      case 'connected':
        return this.#connected();
      case 'start':
        return this.#start(message);
      case 'error':
        return unexpected(toReason(message.payload));
      case 'media':
      case 'dtmf':
      case 'mark':
      case 'stop':
      case 'spoken-text':
        return this.#later(message.event, message);
      default:
        return unexpected(typeof message.event === 'string' ? 'unknown event' : 'message without an event');
    }
  }

  encodeAudio(payload: Uint8Array): string {
    const isPcm = this.#outboundFormat.encoding === 'pcm';
    const bytes = isPcm ? evenBytes(payload) : asBuffer(payload);
    // The bytes are the caller's, so they are turned round in a copy.
    const wire = isPcm && this.#swapsBytes ? Buffer.from(bytes).swap16() : bytes;
    return `${MEDIA_PREFIX}${wire.toString('base64')}"}}`;
  }

  encodeMark(name: string): string {
    return JSON.stringify({ event: 'mark', mark: { name } });
  }

  encodeClear(): string {
    return '{"event":"clear"}';
  }

  #connected(): MediaMessage {
    if (this.#state !== 'new') return unexpected('connected is not the first message');
    this.#state = 'connected';
    return { type: 'connected' };
  }

  #start(message: Fields): MediaMessage {
    if (this.#state === 'started' || this.#state === 'stopped') return unexpected('second start');
    const start = toFields(message.start);
    const carrierCallId = toCallControlId(start.call_control_id);
    const streamId = toText(message.stream_id ?? start.stream_id, MAX_ID_LENGTH);
    if (carrierCallId === undefined || streamId === undefined) return unexpected('start without its ids');
    this.#state = 'started';
    this.#streamId = streamId;
    this.#end = `"},"stream_id":${JSON.stringify(streamId)}}`;
    const { format, codec } = readMediaFormat(start.media_format);
    this.#isInboundPcm = format?.encoding === 'pcm';
    const outboundFormat = this.#outboundFormat;
    const parameters = toParameters(start);
    return { type: 'start', carrierCallId, streamId, format, outboundFormat, codec, parameters };
  }

  /** Everything that makes sense only between `start` and `stop`. */
  #later(event: 'media' | 'dtmf' | 'mark' | 'stop' | 'spoken-text', message: Fields): MediaMessage {
    if (this.#state === 'stopped') return unexpected('message after stop');
    if (this.#state !== 'started') return unexpected('message before start');
    if ((message.stream_id ?? this.#streamId) !== this.#streamId) {
      return unexpected('message of a foreign stream');
    }
    switch (event) {
      case 'media':
        return this.#media(toFields(message.media));
      case 'dtmf':
        return decodeDtmf(message);
      case 'mark':
        return decodeMark(message);
      case 'spoken-text':
        return decodeSpokenText(message);
      case 'stop':
        this.#state = 'stopped';
        return { type: 'stop' };
    }
  }

  #media({ track, chunk, payload: text }: Fields): MediaMessage {
    if (track === 'outbound') return { type: 'ignored' };
    if ((track ?? 'inbound') !== 'inbound') return unexpected('media of an unknown track');
    if (typeof text !== 'string' || text === '') return unexpected('media without a payload');
    if (text.length > MAX_PAYLOAD_LENGTH) return unexpected('media payload too long');
    const bytes = Buffer.from(text, 'base64');
    // The decoder skips what is not base64, so only the way back tells.
    if (bytes.toString('base64') !== text) return unexpected('media payload is not base64');
    const samples = this.#isInboundPcm ? evenBytes(bytes) : bytes;
    if (samples.length === 0) return unexpected('media without a whole sample');
    const payload = this.#order.receive(
      chunk,
      this.#isInboundPcm && this.#swapsBytes ? samples.swap16() : samples,
    );
    return payload === undefined ? { type: 'ignored' } : { type: 'audio', payload };
  }
}

/** A view without half a sample at the end: sent, or carried on to the next piece, it would shift all that follows. */
function evenBytes(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length - (bytes.length % 2));
}

/** How the carrier writes the beginning of a frame of the caller, and what its number stands behind. */
const BEGIN =
  /\{"event":"media","sequence_number":"\d{1,15}","media":\{"track":"inbound","chunk":"\d{1,15}","timestamp":"\d{1,15}","payload":"/y;
const CHUNK = '"chunk":"';
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The fields of a frame that is written as usual: what reading the whole of it gives. Undefined for any other message. */
function readUsual(text: string, end: string): Fields | undefined {
  BEGIN.lastIndex = 0;
  if (!text.endsWith(end) || !BEGIN.test(text)) return undefined;
  const payload = text.slice(BEGIN.lastIndex, text.length - end.length);
  if (payload === '' || !BASE64.test(payload)) return undefined;
  const from = text.indexOf(CHUNK) + CHUNK.length;
  return { chunk: text.slice(from, text.indexOf('"', from)), payload };
}

function decodeDtmf(message: Fields): MediaMessage {
  const digit = toDigit(toFields(message.dtmf).digit);
  return digit === undefined ? unexpected('dtmf without a digit') : { type: 'dtmf', digit };
}

function decodeMark(message: Fields): MediaMessage {
  const { name } = toFields(message.mark);
  return typeof name === 'string' ? { type: 'mark', name } : unexpected('mark without a name');
}

function decodeSpokenText(message: Fields): MediaMessage {
  const { id, text, final, language } = toFields(message.spokenText);
  const name = toText(id, MAX_ID_LENGTH);
  if (name === undefined || typeof text !== 'string' || typeof final !== 'boolean') {
    return unexpected('malformed spoken text');
  }
  if (text.length > MAX_TEXT_LENGTH) return unexpected('spoken text too long');
  const spoken = typeof language === 'string' ? { language: language.slice(0, 40) } : {};
  return { type: 'spoken-text', id: name, text, final, ...spoken };
}

/** `error` complains about a message of ours; the stream goes on. */
const REASONS: ReadonlyMap<unknown, string> = new Map([
  [100_002, 'the carrier reports an unknown error'],
  [100_003, 'the carrier reports a malformed frame'],
  [100_004, 'the carrier reports invalid media'],
  [100_005, 'the carrier reports too many frames'],
]);

function toReason(payload: unknown): string {
  return REASONS.get(toWholeNumber(toFields(payload).code)) ?? 'the carrier reports an error';
}

/** Custom parameters, an object or a list of pairs, and the parties that the carrier names where those do not. */
function toParameters(start: Fields): Readonly<Record<string, string>> {
  const custom = start.custom_parameters;
  const given = Array.isArray(custom)
    ? custom.map(toFields).map(({ name, value }) => [name, value])
    : Object.entries(toFields(custom));
  const stated = [
    ['caller', start.from],
    ['callee', start.to],
  ];
  const entries = [...stated, ...given.slice(0, MAX_PARAMETERS)].filter(
    (entry): entry is [string, string] => typeof entry[0] === 'string' && typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries);
}

function unexpected(reason: string): MediaMessage {
  return { type: 'unexpected', reason };
}
