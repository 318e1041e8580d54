// One live call: joins the carrier's media stream, the voice and the facts, and owns their lifetime. Decides nothing.
import type { AudioFormat } from '../audio/format.js';
import type { Clock, Timer } from '../base/clock.js';
import { isE164 } from '../base/e164.js';
import { CarrierError, ConfigError, OffhookError, ProtocolError, RequestError } from '../base/errors.js';
import { describeError, type Logger } from '../base/log.js';
import { maskPhone } from '../base/redact.js';
import type { Carrier, MediaDialect, MediaMessage } from '../carriers/carrier.js';
import type { CallIdentity } from '../contract/call-event.js';
import type { CallFailure, CallOutcome, EndReason, MediaCounters } from '../contract/call-record.js';
import type { EngineFact, EngineRecipe } from '../engines/engine.js';
import type { EventBus } from '../events/bus.js';
import type { TranscoderBackend } from '../transcoder/backend.js';
import type { StreamAdmission, StreamReceiver, StreamSocket } from './call-desk.js';
import { identifyCall, type StartMessage } from './call-identity.js';
import { CallVoice } from './call-voice.js';
import { FactStamp } from './fact-stamp.js';

/** A stream that has not said `start` by then is closed. */
const START_TIMEOUT_MS = 10_000;
/** Messages out of place that a stream may send before it is closed. */
const MAX_UNEXPECTED = 1000;
/** Keys and spoken texts of one call that are taken: they grow the record. */
const MAX_SMALL_MESSAGES = 2000;
/** After the carrier reported the end, the stream's own `stop` has this long to tell more. */
const REPORT_GRACE_MS = 2000;
/** What all calls of a server have in common. */
export interface CallEnvironment {
  readonly carrier: Carrier;
  readonly backend: TranscoderBackend;
  readonly recipe: EngineRecipe;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeId: string;
  /** A call is ended after this time. */
  readonly maxCallMs: number;
}

/** Who keeps the sessions. */
export interface SessionOwner {
  /** Books the carrier's id for the session. False when another live call has it. */
  claim(carrierCallId: string): boolean;
  /** The session is over. `farewell` resolves when the carrier has answered what was asked of it. Never rejects. */
  ended(farewell: Promise<void>): void;
}

/** How a call ends. */
interface Ending {
  reason: EndReason;
  failure?: CallFailure | undefined;
  /** How the socket is closed; undefined leaves it alone. */
  close?: { code: number; reason: string };
  /** What is asked of the carrier: an end, or an end if the call is not over yet. */
  carrier?: 'hang-up' | 'check';
  /** The stream never was the call's: nothing is recorded. */
  unrecorded?: boolean;
}

const NORMAL_CLOSE = { code: 1000, reason: 'Call ended' };
const NO_CODEC = 'The carrier offered a codec that is not spoken here';

