// The media streams of one call: which one is up, which one is expected and until when, and how the next one is asked for.
import { sharedNow } from '../../base/clock.js';
import { CarrierError } from '../../base/errors.js';
import { describeError } from '../../base/log.js';
import type { StreamCodec, StreamInvitation, StreamResume } from '../../carriers/carrier.js';
import type { CallFailure, MediaCounters } from '../../contract/call-record.js';
import type { StreamReceiver, StreamSocket } from '../call-desk.js';
import type { SocketClose } from '../ending/call-ending.js';
import type { StartMessage } from '../call-identity.js';
import { type SessionContext, toFailure } from '../session-context.js';
import { CallStream, type LiveMessage, type StreamListener, type StreamLoss } from './call-stream.js';
import { asksToResume, inviteStream, resumeAt } from './stream-invitation.js';

/** A stream that was invited is there by then. */
export const STREAM_DEADLINE_MS = 10_000;
/** Where the carrier refuses to open a stream, the call is usually over: its report has this long to say so. */
const REFUSED_GRACE_MS = 2000;
/** Pause before a stream is asked for again that the carrier says it could not open. */
const RETRY_MS = 1000;
/** Streams of one call that are asked for in a row without one that worked. */
const MAX_OPENINGS = 4;
/** A stream that has brought nothing for so long gives way to the next one. */
const SILENT_MS = 1000;
/** After the carrier was told of another stream, the end of the one that is up says nothing of the call for so long. */
const INSTRUCTED_MS = 3000;
/** A stream has worked that has brought a second of audio. */
const WORKING_FRAMES = 50;
/** A carrier that is told to keep the caller asks again after this. */
const KEEP_SECONDS = 1;
/** A stream that another one is to take the place of goes on if that has not come by then. */
export const REPLACING_MS = 3000;
/** A carrier that is steered by commands, and cannot be reached, is asked for a stream for so long. */
const COMMANDED_MS = 60_000;

const REPLACED: SocketClose = { code: 1000, reason: 'Replaced by another stream' };
const STREAM_ENDED: SocketClose = { code: 1000, reason: 'Stream ended' };
const NOT_OPENED: CallFailure = {
  code: 'CARRIER_FAILED',
  message: 'The carrier did not open the media stream.',
};

/** What is known of the stream before the one that is up or expected. */
interface Gone {
  readonly id: string | null;
  readonly downSince: number | null;
  readonly hasStopped: boolean;
}

/** The streams of a call, as another process can go on with them. */
export interface MediaState {
  /** Of the stream that was invited last. */
  readonly number: number;
  /** Those that have come. */
  readonly came: readonly number[];
  readonly counters: MediaCounters;
  /** The other side keeps the call on hold. */
  readonly isHeld: boolean;
  /** The carrier has ended the last stream, and no other one has come. @default false */
  readonly hasStopped?: boolean;
}

/** What the session hears. */
export interface MediaEvents {
  /** A stream says what it is: `take` or `refuse` it. */
  starting(stream: CallStream, start: StartMessage): void;
  received(message: LiveMessage): void;
  /** The stream that was up is gone, or one that had not started. */
  gone(loss: StreamLoss, stream: { wasUp: boolean }): void;
  /** A stream that was expected did not come. */
  missing(failure: CallFailure | undefined): void;
}

export class CallMedia implements StreamListener {
  readonly counters: MediaCounters = { framesReceived: 0, framesSent: 0, unexpectedMessages: 0, clears: 0 };
  /** True while the other side keeps the call on hold: no audio may come then, and the stream is well. */
  isHeld = false;
  readonly #context: SessionContext;
  readonly #events: MediaEvents;
  #up: CallStream | undefined;
  #incoming: CallStream | undefined;
  /** Gone in this moment: the end of the call may still say how its socket is closed. */
  #going: CallStream | undefined;
  /** When one is due that is expected; undefined while none is. */
  #dueAt: number | undefined;
  /** Until then it is asked for. */
  #askedUntil = 0;
  #codec: StreamCodec = 'preferred';
  /** Of the stream that was invited last, and of those that have come: each comes once. */
  #number = 0;
  readonly #came = new Set<number>();
  /** Until then a stream may end because the carrier was told of another one; without end while it is being told. */
  #instructedUntil = 0;
  #opening = 0;
  /** Openings since a stream has worked. */
  #openings = 0;
  /** The stream before the one that is up or expected: what is still said of its name means nothing. `downSince`: see there. */
  #gone: Gone = { id: null, downSince: null, hasStopped: false };

