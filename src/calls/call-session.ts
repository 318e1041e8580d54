// One live call, from bell or dial to its one end: only what follows from one of its parts for another.
import { ConfigError } from '../base/errors.js';
import type { CallAnswer } from '../carriers/carrier.js';
import type { CallIdentity } from '../contract/call-event.js';
import type { CallFailure, CallOutcome, HangUpState } from '../contract/call-record.js';
import { AnnouncedEnd } from './ending/announced-end.js';
import { planFarewell, recordEnd, sayFarewell } from './ending/call-conclusion.js';
import { CallConversation } from './voice/call-conversation.js';
import type { CallReport, StreamReceiver, StreamSocket, WaitingCall } from './call-desk.js';
import { type CallEnding, type CallReach, NORMAL_CLOSE, reportedEnd } from './ending/call-ending.js';
import type { CallEnvironment } from './call-environment.js';
import { identifyCall, type StartMessage } from './call-identity.js';
import { CallKeys } from './keys/call-keys.js';
import { CallLedger } from './facts/call-ledger.js';
import type { CallLine, TimerName } from './call-line.js';
import { CallMedia } from './streams/call-media.js';
import { CallStanding } from './call-standing.js';
import type { LiveMessage } from './streams/call-stream.js';
import { CallTimers } from './call-timers.js';
import { CallerReturn } from './transfer/caller-return.js';
import { demandUnobstructed } from './transfer/command-obstacles.js';
import type { EngineRecipe } from '../engines/engine.js';
import type { Farewell } from './ending/farewell.js';
import { LastWords } from './ending/last-words.js';
import { MachineWatch } from './outbound/machine-watch.js';
import { OutboundCall } from './outbound/outbound-call.js';
import { answerRinging } from './ringing-call.js';
import type { SessionOwner, SessionSeed } from './session-owner.js';
import { StreamIntake } from './streams/stream-intake.js';
import { StreamDeparture } from './streams/stream-departure.js';
import { CallTransfer } from './transfer/transfer.js';

