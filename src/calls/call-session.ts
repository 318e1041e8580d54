// One live call, from its ring or dial to its one end: only what follows from one of its parts for another.
import { ConfigError } from '../base/errors.js';
import { describeError } from '../base/log.js';
import type { CallAnswer } from '../carriers/carrier.js';
import type { SayOptions, SayOutcome } from '../contract/call-command.js';
import type { CallIdentity } from '../contract/call-event.js';
import type { CallFailure, CallOutcome, EndReason, HangUpState } from '../contract/call-record.js';
import type { LiveListening, SoundSink } from '../contract/live-sound.js';
import { isQuiet } from '../conversation/phase.js';
import { toResume } from '../conversation/recalled.js';
import { NOBODY_WAITS } from '../conversation/wait.js';
import { AgentlessCall } from './choice/agentless-call.js';
import { AnnouncedEnd } from './ending/announced-end.js';
import { planTeardown, recordEnd, beginTeardown } from './ending/call-conclusion.js';
import { CallConversation } from './voice/call-conversation.js';
import type { CallReport, OutboundRequest, StreamReceiver, StreamSocket, WaitingCall } from './call-desk.js';
import {
  type CallEnding,
  type CallReach,
  type CarrierWish,
  NORMAL_CLOSE,
  reportedEnd,
} from './ending/call-ending.js';
import type { CallEnvironment, OtherProcesses } from './call-environment.js';
import { identifyCall, type StartMessage } from './call-identity.js';
import { BUDGET_NEAR } from './money/budget.js';
import { CallKeys } from './keys/call-keys.js';
import { CallListening } from './listening/call-listening.js';
import { CallLedger, type ResumedCall } from './facts/call-ledger.js';
import type { SessionContext, TimerName } from './session-context.js';
import { CallMedia } from './streams/call-media.js';
import { CallStanding } from './call-standing.js';
import type { LiveMessage } from './streams/call-stream.js';
import { CallTimers } from './call-timers.js';
import { type CommandObstacles, demandUnobstructed, isObstructed } from './transfer/command-obstacles.js';
import type { EngineRecipe } from '../engines/engine.js';
import type { CarrierTeardown } from './ending/carrier-teardown.js';
import { CarrierAnnouncement } from './ending/carrier-announcement.js';
import type { Loss } from './ending/lost-call.js';
import { MachineWatch } from './outbound/machine-watch.js';
import { OutboundCall } from './outbound/outbound-call.js';
import { answerRinging } from './ringing-call.js';
import { CallRecording } from './recording/call-recording.js';
import { CallResumption, showsLife } from './resume/call-resumption.js';
import type { CallState, StoredConversation } from './resume/call-state.js';
import type { ResumedSeed, SessionOwner, SessionSeed } from './session-owner.js';
import { StreamIntake } from './streams/stream-intake.js';
import { StreamDeparture } from './streams/stream-departure.js';
import { CallTransfer } from './transfer/transfer.js';

/** After the carrier reported the end, what is still on its way has this long to tell more. */
const REPORT_GRACE_MS = 2000;
const MOVED_CLOSE = { code: 1000, reason: 'Another process has the call' };
/** With one of these, a call ends of which nothing is heard: where other processes may have it, it may be well there. */
const UNHEARD: ReadonlySet<EndReason> = new Set([
  'stream-lost',
  'process-lost',
  'provider-failed',
  'max-duration',
]);
/** A carrier that takes instructions in replies asks for them within this time after the answer, and opens the stream. */
const INSTRUCTED_STREAM_MS = 20_000;

/** What the ledger goes on with; undefined for a call that begins here. */
function ledgerOf({ resumed }: SessionSeed): ResumedCall | undefined {
  if (resumed === undefined) return undefined;
  const { record, state, lastAliveAt, wasLetGo = false, aheadMs } = resumed;
  // Who was given it knows only from its state when that was, by the clock of who gave it.
  const at = Math.max(lastAliveAt, state?.awaitedSince ?? 0);
  return { record, at, state: state?.ledger, wasLetGo, aheadMs };
}