export class CallSession implements StreamReceiver {
  readonly callId: string;
  readonly #admission: StreamAdmission;
  readonly #socket: StreamSocket;
  readonly #env: CallEnvironment & { owner: SessionOwner };
  readonly #media: MediaDialect;
  readonly #stamp: FactStamp;
  readonly #counters: MediaCounters = {
    framesReceived: 0,
    framesSent: 0,
    unexpectedMessages: 0,
    clears: 0,
  };
  readonly #timers = new Set<Timer>();
  #phase: 'waiting' | 'live' | 'closing' | 'over' = 'waiting';
  #identity: CallIdentity;
  #voice: CallVoice | undefined;
  #smallMessages = 0;
  /** The reason of an end that this side has brought about and the carrier will report as a `stop`. */
  #intent: EndReason | undefined;
  #farewell = Promise.resolve();

  constructor(
    admission: StreamAdmission,
    socket: StreamSocket,
    environment: CallEnvironment & { owner: SessionOwner },
  ) {
    this.callId = admission.callId;
    this.#admission = admission;
    this.#socket = socket;
    this.#env = environment;
    this.#media = environment.carrier.openMedia();
    this.#stamp = new FactStamp(this.callId, environment);
    this.#identity = this.#identify(undefined);
    this.#after(START_TIMEOUT_MS, () =>
      this.#end({
        reason: 'protocol-error',
        failure: { code: 'PROTOCOL_INVALID', message: 'The media stream sent no start message.' },
        close: { code: 1008, reason: 'No start message' },
        carrier: 'hang-up',
      }),
    );
  }

  /** The carrier's id, as far as it is known. */
  get carrierCallId(): string | null {
    return this.#identity.carrierCallId;
  }

  receiveText(text: string): void {
    if (this.#isOver) return;
    try {
      this.#receive(this.#media.decode(text));
    } catch (error) {
      this.#env.logger.warn({ callId: this.callId, ...describeError(error) }, 'media stream failed');
      const code = error instanceof ProtocolError ? error.closeCode : 1003;
      this.#end({
        reason: 'protocol-error',
        failure: { code: 'PROTOCOL_INVALID', message: 'A message of the media stream could not be read.' },
        close: { code, reason: 'Unreadable message' },
        carrier: 'hang-up',
      });
    }
  }

  receiveUnexpected(reason: string): void {
    if (this.#isOver) return;
    this.#counters.unexpectedMessages += 1;
    this.#env.logger.debug({ callId: this.callId, reason }, 'unexpected media message');
    if (this.#counters.unexpectedMessages <= MAX_UNEXPECTED) return;
    this.#end({
      reason: 'protocol-error',
      failure: { code: 'PROTOCOL_INVALID', message: 'Too many unexpected messages on the media stream.' },
      close: { code: 1008, reason: 'Too many unexpected messages' },
      carrier: 'hang-up',
    });
  }

  socketClosed(code: number): void {
    if (this.#isOver) return;
    this.#env.logger.debug({ callId: this.callId, code }, 'media socket closed');
    const ending = this.#stopped('stream-lost');
    // A caller who is being handed over is still on the line.
    this.#end(ending.reason === 'transferred' ? ending : { ...ending, carrier: 'check' });
  }

  /** Ends the call for an operator. Resolves when the carrier has answered. */
  async hangUp(): Promise<void> {
    this.#end({ reason: 'operator-hangup', close: NORMAL_CLOSE, carrier: 'hang-up' });
    await this.#farewell;
  }

  /** @throws RequestError, ConfigError without credentials, CarrierError; the call then goes on. */
  async transfer(to: string): Promise<void> {
    const { carrier, logger } = this.#env;
    const { carrierCallId, direction, caller, callee } = this.#identity;
    if (!isE164(to))
      throw new RequestError('REQUEST_INVALID', 'Transfer to a number like +15550100 (E.164).');
    if (carrierCallId === null || this.#phase !== 'live' || this.#intent !== undefined) {
      throw new RequestError('REQUEST_CONFLICT', 'The call cannot be transferred now.');
    }
    this.#intent = 'transferred';
    const own = direction === 'inbound' ? callee : caller;
    try {
      await carrier.rest.transfer(carrierCallId, to, isE164(own) ? own : undefined);
    } catch (error) {
      this.#intent = undefined;
      logger.warn({ callId: this.callId, to: maskPhone(to), ...describeError(error) }, 'transfer failed');
      if (error instanceof CarrierError || error instanceof ConfigError) throw error;
      throw new CarrierError('The carrier did not transfer the call.', {
        status: null,
        retryable: false,
        cause: error,
      });
    }
    this.#end({ reason: 'transferred', close: NORMAL_CLOSE });
  }

  /** The carrier says that the call is over. */
  carrierHungUp(outcome: CallOutcome | null): void {
    const reason =
      outcome === null || outcome === 'answered' || outcome === 'voicemail' ? undefined : outcome;
    this.#after(REPORT_GRACE_MS, () =>
      this.#end({ ...this.#stopped(reason ?? 'carrier-hangup'), close: NORMAL_CLOSE }),
    );
  }

  /** Ends the call because the server stops. The socket stays for the server to close. */
  shutDown(): void {
    this.#end({ reason: 'server-shutdown', carrier: 'hang-up' });
  }

  get #isOver(): boolean {
    return this.#phase === 'closing' || this.#phase === 'over';
  }

  #receive(message: MediaMessage): void {
    if (message.type === 'connected' || message.type === 'ignored') return;
    if (message.type === 'unexpected') this.receiveUnexpected(message.reason);
    else if (message.type === 'start' && this.#phase === 'waiting') this.#start(message);
    else if (message.type === 'start') this.receiveUnexpected('A second start.');
    else if (this.#voice === undefined) this.receiveUnexpected('A message before start.');
    else this.#receiveLive(message, this.#voice);
  }

  #receiveLive(message: MediaMessage, voice: CallVoice): void {
    switch (message.type) {
      case 'audio':
        this.#counters.framesReceived += 1;
        voice.receive(message.payload);
        break;
      case 'mark':
        voice.markEchoed(message.name);
        break;
      case 'dtmf':
        if (!this.#takesSmallMessage()) break;
        this.#stamp.publish({ type: 'dtmf.received', digit: message.digit });
        voice.pushDtmf(message.digit);
        break;
      case 'spoken-text':
        if (!voice.takesSpokenText) this.receiveUnexpected('Text for a real speech-to-text.');
        else if (this.#takesSmallMessage())
          voice.pushSpokenText({ id: message.id, text: message.text, final: message.final });
        break;
      case 'stop':
        this.#end({ ...this.#stopped('caller-hangup'), close: NORMAL_CLOSE });
    }
  }

  #start(start: StartMessage): void {
    const { owner } = this.#env;
    const expected = this.#admission.carrierCallId;
    if (expected !== null && expected !== start.carrierCallId) {
      this.#refuse('The start message names another call', {});
      return;
    }
    if (!owner.claim(start.carrierCallId)) {
      this.#refuse('The call has a stream already', { unrecorded: true });
      return;
    }
    this.#identity = this.#identify(start);
    if (start.format === null) {
      const codec = start.codec.replace(/[^\w/;=.-]/g, '').slice(0, 40);
      const failure = { code: 'PROTOCOL_INVALID', message: `${NO_CODEC}: ${codec}.` };
      const close = { code: 1003, reason: 'Unsupported codec' };
      this.#end({ reason: 'protocol-error', failure, close, carrier: 'hang-up' });
      return;
    }
    this.#begin(start.format);
  }

  #begin(format: AudioFormat): void {
    const { recipe, backend, clock, logger, maxCallMs } = this.#env;
    this.#cancelTimers();
    this.#phase = 'live';
    this.#after(maxCallMs, () =>
      this.#end({ reason: 'max-duration', close: NORMAL_CLOSE, carrier: 'hang-up' }),
    );
    const { mode, providers: provider } = recipe;
    this.#stamp.publish({ type: 'call.started', mode, provider, ...this.#identity });
    const { carrier, caller, callee } = this.#identity;
    logger.info(
      { callId: this.callId, carrier, caller: maskPhone(caller), callee: maskPhone(callee) },
      'call started',
    );
    // Whoever heard of the start may have ended the call already.
    if (this.#isOver) return;
    try {
      this.#voice = new CallVoice({
        callId: this.callId,
        identity: this.#identity,
        format,
        media: this.#media,
        socket: this.#socket,
        counters: this.#counters,
        backend,
        recipe,
        clock,
        logger,
        onFact: (fact) => this.#state(fact),
        onEnd: (reason, failure) => this.#end({ reason, failure, close: NORMAL_CLOSE, carrier: 'hang-up' }),
        onFailure: (error) => this.#fail(error),
      });
    } catch (error) {
      this.#fail(error);
    }
    if (this.#isOver) this.#voice?.close();
    else this.#voice?.start();
  }

  #fail(error: unknown): void {
    this.#env.logger.error({ callId: this.callId, ...describeError(error) }, 'voice engine failed');
    const failure = OffhookError.isInstance(error)
      ? { code: error.code, message: error.message }
      : { code: 'INTERNAL', message: 'The voice engine failed.' };
    const close = { code: 1011, reason: 'Voice engine failed' };
    this.#end({ reason: 'provider-failed', failure, close, carrier: 'hang-up' });
  }

  #refuse(reason: string, options: { unrecorded?: boolean }): void {
    this.#env.logger.warn({ callId: this.callId }, 'media stream refused');
    this.#end({ reason: 'protocol-error', close: { code: 1008, reason }, ...options });
  }

  #takesSmallMessage(): boolean {
    this.#smallMessages += 1;
    if (this.#smallMessages <= MAX_SMALL_MESSAGES) return true;
    this.receiveUnexpected('Too many keys or texts.');
    return false;
  }

  /** Facts of an engine that was closed are dropped, but for the final bill. */
  #state(fact: EngineFact): void {
    if (this.#phase === 'over' && fact.type !== 'cost.updated') return;
    if (this.#phase !== 'waiting') this.#stamp.publish(fact);
  }

  /** The one way out, whoever comes first. */
  #end(ending: Ending): void {
    if (this.#isOver) return;
    const { owner, logger } = this.#env;
    const wasLive = this.#phase === 'live';
    this.#phase = 'closing';
    this.#cancelTimers();
    this.#voice?.close();
    this.#phase = 'over';
    if (!ending.unrecorded) this.#record(ending, wasLive);
    const { reason, close, carrier } = ending;
    logger.info({ callId: this.callId, endReason: reason, ...this.#counters }, 'call ended');
    if (carrier !== undefined) this.#farewell = this.#askCarrier(carrier);
    owner.ended(this.#farewell);
    try {
      if (close !== undefined) this.#socket.close(close.code, close.reason);
    } catch (error) {
      logger.warn({ callId: this.callId, ...describeError(error) }, 'media socket not closed cleanly');
    }
  }

  #record(ending: Ending, wasLive: boolean): void {
    const { carrierCallId, caller } = this.#identity;
    if (!wasLive) {
      // A stream that never said who calls, and whose address did not either, is no call.
      if (carrierCallId === null && caller === '') return;
      this.#stamp.publish({ type: 'call.status', status: 'initiated', ...this.#identity });
    }
    this.#stamp.publish({
      type: 'call.ended',
      endReason: ending.reason,
      outcome: wasLive ? 'answered' : 'failed',
      error: ending.failure ?? null,
      media: { ...this.#counters },
    });
  }

  async #askCarrier(wish: 'hang-up' | 'check'): Promise<void> {
    const { carrier, logger } = this.#env;
    const { carrierCallId } = this.#identity;
    if (carrierCallId === null || !carrier.rest.configured) return;
    try {
      if (wish === 'check' && (await carrier.rest.isOver(carrierCallId))) return;
      await carrier.rest.hangUp(carrierCallId);
    } catch (error) {
      logger.warn({ callId: this.callId, ...describeError(error) }, 'the carrier did not end the call');
    }
  }

  /** The reason of an end that the stream shows, unless this side has brought it about. */
  #stopped(otherwise: EndReason): Pick<Ending, 'reason' | 'failure'> {
    return this.#voice?.failing ?? { reason: this.#intent ?? otherwise };
  }

  #identify(start: StartMessage | undefined): CallIdentity {
    const { id, streamTokenKey } = this.#env.carrier;
    const proven = streamTokenKey !== undefined;
    return { carrier: id, ...identifyCall(this.#admission, start, { proven }) };
  }

  #after(delayMs: number, task: () => unknown): void {
    const timer = this.#env.clock.after(delayMs, () => {
      this.#timers.delete(timer);
      if (!this.#isOver) task();
    });
    this.#timers.add(timer);
  }

  #cancelTimers(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}