/** After the carrier reported the end, what is still on its way has this long to tell more. */
const REPORT_GRACE_MS = 2000;
/** A carrier that takes instructions in replies asks for them within this time after the answer, and opens the stream. */
const INSTRUCTED_STREAM_MS = 20_000;

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
  readonly #return: CallerReturn;
  readonly #words: LastWords;
  readonly #announced: AnnouncedEnd;
  readonly #machine: MachineWatch | undefined;
  readonly #outbound: OutboundCall | undefined;
  readonly #standing: CallStanding;
  readonly #intake: StreamIntake;
  readonly #departure: StreamDeparture;
  #isOver = false;
  /** Public host that a webhook of the call came to. */
  #webhookHost: string | undefined;
  #identity: CallIdentity;
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
    this.#standing = new CallStanding(this.#line, {
      answered: () => this.#answered(),
      over: (outcome) => this.#reportedOver(outcome),
    });
    this.#media = new CallMedia(this.#line, {
      starting: (stream, start) => this.#intake.starting(stream, start),
      received: (message) => this.#received(message),
      gone: (loss, { wasUp }) => this.#departure.gone(loss, { wasUp }),
      missing: (failure) => this.#streamMissing(failure),
    });
    this.#conversation = new CallConversation(
      this.#line,
      {
        seed,
        preparations: owner.preparations,
        controls: {
          transfer: (to) =>
            this.#transfer.orderAndWait(to, () =>
              this.#demandConversation('The call cannot be transferred now.'),
            ),
          sendDigits: (digits) => this.sendDigits(digits),
        },
        counters: this.#media.counters,
      },
      { ends: (ending) => this.#agentEnds(ending) },
    );
    const streams = { media: this.#media, conversation: this.#conversation, byStream: seed.byStream };
    this.#intake = new StreamIntake(this.#line, streams, {
      claimed: (start) => this.#claimed(start),
      attached: ({ isFirst }) => isFirst && this.#begins(),
      speechless: (ending) => this.#announced.apologize(ending),
    });
    this.#keys = new CallKeys(this.#line, this.#media, {
      pressed: (digit) => this.#conversation.pushDtmf(digit),
      refusedAfter: (loss) => this.#departure.gone(loss, { wasUp: true }),
    });
    this.#transfer = new CallTransfer(this.#line, {
      away: () => this.#conversation.hold('transfer'),
      back: (news) => this.#return.back(news),
      refused: (loss, news) => this.#return.stayed(loss, news),
    });
    this.#words = new LastWords(this.#line);
    const parts = {
      media: this.#media,
      conversation: this.#conversation,
      intake: this.#intake,
      keys: this.#keys,
      transfer: this.#transfer,
      words: this.#words,
      standing: this.#standing,
    };
    this.#announced = new AnnouncedEnd(this.#line, parts);
    this.#departure = new StreamDeparture(this.#line, parts, { reportedOver: () => this.#endAsReported() });
    this.#return = new CallerReturn(this.#line, parts, {
      agentEnds: (ending) => this.#agentEnds(ending),
      gone: (loss) => this.#departure.gone(loss, { wasUp: true }),
    });
    if (seed.outbound === undefined) return;
    const watched = { message: seed.outbound.voicemailMessage, words: this.#words };
    if (seed.outbound.machineDetection)
      this.#machine = new MachineWatch(this.#line, watched, {
        answered: ({ byPerson }) => (byPerson ? this.#answered() : this.#standing.isNowAnswered()),
        silence: () => this.#conversation.hold('machine'),
      });
    this.#outbound = new OutboundCall(this.#line, seed.outbound, {
      placed: (carrierCallId) => void this.adopt(carrierCallId),
      unanswered: (outcome) => this.#endUnanswered(outcome),
    });
  }

  /** The carrier's id, as far as it is known. */
  get carrierCallId(): string | null {
    return this.#identity.carrierCallId;
  }

  /** True when one more stream would be taken. `number` as in `StreamAdmission`. */
  takesStream(number: number | undefined): boolean {
    return !this.#isOver && this.#media.takesStream(number);
  }

  /** Takes a stream's socket. */
  receive(socket: StreamSocket, number: number | undefined): StreamReceiver {
    return this.#media.receive(socket, number);
  }

  /** The call rings at a carrier that is steered by commands: tells it, and answers it once the webhook is answered. */
  pickUp(): void {
    this.#standing.rings();
    this.#conversation.prepare();
    answerRinging(this.#line, { lost: () => this.#media.open() });
  }

  /** Places the outbound call. @throws ConfigError, CarrierError; the call is over then. */
  async place(): Promise<void> {
    this.#standing.tell();
    await this.#outbound?.place();
  }

  /** The carrier asks what to do with the call: one that rings once more, or an outbound one that was answered. */
  waiting(carrierCallId: WaitingCall['carrierCallId']): CallAnswer {
    if (!this.adopt(carrierCallId) || this.#standing.over !== undefined) return { type: 'hang-up' };
    if (this.#identity.direction === 'outbound' && this.#env.carrier.commands === undefined) {
      this.#answered();
      if (!this.#conversation.isStarted && this.#words.ending === undefined) this.#media.expect();
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
    else if (!this.#conversation.isStarted) this.#standing.tell();
    this.#outbound?.proven();
    if (!this.#isOver && this.#outbound !== undefined) this.#conversation.prepare();
    return true;
  }

  /** A carrier's report on this call, that came to `host`. Returns what the carrier shall do where the report asks for it. */
  report(report: CallReport, host: string): CallAnswer | undefined {
    this.#webhookHost ??= host;
    if (report.type === 'transfer') {
      this.#transfer.heard(report.result);
      return report.result !== 'connected' && !this.#isOver && !this.#transfer.isPending
        ? { type: 'stream', ...this.#media.invite() }
        : { type: 'hang-up' };
    }
    if (report.type === 'resume') return this.#resumed();
    if (report.type === 'status') this.#standing.heard(report);
    if (report.type === 'machine-detection') this.#machine?.heard(report.verdict);
    if (report.type === 'dtmf') this.#keys.heard('webhook', report.digit);
    if (report.type === 'stream-failed') this.#media.failed(report.streamId);
    if (report.type === 'hold') this.#media.isHeld = report.isHeld;
    if (report.type === 'speech-ended') this.#words.said();
    if (report.type === 'recording') this.#ledger.recorded(report.recording);
    if (report.type === 'cost') this.#ledger.charged(report.costUsd);
    return undefined;
  }

  /** Ends the call for an operator. Resolves when the carrier was asked. */
  async hangUp(): Promise<HangUpState> {
    this.#end({ reason: 'operator-hangup', close: NORMAL_CLOSE, carrier: 'hang-up' });
    return (await this.#farewell?.tried) ?? 'done';
  }

  /** @throws RequestError, ConfigError without credentials or host, CarrierError; the call then goes on. */
  async transfer(to: string): Promise<void> {
    await this.#transfer.order(to, () => this.#demandConversation('The call cannot be transferred now.'));
  }

  /** @throws RequestError, ConfigError, CarrierError; the call then goes on. */
  async sendDigits(digits: string): Promise<void> {
    await this.#keys.send(digits, () => this.#demandConversation('Keys cannot be sent now.'));
  }

  /** Most of the money for the call is used. */
  nearBudget(): void {
    this.#ledger.note('budget-near', 'The call has used 80 % of its budget.');
  }

  /** All of it is used: the call ends with a goodbye, in its own time. */
  overBudget(): void {
    this.#announced.overBudget();
  }

  /** Ends the call because the server stops. The socket stays for the server to close. */
  shutDown(): void {
    // A caller who is being handed over is still on the line, and better off there.
    if (this.#transfer.isPending) this.#end({ reason: 'transferred' });
    else this.#end({ reason: 'server-shutdown', carrier: 'hang-up' });
  }

  /** A stream is over, and the call is not. */
  #resumed(): CallAnswer {
    if (this.#isOver || this.#standing.over !== undefined) return { type: 'hang-up' };
    // The carrier is told, or will be, what to do instead: neither a stream nor a hang-up may get in the way of that.
    if (this.#words.ending !== undefined || this.#transfer.isPending) {
      const resume = this.#media.keep();
      return resume === undefined ? { type: 'hang-up' } : { type: 'hold', resume };
    }
    const invitation = this.#media.resume();
    return invitation === undefined ? { type: 'hang-up' } : { type: 'stream', ...invitation };
  }

  get #reach(): CallReach {
    const { direction } = this.#identity;
    return { direction, answered: this.#standing.isAnswered, started: this.#conversation.isStarted };
  }

  get #recipe(): EngineRecipe {
    return this.#seed.outbound?.recipe ?? this.#env.recipe;
  }

  #openLine(): CallLine {
    const session = this;
    return {
      callId: this.callId,
      environment: this.#env,
      recipe: this.#recipe,
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
    throw new ConfigError('CONFIG_MISSING', 'Set webhookUrl: the carrier needs the address of this server.');
  }

  /** Somebody is on the line: a stream is due. */
  #answered(): void {
    if (this.#isOver || this.#standing.over !== undefined) return;
    this.#standing.isNowAnswered();
    const isDue = !this.#conversation.isStarted && !this.#media.isExpected && !this.#media.isThere;
    if (!isDue || this.#words.ending !== undefined || this.#machine?.isMachine === true) return;
    this.#conversation.answered();
    if (this.#env.carrier.commands !== undefined) this.#media.open();
    else this.#media.expect(INSTRUCTED_STREAM_MS);
  }

  /** The carrier says that the call is over. */
  #reportedOver(outcome: CallOutcome | null): void {
    this.#media.unexpect();
    this.#timers.cancel('answer');
    const mayTellMore = this.#media.isThere || this.#transfer.isPending || outcome === 'answered';
    if (!mayTellMore || this.#words.ending !== undefined) this.#endAsReported();
    else this.#timers.set('report', REPORT_GRACE_MS, () => this.#endAsReported());
  }

  #endAsReported(): void {
    const { over = { outcome: null }, durationMs } = this.#standing;
    const { reason, outcome } = reportedEnd(over, this.#reach);
    // Who is over before a transfer has a result has left in the middle of it.
    const hasLeft = this.#transfer.isPending && reason === 'carrier-hangup';
    this.#end({ ...this.#conversation.endedBy(hasLeft ? 'caller-hangup' : reason), outcome, durationMs });
  }

  /** Nobody has answered an outbound call, and no report says so. */
  #endUnanswered(outcome: CallOutcome): void {
    if (this.#standing.isAnswered) return;
    this.#end({ reason: reportedEnd({ outcome }, this.#reach).reason, outcome, carrier: 'hang-up' });
  }

  /** The call that a stream names is this one, unless another live call has its id. */
  #claimed(start: StartMessage): boolean {
    if (!this.#owner.claim(start.carrierCallId)) return false;
    if (this.#seed.byStream) this.#identity = this.#identify(start);
    else this.adopt(start.carrierCallId);
    return true;
  }

  /** The first stream is up. */
  #begins(): void {
    this.#standing.isNowAnswered({ isTold: true });
    const end = () => this.#end({ reason: 'max-duration', close: NORMAL_CLOSE, carrier: 'hang-up' });
    this.#timers.set('max', this.#env.maxCallMs, end);
  }

  /** Last words need no stream, and have their own time. */
  #streamMissing(failure: CallFailure | undefined): void {
    if (this.#words.ending !== undefined) return;
    this.#end({ ...this.#conversation.endedBy('stream-lost', failure), carrier: 'hang-up' });
  }

  #received(message: LiveMessage): void {
    if (message.type === 'dtmf') this.#keys.heard('stream', message.digit);
    else if (message.type !== 'spoken-text' || this.#keys.takesSmallMessage())
      this.#conversation.receive(message);
  }

  /** @throws RequestError unless agent and caller are talking. */
  #demandConversation(otherwise: string): void {
    const { isStarted, isOpen } = this.#conversation;
    demandUnobstructed(otherwise, {
      isEnding: this.#standing.over !== undefined || this.#words.ending !== undefined || this.#isOver,
      isHandedOver: this.#transfer.isPending,
      isSendingKeys: this.#keys.isSending,
      isMachine: this.#machine?.isMachine === true,
      isUnconnected: !isStarted,
      isWithoutStream: this.#media.isExpected || !this.#media.isUp || !isOpen,
    });
  }

  #agentEnds(ending: CallEnding): void {
    if (this.#transfer.isPending) this.#return.defer(ending);
    else if (ending.wait !== undefined) this.#announced.apologize(ending);
    else this.#end(ending);
  }

  /** The one way out, whoever comes first. */
  #end(wanted: CallEnding): void {
    if (this.#isOver) return;
    // Last words that have begun decided how the call ends; only what is asked of the carrier depends on what ends it now.
    const carrier = this.#standing.over === undefined ? wanted.carrier : undefined;
    const ending = { ...(this.#words.ending ?? wanted), carrier };
    this.#isOver = true;
    this.#timers.close();
    this.#conversation.close();
    const { counters } = this.#media;
    const [ordered, placed] = [this.#transfer.settled, this.#outbound?.settled];
    const farewell = planFarewell(this.#line, ending, { ordered, placed });
    recordEnd(this.#line, {
      ending,
      reach: this.#reach,
      isVoicemail: this.#machine?.isMachine === true,
      isUntold: this.#intake.isAll,
      counters,
      farewell,
      book: () => this.#conversation.book(),
    });
    this.#env.logger.info({ callId: this.callId, endReason: ending.reason, ...counters }, 'call ended');
    this.#farewell = farewell && sayFarewell(this.#line, ending, farewell);
    this.#owner.ended({
      callId: this.callId,
      carrierCallId: this.carrierCallId,
      direction: this.#identity.direction,
      ledger: this.#ledger,
      farewell: this.#farewell,
      adopt: (carrierCallId) => void this.adopt(carrierCallId),
    });
    this.#media.close(ending.close);
  }

  #identify(start: StartMessage | undefined): CallIdentity {
    const { id, streamTokenKey } = this.#env.carrier;
    const proven = streamTokenKey !== undefined || !this.#seed.byStream;
    const { agentName: agent } = this.#recipe;
    const parties = identifyCall(this.#seed.admission, start, { proven });
    return { carrier: id, ...parties, ...(agent === undefined ? {} : { agent }) };
  }
}
