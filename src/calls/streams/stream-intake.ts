// Whether a stream that says what it is belongs to the call, and whether we speak what it carries.
import type { CallEnding } from '../ending/call-ending.js';
import type { CallConversation } from '../voice/call-conversation.js';
import type { StartMessage } from '../call-identity.js';
import type { SessionContext } from '../session-context.js';
import type { CallMedia } from './call-media.js';
import type { CallStream } from './call-stream.js';

export interface IntakeEvents {
  /** Books the call that the stream names. False when that is another live call. */
  claimed(start: StartMessage): boolean;
  /** A stream of the call is up. */
  attached(options: { isFirst: boolean }): void;
  /** The agent cannot speak over what the carrier offers. */
  speechless(ending: CallEnding): void;
}

export interface IntakeOptions {
  readonly media: CallMedia;
  readonly conversation: CallConversation;
  /** True for a call of which a stream is all that is known. */
  readonly byStream: boolean;
}

export class StreamIntake {
  readonly #context: SessionContext;
  readonly #options: IntakeOptions;
  readonly #events: IntakeEvents;

  constructor(context: SessionContext, options: IntakeOptions, events: IntakeEvents) {
    this.#context = context;
    this.#options = options;
    this.#events = events;
  }

  /** True while the stream that is to come is all there is of the call. */
  get isAll(): boolean {
    return this.#options.byStream && !this.#options.conversation.isStarted;
  }

  starting(stream: CallStream, start: StartMessage): void {
    const { media, conversation } = this.#options;
    const known = this.#context.identity.carrierCallId;
    if (known !== null && known !== start.carrierCallId) {
      this.#refuse(stream, 'The start message names another call', {});
      return;
    }
    if (!this.#events.claimed(start)) {
      this.#refuse(stream, 'The call has a stream already', { unrecorded: true });
      return;
    }
    media.take(stream);
    const { format, outboundFormat, codec } = start;
    if (format === null) {
      this.#notSpoken(codec);
      return;
    }
    const isFirst = !conversation.isStarted;
    this.#events.attached({ isFirst });
    conversation.attach({ format, outboundFormat, stream });
  }

  /** A stream that is not ours. It is all there is of a call that began with it; any other call goes on. */
  #refuse(stream: CallStream, reason: string, options: { unrecorded?: boolean }): void {
    const { callId, environment } = this.#context;
    environment.logger.warn({ callId }, 'media stream refused');
    const close = { code: 1008, reason };
    this.#options.media.refuse(stream, close);
    if (this.isAll) this.#context.end({ reason: 'protocol-error', close, ...options });
  }

  /** The carrier sends a codec that we do not speak: it is asked for the one that everybody speaks, once. */
  #notSpoken(codec: string): void {
    const { media } = this.#options;
    const { environment } = this.#context;
    const shown = codec.replace(/[^\w/;=.-]/g, '').slice(0, 40);
    const message = `The carrier offered a codec that is not spoken here: ${shown}.`;
    if (environment.carrier.commands !== undefined && media.canOpen && media.codec === 'preferred') {
      this.#context.ledger.note('stream-replaced', message);
      media.open('fallback');
      return;
    }
    const failure = { code: 'PROTOCOL_INVALID', message };
    const close = { code: 1003, reason: 'Unsupported codec' };
    this.#events.speechless({ reason: 'protocol-error', failure, close });
  }
}
