// The model's session of one call, behind a wall: what it throws becomes a failure of the call and nothing else. Caller audio becomes
// what the model takes; what is said before the model is ready waits for it.
import {
  createInboundConverter,
  createOutboundConverter,
  type InboundConverter,
  type OutboundConverter,
} from '../../audio/converter.js';
import { type Audio, type AudioFormat, FRAME_MS, isSameFormat } from '../../audio/format.js';
import { KEPT_AUDIO_MS } from '../../audio/kept-audio.js';
import { describeError } from '../../base/log.js';
import { opened } from '../../base/opened.js';
import type {
  RealtimeContext,
  RealtimeEvents,
  RealtimeFormats,
  RealtimeModel,
  RealtimeSession,
} from '../../providers/realtime-model.js';
import { transcoder } from '../../transcoder/select.js';
import type { EngineContext } from '../engine.js';
import { PreparedModel } from './prepared-model.js';
import { chooseFormats } from './formats.js';

export interface RealtimeLineOptions {
  readonly context: EngineContext;
  readonly model: RealtimeModel;
  readonly settings: Pick<
    RealtimeContext,
    'language' | 'call' | 'instructions' | 'tools' | 'interruptible' | 'history' | 'handle'
  >;
  readonly events: RealtimeEvents;
  readonly failed: (error: unknown) => void;
}

export class RealtimeLine {
  readonly #options: RealtimeLineOptions;
  #session: RealtimeSession | undefined;
  #input: AudioFormat | undefined;
  #output: AudioFormat | undefined;
  #encoder: OutboundConverter | undefined;
  #decoder: InboundConverter | undefined;
  #decodedItem: string | undefined;
  #early: Int16Array[] = [];
  /** What the line carries, where that is what the model takes: its bytes go through as they are. */
  #passed: AudioFormat | undefined;
  /** The same of what the model gives. */
  #spoken: AudioFormat | undefined;
  #closed = false;

  constructor(options: RealtimeLineOptions) {
    this.#options = options;
  }

  get isReady(): boolean {
    return this.#input !== undefined;
  }

  /** Returns false when it failed, which was told. */
  open(): boolean {
    const { context, model, settings, events, failed } = this.#options;
    const { callId, clock, logger, line } = context;
    const formats = chooseFormats(model, line);
    try {
      const session = model.open({
        ...settings,
        callId,
        clock,
        logger,
        formats,
        events: {
          ...events,
          ready: (actual) => {
            this.#ready(actual);
            events.ready(actual);
          },
          formatsChanged: (actual) => this.#settle(actual),
        },
      });
      this.#session = opened(this.#watched(session), { provider: model.name, method: 'pushAudio' });
      return true;
    } catch (error) {
      failed(error);
      return false;
    }
  }

  /** A frame of the caller, in the internal format. */
  hear(frame: Int16Array): void {
    if (this.#closed) return;
    if (this.#input === undefined) {
      this.#early.push(frame.slice());
      if (this.#early.length > KEPT_AUDIO_MS / FRAME_MS) this.#early.shift();
      return;
    }
    if (this.#passed === undefined && this.#encoder !== undefined) this.#send(this.#encoder.convert(frame));
  }

  /** The same as the line carries it. True when the model takes it so. */
  hearEncoded(bytes: Uint8Array, format: AudioFormat): boolean {
    if (format !== this.#passed) {
      const input = this.#input;
      this.#passed = input !== undefined && isSameFormat(input, format) ? format : undefined;
      if (this.#passed === undefined) return false;
    }
    this.#send(bytes);
    return true;
  }

  /**
   * Audio of the model for the playout: its bytes as they are where the line carries the same, else in the internal format, valid until
   * the next call. Half a sample waits for its other half, within its item.
   */
  voiceOf(itemId: string, audio: Uint8Array): Audio {
    const output = this.#output;
    if (output === undefined) return new Int16Array(0);
    const { lineFormat } = this.#options.context.playout;
    if (lineFormat !== undefined && (lineFormat === this.#spoken || isSameFormat(lineFormat, output))) {
      this.#spoken = lineFormat;
      this.#decodedItem = undefined;
      return audio;
    }
    if (this.#decoder === undefined || this.#decodedItem !== itemId) {
      this.#decoder?.close();
      this.#decoder = createInboundConverter(output, transcoder);
      this.#decodedItem = itemId;
    }
    return this.#decoder.convert(audio);
  }

  /** Does something with the session, if there is one. */
  ask(task: (session: RealtimeSession) => unknown): void {
    const session = this.#session;
    if (session === undefined || this.#closed) return;
    try {
      this.#watched(task(session));
    } catch (error) {
      this.#options.failed(error);
    }
  }

  /** Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#early = [];
    const { context, model } = this.#options;
    if (model instanceof PreparedModel) model.abandon(context);
    try {
      this.#watched<unknown>(this.#session?.close());
    } catch (error) {
      const { callId, logger } = context;
      logger.warn({ callId, ...describeError(error) }, 'a provider did not close cleanly');
    }
    this.#encoder?.close();
    this.#decoder?.close();
  }

  /** As `ask`, for every frame. */
  #send(audio: Uint8Array): void {
    if (this.#closed) return;
    try {
      const result: unknown = this.#session?.pushAudio(audio);
      if (result !== undefined) this.#watched(result);
    } catch (error) {
      this.#options.failed(error);
    }
  }

  /** What a provider returns. It may be an unexpected promise, whose rejection must not end the process. */
  #watched<T>(result: T): T {
    if (result instanceof Promise) result.catch((error: unknown) => this.#options.failed(error));
    return result;
  }

  #ready(formats: RealtimeFormats): void {
    if (this.#closed || this.isReady) return;
    this.#settle(formats);
    const early = this.#early;
    this.#early = [];
    for (const frame of early) this.hear(frame);
  }

  #settle({ input, output }: RealtimeFormats): void {
    if (this.#closed) return;
    this.#encoder?.close();
    this.#encoder = createOutboundConverter(input, transcoder);
    this.#input = input;
    this.#passed = this.#spoken = undefined;
    this.#output = output;
    this.#decodedItem = undefined;
  }
}
