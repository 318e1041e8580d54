// One live call, from bell or dial to its one end. What the parts of a call are about is in their own files; here is what follows
// from one for the other.
import { ConfigError, RequestError } from '../base/errors.js';
import { describeError } from '../base/log.js';
import type { CallAnswer } from '../carriers/carrier.js';
import type { CallIdentity } from '../contract/call-event.js';
import type { CallFailure, CallOutcome, CallStatus, EndReason } from '../contract/call-record.js';
import { recordEnd, sayFarewell } from './call-conclusion.js';
import { CallConversation } from './call-conversation.js';
import type {
  CallReport,
  OutboundRequest,
  StreamAdmission,
  StreamReceiver,
  StreamSocket,
  WaitingCall,
} from './call-desk.js';
import { type CallEnding, type CallReach, NORMAL_CLOSE, reportedEnd } from './call-ending.js';
import type { CallEnvironment, SessionOwner } from './call-environment.js';
import { identifyCall, type StartMessage } from './call-identity.js';
import { CallKeys } from './call-keys.js';
import { CallLedger } from './call-ledger.js';
import type { CallLine, TimerName } from './call-line.js';
import { CallMedia } from './call-media.js';
import { CallProgress } from './call-progress.js';
import type { CallStream, LiveMessage, StreamLoss } from './call-stream.js';
import { CallTimers } from './call-timers.js';
import type { Farewell } from './farewell.js';
import { LastWords, SORRY, SORRY_LANGUAGE } from './last-words.js';
import { MachineWatch } from './machine-watch.js';
import { OutboundCall } from './outbound-call.js';
import { answerRinging } from './ringing-call.js';
import { judgeLoss } from './stream-loss.js';
import { CallTransfer } from './transfer.js';

/** After the carrier reported the end, what is still on its way has this long to tell more. */
const REPORT_GRACE_MS = 2000;
/** A carrier that takes instructions in replies asks for them within this time after the answer, and opens the stream. */
const INSTRUCTED_STREAM_MS = 20_000;

/** How a session begins. */
export interface SessionSeed {
  /** What is known of the call. */
  readonly admission: StreamAdmission;
  /** True when a stream is all that is known of it: without one there is no call. */
  readonly byStream: boolean;
  /** Public host that a webhook of the call came to. */
  readonly host: string | undefined;
  readonly outbound: OutboundRequest | undefined;
}

export class CallSession {
  readonly callId: string;
  readonly #env: CallEnvironment;
  readonly #owner: SessionOwner;
  readonly #seed: SessionSeed;
  readonly #ledger: CallLedger;
  readonly #timers: CallTimers<TimerName>;
  readonly #line: CallLine;
  readonly #media: CallMedia;
  readonly #conversation: CallConversation;
  readonly #keys: CallKeys;
  readonly #transfer: CallTransfer;
  readonly #words: LastWords;
  readonly #machine: MachineWatch | undefined;
  readonly #outbound: OutboundCall | undefined;
  readonly #progress = new CallProgress();
  #isOver = false;
  /** Public host that a webhook of the call came to. */
  #webhookHost: string | undefined;
  #identity: CallIdentity;
  #isAnswered = false;
  /** What the carrier says became of the call, once it says that it is over. */
  #reported: { outcome: CallOutcome | null } | undefined;
  /** The agent wanted the end while the caller was being handed over. */
  #deferredEnd: CallEnding | undefined;
  #farewell: Farewell | undefined;

