// One media stream as carrier A runs it: the handshake, the caller's frames, playback of what the server sends, and the end.
import { WebSocket } from 'ws';
import type { Clock } from '../../base/clock.js';
import { transcoder } from '../../transcoder/select.js';
import type { CallerEvent, CallerFrame } from '../caller-track.js';
import type { MediaSocket, SocketData } from '../media-socket.js';
import type { LineListener } from '../phone-line.js';
import { PlaybackClock } from '../playback.js';
import type { StreamEnd, Violation } from '../stream-end.js';
import { readServerMessage, type ServerMessage } from './server-messages.js';

const FRAME_MS = 20;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** How long the closing handshake may take before the socket is cut. */
const CLOSE_TIMEOUT_MS = 3_000;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Violations that are kept; a server that floods is only counted on. */
const MAX_VIOLATIONS = 100;

export interface StreamOptions {
  clock: Clock;
  socket: MediaSocket;
  /** Of its URL. */
  path: string;
  callSid: string;
  accountSid: string;
  streamSid: string;
  customParameters: Readonly<Record<string, string>>;
  /** Sent before `start`, and right after it: what a carrier should not send. */
  noise?: { beforeStart: readonly RawMessage[]; afterStart: readonly RawMessage[] };
}

/** Why the carrier itself ends a stream. */
export type StopReason = Exclude<StreamEnd['how'], 'closed' | 'lost'>;

/** Any message at all. */
export type RawMessage = string | Uint8Array;

export interface UpgradeRequest {
  url: string;
  headers: Record<string, string>;
  signal: AbortSignal;
}

/** Opens the media socket, or tells how the server refused it: its HTTP status, or a sentence when there was none. */
export function openMediaSocket(
  request: UpgradeRequest,
): Promise<{ socket: MediaSocket } | { status: number | null; sentence: string }> {
  return new Promise((resolve) => {
    const socket = new WebSocket(request.url, {
      headers: request.headers,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    });
    const abort = () => socket.terminate();
    request.signal.addEventListener('abort', abort, { once: true });
    const settle = (outcome: { socket: MediaSocket } | { status: number | null; sentence: string }) => {
      request.signal.removeEventListener('abort', abort);
      resolve(outcome);
    };
    socket.once('open', () => {
      socket.pause();
      settle({ socket });
    });
    socket.once('unexpected-response', (_request, response) => {
      response.destroy();
      settle({ status: response.statusCode ?? null, sentence: 'the stream was refused' });
      socket.terminate();
    });
    socket.on('error', (error) => settle({ status: null, sentence: describeSocketError(error) }));
  });
}

function describeSocketError(error: Error): string {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string'
    ? `the stream could not be opened (${code})`
    : 'the stream could not be opened';
}

/** A running stream. `ended` resolves once; what it heard stays readable. The caller's voice is given to it frame by frame. */
export class CarrierAStream implements LineListener {
  readonly playback: PlaybackClock;
  readonly violations: Violation[] = [];
  readonly ended: Promise<StreamEnd>;
  framesReceived = 0;
  framesSent = 0;
  #resolveEnded: (end: StreamEnd) => void = () => {};
  readonly #options: StreamOptions;
  #sequence = 0;
  #end: StreamEnd | undefined;
  #durationMs = 0;

