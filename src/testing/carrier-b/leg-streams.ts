// The media streams of one leg, one after the other: opened where the server asked for them, reported as the carrier reports them.
import { randomUUID } from 'node:crypto';
import { openMediaSocket } from '../carrier-a/stream.js';
import { pause } from '../../base/pause.js';
import type { PlaybackClock } from '../playback.js';
import type { StreamEnd } from '../stream-end.js';
import type { Exchange } from './exchange.js';
import type { StreamCodecName } from './options.js';
import type { StreamRequest } from './stream-request.js';
import { CarrierBStream, type StreamFacts } from './stream.js';

/** The leg, as its streams need it. */
export interface StreamOwner {
  readonly isAnswered: boolean;
  readonly facts: Omit<StreamFacts, 'customParameters'>;
  /** A stream event; its name is without the prefix that some samples have. */
  emitStreaming(event: 'started' | 'stopped' | 'failed', payload: Readonly<Record<string, unknown>>): void;
  streamBegan(stream: CarrierBStream, playback: PlaybackClock, upgradeMs: number): void;
  streamEnded(stream: CarrierBStream): void;
  pressed(digit: string): void;
}

/** How the loss of a stream is told: by either event, or not at all. */
export type LossReport = 'stopped' | 'failed' | 'none';

interface OpenStream {
  stream: CarrierBStream;
  request: StreamRequest;
  upgradeMs: number;
}

export class LegStreams {
  readonly #exchange: Exchange;
  readonly #owner: StreamOwner;
  #open: OpenStream | undefined;
  #opening: AbortController | undefined;
  #count = 0;
  #lossReport: LossReport | undefined;
  /** Why the last stream could not be opened. */
  refusal: { status: number | null; sentence: string } | undefined;

  constructor(exchange: Exchange, owner: StreamOwner) {
    this.#exchange = exchange;
    this.#owner = owner;
  }

  /** A stream is open, or being opened. */
  get isActive(): boolean {
    return this.#open !== undefined || this.#opening !== undefined;
  }

  get current(): CarrierBStream | undefined {
    return this.#open?.stream;
  }

  /** Opens a stream in place of the one that is open. */
  start(request: StreamRequest): void {
    this.stop({ by: 'agent', how: 'replaced' });
    const opening = new AbortController();
    this.#opening = opening;
    void this.#connect(request, opening);
  }

  /** The leg was answered: a socket that waits gets its `start`. */
  answered(): void {
    if (this.#open !== undefined) this.#begin(this.#open);
  }

  /** Ends the stream that is open, and gives up the one that is being opened. */
  stop(end: Pick<StreamEnd, 'by' | 'how'>, options: { abrupt?: boolean } = {}): void {
    this.#opening?.abort();
    this.#opening = undefined;
    const open = this.#open;
    if (open === undefined) return;
    const facts = this.#facts(open.request);
    open.stream.finish(end, { ...options, facts });
  }

  /** Cuts the connection as a broken network does; the leg stays up. */
  drop(report: LossReport): void {
    this.#lossReport = report;
    this.stop({ by: 'network', how: 'lost' }, { abrupt: true });
    this.#lossReport = undefined;
  }

  #facts(request: StreamRequest): StreamFacts {
    return { ...this.#owner.facts, customParameters: request.customParameters };
  }

  async #connect(request: StreamRequest, opening: AbortController): Promise<void> {
    const { clock, target } = this.#exchange;
    const { streamDelayMs = 0 } = this.#exchange.disturbances;
    const streamId = randomUUID();
    if (streamDelayMs > 0) await pause(clock, streamDelayMs, opening.signal);
    if (opening.signal.aborted) return;
    if (this.#exchange.takeStreamFault('failedStreams')) {
      this.#opening = undefined;
      this.#fail(request, streamId, 'connection_failed');
      return;
    }
    const dialedMs = clock.now();
    const scheme = target.protocol === 'https:' ? 'wss:' : 'ws:';
    const { pathname, search, host } = request.url;
    const opened = await openMediaSocket({
      url: `${scheme}//${target.host}${pathname}${search}`,
      headers: { host },
      signal: opening.signal,
    });
    if (opening.signal.aborted) {
      if ('socket' in opened) opened.socket.terminate();
      return;
    }
    this.#opening = undefined;
    if (!('socket' in opened)) {
      this.refusal = opened;
      this.#fail(request, streamId, 'connection_failed');
      return;
    }
    const { l16ByteOrder: byteOrder, l16SampleRateHz, disturbances } = this.#exchange;
    const stream = new CarrierBStream({
      clock,
      socket: opened.socket,
      streamId,
      granted: { codec: this.#grant(request), sampleRateHz: l16SampleRateHz, byteOrder },
      serverFormat: { codec: request.serverCodec, sampleRateHz: request.serverRateHz, byteOrder },
      mode: request.mode,
      disturbances,
      onDigit: (digit) => this.#owner.pressed(digit),
      onEnd: (end) => this.#ended(stream, end),
    });
    const open = { stream, request, upgradeMs: clock.now() - dialedMs };
    this.#open = open;
    if (this.#exchange.takeStreamFault('closedBeforeStart')) this.drop('failed');
    else if (this.#owner.isAnswered) this.#begin(open);
  }

  #begin({ stream, request, upgradeMs }: OpenStream): void {
    const playback = stream.begin(this.#facts(request));
    if (playback === undefined) return;
    this.refusal = undefined;
    this.#owner.emitStreaming('started', { stream_id: stream.streamId, stream_url: request.url.href });
    this.#owner.streamBegan(stream, playback, upgradeMs);
  }

  #ended(stream: CarrierBStream, end: StreamEnd): void {
    const open = this.#open;
    if (open?.stream !== stream) return;
    this.#open = undefined;
    const report = this.#lossReport ?? (end.how === 'lost' ? 'failed' : 'stopped');
    // A socket of a call that nobody answered goes without a word.
    const isTold = stream.playback !== undefined || this.#owner.isAnswered;
    if (isTold && report === 'failed') this.#fail(open.request, stream.streamId, 'connection_lost');
    else if (isTold && report === 'stopped') {
      this.#owner.emitStreaming('stopped', { stream_id: stream.streamId, stream_url: open.request.url.href });
    }
    this.#owner.streamEnded(stream);
  }

  #fail(request: StreamRequest, streamId: string, reason: string): void {
    this.#owner.emitStreaming('failed', {
      failure_reason: reason,
      stream_id: streamId,
      stream_params: { stream_url: request.url.href, track: request.track },
      stream_type: 'websocket',
    });
  }

  /** The carrier's own choice for this stream of the leg, or what was asked for; the codec of the phone leg is PCMU. */
  #grant({ codec }: StreamRequest): StreamCodecName {
    const { grant } = this.#exchange;
    const granted = grant[Math.min(this.#count, grant.length - 1)];
    this.#count += 1;
    return granted ?? (codec === 'default' ? 'PCMU' : codec);
  }
}