  constructor(seed: SessionSeed, environment: CallEnvironment, owner: SessionOwner) {
    this.callId = seed.admission.callId;
    this.#seed = seed;
    this.#env = environment;
    this.#owner = owner;
    this.#webhookHost = seed.host;
    this.#identity = this.#identify(undefined);
    this.#ledger = new CallLedger(this.callId, environment);
    this.#timers = new CallTimers(environment.clock);
    this.#line = this.#openLine();
    this.#media = new CallMedia(this.#line, {
      starting: (stream, start) => this.#starting(stream, start),
      received: (message) => this.#received(message),
      gone: (loss, { wasUp }) => (wasUp ? this.#streamGone(loss) : this.#arrivalGone(loss)),
      missing: (failure) => this.#end({ ...this.#stopped('stream-lost', failure), carrier: 'hang-up' }),
    });
    this.#conversation = new CallConversation(
      this.#line,
      { recipe: seed.outbound?.recipe ?? environment.recipe, counters: this.#media.counters },
      { ends: (ending, { untold }) => this.#agentEnds(ending, untold) },
    );
    this.#keys = new CallKeys(this.#line, this.#media, {
      pressed: (digit) => this.#conversation.pushDtmf(digit),
      refusedAfter: (loss) => this.#streamGone(loss),
    });
    this.#transfer = new CallTransfer(this.#line, {
      away: () => this.#conversation.hold('transfer'),
      back: () => this.#callerIsBack(),
      refusedAfter: (loss) => this.#streamGone(loss),
    });
    this.#words = new LastWords(this.#line);
    if (seed.outbound === undefined) return;
    const { machineDetection, voicemailMessage: message } = seed.outbound;
    const watched = { message, words: this.#words };
    if (machineDetection)
      this.#machine = new MachineWatch(this.#line, watched, {
        answered: ({ byPerson }) => (byPerson ? this.#answered() : this.#isNowAnswered()),
        silence: () => this.#conversation.hold('machine'),
      });
    this.#outbound = new OutboundCall(this.#line, seed.outbound, {
      placed: (carrierCallId) => void this.adopt(carrierCallId),
      unanswered: () => void this.#endUnanswered(),
    });
  }

  /** The carrier's id, as far as it is known. */
  get carrierCallId(): string | null {
    return this.#identity.carrierCallId;
  }

  /** True when one more stream would be taken. */
  get takesStream(): boolean {
    return !this.#isOver && this.#media.takesStream;
  }

  /** Takes a stream's socket. */
  receive(socket: StreamSocket): StreamReceiver {
    return this.#media.receive(socket);
  }

  /** The call rings at a carrier that is steered by commands: tells it, and answers it once the webhook is answered. */
  pickUp(): void {
    this.#progress.advance('ringing');
    this.#tellStatus('ringing');
    answerRinging(this.#line, { lost: () => this.#media.open() });
  }

  /** Places the outbound call. @throws ConfigError, CarrierError; the call is over then. */
  async place(): Promise<void> {
    this.#tellStatus('initiated');
    await this.#outbound?.place();
  }

  /** The carrier asks what to do with the call: one that rings once more, or an outbound one that was answered. */
  waiting(carrierCallId: WaitingCall['carrierCallId']): CallAnswer {
    if (!this.adopt(carrierCallId) || this.#reported !== undefined) return { type: 'hang-up' };
    if (this.#identity.direction === 'outbound' && this.#env.carrier.commands === undefined) {
      this.#answered();
      const isDue = !this.#conversation.isStarted && this.#words.ending === undefined;
      if (isDue) this.#media.expect();
    }
    return { type: 'stream', ...this.#media.invite() };
  }

  /** Takes the carrier's id, which may be known already. False when the call has another one, or the id another call. */
  adopt(carrierCallId: string): boolean {
    const known = this.#identity.carrierCallId;
    if (known !== null) return known === carrierCallId;
    if (!this.#isOver && !this.#owner.claim(carrierCallId)) return false;
    this.#identity = { ...this.#identity, carrierCallId };
    if (this.#isOver) this.#owner.identified(this.callId, carrierCallId);
    else this.#tellStatus(this.#progress.status);
    this.#outbound?.proven();
    return true;
  }

  /** A carrier's report on this call, that came to `host`. Returns what the carrier shall do where the report asks for it. */
  report(report: CallReport, host: string): CallAnswer | undefined {
    this.#webhookHost ??= host;
    if (report.type === 'transfer') {
      const isBack = this.#transfer.heard(report.result) || report.result !== 'connected';
      return isBack && !this.#isOver && !this.#transfer.isPending
        ? { type: 'stream', ...this.#media.invite() }
        : { type: 'hang-up' };
    }
    if (report.type === 'status') this.#progressed(report);
    if (report.type === 'machine-detection') this.#machine?.heard(report.verdict);
    if (report.type === 'dtmf') this.#keys.heard('webhook', report.digit);
    if (report.type === 'stream-failed') this.#media.failed();
    if (report.type === 'speech-ended') this.#words.said();
    if (report.type === 'recording') this.#ledger.recorded(report.recording);
    if (report.type === 'cost') this.#ledger.charged(report.costUsd);
    return undefined;
  }

  /** Ends the call for an operator. Resolves when the carrier has answered. */
  async hangUp(): Promise<void> {
    this.#end({ reason: 'operator-hangup', close: NORMAL_CLOSE, carrier: 'hang-up' });
    await this.#farewell?.done;
  }

  /** @throws RequestError, ConfigError without credentials or host, CarrierError; the call then goes on. */
  async transfer(to: string): Promise<void> {
    await this.#transfer.order(to, () => this.#demandConversation('The call cannot be transferred now.'));
  }

  /** @throws RequestError, ConfigError, CarrierError; the call then goes on. */
  async sendDigits(digits: string): Promise<void> {
    await this.#keys.send(digits, () => this.#demandConversation('Keys cannot be sent now.'));
  }

  /** Ends the call because the server stops. The socket stays for the server to close. */
  shutDown(): void {
    // A caller who is being handed over is still on the line, and better off there.
    if (this.#transfer.isPending) this.#end({ reason: 'transferred' });
    else this.#end({ reason: 'server-shutdown', carrier: 'hang-up' });
  }

  get #reach(): CallReach {
    const { direction } = this.#identity;
    return { direction, answered: this.#isAnswered, started: this.#conversation.isStarted };
  }

  #openLine(): CallLine {
    const session = this;
    return {
      callId: this.callId,
      environment: this.#env,
      ledger: this.#ledger,
      timers: this.#timers,
      get identity() {
        return session.#identity;
      },
      get isOver() {
        return session.#isOver;
      },
      host: () => this.#host(),
      end: (ending) => this.#end(ending),
    };
  }

  #host(): string {
    const host = this.#env.publicHost() ?? this.#webhookHost;
    if (host !== undefined) return host;
    throw new ConfigError(
      'CONFIG_MISSING',
      'Set webhookUrl: the carrier must be told where this server is reached.',
    );
  }

  #tellStatus(status: CallStatus): void {
    if (this.#isOver || this.#conversation.isStarted || status === 'completed') return;
    this.#ledger.publish({ type: 'call.status', status, ...this.#identity });
  }

  #progressed(report: Extract<CallReport, { type: 'status' }>): void {
    const news = this.#progress.hear(report);
    if (news === 'ringing') this.#tellStatus('ringing');
    else if (news === 'completed') this.#reportedOver(report.outcome);
    else if (report.status === 'active') this.#answered();
  }

  /** Somebody is on the line: a stream is due. */
  #answered(): void {
    if (this.#isOver || this.#reported !== undefined) return;
    this.#isNowAnswered();
    const isDue = !this.#conversation.isStarted && !this.#media.isExpected && !this.#media.isThere;
    if (!isDue || this.#words.ending !== undefined || this.#machine?.isMachine === true) return;
    if (this.#env.carrier.commands !== undefined) this.#media.open();
    else this.#media.expect(INSTRUCTED_STREAM_MS);
  }

  #isNowAnswered(): void {
    if (!this.#isAnswered) this.#tellStatus('active');
    this.#isAnswered = true;
    this.#progress.advance('active');
    this.#timers.cancel('answer');
    this.#timers.cancel('ring');
  }

  /** The carrier says that the call is over. */
  #reportedOver(outcome: CallOutcome | null): void {
    this.#reported = { outcome };
    this.#media.unexpect();
    this.#timers.cancel('answer');
    const mayTellMore =
      this.#media.isThere || this.#transfer.isPending || (outcome === 'answered' && !this.#isAnswered);
    if (!mayTellMore || this.#words.ending !== undefined) this.#endAsReported();
    else this.#timers.set('report', REPORT_GRACE_MS, () => this.#endAsReported());
  }

  #endAsReported(): void {
    const { reason, outcome } = reportedEnd(this.#reported?.outcome ?? null, this.#reach);
    // Who is over before a transfer has a result has left in the middle of it.
    const hasLeft = this.#transfer.isPending && reason === 'carrier-hangup';
    this.#end({ ...this.#stopped(hasLeft ? 'caller-hangup' : reason), outcome });
  }

  /** Nobody has answered an outbound call, and no report says so. */
  async #endUnanswered(): Promise<void> {
    const { carrier, logger } = this.#env;
    const { carrierCallId } = this.#identity;
    let outcome: CallOutcome = 'no-answer';
    try {
      if (carrierCallId !== null) outcome = (await carrier.rest.lookUp(carrierCallId)).outcome ?? outcome;
    } catch (error) {
      logger.warn({ callId: this.callId, ...describeError(error) }, 'the carrier did not tell of the call');
    }
    if (this.#isAnswered) return;
    this.#end({ reason: reportedEnd(outcome, this.#reach).reason, outcome, carrier: 'hang-up' });
  }

  #starting(stream: CallStream, start: StartMessage): void {
    const known = this.#identity.carrierCallId;
    if (known !== null && known !== start.carrierCallId) {
      this.#refuse(stream, 'The start message names another call', {});
      return;
    }
    if (!this.#owner.claim(start.carrierCallId)) {
      this.#refuse(stream, 'The call has a stream already', { unrecorded: true });
      return;
    }
    if (this.#seed.byStream) this.#identity = this.#identify(start);
    else this.adopt(start.carrierCallId);
    this.#media.take(stream);
    const { format, outboundFormat, codec } = start;
    if (format === null) {
      this.#notSpoken(codec);
      return;
    }
    const isFirst = !this.#conversation.isStarted;
    if (isFirst) {
      const end = () => this.#end({ reason: 'max-duration', close: NORMAL_CLOSE, carrier: 'hang-up' });
      this.#timers.set('max', this.#env.maxCallMs, end);
    }
    this.#conversation.attach({ format, outboundFormat, media: stream.media, socket: stream.socket });
    if (isFirst) this.#isNowAnswered();
  }

  /** A stream that is not ours. It is all there is of a call that began with it; any other call goes on. */
  #refuse(stream: CallStream, reason: string, options: { unrecorded?: boolean }): void {
    this.#env.logger.warn({ callId: this.callId }, 'media stream refused');
    const close = { code: 1008, reason };
    this.#media.refuse(stream, close);
    const isAll = this.#seed.byStream && !this.#conversation.isStarted;
    if (isAll) this.#end({ reason: 'protocol-error', close, ...options });
  }

  /** The carrier sends a codec that we do not speak: another stream, or the carrier's voice says sorry. */
  #notSpoken(codec: string): void {
    const shown = codec.replace(/[^\w/;=.-]/g, '').slice(0, 40);
    const message = `The carrier offered a codec that is not spoken here: ${shown}.`;
    if (this.#media.canOpen && this.#media.codec === 'preferred') {
      this.#ledger.note('stream-replaced', message);
      this.#media.open('fallback');
      return;
    }
    const close = { code: 1003, reason: 'Unsupported codec' };
    this.#sorry({ reason: 'protocol-error', failure: { code: 'PROTOCOL_INVALID', message }, close });
  }

  #received(message: LiveMessage): void {
    if (message.type === 'dtmf') this.#keys.heard('stream', message.digit);
    else if (message.type !== 'spoken-text') this.#conversation.receive(message);
    else if (!this.#conversation.takesSpokenText) this.#media.complain('Text for a real speech-to-text.');
    else if (this.#keys.takesSmallMessage()) this.#conversation.receive(message);
  }

  /** A socket that was admitted went before it was the call's. */
  #arrivalGone(loss: StreamLoss): void {
    if (this.#seed.byStream && !this.#conversation.isStarted) this.#endWith(loss);
    else this.#media.failed();
  }

  /** The stream that was up is gone. */
  #streamGone(loss: StreamLoss): void {
    if (this.#isOver) return;
    const verdict = judgeLoss(loss.type, {
      hasLastWords: this.#words.ending !== undefined,
      isReportedOver: this.#reported !== undefined,
      isTransferring: this.#transfer.isPending,
      isReplaced: this.#media.isExpected,
      isCommanded: this.#env.carrier.commands !== undefined,
      canReopen: this.#media.canOpen,
    });
    if (verdict === 'end') this.#endWith(loss);
    else if (verdict === 'as-reported') this.#endAsReported();
    else {
      this.#conversation.detach();
      this.#transfer.streamGone(loss);
      this.#keys.streamGone(loss);
    }
    // An agent whose apology was cut off by it ends the call instead.
    if (verdict !== 'reopen' || this.#isOver) return;
    this.#ledger.note('stream-replaced', 'The media stream was lost, and another one was asked for.');
    this.#media.open();
  }

  #endWith(loss: StreamLoss): void {
    if (loss.type === 'broken') {
      const { failure, close } = loss;
      this.#end({ reason: 'protocol-error', failure, close, carrier: 'hang-up' });
    } else if (loss.type === 'lost') this.#end({ ...this.#stopped('stream-lost'), carrier: 'check' });
    else {
      // A carrier that is steered by commands keeps a call without a stream: it must be known to be over.
      const carrier = this.#env.carrier.commands === undefined ? undefined : 'confirm';
      this.#end({ ...this.#stopped('caller-hangup'), carrier });
    }
  }

  /** @throws RequestError unless agent and caller are talking. */
  #demandConversation(otherwise: string): void {
    const isBusy = this.#media.isExpected || this.#keys.isSending || this.#transfer.isPending;
    const isEnding = this.#reported !== undefined || this.#words.ending !== undefined || this.#isOver;
    const isTalking = this.#media.isUp && this.#conversation.isOpen && this.#machine?.isMachine !== true;
    if (isBusy || isEnding || !isTalking) throw new RequestError('REQUEST_CONFLICT', otherwise);
  }

  /** The number that the caller was handed over to was not reached. */
  #callerIsBack(): void {
    this.#conversation.release('transfer');
    if (this.#reported !== undefined) this.#end({ reason: 'caller-hangup', close: NORMAL_CLOSE });
    else if (this.#deferredEnd !== undefined) this.#end(this.#deferredEnd);
    else if (this.#env.carrier.commands === undefined) this.#media.expect();
    else if (this.#media.isUp) return;
    else if (this.#media.canOpen) this.#media.open();
    else this.#end({ reason: 'stream-lost', carrier: 'hang-up' });
  }

  #agentEnds(ending: CallEnding, untold: boolean): void {
    // A caller who is being handed over is no longer the agent's to hang up on.
    if (this.#transfer.isPending) this.#deferredEnd = ending;
    else if (untold) this.#sorry(ending);
    else this.#end(ending);
  }

  /** The agent cannot say it: the carrier's voice does, and the call ends. */
  #sorry(ending: CallEnding): void {
    if (this.#isOver) return;
    this.#conversation.close();
    this.#media.unexpect();
    this.#words.say(SORRY, { language: SORRY_LANGUAGE, ending });
  }

  /** The one way out, whoever comes first. */
  #end(wanted: CallEnding): void {
    if (this.#isOver) return;
    // Last words that have begun decided how the call ends; only what is asked of the carrier depends on what ends it now.
    const carrier = this.#reported === undefined ? wanted.carrier : undefined;
    const ending = { ...(this.#words.ending ?? wanted), carrier };
    this.#isOver = true;
    this.#timers.close();
    this.#conversation.close();
    const { counters } = this.#media;
    recordEnd(this.#line, {
      ending,
      reach: this.#reach,
      isVoicemail: this.#machine?.isMachine === true,
      isUntold: this.#seed.byStream && !this.#conversation.isStarted,
      counters,
    });
    const { reason, close } = ending;
    this.#env.logger.info({ callId: this.callId, endReason: reason, ...counters }, 'call ended');
    this.#farewell = sayFarewell(this.#line, ending, {
      ordered: this.#transfer.settled,
      placed: this.#outbound?.settled,
    });
    this.#owner.ended({
      callId: this.callId,
      carrierCallId: this.carrierCallId,
      direction: this.#identity.direction,
      ledger: this.#ledger,
      farewell: this.#farewell,
    });
    this.#media.close(close);
  }

  /** The end that the line shows, unless the agent was about to end the call for another reason. */
  #stopped(otherwise: EndReason, failure?: CallFailure): CallEnding {
    const failing = this.#conversation.failing ?? { reason: otherwise, failure };
    return { ...failing, close: NORMAL_CLOSE };
  }

  #identify(start: StartMessage | undefined): CallIdentity {
    const { id, streamTokenKey } = this.#env.carrier;
    const proven = streamTokenKey !== undefined || !this.#seed.byStream;
    return { carrier: id, ...identifyCall(this.#seed.admission, start, { proven }) };
  }
}