  /** Sends `connected` and `start`. */
  constructor(options: StreamOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    const { socket, streamSid, accountSid, callSid, customParameters, noise } = options;
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('close', (code, reason) => this.#closed(code, reason.toString('utf8')));
    socket.resume();
    this.#sendObject({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    for (const message of noise?.beforeStart ?? []) this.sendRaw(message);
    this.#send('start', {
      start: {
        accountSid,
        streamSid,
        callSid,
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        customParameters: { ...customParameters },
      },
    });
    for (const message of noise?.afterStart ?? []) this.sendRaw(message);
    this.playback = new PlaybackClock({
      clock: options.clock,
      echoMark: (name) => this.#send('mark', { mark: { name } }),
    });
  }

  get streamSid(): string {
    return this.#options.streamSid;
  }

  /** Of the URL that was dialed. */
  get path(): string {
    return this.#options.path;
  }

  /** How it ended; undefined while it runs. */
  get end(): StreamEnd | undefined {
    return this.#end;
  }

  /** From the start of the stream to its end, or to now. */
  get durationMs(): number {
    return this.#end === undefined ? this.playback.nowMs : this.#durationMs;
  }

  /** Sends one frame of the caller's voice, and what happens in it. Of one that is lost the number is missing. */
  take(frame: CallerFrame): void {
    if (this.#end !== undefined) return;
    this.framesSent += 1;
    if (frame.isLost !== true) this.#sendMedia(frame.samples);
    for (const event of frame.events) this.#tell(event);
  }

  #sendMedia(samples: Int16Array): void {
    this.#send('media', {
      media: {
        track: 'inbound',
        chunk: String(this.framesSent),
        timestamp: String(this.framesSent * FRAME_MS),
        payload: Buffer.from(transcoder.mulawEncode(samples)).toString('base64'),
      },
    });
  }

  /** Sends any message at all, in or out of order. */
  sendRaw(message: RawMessage): void {
    const { socket } = this.#options;
    if (socket.readyState === socket.OPEN) socket.send(message);
  }

  /** Ends the stream as the carrier does: `stop`, then the closing handshake. `abrupt` cuts the socket instead. Idempotent. */
  stop(how: StopReason, options: { by: 'caller' | 'agent'; abrupt?: boolean }): void {
    if (this.#end !== undefined) return;
    const { socket, accountSid, callSid, clock } = this.#options;
    if (options.abrupt !== true) this.#send('stop', { stop: { accountSid, callSid } });
    this.#finish({ by: options.by, how, closeCode: null, reason: '' });
    if (options.abrupt === true) {
      socket.terminate();
      return;
    }
    const cut = clock.after(CLOSE_TIMEOUT_MS, () => socket.terminate());
    socket.once('close', () => cut.cancel());
    socket.close(1000);
  }

  /** Cuts the socket without a word. Idempotent. */
  drop(): void {
    if (this.#end !== undefined) return;
    this.#finish({ by: 'network', how: 'lost', closeCode: null, reason: '' });
    this.#options.socket.terminate();
  }

  #finish(end: StreamEnd): void {
    this.#durationMs = this.playback.nowMs;
    this.#end = end;
    this.playback.close();
  }

  #closed(code: number, reason: string): void {
    if (this.#end === undefined) {
      const lost = code === 1006;
      this.#finish({
        by: lost ? 'network' : 'server',
        how: lost ? 'lost' : 'closed',
        closeCode: lost ? null : code,
        reason,
      });
    }
    if (this.#end !== undefined) this.#resolveEnded(this.#end);
  }

  #receive(data: SocketData, isBinary: boolean): void {
    if (this.#end !== undefined) return;
    if (isBinary) {
      this.#violate('a binary message');
      return;
    }
    const reading = readServerMessage(data.toString(), this.#options.streamSid);
    if ('violation' in reading) this.#violate(reading.violation);
    else this.#apply(reading.message);
  }

  #apply(message: ServerMessage): void {
    if (message.type === 'clear') this.playback.clear();
    else if (message.type === 'mark') this.playback.mark(message.name);
    else {
      this.framesReceived += 1;
      if (!this.playback.enqueue(transcoder.mulawDecode(message.payload)))
        this.#violate('audio more than five minutes ahead, dropped');
    }
  }

  #violate(sentence: string): void {
    const known = this.violations.find((violation) => violation.sentence === sentence);
    if (known !== undefined) known.count += 1;
    else if (this.violations.length < MAX_VIOLATIONS) {
      this.violations.push({ atMs: Math.round(this.playback.nowMs), sentence, count: 1 });
    }
  }

  #tell(event: CallerEvent): void {
    if (event.type === 'dtmf') this.#send('dtmf', { dtmf: { track: 'inbound_track', digit: event.digit } });
    if (event.type !== 'spoken-text') return;
    const { type: _, ...spokenText } = event;
    // No carrier sends this: it tells the simulated speech-to-text what is being said. It has no place in the sequence.
    const { streamSid } = this.#options;
    this.#sendObject({ event: 'spoken-text', streamSid, spokenText });
  }

  #send(event: string, fields: object): void {
    this.#sequence += 1;
    const { streamSid } = this.#options;
    this.#sendObject({ event, sequenceNumber: String(this.#sequence), streamSid, ...fields });
  }

  #sendObject(message: object): void {
    this.sendRaw(JSON.stringify(message));
  }
}
