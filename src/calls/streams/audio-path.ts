// The way of the audio of one call. In: the stream gives what the line carries, and the engine gets that as it is, or frames in the internal format.
// Out: a pacer that lasts as long as the call. Converters last as long as a stream.
import {
  createInboundConverter,
  createOutboundConverter,
  type InboundConverter,
} from '../../audio/converter.js';
import { type AudioFormat, frameBytes, frameSamples, MULAW_8K, PCM_16K } from '../../audio/format.js';
import { EnvelopeMeter } from '../../audio/envelope.js';
import { Framer } from '../../audio/framer.js';
import { Pacer, type PlaybackSink, type PlaybackWay } from '../../audio/pacer.js';
import type { LineTap, LineTape } from '../../audio/line-tape.js';
import type { Clock } from '../../base/clock.js';
import type { Meters } from '../../base/meters.js';
import type { AudioEnvelope } from '../../contract/call-record.js';
import type { TranscoderBackend } from '../../transcoder/backend.js';
import type { SoundReceiver } from './call-stream.js';

const FRAME_SAMPLES = frameSamples(PCM_16K);
const TELEPHONE_FRAME_BYTES = frameBytes(MULAW_8K);

/** One stream as the audio sees it. */
export interface AudioLine {
  /** What the carrier sends. */
  readonly format: AudioFormat;
  /** What the carrier takes. */
  readonly outboundFormat: AudioFormat;
  readonly sink: PlaybackSink;
}

/** Hears the caller. Arrays are valid until a method returns. */
export interface Ear {
  /** A 20 ms frame in the internal format. */
  pushAudio(frame: Int16Array): void;
  /** Audio as the line carries it, before its frames. True when these need not follow. @default they must */
  pushEncoded?(payload: Uint8Array, format: AudioFormat): boolean;
}

export interface AudioPathOptions {
  readonly backend: TranscoderBackend;
  /** Of the call. */
  readonly clock: Clock;
  /** When the call began, on the clock of its streams. */
  readonly beganAt: number;
  readonly meters: Meters;
  /** Takes down what the line carries. @default nobody does */
  readonly tape?: LineTape | undefined;
  /** Where others may listen in. @default nobody does */
  readonly tap?: LineTap | undefined;
  /** As in `CallEnvironment`. */
  readonly noticeStall?: (() => void) | undefined;
  /** The ear threw. */
  onFailure(error: unknown): void;
}

/** Its own times are the call's; `receive` is told that of the stream. */
export class AudioPath implements SoundReceiver {
  readonly playout: Pacer;
  /** Hears the caller; nobody does while it is undefined. */
  ear: Ear | undefined;
  readonly #options: AudioPathOptions;
  readonly #framer: Framer;
  readonly #envelope = new EnvelopeMeter();
  readonly #startedAt: number;
  #inbound: InboundConverter | undefined;
  #format: AudioFormat;
  /** When the audio came that is being heard. */
  #heardAt = 0;
  /** The audio before went to the ear as it was: the converter has not heard it. */
  #hasPassed = false;
  /** The envelope has the bytes of the frame that is being heard. */
  #isMetered = false;

  /** @throws TranscoderError for a rate that is not offered. */
  constructor(line: AudioLine, options: AudioPathOptions) {
    const { clock } = options;
    this.#options = options;
    // Times of the envelope are the call's, which another process may have begun.
    this.#startedAt = Math.round(clock.wallNow() - clock.now());
    this.#format = line.format;
    this.#framer = new Framer(FRAME_SAMPLES, (frame) => this.#hear(frame));
    const { inbound, way } = this.#convertersOf(line);
    this.#inbound = inbound;
    this.playout = new Pacer({
      ...way,
      clock,
      meters: options.meters,
      noticeStall: options.noticeStall,
      listener: {
        played: (frame, atMs) => this.#envelope.speak(frame, atMs),
        passed: (bytes, { levels }, atMs) => this.#envelope.speakBytes(bytes, levels, atMs),
        sent: (bytes, atMs) => {
          options.tape?.agent(bytes, atMs);
          options.tap?.tape?.agent(bytes, atMs);
        },
        markHeard: (atMs, lagMs) => {
          this.#envelope.markHeard(atMs);
          options.tape?.lag(atMs - lagMs, lagMs);
          options.tap?.tape?.lag(atMs - lagMs, lagMs);
        },
        cut: (atMs) => {
          this.#envelope.cut(atMs);
          options.tape?.cut(atMs);
          options.tap?.tape?.cut(atMs);
        },
      },
    });
    this.#tellLine(line);
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
    this.#tellLine(line);
    this.playout.attach(way);
  }

  /** The stream is gone: what was not heard is dropped, and half a frame of the caller too. Idempotent. */
  detach(): void {
    this.playout.detach();
    this.#inbound?.close();
    this.#inbound = undefined;
    this.#hasPassed = false;
    this.#framer.reset();
  }

  /** Encoded audio of the caller, any length. @throws what the decoder throws, but nothing of the ear */
  receive(payload: Uint8Array, now: number): void {
    const inbound = this.#inbound;
    if (inbound === undefined) return;
    this.#heardAt = now - this.#options.beganAt;
    this.#options.tape?.caller(payload, this.#heardAt);
    this.#options.tap?.tape?.caller(payload, this.#heardAt);
    if (this.ear === undefined) return;
    if (this.#passes(payload, inbound)) {
      this.#hasPassed = true;
      return;
    }
    // The ear may have ended the call.
    if (this.#inbound !== inbound) return;
    if (this.#hasPassed) {
      this.#hasPassed = false;
      inbound.reset();
      this.#framer.reset();
    }
    // A byte for a sample is half the work.
    const { line } = inbound;
    this.#isMetered = line !== undefined && payload.length === TELEPHONE_FRAME_BYTES;
    if (line !== undefined && this.#isMetered) this.#envelope.hearBytes(payload, line.levels, this.#heardAt);
    this.#framer.push(inbound.convert(payload));
  }

  /** Frees the converters. Idempotent. */
  close(): void {
    this.ear = undefined;
    this.playout.close();
    this.#inbound?.close();
    this.#inbound = undefined;
  }

  /** Gives the ear the audio as it is. False when it wants frames, or the envelope needs them. */
  #passes(payload: Uint8Array, { line }: InboundConverter): boolean {
    let isTaken = false;
    try {
      isTaken = this.ear?.pushEncoded?.(payload, this.#format) === true;
    } catch (error) {
      this.#options.onFailure(error);
    }
    if (!isTaken || line === undefined || payload.length !== TELEPHONE_FRAME_BYTES) return false;
    this.#envelope.hearBytes(payload, line.levels, this.#heardAt);
    return true;
  }

  #hear(frame: Int16Array): void {
    if (!this.#isMetered) this.#envelope.hear(frame, this.#heardAt);
    try {
      this.ear?.pushAudio(frame);
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  #tellLine({ format, outboundFormat }: AudioLine): void {
    const { tape, tap, clock } = this.#options;
    tape?.line(format, outboundFormat, clock.now());
    tap?.line(format, outboundFormat, clock.now());
  }

  #convertersOf(line: AudioLine): { inbound: InboundConverter; way: PlaybackWay } {
    const inbound = createInboundConverter(line.format, this.#options.backend);
    try {
      const converter = createOutboundConverter(line.outboundFormat, this.#options.backend);
      return { inbound, way: { converter, sink: line.sink } };
    } catch (error) {
      inbound.close();
      throw error;
    }
  }
}
