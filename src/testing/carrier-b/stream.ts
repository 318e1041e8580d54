// One media stream as carrier B runs it: the handshake, the person's voice every 20 ms, playback of what the server sends, and the end.
import type { Clock } from '../../base/clock.js';
import type { CallerEvent, CallerFrame } from '../caller-track.js';
import type { MediaSocket, SocketData } from '../media-socket.js';
import type { LineListener } from '../phone-line.js';
import { PlaybackClock } from '../playback.js';
import { seededRandom } from '../seeded-random.js';
import type { StreamEnd } from '../stream-end.js';
import {
  createDecoder,
  createEncoder,
  wireRateHz,
  type FrameEncoder,
  type PayloadDecoder,
  type WireFormat,
} from './codecs.js';
import { toWireTime } from './ids.js';
import type { CarrierBDisturbances } from './options.js';
import {
  readServerMessage,
  STREAM_ERRORS,
  type ServerMessage,
  type StreamErrorCode,
} from './server-messages.js';
import { ViolationList } from './violations.js';

const FRAME_MS = 20;
/** Bounds of one media message of the server. Source: the vendor's page on bidirectional streaming. */
const MIN_MEDIA_MS = 20;
const MAX_MEDIA_MS = 30_000;
/** How long the closing handshake may take before the socket is cut. */
const CLOSE_TIMEOUT_MS = 3_000;
const REPEATED_EVERY = 5;
const ODD_EVERY = 10;

/** What `start` says of the call. */
export interface StreamFacts {
  userId: string;
  callControlId: string;
  callSessionId: string;
  from: string;
  to: string;
  clientState: string | null;
  customParameters: Readonly<Record<string, string>>;
}

export interface StreamOptions {
  clock: Clock;
  socket: MediaSocket;
  streamId: string;
  /** What the carrier sends. */
  granted: WireFormat;
  /** What the server sends. */
  serverFormat: WireFormat;
  mode: 'mp3' | 'rtp';
  disturbances: CarrierBDisturbances;
  /** A key was pressed; the leg decides how it is told. */
  onDigit(digit: string): void;
  /** The stream is over, told once, before the socket is closed. */
  onEnd(end: StreamEnd): void;
}

/** A stream from its `connected` on. `begin` starts it; what was said and heard stays readable after the end. */
export class CarrierBStream implements LineListener {
  readonly streamId: string;
  readonly violations: ViolationList;
  /** Resolves when the socket is gone. */
  readonly closed: Promise<void>;
  framesReceived = 0;
  framesSent = 0;
  readonly #options: StreamOptions;
  readonly #encoder: FrameEncoder;
  readonly #decoder: PayloadDecoder;
  readonly #random = seededRandom(1);
  #playback: PlaybackClock | undefined;
  #sequence = 0;
  #held: string | undefined;
  #end: StreamEnd | undefined;
  #durationMs = 0;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.streamId = options.streamId;
    this.#encoder = createEncoder(options.granted);
    this.#decoder = createDecoder(options.serverFormat);
    this.violations = new ViolationList(() => this.#playback?.nowMs ?? 0);
    const { socket } = options;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('close', (code, reason) => this.#closed(code, reason.toString('utf8')));
    this.#sendRaw(JSON.stringify({ event: 'connected', version: '1.0.0' }));
    socket.resume();
  }

  /** What the person hears; undefined before `start`. */
  get playback(): PlaybackClock | undefined {
    return this.#playback;
  }

  get end(): StreamEnd | undefined {
    return this.#end;
  }

  /** From `start` to the end, or to now. */
  get durationMs(): number {
    return this.#end === undefined ? (this.#playback?.nowMs ?? 0) : this.#durationMs;
  }

  /** Sends `start`. What the person says goes out from now on. */
  begin(facts: StreamFacts): PlaybackClock | undefined {
    if (this.#playback !== undefined || this.#end !== undefined) return undefined;
    const { clock, granted, disturbances } = this.#options;
    this.#send('start', {
      start: {
        user_id: facts.userId,
        call_control_id: facts.callControlId,
        call_session_id: facts.callSessionId,
        from: facts.from,
        to: facts.to,
        tags: [],
        client_state: facts.clientState,
        custom_parameters: { ...facts.customParameters },
        media_format: {
          encoding: granted.codec,
          sample_rate: wireRateHz(granted.codec, granted.sampleRateHz),
          channels: 1,
        },
      },
    });
    this.#playback = new PlaybackClock({ clock, echoMark: (name) => this.#send('mark', { mark: { name } }) });
    if (disturbances.errorFrames === true) this.#sendError(100005);
    return this.#playback;
  }