/** Without what another process makes anew. */
function storedRequest(request: OutboundRequest | undefined): CallState['outbound'] {
  if (request === undefined) return null;
  const { recipe: _, ...stored } = request;
  return stored;
}

export class CallSession {
  readonly callId: string;
  readonly #env: CallEnvironment;
  readonly #owner: SessionOwner;
  readonly #seed: SessionSeed;
  /** Of the agent that the caller talks to. */
  #recipe: EngineRecipe;
  readonly #ledger: CallLedger;
  readonly #timers: CallTimers<TimerName>;
  readonly #context: SessionContext;
  readonly #media: CallMedia;
  readonly #conversation: CallConversation;
  readonly #recording: CallRecording;
  readonly #listening: CallListening;
  readonly #keys: CallKeys;
  readonly #transfer: CallTransfer;
  readonly #announcement: CarrierAnnouncement;
  readonly #announced: AnnouncedEnd;
  readonly #machine: MachineWatch | undefined;
  readonly #agentless: AgentlessCall | undefined;
  readonly #outbound: OutboundCall | undefined;
  readonly #standing: CallStanding;
  readonly #intake: StreamIntake;
  readonly #departure: StreamDeparture;
  /** Undefined for a call that began here. */
  #resumption: CallResumption | undefined;
  #isOver = false;
  /** How it ends unless another process has it, which is being asked. */
  #doubted: CallEnding | undefined;
  #isRefused = false;
  /** Public host that a webhook of the call came to. */
  #webhookHost: string | undefined;
  #identity: CallIdentity;
  #teardown: CarrierTeardown | undefined;

