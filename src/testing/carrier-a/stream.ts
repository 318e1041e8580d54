// One media stream as carrier A runs it: the handshake, a frame every 20 ms without drift, playback of what the server sends, and the end.
import { WebSocket } from 'ws';
import type { Clock, Timer } from '../../base/clock.js';
import { transcoder } from '../../transcoder/select.js';
import { CALLER_FRAME_SAMPLES, type CallerEvent, type CallerFrame } from '../caller-track.js';
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

/** The caller's side of the conversation. */
export interface CallerSource {
  nextFrame(atMs: number): CallerFrame;
}

export interface StreamOptions {
  clock: Clock;
  socket: WebSocket;
  callSid: string;
  accountSid: string;
  streamSid: string;
  customParameters: Readonly<Record<string, string>>;
  createCaller(playback: PlaybackClock): CallerSource;
}

export interface UpgradeRequest {
  url: string;
  headers: Record<string, string>;
  signal: AbortSignal;
}

/** Opens the media socket, or tells how the server refused it: its HTTP status, or a sentence when there was none. */
export function openMediaSocket(
  request: UpgradeRequest,
): Promise<{ socket: WebSocket } | { status: number | null; sentence: string }> {
  return new Promise((resolve) => {
    const socket = new WebSocket(request.url, {
      headers: request.headers,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    });
    const abort = () => socket.terminate();
    request.signal.addEventListener('abort', abort, { once: true });
    const settle = (outcome: { socket: WebSocket } | { status: number | null; sentence: string }) => {
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

/** A running stream. `ended` resolves once; what it said and heard stays readable. */
export class CarrierAStream {
  readonly playback: PlaybackClock;
  readonly violations: Violation[] = [];
  readonly ended: Promise<StreamEnd>;
  framesReceived = 0;
  #resolveEnded: (end: StreamEnd) => void = () => {};
  readonly #options: StreamOptions;
  readonly #caller: CallerSource;
  readonly #callerFrames: Int16Array[] = [];
  #sequence = 0;
  #timer: Timer | undefined;
  #end: StreamEnd | undefined;
  #durationMs = 0;

  /** Sends `connected` and `start`, then a frame every 20 ms. */
  constructor(options: StreamOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    const { socket, streamSid, accountSid, callSid, customParameters } = options;
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('close', (code, reason) => this.#closed(code, reason.toString('utf8')));
    socket.resume();
    this.#sendRaw({ event: 'connected', protocol: 'Call', version: '1.0.0' });
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
    this.playback = new PlaybackClock({
      clock: options.clock,
      echoMark: (name) => this.#send('mark', { mark: { name } }),
    });
    this.#caller = options.createCaller(this.playback);
    this.#schedule();
  }

  /** What the caller said: 8 kHz PCM from the start of the stream. */
  get callerAudio(): Int16Array {
    const audio = new Int16Array(this.#callerFrames.length * CALLER_FRAME_SAMPLES);
    for (const [index, frame] of this.#callerFrames.entries()) audio.set(frame, index * CALLER_FRAME_SAMPLES);
    return audio;
  }

  get framesSent(): number {
    return this.#callerFrames.length;
  }

  /** From the start of the stream to its end, or to now. */
  get durationMs(): number {
    return this.#end === undefined ? this.playback.nowMs : this.#durationMs;
  }

  /** Ends the stream as the carrier does: `stop`, then the closing handshake. `abrupt` cuts the socket instead. Idempotent. */
  end(
    how: 'hang-up' | 'transfer' | 'time-limit' | 'aborted',
    options: { by: 'caller' | 'agent'; abrupt?: boolean },
  ): void {
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

  #finish(end: StreamEnd): void {
    this.#durationMs = this.playback.nowMs;
    this.#end = end;
    this.#timer?.cancel();
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

  #receive(data: WebSocket.RawData, isBinary: boolean): void {
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

  /** Every frame has its own due time since the start, so that lateness never adds up; frames that are late go out together. */
  #schedule(): void {
    const dueMs = (this.#callerFrames.length + 1) * FRAME_MS;
    this.#timer = this.#options.clock.after(Math.max(0, dueMs - this.playback.nowMs), () => {
      while (
        this.#end === undefined &&
        (this.#callerFrames.length + 1) * FRAME_MS <= this.playback.nowMs + 0.5
      ) {
        this.#sendFrame();
      }
      if (this.#end === undefined) this.#schedule();
    });
  }

  #sendFrame(): void {
    const frame = this.#caller.nextFrame(this.#callerFrames.length * FRAME_MS);
    this.#callerFrames.push(frame.samples);
    const count = this.#callerFrames.length;
    this.#send('media', {
      media: {
        track: 'inbound',
        chunk: String(count),
        timestamp: String(count * FRAME_MS),
        payload: Buffer.from(transcoder.mulawEncode(frame.samples)).toString('base64'),
      },
    });
    for (const event of frame.events) this.#act(event);
  }

  #act(event: CallerEvent): void {
    if (event.type === 'hang-up') this.end('hang-up', { by: 'caller', abrupt: event.abrupt });
    else if (event.type === 'dtmf')
      this.#send('dtmf', { dtmf: { track: 'inbound_track', digit: event.digit } });
    else {
      const { id, text, final } = event;
      // No carrier sends this: it tells the simulated speech-to-text what is being said. It has no place in the sequence.
      const { streamSid } = this.#options;
      this.#sendRaw({ event: 'spoken-text', streamSid, spokenText: { id, text, final } });
    }
  }

  #send(event: string, fields: object): void {
    this.#sequence += 1;
    const { streamSid } = this.#options;
    this.#sendRaw({ event, sequenceNumber: String(this.#sequence), streamSid, ...fields });
  }

  #sendRaw(message: object): void {
    const { socket } = this.#options;
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  }
}