  constructor(context: SessionContext, events: MediaEvents) {
    this.#context = context;
    this.#events = events;
  }

  get isUp(): boolean {
    return this.#up !== undefined;
  }

  /** True while no stream is up, and the carrier has ended the last one: the caller may have left. */
  get hasStopped(): boolean {
    return this.#gone.hasStopped;
  }

  /** Since when the caller is heard by nobody, in epoch milliseconds; null while a stream is up, or none has been. */
  get downSince(): number | null {
    return this.#gone.downSince;
  }

  get state(): MediaState {
    const { isHeld, hasStopped } = this;
    return {
      number: this.#number,
      came: [...this.#came],
      counters: { ...this.counters },
      isHeld,
      hasStopped,
    };
  }

  /** Goes on with the streams that another process has had. */
  restore({ number, came, counters, isHeld, hasStopped = false }: MediaState): void {
    this.#number = number;
    this.#gone = { ...this.#gone, hasStopped };
    this.isHeld = isHeld;
    for (const each of came) this.#came.add(each);
    Object.assign(this.counters, counters);
  }

  /** True while a stream is up or has connected and not yet started. */
  get isThere(): boolean {
    return this.#up !== undefined || this.#incoming !== undefined;
  }

  /** True while a stream is to come that is not there yet. */
  get isExpected(): boolean {
    return this.#dueAt !== undefined;
  }

  /** True when one more socket would be taken. `number` as in `StreamAdmission`. */
  takesStream(number: number | undefined): boolean {
    if (this.#incoming !== undefined || (number !== undefined && this.#came.has(number))) return false;
    return (
      this.isExpected || (number !== undefined && this.#up !== undefined && this.#up.silentMs >= SILENT_MS)
    );
  }

  /** True while a stream may end because the carrier was told to open another one in its place. */
  get isInstructed(): boolean {
    const { clock, carrier } = this.#context.environment;
    if (carrier.commands !== undefined) return false;
    return clock.now() < this.#instructedUntil;
  }

  /** The codec of the stream that was asked for last. */
  get codec(): StreamCodec {
    return this.#codec;
  }

  /** True when another stream can be had: the carrier can be asked for it, or asks by itself. */
  get canOpen(): boolean {
    const { carrier } = this.#context.environment;
    return (carrier.commands !== undefined || asksToResume(carrier)) && this.#openings < MAX_OPENINGS;
  }

  /** @throws ConfigError when no host is known. */
  invite(options: { ttlMs?: number } = {}): StreamInvitation {
    const { callId, identity, environment } = this.#context;
    const { carrierCallId, caller, callee, direction, agent } = identity;
    this.#number += 1;
    const facts = {
      callId,
      carrierCallId: carrierCallId ?? '',
      caller,
      callee,
      direction,
      number: this.#number,
      agent,
    };
    // Should it not get there, the next one may come to any process.
    const isFirst = this.#came.size === 0 && this.#openings <= 1;
    const streamHost = isFirst ? this.#context.firstStreamHost : undefined;
    const nowMs = sharedNow(environment);
    return inviteStream(facts, { ...this.#place, streamHost, nowMs, ...options });
  }

  /** The carrier says that a stream is over and the call is not. Undefined when no stream shall follow. */
  resume(): StreamInvitation | undefined {
    if (hasWorked(this.#up)) this.#openings = 0;
    if (!this.canOpen) return undefined;
    this.#openings += 1;
    // A request that is under way may fail: this one comes all the same.
    this.#opening += 1;
    // One that is up here may be dead without our knowing: it gives way if it is.
    if (!this.isThere) this.expect(Math.max(STREAM_DEADLINE_MS, this.#leftMs));
    return this.invite();
  }

  /** The carrier asks what comes after a stream while something else decides it. Undefined where it cannot ask again. */
  keep(): StreamResume | undefined {
    this.#number += 1;
    const { callId } = this.#context;
    return resumeAt({ callId, number: this.#number + 1 }, { ...this.#place, holdSeconds: KEEP_SECONDS });
  }

  /** A stream will come that was not asked for with `open`: `missing` if it is not there in time. */
  expect(deadlineMs = STREAM_DEADLINE_MS, missing = () => this.#events.missing(undefined)): void {
    this.#dueAt = this.#context.environment.clock.now() + deadlineMs;
    this.#context.timers.set('stream', deadlineMs, missing);
  }

  /** None will come, or shall. */
  unexpect(): void {
    this.#dueAt = undefined;
    this.#context.timers.cancel('stream');
    this.#context.timers.cancel('retry');
  }

  /** Asks the carrier to open a stream, in the place of the one there is. Only where `canOpen`. */
  open(codec: StreamCodec = this.#codec): void {
    this.#codec = codec;
    if (!this.isExpected) this.#askedUntil = this.#context.environment.clock.now() + COMMANDED_MS;
    this.#openings += 1;
    this.#opening += 1;
    this.expect(STREAM_DEADLINE_MS + this.#holdMs);
    void this.#request(this.#opening);
  }

  /** Asks the carrier for another stream in the place of the one that is up and well. Should none come, that one goes on. */
  replace(): void {
    if (!this.isExpected) this.#askedUntil = this.#context.environment.clock.now() + COMMANDED_MS;
    this.#opening += 1;
    this.expect(REPLACING_MS, () => {
      if (this.#up === undefined) this.open();
      else this.unexpect();
    });
    void this.#request(this.#opening);
  }

  /**
   * The carrier says that it could not open a stream, or lost it; `streamId` is null where it does not say which. A name that is not known may be of
   * one that another process had: a socket that has come says for itself when it fails.
   */
  failed(streamId: string | null): void {
    if (streamId !== null && streamId === this.#gone.id) return;
    if (this.#up === undefined && this.#incoming === undefined) this.retry();
    else if (this.#up === undefined) {
      if (streamId === null) this.#incoming?.lose();
    } else if (streamId === null || streamId === this.#up.id) this.#up.lose();
  }

  /** Asks once more, in a moment, for the stream that was expected and has failed. */
  retry(): void {
    if (!this.isExpected || this.isThere || !this.canOpen || this.#context.timers.has('retry')) return;
    this.#context.timers.set('retry', RETRY_MS, () => {
      if (this.isExpected && !this.isThere) this.open();
    });
  }

  /** Takes a socket; what it is shows its start. */
  receive(socket: StreamSocket, number: number | undefined): StreamReceiver {
    const { callId, environment } = this.#context;
    if (number !== undefined) {
      this.#came.add(number);
      this.#number = Math.max(this.#number, number);
    }
    if (this.#up !== undefined && !this.isExpected) {
      this.#context.ledger.note(
        'stream-replaced',
        'The media stream had fallen silent, and another one came.',
      );
      this.expect();
      this.#up.lose();
    }
    const { carrier, clock, logger } = environment;
    const media = carrier.openMedia(this.#codec);
    const stream = new CallStream({
      callId,
      media,
      socket,
      counters: this.counters,
      isHeld: () => this.isHeld,
      clock,
      meters: environment.meters,
      logger,
      listener: this,
      noticeStall: environment.noticeStall,
    });
    this.#incoming = stream;
    return stream;
  }

  /** The stream is the call's from now on; one that was up is closed. */
  take(stream: CallStream): void {
    this.unexpect();
    this.#incoming = undefined;
    this.#gone = { id: this.#up?.id ?? this.#gone.id, downSince: null, hasStopped: false };
    this.#up?.close(REPLACED);
    this.#up = stream;
  }

  /** Counts a message of the stream that is up as out of place. */
  complain(reason: string): void {
    this.#up?.receiveUnexpected(reason);
  }

  /** The stream is not the call's. */
  refuse(stream: CallStream, close: SocketClose): void {
    if (this.#incoming === stream) this.#incoming = undefined;
    stream.close(close);
  }

  /** The call is over: no stream is heard any more. Undefined leaves the sockets to somebody else. */
  close(close: SocketClose | undefined): void {
    this.unexpect();
    for (const stream of [this.#up, this.#incoming, this.#going]) {
      if (close === undefined) stream?.leave();
      else stream?.close(close);
    }
    this.#up = undefined;
    this.#incoming = undefined;
  }

  started(stream: CallStream, start: StartMessage): void {
    this.#events.starting(stream, start);
  }

  received(message: LiveMessage): void {
    this.#events.received(message);
  }

  rushed(): void {
    this.#context.ledger.note(
      'audio-too-fast',
      'The caller’s audio came faster than real time; the excess was dropped.',
    );
  }

  gone(stream: CallStream, loss: StreamLoss): void {
    const wasUp = this.#up === stream;
    if (wasUp) this.#up = undefined;
    else this.#incoming = undefined;
    const id = stream.id ?? this.#gone.id;
    const downSince = this.#context.ledger.clock.wallNow();
    this.#gone = wasUp ? { id, downSince, hasStopped: loss.type === 'stop' } : { ...this.#gone, id };
    if (hasWorked(stream)) this.#openings = 0;
    this.#going = stream;
    this.#events.gone(loss, { wasUp });
    this.#going = undefined;
    // The call goes on without it.
    if (!this.#context.isOver) stream.close(loss.type === 'broken' ? loss.close : STREAM_ENDED);
  }

  async #request(opening: number): Promise<void> {
    const { callId, environment, identity, timers } = this.#context;
    const { carrier, clock, logger } = environment;
    const { carrierCallId } = identity;
    if (carrierCallId === null) return;
    const { commands, rest } = carrier;
    try {
      const stream = this.invite();
      if (commands !== undefined)
        await commands.startStream(carrierCallId, { ...stream, callId, codec: this.#codec });
      else if (rest.configured && rest.openStream !== undefined) {
        this.#instructedUntil = Number.POSITIVE_INFINITY;
        await rest.openStream(carrierCallId, stream).finally(() => {
          this.#instructedUntil = clock.now() + INSTRUCTED_MS;
        });
      }
    } catch (error) {
      logger.warn({ callId, ...describeError(error) }, 'the carrier did not open the media stream');
      if (opening !== this.#opening || !this.isExpected || this.#context.isOver) return;
      if (this.isThere) {
        // Refused: the one that is up goes on. Where there was no answer, another one may come all the same.
        if (this.#up !== undefined && !isUnreachable(error)) this.unexpect();
        return;
      }
      if (commands !== undefined && isUnreachable(error) && clock.now() < this.#askedUntil) {
        // It was asked for nothing.
        this.#openings -= 1;
        this.expect(this.#askedUntil - clock.now() + REFUSED_GRACE_MS);
        this.retry();
        return;
      }
      // A carrier that asks by itself does so behind its pause.
      timers.set('stream', REFUSED_GRACE_MS + this.#holdMs, () =>
        this.#events.missing(toFailure(error, NOT_OPENED)),
      );
    }
  }

  /** How long the stream that is expected has to come; 0 without one. */
  get #leftMs(): number {
    return this.#dueAt === undefined ? 0 : this.#dueAt - this.#context.environment.clock.now();
  }

  /** How long the carrier waits before it asks by itself; 0 for one that never does. */
  get #holdMs(): number {
    const { carrier, resumeHoldSeconds } = this.#context.environment;
    return asksToResume(carrier) ? resumeHoldSeconds * 1000 : 0;
  }

  /** Who is invited, and where to. @throws ConfigError when no host is known. */
  get #place() {
    const { carrier, resumeHoldSeconds: holdSeconds } = this.#context.environment;
    return { carrier, host: this.#context.host(), holdSeconds };
  }
}

/** The carrier did not answer, or is in trouble itself. It replaces a stream, so asking twice does no harm. */
function isUnreachable(error: unknown): boolean {
  if (!(error instanceof CarrierError) || error.isFinal) return false;
  return error.retryable || error.status === null || error.status >= 500;
}

function hasWorked(stream: CallStream | undefined): boolean {
  return stream !== undefined && stream.frames >= WORKING_FRAMES;
}