  take(frame: CallerFrame): void {
    if (this.#playback === undefined || this.#end !== undefined) return;
    this.framesSent += 1;
    if (frame.isLost !== true) this.#sendChunk(frame.samples);
    for (const event of frame.events) this.#tell(event);
  }

  /** Tells a key that was pressed at `wallMs`, epoch milliseconds. */
  sendDigit(digit: string, wallMs: number): void {
    if (this.#playback === undefined || this.#end !== undefined) return;
    this.#send('dtmf', { occurred_at: toWireTime(wallMs), dtmf: { digit } });
  }

  /** Ends the stream as the carrier does: `stop`, then the closing handshake. `abrupt` cuts the socket instead. Idempotent. */
  finish(end: Pick<StreamEnd, 'by' | 'how'>, options: { facts: StreamFacts; abrupt?: boolean }): void {
    if (this.#end !== undefined) return;
    const { socket, clock } = this.#options;
    this.#flushHeld();
    const { userId, callControlId } = options.facts;
    const isHeard = this.#playback !== undefined && options.abrupt !== true;
    if (isHeard) this.#send('stop', { stop: { user_id: userId, call_control_id: callControlId } });
    this.#settle({ ...end, closeCode: null, reason: '' });
    if (options.abrupt === true) {
      socket.terminate();
      return;
    }
    const cut = clock.after(CLOSE_TIMEOUT_MS, () => socket.terminate());
    socket.once('close', () => cut.cancel());
    socket.close(1000);
  }

  #settle(end: StreamEnd): void {
    this.#durationMs = this.#playback?.nowMs ?? 0;
    this.#end = end;
    this.#playback?.close();
    this.#encoder.free();
    this.#decoder.free();
    this.#options.onEnd(end);
  }

  #closed(code: number, reason: string): void {
    if (this.#end !== undefined) return;
    const isLost = code === 1006;
    this.#settle({
      by: isLost ? 'network' : 'server',
      how: isLost ? 'lost' : 'closed',
      closeCode: isLost ? null : code,
      reason,
    });
  }

  #receive(data: SocketData, isBinary: boolean): void {
    if (this.#end !== undefined) return;
    if (isBinary) {
      this.violations.add('a binary message');
      this.#sendError(100003);
      return;
    }
    if (this.#playback === undefined) {
      this.violations.add('a message before start');
      return;
    }
    const reading = readServerMessage(data.toString());
    if ('violation' in reading) {
      this.violations.add(reading.violation);
      if (reading.code !== null) this.#sendError(reading.code);
    }
    if (reading.message !== undefined) this.#apply(reading.message, this.#playback);
  }

  #apply(message: ServerMessage, playback: PlaybackClock): void {
    if (message.type === 'mark') playback.mark(message.name);
    else if (message.type === 'clear') {
      playback.clear();
      this.#decoder.reset();
    } else this.#play(message.payload, playback);
  }

  #play(payload: Uint8Array, playback: PlaybackClock): void {
    const { mode, serverFormat } = this.#options;
    if (mode !== 'rtp') {
      this.#refuse('raw audio on a stream whose stream_bidirectional_mode is not rtp');
      return;
    }
    if (serverFormat.codec === 'L16' && payload.length % 2 !== 0) {
      this.#refuse('half a sample in the audio');
      return;
    }
    const durationMs = this.#decoder.durationMs(payload);
    if (durationMs !== null && durationMs > MAX_MEDIA_MS) {
      this.#refuse('a media message of more than 30 s');
      return;
    }
    // The carrier says nothing about a short piece: it clicks, or is lost.
    if (durationMs !== null && durationMs < MIN_MEDIA_MS) {
      this.violations.add('a media message of less than 20 ms');
      return;
    }
    this.framesReceived += 1;
    if (playback.enqueue(this.#decoder.decode(payload))) return;
    this.violations.add('audio more than five minutes ahead, dropped');
    this.#sendError(100005);
  }

  #refuse(violation: string): void {
    this.violations.add(violation);
    this.#sendError(100004);
  }

  #sendChunk(samples: Int16Array): void {
    const { shuffledChunks, repeatedChunks, oddPayloads } = this.#options.disturbances;
    const chunk = this.framesSent;
    const payload = Buffer.from(this.#encoder.encode(samples));
    const sent = oddPayloads === true && chunk % ODD_EVERY === 0 ? payload.subarray(0, -1) : payload;
    const text = this.#number('media', {
      media: {
        track: 'inbound',
        chunk: String(chunk),
        timestamp: String((chunk - 1) * FRAME_MS),
        payload: sent.toString('base64'),
      },
    });
    if (shuffledChunks === true && this.#held === undefined && this.#random() < 0.3) {
      this.#held = text;
      return;
    }
    this.#sendRaw(text);
    if (repeatedChunks === true && chunk % REPEATED_EVERY === 0) this.#sendRaw(text);
    this.#flushHeld();
  }

  #flushHeld(): void {
    if (this.#held !== undefined) this.#sendRaw(this.#held);
    this.#held = undefined;
  }

  #tell(event: CallerEvent): void {
    if (event.type === 'dtmf') this.#options.onDigit(event.digit);
    else if (event.type === 'spoken-text') {
      const { type: _, ...spokenText } = event;
      // No carrier sends this: it tells the simulated speech-to-text what is being said. It has no place in the sequence.
      const message = { event: 'spoken-text', stream_id: this.streamId, spokenText };
      this.#sendRaw(JSON.stringify(message));
    }
  }

  #sendError(code: StreamErrorCode): void {
    const payload = { code, title: STREAM_ERRORS[code], detail: 'frame refused' };
    this.#sendRaw(JSON.stringify({ event: 'error', payload, stream_id: this.streamId }));
  }

  #send(event: string, fields: object): void {
    this.#sendRaw(this.#number(event, fields));
  }

  /** A message with its place in the sequence. */
  #number(event: string, fields: object): string {
    this.#sequence += 1;
    const numbered = { event, sequence_number: String(this.#sequence), ...fields, stream_id: this.streamId };
    return JSON.stringify(numbered);
  }

  #sendRaw(text: string): void {
    const { socket } = this.#options;
    if (socket.readyState === socket.OPEN) socket.send(text);
  }
}