  constructor(seed: SessionSeed, environment: CallEnvironment, owner: SessionOwner) {
    this.callId = seed.admission.callId;
    this.#seed = seed;
    this.#env = environment;
    this.#owner = owner;
    this.#webhookHost = seed.host;
    const { outbound, resumed, chosen } = seed;
    this.#recipe = outbound?.recipe ?? resumed?.recipe ?? chosen?.recipe ?? environment.recipe;
    this.#identity = this.#identify(undefined);
    this.#ledger = new CallLedger(this.callId, environment, ledgerOf(seed), seed.term ?? seed.resumed?.term);
    this.#timers = new CallTimers(environment.clock);
    this.#context = this.#openContext();
    this.#standing = new CallStanding(this.#context, {
      answered: () => this.#answered(),
      over: (outcome) => this.#reportedOver(outcome),
    });
    this.#media = new CallMedia(this.#context, {
      starting: (stream, start) => this.#intake.starting(stream, start),
      received: (message) => this.#received(message),
      gone: (loss, { wasUp }) => this.#departure.gone(loss, { wasUp }),
      missing: (failure) => this.#streamMissing(failure),
    });
    const changed = () => owner.states?.changed(this.callId);
    this.#listening = new CallListening(this.#context);
    this.#recording = new CallRecording(this.#context, {
      listening: this.#listening,
      before: resumed?.record.localRecording,
      pausedBy: resumed?.state?.pausedBy,
      changed,
    });
    this.#conversation = new CallConversation(
      this.#context,
      {
        seed,
        preparations: owner.preparations,
        controls: {
          transfer: (to) =>
            this.#transfer.orderAndWait(to, () =>
              this.#demandConversation('The call cannot be transferred now.'),
            ),
          sendDigits: (digits) => this.sendDigits(digits),
          ...this.#recording.forTools,
        },
        counters: this.#media.counters,
        recording: this.#recording,
        listening: this.#listening,
      },
      {
        ends: (ending) => this.#agentEnds(ending),
        handedOver: (to) => this.#handedOver(to),
        changed,
        beforeOutside: owner.states && (() => owner.states?.written(this.callId)),
      },
    );
    const streams = { media: this.#media, conversation: this.#conversation, byStream: seed.byStream };
    this.#intake = new StreamIntake(this.#context, streams, {
      claimed: (start) => this.#claimed(start),
      attached: ({ isFirst }) => {
        this.#doubted = undefined;
        if (isFirst) this.#begins();
        this.#resumption?.attached();
      },
      speechless: (ending) => this.#announced.apologize(ending),
    });
    this.#keys = new CallKeys(this.#context, this.#media, {
      pressed: (digit) => {
        this.#recording.keyPressed();
        this.#conversation.pushDtmf(digit);
      },
      refusedAfter: (loss) => this.#departure.gone(loss, { wasUp: true }),
    });
    this.#announcement = new CarrierAnnouncement(this.#context);
    const common = { media: this.#media, conversation: this.#conversation, standing: this.#standing };
    this.#transfer = new CallTransfer(this.#context, common, {
      agentEnds: (ending) => this.#agentEnds(ending),
      gone: (loss) => this.#departure.gone(loss, { wasUp: true }),
      stayed: () => this.#resumption?.stayed(),
    });
    const parts = {
      ...common,
      intake: this.#intake,
      keys: this.#keys,
      transfer: this.#transfer,
      announcement: this.#announcement,
    };
    this.#announced = new AnnouncedEnd(this.#context, parts);
    this.#departure = new StreamDeparture(this.#context, parts, {
      reportedOver: () => this.#endAsReported(),
    });
    if (seed.agentless !== undefined)
      this.#agentless = new AgentlessCall(seed.agentless, this.#context, parts);
    if (seed.outbound !== undefined) [this.#outbound, this.#machine] = this.#openOutbound(seed.outbound);
  }

  #openOutbound(request: OutboundRequest): [OutboundCall, MachineWatch | undefined] {
    const watched = { message: request.voicemailMessage, announcement: this.#announcement };
    const outbound = new OutboundCall(this.#context, request, {
      placed: (carrierCallId) => void this.adopt(carrierCallId),
      unplaced: () => this.#end({ reason: 'process-lost', loss: 'unplaced' }),
      unanswered: (outcome) => this.#endUnanswered(outcome),
    });
    if (!request.machineDetection) return [outbound, undefined];
    const machine = new MachineWatch(this.#context, watched, {
      answered: ({ byPerson }) => (byPerson ? this.#answered() : this.#standing.isNowAnswered()),
      silence: () => this.#conversation.hold('machine'),
    });
    return [outbound, machine];
  }

  /** Takes up what another process has left, as far as it goes without the carrier. The call may be over with that. Never throws. */
  takeUp(left: ResumedSeed): void {
    try {
      this.#restore(left);
    } catch (error) {
      const { logger } = this.#env;
      logger.error({ callId: this.callId, ...describeError(error) }, 'what was kept of a call is of no use');
      const failure = { code: 'INTERNAL', message: 'The call could not be taken up.' };
      const carrier = 'hang-up';
      this.#announced.apologize({
        reason: 'process-lost',
        loss: 'failed',
        failure,
        close: NORMAL_CLOSE,
        carrier,
        wait: NOBODY_WAITS,
      });
    }
  }

  #restore({ record, state, lastAliveAt, wasLetGo = false, message }: ResumedSeed): void {
    const parts = {
      media: this.#media,
      conversation: this.#conversation,
      transfer: this.#transfer,
      announcement: this.#announcement,
      standing: this.#standing,
      machine: this.#machine,
    };
    const left = { record, state, lastAliveAt, wasLetGo };
    this.#resumption = new CallResumption(this.#context, left, parts, {
      // An agent takes over where the caller was connected otherwise before.
      connect: () => (this.#agentless?.isConnected === true ? this.#media.open() : this.#connect()),
      lost: (loss, at) => this.#lost(loss, at),
    });
    const { answeredAt, startedAt, mode, amd, transfer } = record;
    const wall = this.#ledger.clock.wallNow();
    this.#standing.restore({ isAnswered: answeredAt !== null, hasRung: record.status !== 'initiated' });
    if (state !== undefined) this.#media.restore(state.media);
    if (mode !== null) {
      const left: Partial<StoredConversation> = state?.conversation ?? {};
      const { state: conversation, beganAt = answeredAt ?? startedAt, news } = left;
      const stored = { state: toResume(conversation, record, { message }), beganAt, news };
      const open = record.transcript.filter(({ final }) => !final);
      this.#conversation.restore({ stored, open, message, term: this.term });
      this.#limit(wall - (answeredAt ?? startedAt));
    }
    const connections = [mode, transfer, state?.transfer, state?.announcement];
    if (connections.some((each) => each != null)) this.#agentless?.restore();
    const isOrdered = transfer !== null && transfer.result === null;
    const handedOver = isOrdered
      ? { to: transfer.to, isTaken: true, orderedAt: transfer.startedAt }
      : state?.transfer;
    if (handedOver != null) this.#transfer.restore(handedOver);
    if (state?.announcement != null) {
      this.#conversation.close();
      this.#announcement.restore(state.announcement);
    }
    if (amd !== null) this.#machine?.restore(amd.answeredBy);
    if (answeredAt === null) this.#outbound?.restore({ agoMs: wall - startedAt });
  }

  /** The carrier's id, as far as it is known. */
  get carrierCallId(): string | null {
    return this.#identity.carrierCallId;
  }

  get term(): number {
    return this.#ledger.term;
  }

  /** What another process needs to go on with the call; undefined once it is over. */
  get state(): Omit<CallState, 'facts'> | undefined {
    if (this.#isOver) return undefined;
    return {
      callId: this.callId,
      host: this.#webhookHost ?? null,
      outbound: storedRequest(this.#seed.outbound),
      texts: this.#seed.chosen?.texts ?? this.#seed.resumed?.state?.texts,
      agentless: this.#seed.agentless,
      media: this.#media.state,
      conversation: this.#conversation.state,
      ledger: this.#ledger.state,
      transfer: this.#transfer.state,
      announcement: this.#announcement.state,
      pausedBy: this.#recording.pausedBy,
      awaitedSince: this.#resumption?.awaitedSince ?? null,
      sharedAheadMs: this.#sharedAheadMs,
    };
  }

  get #sharedAheadMs(): number | undefined {
    const sharedNow = this.#env.sharedTime?.()?.now();
    return sharedNow === undefined ? undefined : Math.round(sharedNow - this.#ledger.clock.wallNow());
  }

  /** True until a stream of a call has come here that another process had, or something shows that it needs none. */
  get isPending(): boolean {
    return this.#resumption?.isPending === true;
  }

  /** True where the carrier does not answer the call for this process: another one may have had it answered. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** True while a stream of the call is here. */
  get hasStream(): boolean {
    return this.#media.isThere;
  }

  /** Another process states facts of the call in the term of this one, which has its stream: this one goes on in a higher one. */
  raiseTerm(term: number): void {
    this.#ledger.raiseTerm(term);
    this.#standing.tell();
  }

  /** Goes on with a call of another process. Once this one can be reached. */
  goOn(): void {
    this.#resumption?.begin();
  }

  /** As `goOn`, with a stream at hand that this is done for. */
  goOnWithStream(): void {
    this.#resumption?.beginWithStream();
  }

  /** How the call can go to another process now: with its next `stream`, as a `state` where it needs none; undefined while it cannot. */
  get wayOut(): 'stream' | 'state' | undefined {
    if (!isObstructed(this.#obstacles)) return 'stream';
    const { isEnding, isSendingKeys } = this.#obstacles;
    const isWithStream = this.#media.isThere || this.#media.isExpected;
    if (isEnding || isSendingKeys || isWithStream || this.carrierCallId === null) return undefined;
    const isDialed = this.#outbound !== undefined && !this.#standing.isAnswered;
    return isDialed || this.#transfer.state?.isTaken === true ? 'state' : undefined;
  }

  /** True while neither side says anything, or is about to. */
  get isQuiet(): boolean {
    return isQuiet(this.#ledger.currentPhase);
  }

  /** True while a stream is to come that is not there yet. */
  get awaitsStream(): boolean {
    return this.#media.isExpected;
  }

  /** Asks the carrier for the stream with which another process takes the call over. */
  renewStream(): void {
    this.#media.replace();
  }

  /**
   * Another process has the call from now on: nothing more is stated or done here, and the call is not over. Returns what that process goes on
   * with; undefined for a call that is over.
   */
  letGo(): Omit<CallState, 'facts'> | undefined {
    if (this.#isOver) return undefined;
    // The agent stops first: what was heard of it is exact then.
    this.#conversation.detach();
    const { state } = this;
    if (state === undefined) return undefined;
    this.#isOver = true;
    this.#timers.close();
    this.#conversation.letGo();
    const { state: ledger } = this.#ledger;
    this.#ledger.letGo();
    const awaitedSince = state.awaitedSince ?? this.#media.downSince ?? this.#ledger.clock.wallNow();
    this.#media.close(MOVED_CLOSE);
    const isNoticeOwed = this.#resumption?.isPending === true && this.#seed.resumed?.message !== '';
    return { ...state, ledger, awaitedSince, isNoticeOwed };
  }

  /** Another process has had the call for some time: as `letGo`, and not even what has happened here is stated. */
  disown(): void {
    this.#ledger.close();
    this.letGo();
  }

  /** False while something is under way that this process alone knows the end of. */
  get mayLeave(): boolean {
    const { isEnding, isSendingKeys, isHandedOver } = this.#obstacles;
    return !isEnding && !isSendingKeys && (!isHandedOver || this.#transfer.state?.isTaken === true);
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
    if (this.#agentless === undefined) this.#conversation.prepare();
    answerRinging(this.#context, { lost: () => this.#connect() });
  }

  /** What the reply to the webhook tells the carrier to do with a caller whom no agent talks to first; undefined for any other call. */
  answerInReply(): CallAnswer | undefined {
    return this.#agentless?.instruct();
  }

  /** Places the outbound call. @throws ConfigError, CarrierError; the call is over then. */
  async place(): Promise<void> {
    this.#standing.tell();
    await this.#outbound?.place();
  }

  /** The carrier asks what to do with the call: one that rings once more, or an outbound one that was answered. */
  waiting(carrierCallId: WaitingCall['carrierCallId']): CallAnswer {
    if (!this.adopt(carrierCallId) || this.#standing.over !== undefined) return { type: 'hang-up' };
    this.#resumption?.proven();
    if (this.#identity.direction === 'outbound' && this.#env.carrier.commands === undefined) {
      this.#answered();
      if (!this.#conversation.isStarted && this.#announcement.ending === undefined) this.#media.expect();
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
    if (showsLife(report)) this.#resumption?.proven();
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
    if (report.type === 'speech-ended') this.#announcement.said();
    if (report.type === 'recording') this.#ledger.recorded(report.recording);
    if (report.type === 'cost') this.#ledger.charged(report.costUsd);
    return undefined;
  }

  /** Ends the call for an operator. Resolves when the carrier was asked. */
  async hangUp(): Promise<HangUpState> {
    this.#end({ reason: 'operator-hangup', close: NORMAL_CLOSE, carrier: 'hang-up' });
    return (await this.#teardown?.tried) ?? 'done';
  }

  /** @throws RequestError, ConfigError without credentials or host, CarrierError; the call then goes on. */
  async transfer(to: string): Promise<void> {
    await this.#transfer.order(to, () => this.#demandConversation('The call cannot be transferred now.'));
  }

  /** @throws RequestError, ConfigError, CarrierError; the call then goes on. */
  async sendDigits(digits: string): Promise<void> {
    await this.#keys.send(digits, () => this.#demandConversation('Keys cannot be sent now.'));
  }

  /** @throws RequestError, LimitError */
  async say(text: string, options: SayOptions): Promise<SayOutcome> {
    const { isEnding, isHandedOver, isMachine } = this.#obstacles;
    this.#demandAgent('The agent cannot say that now.', { isEnding, isHandedOver, isMachine });
    return this.#conversation.say(text, options);
  }

  /** Resolves when it is kept for another process, too. @throws RequestError, LimitError */
  async inform(text: string): Promise<void> {
    const { isEnding } = this.#obstacles;
    this.#demandAgent('The agent cannot be told that now.', { isEnding });
    this.#conversation.inform(text);
    await this.#context.kept();
  }

  /** As `LiveSound`. @throws RequestError */
  listen(sink: SoundSink): LiveListening {
    return this.#listening.listen(sink);
  }

  /** @throws RequestError where no call is recorded, or can be listened in to */
  pauseRecording(): void {
    this.#recording.pause('application');
  }

  /** @throws as `pauseRecording` */
  resumeRecording(): void {
    this.#recording.resume('application');
  }

  /** Most of the money for the call is used. */
  nearBudget(): void {
    this.#ledger.note(BUDGET_NEAR, 'The call has used 80 % of its budget.');
  }

  /** All of it is used: the call ends with a goodbye, in its own time. */
  overBudget(): void {
    this.#announced.overBudget();
  }

  /** Ends the call because the server stops. The socket stays for the server to close. */
  shutDown(): void {
    // A caller who is being handed over is still on the line, and better off there.
    if (this.#transfer.isPending) this.#endNow({ reason: 'transferred' });
    else this.#endNow({ reason: 'server-shutdown', carrier: 'hang-up' });
  }

  /** A stream is over, and the call is not. */
  #resumed(): CallAnswer {
    if (this.#isOver || this.#standing.over !== undefined) return { type: 'hang-up' };
    this.#transfer.asked();
    // The carrier is told, or will be, what to do instead: neither a stream nor a hang-up may get in the way of that.
    if (this.#announcement.ending !== undefined || this.#transfer.isPending) {
      const resume = this.#media.keep();
      return resume === undefined ? { type: 'hang-up' } : { type: 'hold', resume };
    }
    const invitation = this.#media.resume();
    if (invitation !== undefined) this.#doubted = undefined;
    return invitation === undefined ? { type: 'hang-up' } : { type: 'stream', ...invitation };
  }

  get #reach(): CallReach {
    const { direction } = this.#identity;
    return { direction, answered: this.#standing.isAnswered, started: this.#conversation.isStarted };
  }

  #openContext(): SessionContext {
    const session = this;
    return {
      callId: this.callId,
      environment: this.#env,
      get recipe() {
        return session.#recipe;
      },
      ledger: this.#ledger,
      timers: this.#timers,
      get identity() {
        return session.#identity;
      },
      get isOver() {
        return session.#isOver;
      },
      host: () => this.#host(),
      firstStreamHost: this.#seed.streamHost,
      kept: () => session.#owner.states?.written(session.callId),
      end: (ending) => this.#end(ending),
    };
  }

  #host(): string {
    const host = this.#env.publicHost() ?? this.#webhookHost;
    if (host !== undefined) return host;
    throw new ConfigError('CONFIG_MISSING', 'Set webhookUrl: the carrier needs the address of this server.');
  }

  #handedOver(to: EngineRecipe): void {
    this.#recipe = to;
    const { agentName: agent } = to;
    if (agent !== undefined) this.#identity = { ...this.#identity, agent };
  }

  /** Somebody is on the line: a stream is due. */
  #answered(): void {
    if (this.#isOver || this.#standing.over !== undefined) return;
    this.#standing.isNowAnswered();
    // The refusal was of an answer that came twice.
    if (this.#isRefused) this.#doubted = undefined;
    this.#isRefused = false;
    const isDue = !this.#conversation.isStarted && !this.#media.isExpected && !this.#media.isThere;
    if (!isDue || this.#announcement.ending !== undefined || this.#machine?.isMachine === true) return;
    this.#conversation.answered();
    if (this.#env.carrier.commands !== undefined) this.#connect();
    else this.#media.expect(INSTRUCTED_STREAM_MS);
  }

  /** Has a carrier that is steered by commands connect the caller, to the agent or as the application has decided. */
  #connect(): void {
    if (this.#agentless === undefined) this.#media.open();
    else this.#agentless.order();
  }

  /** The carrier says that the call is over. */
  #reportedOver(outcome: CallOutcome | null): void {
    this.#media.unexpect();
    this.#timers.cancel('answer');
    const mayTellMore = this.#media.isThere || this.#transfer.isPending || outcome === 'answered';
    if (!mayTellMore || this.#announcement.ending !== undefined) this.#endAsReported();
    else this.#timers.set('report', REPORT_GRACE_MS, () => this.#endAsReported());
  }

  #endAsReported(carrier?: CarrierWish): void {
    const { over = { outcome: null }, durationMs } = this.#standing;
    const { reason, outcome } = reportedEnd(over, this.#reach);
    // Who is over before a transfer has a result has left in the middle of it, or of the change from one stream to the next.
    const hasLeft = reason === 'carrier-hangup' && (this.#transfer.isPending || this.#media.hasStopped);
    const ending = this.#conversation.endedBy(hasLeft ? 'caller-hangup' : reason);
    this.#end({ ...ending, outcome, durationMs, carrier });
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
    const { agentName: agent } = this.#recipe;
    if (this.#seed.agentless !== undefined && agent !== undefined)
      this.#identity = { ...this.#identity, agent };
    return true;
  }

  /** The first stream is up. */
  #begins(): void {
    this.#standing.isNowAnswered({ isTold: true });
    this.#limit(0);
  }

  /** The conversation began `agoMs` ago. */
  #limit(agoMs: number): void {
    const end = () => this.#end({ reason: 'max-duration', close: NORMAL_CLOSE, carrier: 'hang-up' });
    this.#timers.set('max', this.#env.maxCallMs - agoMs, end);
  }

  /** The call ended with the process that had it, or cannot be taken up: `at` is undefined where the carrier has it. */
  #lost(loss: Loss, at: number | undefined): void {
    const close = NORMAL_CLOSE;
    if (this.#seed.resumed?.wasLetGo !== true)
      this.#end({ reason: 'process-lost', loss, close, carrier: 'check', at });
    // With a process that lives nothing is lost. Whoever is still on the line hears nobody.
    else if (at === undefined)
      this.#end({ ...this.#conversation.endedBy('stream-lost'), carrier: 'hang-up' });
    else this.#endAsReported('check');
  }

  /** An announcement needs no stream, and has its own time. */
  #streamMissing(failure: CallFailure | undefined): void {
    if (this.#announcement.ending !== undefined) return;
    if (this.#resumption?.isPending === true) this.#resumption.missing();
    else this.#end({ ...this.#conversation.endedBy('stream-lost', failure), carrier: 'hang-up' });
  }

  #received(message: LiveMessage): void {
    if (message.type === 'dtmf') this.#keys.heard('stream', message.digit);
    else if (message.type !== 'spoken-text' || this.#keys.takesSmallMessage())
      this.#conversation.receive(message);
  }

  /** @throws RequestError unless agent and caller are talking. */
  #demandConversation(otherwise: string): void {
    demandUnobstructed(otherwise, this.#obstacles);
  }

  /** @throws RequestError unless there is an agent, whoever listens to it now. */
  #demandAgent(otherwise: string, others: Partial<CommandObstacles>): void {
    const isUnconnected = !this.#conversation.isStarted;
    const isWithoutStream = !this.#conversation.isAttended;
    demandUnobstructed(otherwise, { ...others, isUnconnected, isWithoutStream });
  }

  get #obstacles(): CommandObstacles {
    const { isStarted, isOpen } = this.#conversation;
    return {
      isEnding: this.#standing.over !== undefined || this.#announcement.ending !== undefined || this.#isOver,
      isHandedOver: this.#transfer.isPending,
      isSendingKeys: this.#keys.isSending,
      isMachine: this.#machine?.isMachine === true,
      isUnconnected: !isStarted,
      isWithoutStream: this.#media.isExpected || !this.#media.isUp || !isOpen,
    };
  }

  #agentEnds(ending: CallEnding): void {
    if (this.#transfer.isPending) this.#transfer.defer(ending);
    else if (ending.wait !== undefined) this.#announced.apologize(ending);
    else this.#end(ending);
  }

  /** Ends the call. Where nothing is heard of it and other processes may have it, they are asked first. */
  #end(wanted: CallEnding): void {
    const { others } = this.#env;
    if (this.#isOver) return;
    const isInbound = this.#identity.direction === 'inbound';
    this.#isRefused = wanted.reason === 'failed' && isInbound && !this.#standing.isAnswered;
    const isUnheard =
      !this.#media.isThere && (UNHEARD.has(wanted.reason) || this.isPending || this.#isRefused);
    const isDoubtful = isUnheard || this.#doubted !== undefined;
    if (others !== undefined && isDoubtful && wanted.reason !== 'operator-hangup') {
      if (this.#doubted !== undefined) this.#doubted = wanted;
      else void this.#endUnlessElsewhere(wanted, others);
      return;
    }
    // What shows that may have let the call go.
    const isUnsure = others?.mayHaveTaken() === true;
    if (isUnsure && !this.#isOver) this.#owner.stateLater(this.#ledger);
    this.#endNow(wanted);
  }

  async #endUnlessElsewhere(wanted: CallEnding, others: OtherProcesses): Promise<void> {
    this.#doubted = wanted;
    this.#conversation.detach();
    await others.asked(this.callId);
    if (this.#doubted !== undefined) this.#endNow(this.#doubted);
  }

  /** The one way out, whoever comes first. */
  #endNow(wanted: CallEnding): void {
    if (this.#isOver) return;
    // An announcement that has begun decided how the call ends; only what is asked of the carrier depends on what ends it now.
    const carrier = this.#standing.over === undefined ? wanted.carrier : undefined;
    const ending = { ...(this.#announcement.ending ?? wanted), carrier };
    this.#isOver = true;
    this.#timers.close();
    this.#conversation.close();
    const { counters } = this.#media;
    const [ordered, placed] = [this.#transfer.settled, this.#outbound?.settled];
    const teardown = planTeardown(this.#context, ending, { ordered, placed });
    recordEnd(this.#context, {
      ending,
      reach: this.#reach,
      isVoicemail: this.#machine?.isMachine === true,
      isUntold: this.#intake.isAll,
      counters,
      teardown,
      book: () => this.#conversation.book(),
    });
    this.#env.logger.info({ callId: this.callId, endReason: ending.reason, ...counters }, 'call ended');
    this.#teardown = teardown && beginTeardown(this.#context, ending, teardown);
    this.#owner.ended({
      callId: this.callId,
      carrierCallId: this.carrierCallId,
      direction: this.#identity.direction,
      ledger: this.#ledger,
      teardown: this.#teardown,
      adopt: (carrierCallId) => void this.adopt(carrierCallId),
    });
    this.#media.close(ending.close);
  }

  #identify(start: StartMessage | undefined): CallIdentity {
    const { id, streamTokenKey } = this.#env.carrier;
    const proven = streamTokenKey !== undefined || !this.#seed.byStream;
    // Whose caller has heard no agent has none.
    const { agentless, resumed } = this.#seed;
    const hasAgent = agentless === undefined || (resumed !== undefined && resumed.record.mode !== null);
    const agent = hasAgent ? this.#recipe.agentName : undefined;
    const parties = identifyCall(this.#seed.admission, start, { proven });
    return { carrier: id, ...parties, ...(agent === undefined ? {} : { agent }) };
  }
}
