// The way of the audio of one call: a pacer that lasts as long as the call, and converters that last as long as a stream.
import {
  createInboundConverter,
  createOutboundConverter,
  type InboundConverter,
} from '../../audio/converter.js';
import { type AudioFormat, frameSamples, PCM_16K } from '../../audio/format.js';
import { EnvelopeMeter } from '../../audio/envelope.js';
import { Framer } from '../../audio/framer.js';
import { Pacer, type PlaybackSink, type PlaybackWay } from '../../audio/pacer.js';
import type { Clock } from '../../base/clock.js';
import type { Meters } from '../../base/meters.js';
import type { AudioEnvelope } from '../../contract/call-record.js';
import type { TranscoderBackend } from '../../transcoder/backend.js';

/** One stream as the audio sees it. */
export interface AudioLine {
  /** What the carrier sends. */
  readonly format: AudioFormat;
  /** What the carrier takes. */
  readonly outboundFormat: AudioFormat;
  readonly sink: PlaybackSink;
}

export interface AudioPathOptions {
  readonly backend: TranscoderBackend;
  readonly clock: Clock;
  readonly meters: Meters;
  /** Gets 20 ms frames in the house format, valid until it returns. */
  onFrame(frame: Int16Array): void;
  /** Gets the same as the line carries it, before the frames. */
  onEncoded(payload: Uint8Array, format: AudioFormat): void;
}

export class AudioPath {
  readonly playout: Pacer;
  readonly #backend: TranscoderBackend;
  readonly #framer: Framer;
  readonly #envelope = new EnvelopeMeter();
  readonly #startedAt: number;
  readonly #onEncoded: AudioPathOptions['onEncoded'];
  #inbound: InboundConverter | undefined;
  #format: AudioFormat;

  /** @throws TranscoderError for a rate that is not offered. */
  constructor(line: AudioLine, options: AudioPathOptions) {
    const { clock, onFrame } = options;
    const startedAt = clock.now();
    this.#backend = options.backend;
    this.#onEncoded = options.onEncoded;
    this.#format = line.format;
    this.#startedAt = clock.wallNow();
    this.#framer = new Framer(frameSamples(PCM_16K), (frame) => {
      this.#envelope.hear(frame, clock.now() - startedAt);
      onFrame(frame);
    });
    const { inbound, way } = this.#convertersOf(line);
    this.#inbound = inbound;
    this.playout = new Pacer({
      ...way,
      clock,
      meters: options.meters,
      listener: {
        played: (frame, atMs) => this.#envelope.speak(frame, atMs - startedAt),
        markHeard: (atMs) => this.#envelope.markHeard(atMs - startedAt),
        cut: (atMs) => this.#envelope.cut(atMs - startedAt),
      },
    });
  }

  /** How loud both sides were so far; undefined while there was no audio. */
  envelope(): AudioEnvelope | undefined {
    if (this.#envelope.isEmpty) return undefined;
    return { startedAt: this.#startedAt, ...this.#envelope.picture() };
  }

  /** Goes on over another stream. @throws TranscoderError; the path is then detached. */
  attach(line: AudioLine): void {
    this.detach();
    const { inbound, way } = this.#convertersOf(line);
    this.#inbound = inbound;
    this.#format = line.format;
    this.playout.attach(way);
  }

  /** The stream is gone: what was not heard is dropped, and half a frame of the caller too. Idempotent. */
  detach(): void {
    this.playout.detach();
    this.#inbound?.close();
    this.#inbound = undefined;
    this.#framer.reset();
  }

  /** Encoded audio of the caller, any length. */
  receive(payload: Uint8Array): void {
    if (this.#inbound === undefined) return;
    this.#onEncoded(payload, this.#format);
    this.#framer.push(this.#inbound.convert(payload));
  }

  /** Frees the converters. Idempotent. */
  close(): void {
    this.playout.close();
    this.#inbound?.close();
    this.#inbound = undefined;
  }

  #convertersOf(line: AudioLine): { inbound: InboundConverter; way: PlaybackWay } {
    const inbound = createInboundConverter(line.format, this.#backend);
    try {
      const converter = createOutboundConverter(line.outboundFormat, this.#backend);
      return { inbound, way: { converter, sink: line.sink } };
    } catch (error) {
      inbound.close();
      throw error;
    }
  }
}
