// The calls of this process: hands them streams, reports and commands, and decides what becomes of those that the registry does not have live.
import { randomUUID } from 'node:crypto';
import { sharedNow } from '../base/clock.js';
import { isE164 } from '../base/e164.js';
import { ConfigError, LimitError, NotFoundError, RequestError } from '../base/errors.js';
import { describeError } from '../base/log.js';
import { maskPhone } from '../base/redact.js';
import type { CallAnswer } from '../carriers/carrier.js';
import type { SayOptions, SayOutcome } from '../contract/call-command.js';
import type { CallEvent } from '../contract/call-event.js';
import type { CallRecord, HangUpState, LocalRecording } from '../contract/call-record.js';
import type { LiveListening, LiveSound, SoundSink } from '../contract/live-sound.js';
import { type EndReport, reportedBriefly } from './ending/brief-call.js';
import { Budget, type BudgetLimits } from './money/budget.js';
import type {
  CallDesk,
  CallReport,
  KeptReply,
  OutboundRequest,
  PlacedCall,
  StreamAdmission,
  StreamReceiver,
  StreamSocket,
  WaitingCall,
} from './call-desk.js';
import type { CallEnvironment } from './call-environment.js';
import { CallRegistry, type InvitedCall } from './call-registry.js';
import { CallSession } from './call-session.js';
import type { AgentlessAnswer, CallChoice, ChooseCall, ChosenAgent } from './choice/call-choice.js';
import { ChoosingCall } from './choice/choosing-call.js';
import { EndedCalls } from './ending/ended-calls.js';
import type { Loss } from './ending/lost-call.js';
import { Preparations } from './voice/preparations.js';
import { mayBeUp } from './ending/recalled-call.js';
import { RecordWatch } from './facts/record-watch.js';
import { lossOf } from './resume/call-resumption.js';
import type { LeftCall } from './resume/call-state.js';
import {
  CallStates,
  type CallStatesOptions,
  type HandedOver,
  type StateStore,
} from './resume/call-states.js';
import type { ResumedSeed, SessionSeed } from './session-owner.js';
import type { MovableCall } from './resume/call-mover.js';
import { asksToResume, inviteStream, resumeAt } from './streams/stream-invitation.js';

const HANG_UP: CallAnswer = { type: 'hang-up' };
/** How often a call asks to go on of which no stream has come here, or that nobody here knows: another process may have it. */
const MAX_RESUMES = 8;
/** Pause between two such questions. */
const UNKNOWN_HOLD_SECONDS = 1;

/** How a process has a live call. */
export interface OwnStanding {
  readonly term: number;
  readonly hasStream: boolean;
  /** As in `CallSession`. */
  readonly isPending: boolean;
  readonly isRefused?: boolean;
}

/** Implements what the doors, the dashboard and the application may ask of the calls. */
export class CallDirectory implements CallDesk, LiveSound {
  readonly #env: CallEnvironment;
  readonly #registry: CallRegistry;
  /** Calls that are over. */
  readonly #ended: EndedCalls;
  readonly #preparations: Preparations;
  readonly #records: RecordWatch;
  /** Undefined where no call is kept for another process. */
  #states: CallStates | undefined;
  /** Undefined without limits. */
  readonly budget: Budget | undefined;
  readonly #choosing = new Set<ChoosingCall>();
  #isDraining = false;
  #isShuttingDown = false;

  constructor(environment: CallEnvironment) {
    const { clock, bus } = environment;
    this.#env = environment;
    this.#registry = new CallRegistry(clock);
    this.#ended = new EndedCalls(environment, this.#registry, (callId) => {
      this.#states?.leave(callId, { isForgotten: false });
      environment.left?.(callId);
    });
    this.#preparations = new Preparations(environment);
    this.#records = new RecordWatch(bus, ...(environment.elsewhere ? [environment.elsewhere] : []));
    this.budget = environment.budget && this.#brake(environment.budget);
    bus.subscribe((event) => this.learn(event));
  }

  get isOverBudget(): boolean {
    return this.budget?.exhausted !== undefined;
  }

  get isOverloaded(): boolean {
    return this.#env.load.isOverloaded;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  get liveCount(): number {
    return this.#registry.liveCount;
  }

  get expectedCount(): number {
    return this.#registry.expectedCount;
  }

  get takenPlaces(): number {
    return this.#registry.takenPlaces;
  }

  holdsPlace(callId: string): boolean {
    return this.#registry.holdsPlace(callId);
  }

  isLive(callId: string): boolean {
    return this.#registry.session(callId) !== undefined;
  }

  isChoosing(callId: string): boolean {
    return this.#registry.find(callId)?.state === 'choosing';
  }

  isInvited(callId: string): boolean {
    return this.#registry.find(callId)?.state === 'invited';
  }

  hasEnded(callId: string): boolean {
    return this.#registry.hasEnded(callId);
  }

  isOver(callId: string): boolean {
    return this.#registry.isOver(callId);
  }

  repliesTo(carrierCallId: string): Map<string, KeptReply> {
    return this.#registry.repliesTo(carrierCallId);
  }

  expectsStream(callId: string, number?: number): boolean {
    if (this.#isShuttingDown) return false;
    const session = this.#registry.session(callId);
    if (session !== undefined) return session.takesStream(number);
    // Without tokens an id is only a claim, and may be used anew.
    return this.#env.carrier.streamTokenKey === undefined || !this.isOver(callId);
  }

  /** A call that is over was deleted: what still comes of it says nothing to anybody, and is not asked for. */
  forgetEnded(callId: string): void {
    this.#ended.forget(callId);
  }

  /**
   * Somebody states this of a call. Where that is another process in a higher term, the call is its own, and this one had only not heard of that: it
   * closes the stream, or awaits none, and neither states nor keeps anything of the call any more.
   */
  learn({ callId, nodeId, term, type }: Pick<CallEvent, 'callId' | 'nodeId' | 'term' | 'type'>): void {
    if (nodeId === this.#env.nodeId) return;
    this.#registry.heardElsewhere({ callId, term, type });
    this.#ended.learn(callId, term);
    const session = this.#registry.session(callId);
    const had = session?.term ?? this.#invited(callId)?.term ?? this.#env.others?.claimedTerm(callId) ?? 1;
    if (term <= had) return;
    if (session === undefined) {
      this.giveInvited(callId);
      return;
    }
    this.#env.logger.warn({ callId, term }, 'another process has the call: it is let go');
    session.disown();
    this.#leave(session);
    this.#states?.leave(session.callId, { isForgotten: type === 'call.forgotten' });
  }

  /** In which a call has ended here, while it is asked whether another process has it: nothing of its end is stated before that. Undefined for any other. */
  closingTerm(callId: string): number | undefined {
    return this.#ended.closingTerm(callId);
  }

  /** In which this process has a live call, and whether its stream is here; undefined for any other. */
  standing(callId: string): OwnStanding | undefined {
    const session = this.#registry.session(callId);
    if (session === undefined) return undefined;
    const { term, hasStream, isPending, isRefused } = session;
    return { term, hasStream, isPending, isRefused };
  }

  /** Those that are up. */
  liveCallIds(): string[] {
    return this.#registry.sessions().map(({ callId }) => callId);
  }

  /** Another process has stated facts of a call that is this one's, or has ended here: what follows is, at least, in this term. Of a call that is up, something does. */
  raiseTerm(callId: string, term: number): void {
    this.#registry.session(callId)?.raiseTerm(term);
    this.#registry.ended(callId)?.ledger.raiseTerm(term);
  }

  /** Gives a call away that was invited here: undefined for any other. Its stream is taken where it has come. */
  giveInvited(callId: string): InvitedCall | undefined {
    const call = this.#invited(callId);
    if (call === undefined) return undefined;
    call.prepared?.close();
    this.#registry.leaveInvited(callId);
    return call;
  }

  /** Another process has invited the call, and its stream has come here. */
  takeInvited(call: WaitingCall, { chosen, term }: Pick<InvitedCall, 'chosen' | 'term'>): void {
    this.#registry.invite({ ...call, prepared: undefined, chosen, term }, { holdsPlace: true });
  }

  /** Keeps every call that begins from now on for another process. `unstored` as in `CallStatesOptions`. */
  keep(store: StateStore, unstored?: CallStatesOptions['unstored']): void {
    const { bus, clock } = this.#env;
    const stateOf = (callId: string) => this.#registry.session(callId)?.state;
    this.#states = new CallStates({ store, bus, clock, unstored, stateOf });
  }

  /** Resolves when what is kept of calls is written and removed. */
  async kept(): Promise<void> {
    await this.#states?.settled();
  }

  /** Has a call that another process has left, and goes on with it once `goOn` is called. Returns why it cannot be gone on with; undefined where it is. */
  resume(left: LeftCall, toHow: () => Pick<ResumedSeed, 'recipe' | 'message'>): Loss | undefined {
    const loss = lossOf(left, this.#env);
    if (loss !== undefined) return loss;
    const how = toHow();
    const { record, state } = left;
    const { callId, carrierCallId, caller, callee, direction } = record;
    const admission = { callId, carrierCallId, caller, callee, direction };
    this.#states?.adopt(callId, { facts: state?.facts, free: left.free });
    this.budget?.resume(record);
    const outbound = state?.outbound == null ? undefined : { ...state.outbound, recipe: how.recipe };
    const resumed = { ...left, ...how };
    const host = state?.host ?? undefined;
    const seed = { admission, byStream: false, host, outbound, resumed, agentless: state?.agentless };
    this.#open(seed).takeUp(resumed);
    return undefined;
  }

  /** As `resume` and `goOn`, for a stream that has come for the call. */
  resumeWithStream(left: LeftCall, toHow: () => Pick<ResumedSeed, 'recipe' | 'message'>): Loss | undefined {
    const loss = this.resume(left, toHow);
    if (loss === undefined) this.#registry.session(left.record.callId)?.goOnWithStream();
    return loss;
  }

  /** Those that are up and kept, for whoever moves them to another process. None of a server that ends. */
  movableCalls(): readonly MovableCall[] {
    return this.#states === undefined || this.#isShuttingDown ? [] : this.#registry.sessions();
  }

  /** Lets a call go to another process, which goes on with what is returned: this one has nothing more to do with it. Undefined for one that is not here, or not kept. */
  letGo(callId: string): HandedOver | undefined {
    const session = this.#registry.session(callId);
    if (session === undefined || this.#states === undefined) return undefined;
    const state = session.letGo();
    if (state === undefined) return undefined;
    this.#leave(session);
    return this.#states.handOver(session.callId, state);
  }

  /** What is kept of every live call is lost: it is kept once more. */
  keepAgain(): void {
    for (const { callId } of this.#registry.sessions()) this.#states?.changed(callId);
  }

  /** The carrier can reach this process: goes on with the calls of another one. */
  goOn(): void {
    for (const session of this.#registry.sessions()) session.goOn();
  }

  /** True for a call that is over and of which `recall` would ask the carrier for something. */
  hasPending(record: CallRecord): boolean {
    return this.#ended.hasPending(record);
  }

  /** Knows a call that is over since before this process began: it is not woken, late facts find its record, and a hang-up that is pending goes on. */
  recall(record: CallRecord): void {
    this.#ended.recall(record);
  }

  /** True for a call whose process died, and that the carrier may still have. */
  mayBeUp(record: CallRecord): boolean {
    return mayBeUp(record, this.#env);
  }

  ring(call: WaitingCall): CallAnswer | Promise<CallAnswer> | undefined {
    const { callId, carrierCallId } = call;
    const registry = this.#registry;
    (registry.ended(callId) ?? registry.ended(carrierCallId))?.isHeardOf();
    if (this.isOver(callId) || this.hasEnded(carrierCallId)) return HANG_UP;
    const session = registry.session(callId) ?? registry.session(carrierCallId);
    if (session !== undefined) return session.waiting(carrierCallId);
    const { commands } = this.#env.carrier;
    if (this.#isShuttingDown) {
      this.#reject(call, 'rejected');
      return HANG_UP;
    }
    const known = registry.find(carrierCallId);
    if (known?.state === 'announced' && known.end !== undefined) {
      this.#ended.record(call, reportedBriefly(call, known.end));
      return HANG_UP;
    }
    if (call.direction === 'outbound' || known?.state === 'invited') return this.#take(call, undefined);
    const choosing = known?.state === 'choosing' ? known.choosing : undefined;
    const { choose, agentOf } = this.#env;
    const chosen = choosing === undefined ? agentOf?.(call) : undefined;
    if (chosen !== undefined || choose === undefined) return this.#take(call, chosen);
    const { answer } = choosing ?? this.#choose(call, choose);
    return commands === undefined ? answer : undefined;
  }

  admit(admission: StreamAdmission, socket: StreamSocket): StreamReceiver {
    const { callId, carrierCallId, number } = admission;
    this.#demandUp();
    const session = this.#registry.session(callId) ?? this.#registry.session(carrierCallId);
    if (session !== undefined) {
      const isOther = carrierCallId !== null && ![null, carrierCallId].includes(session.carrierCallId);
      if (isOther || !session.takesStream(number)) {
        throw new RequestError('REQUEST_CONFLICT', 'The call already has a stream.');
      }
      this.#registry.takePlace(session);
      return session.receive(socket, number);
    }
    const known = this.#renamed(admission);
    const { host, prepared, chosen = this.#named(admission), term } = this.#invited(callId) ?? {};
    const choosing = this.#choosingOf(callId);
    const seed = { admission: known, byStream: true, host, outbound: undefined, prepared, chosen, term };
    const receiver = this.#open(seed).receive(socket, number);
    // Another process has decided, and its stream has come here.
    choosing?.abandon();
    return receiver;
  }

  refuse(call: WaitingCall): void {
    const { callId, carrierCallId, caller } = call;
    if (this.hasEnded(carrierCallId) || this.isLive(carrierCallId)) return;
    const reason = this.isOverBudget ? 'budget' : 'over-capacity';
    this.#ended.record({ ...this.#invited(callId), ...call }, { reason, outcome: 'busy' });
    this.#reject(call, 'busy');
    this.#env.logger.warn({ callId, caller: maskPhone(caller), reason }, 'call refused');
  }

  report(report: CallReport, host: string): CallAnswer | undefined {
    try {
      return this.#hear(report, host);
    } catch (error) {
      const fields = { callId: report.callId, report: report.type, ...describeError(error) };
      this.#env.logger.error(fields, 'failed to handle a status report');
      return wantsAnswer(report) ? HANG_UP : undefined;
    }
  }

  async dial(request: OutboundRequest): Promise<PlacedCall> {
    this.#demandUp();
    const { to, from } = request;
    if (!isE164(to) || !isE164(from)) {
      throw new RequestError('REQUEST_INVALID', 'Give both numbers in the form +15550100 (E.164).');
    }
    if (this.#env.publicHost() === undefined) {
      throw new ConfigError(
        'CONFIG_MISSING',
        'Set webhookUrl: the carrier needs an address for outbound calls.',
      );
    }
    const parties = { caller: from, callee: to, direction: 'outbound' } as const;
    const admission = { callId: randomUUID(), carrierCallId: null, ...parties };
    const { maxCalls } = this.#env;
    const shared = this.#env.sharedPlaces?.();
    let isFull = maxCalls !== undefined && this.takenPlaces >= maxCalls;
    if (!isFull && shared !== undefined) {
      isFull = !(await shared.take(admission.callId));
      this.#demandUp();
    }
    const refusal = (reason: 'over-capacity' | 'budget', why: string) => {
      this.#ended.record(admission, { reason, outcome: 'failed' });
      return new LimitError(`Call not placed: ${why}`);
    };
    // Behind the wait: it may have begun meanwhile.
    if (this.#isDraining) throw refusal('over-capacity', 'the server is draining.');
    if (this.isOverloaded) throw refusal('over-capacity', 'the server is overloaded.');
    if (isFull) throw refusal('over-capacity', `all ${maxCalls} calls that maxCalls allows are up.`);
    const exhausted = this.budget?.exhausted;
    if (exhausted !== undefined) throw refusal('budget', `budget.${exhausted} is used up.`);
    const ended = this.#records.ended(admission.callId);
    const session = this.#open({ admission, byStream: false, host: undefined, outbound: request });
    await session.place();
    return { callId: session.callId, ended };
  }

  async hangUp(callId: string): Promise<HangUpState> {
    return this.#registry.ended(callId)?.hangUp() ?? this.#demand(callId).hangUp();
  }

  async transfer(callId: string, to: string): Promise<void> {
    await this.#demand(callId).transfer(to);
  }

  async sendDigits(callId: string, digits: string): Promise<void> {
    await this.#demand(callId).sendDigits(digits);
  }

  async say(callId: string, text: string, options: SayOptions): Promise<SayOutcome> {
    return this.#demand(callId).say(text, options);
  }

  async inform(callId: string, text: string): Promise<void> {
    await this.#demand(callId).inform(text);
  }

  async pauseRecording(callId: string): Promise<void> {
    this.#demand(callId).pauseRecording();
  }

  async resumeRecording(callId: string): Promise<void> {
    this.#demand(callId).resumeRecording();
  }

  listen(callId: string, sink: SoundSink): LiveListening | undefined {
    if (this.hasEnded(callId)) throw new RequestError('REQUEST_CONFLICT', 'The call is over.');
    return this.#registry.session(callId)?.listen(sink);
  }

  /** What became of a recording that another process has left of a call that is over. */
  recordedLocally(record: CallRecord, recording: LocalRecording): void {
    this.#ended.recordedLocally(record, recording);
  }

  drain(isDraining = true): void {
    this.#isDraining = isDraining;
  }

  async shutDown(timeoutMs: number): Promise<void> {
    this.#isShuttingDown = true;
    this.#preparations.close();
    this.#ended.close();
    for (const choosing of [...this.#choosing]) {
      this.#ended.record(choosing.call, { reason: 'server-shutdown', outcome: 'canceled' });
      this.#reject(choosing.call, 'rejected');
      choosing.abandon();
    }
    for (const session of this.#registry.sessions()) session.shutDown();
    this.#ended.stateAll();
    await this.#ended.finish(timeoutMs);
  }

  /** Another process has the call. */
  #leave(session: CallSession): void {
    this.#registry.leave(session);
    this.#env.left?.(session.callId);
  }

  #brake(limits: BudgetLimits): Budget {
    const budget = new Budget(limits, {
      ...this.#env,
      events: {
        near: (callId) => this.#registry.session(callId)?.nearBudget(),
        over: (callId) => this.#registry.session(callId)?.overBudget(),
      },
    });
    this.#env.bus.subscribe((event) => budget.hear(event));
    return budget;
  }

  /** The agent of a call that another process has invited. */
  #named({ agent }: StreamAdmission): ChosenAgent | undefined {
    if (agent === undefined || agent === this.#env.recipe.agentName) return undefined;
    const recipe = this.#env.recipeNamed?.(agent);
    return recipe && { recipe, texts: undefined };
  }

  #choosingOf(id: string): ChoosingCall | undefined {
    const known = this.#registry.find(id);
    return known?.state === 'choosing' ? known.choosing : undefined;
  }

  /** Has the application decide. Nothing else waits for that. */
  #choose(call: WaitingCall, choose: ChooseCall): ChoosingCall {
    const choosing = new ChoosingCall(call, choose, (decided, choice) => this.#decided(decided, choice));
    this.#choosing.add(choosing);
    this.#registry.choose(choosing, { holdsPlace: this.#env.carrier.verifies });
    return choosing;
  }

  /** Does what the application has decided, unless the call has gone on without that. */
  #decided(choosing: ChoosingCall, choice: CallChoice | undefined): CallAnswer {
    const { call } = choosing;
    const { callId, carrierCallId } = call;
    this.#choosing.delete(choosing);
    try {
      const isDue = this.#choosingOf(callId) === choosing;
      if (!isDue || choice === undefined)
        return this.#registry.session(callId)?.waiting(carrierCallId) ?? HANG_UP;
      if (choice.type === 'agent') return this.#take(call, choice.agent);
      if (choice.type === 'reject') return this.#turnAway(call, choice.reason);
      return this.#answerWithout(call, choice);
    } catch (error) {
      this.#env.logger.error({ callId, ...describeError(error) }, 'failed to handle a call');
      this.#reject(call, 'rejected');
      return { type: 'reject' };
    }
  }

  /** Gives the call to an agent; undefined for the server's own. */
  #take(call: WaitingCall, chosen: ChosenAgent | undefined): CallAnswer {
    const { carrier } = this.#env;
    if (carrier.commands === undefined || call.direction === 'outbound')
      return this.#invite(call, { chosen });
    const { host, streamHost } = call;
    const seed = { admission: call, byStream: false, host, streamHost, outbound: undefined, chosen };
    const ringing = this.#open(seed, { holdsPlace: carrier.verifies });
    ringing.pickUp();
    return ringing.waiting(call.carrierCallId);
  }

  #turnAway(call: WaitingCall, reason: 'busy' | 'rejected'): CallAnswer {
    this.#ended.record(call, { reason: 'rejected', outcome: reason === 'busy' ? 'busy' : 'canceled' });
    this.#reject(call, reason);
    return { type: reason === 'busy' ? 'busy' : 'reject' };
  }

  /** Answers the call, and no agent is there. */
  #answerWithout(call: WaitingCall, agentless: AgentlessAnswer): CallAnswer {
    const { carrier } = this.#env;
    const seed = { admission: call, byStream: false, host: call.host, outbound: undefined, agentless };
    const session = this.#open(seed, { holdsPlace: carrier.verifies });
    const answer = carrier.commands === undefined ? session.answerInReply() : undefined;
    if (answer !== undefined) return answer;
    session.pickUp();
    return session.waiting(call.carrierCallId);
  }

  #invited(callId: string): InvitedCall | undefined {
    const known = this.#registry.find(callId);
    return known?.state === 'invited' ? known.call : undefined;
  }

  #demandUp(): void {
    if (this.#isShuttingDown) throw new RequestError('REQUEST_CONFLICT', 'The server is shutting down.');
  }

  #demand(callId: string): CallSession {
    const session = this.#registry.session(callId);
    if (session !== undefined) return session;
    if (this.hasEnded(callId)) throw new RequestError('REQUEST_CONFLICT', 'The call is over.');
    throw new NotFoundError('No such call.');
  }

  /** Our id outranks the carrier's: a report under our id on another call changes nothing. A transfer may come from its other leg. */
  #hear(report: CallReport, host: string): CallAnswer | undefined {
    const { callId, carrierCallId } = report;
    const registry = this.#registry;
    const own = registry.session(callId);
    if (own !== undefined) {
      const isItsOwn = report.type === 'transfer' || own.adopt(carrierCallId);
      return isItsOwn ? own.report(report, host) : undefined;
    }
    if (report.type === 'resume') return this.#resume(report.number, report, host);
    const over = registry.ended(callId);
    if (over !== undefined) return this.#ended.hear(over, report);
    const known = registry.find(carrierCallId);
    if (known?.state === 'live') return known.session.report(report, host);
    if (known?.state === 'ended') return this.#ended.hear(known.call, report);
    if (this.hasEnded(carrierCallId)) return wantsAnswer(report) ? HANG_UP : undefined;
    if (report.type !== 'status' || report.status !== 'completed') return undefined;
    // Its stream never came, or it has not rung here yet.
    if (known?.state === 'invited') void this.#endInvited(known.call, report);
    else if (known?.state === 'choosing') {
      this.#ended.record(known.choosing.call, reportedBriefly(known.choosing.call, report));
      known.choosing.abandon();
    } else registry.announce(report);
    return undefined;
  }

  /** The carrier says that a call is over whose stream has not come here. */
  async #endInvited(call: InvitedCall, report: EndReport): Promise<void> {
    if (this.#env.others !== undefined) await this.#env.others.asked(call.callId);
    if (this.#invited(call.callId) !== undefined) this.#ended.record(call, reportedBriefly(call, report));
  }

  /** A call without a session asks to go on. */
  #resume(number: number, { callId, carrierCallId }: CallReport, host: string): CallAnswer {
    if (callId === null || this.#isShuttingDown || number > MAX_RESUMES) return HANG_UP;
    if (this.isOver(callId) || this.hasEnded(carrierCallId)) return HANG_UP;
    const known = this.#registry.find(carrierCallId);
    if (known?.state === 'live' || !asksToResume(this.#env.carrier)) return HANG_UP;
    // Its stream did not get here.
    if (known?.state === 'invited') return this.#invite(known.call, { ...known.call, number });
    const { carrier } = this.#env;
    const at = { carrier, host: this.#env.publicHost() ?? host, holdSeconds: UNKNOWN_HOLD_SECONDS };
    const resume = resumeAt({ callId, number: number + 1 }, at);
    return resume === undefined ? HANG_UP : { type: 'hold', resume };
  }

  /** What the carrier does to open the next stream of a call of another process, whoever gets it; undefined where it opens none by an answer. Nothing is known of the call here by that. */
  inviteAgain(record: CallRecord, next: { number: number; host: string }): CallAnswer | undefined {
    const { carrier } = this.#env;
    const { callId, carrierCallId, caller, callee, direction, agent, endedAt, transfer } = record;
    const isOver = endedAt !== null || this.isOver(callId) || this.#isShuttingDown;
    // What the carrier is to do with the caller instead, only the process of the call knows.
    const isElsewhere = transfer?.result === null || record.carrier !== carrier.id;
    if (carrierCallId === null || isOver || isElsewhere || !asksToResume(carrier)) return undefined;
    const call = {
      callId,
      carrierCallId,
      caller,
      callee,
      direction,
      number: next.number,
      agent: agent ?? undefined,
    };
    const host = this.#env.publicHost() ?? next.host;
    const at = { carrier, host, holdSeconds: this.#env.resumeHoldSeconds, nowMs: sharedNow(this.#env) };
    return { type: 'stream', ...inviteStream(call, at) };
  }

  /** Tells the carrier to open a stream, and remembers that it was told. */
  #invite(
    call: WaitingCall,
    { number = 1, chosen }: { number?: number; chosen: ChosenAgent | undefined },
  ): CallAnswer {
    const { carrier } = this.#env;
    const at = {
      carrier,
      host: this.#env.publicHost() ?? call.host,
      // A stream that did not get there may come to any.
      streamHost: number === 1 ? call.streamHost : undefined,
      holdSeconds: this.#env.resumeHoldSeconds,
    };
    const known = this.#invited(call.callId);
    // The stream gets who was invited for it, whoever is the server's own by then.
    const agent = known?.chosen ?? chosen ?? { recipe: this.#env.recipe, texts: undefined };
    const { recipe } = agent;
    const invitation = inviteStream(
      { ...call, number, agent: recipe.agentName },
      { ...at, nowMs: sharedNow(this.#env) },
    );
    const prepared =
      known === undefined ? this.#preparations.begin(call, recipe, { ringMs: undefined }) : known.prepared;
    // Nobody may take places by webhooks that anybody can send.
    this.#registry.invite({ ...call, prepared, chosen: agent }, { holdsPlace: carrier.verifies });
    return { type: 'stream', ...invitation };
  }

  #open(seed: SessionSeed, { holdsPlace }: { holdsPlace: boolean } = { holdsPlace: true }): CallSession {
    const { callId } = seed.admission;
    const term = seed.term ?? seed.resumed?.term ?? this.#env.others?.claimedTerm(callId);
    const session: CallSession = new CallSession({ ...seed, term }, this.#env, {
      preparations: this.#preparations,
      states: this.#states,
      claim: (id) => this.#registry.claim(id, session),
      stateLater: (ledger) => void this.#ended.stateUnlessElsewhere(callId, ledger),
      ended: (remains) => this.#ended.add(remains),
      identified: (callId, id) => {
        const call = this.#registry.ended(callId);
        call?.identify(id);
        if (call !== undefined) this.#registry.end(call);
      },
    });
    this.#registry.open(session, { holdsPlace });
    return session;
  }

  /**
   * A stream for a call that is over is refused, or the facts of two calls would mix under one id. Without stream tokens the id
   * is whatever the peer wrote into the path, so there it only gets another one.
   */
  #renamed(admission: StreamAdmission): StreamAdmission {
    if (!this.isOver(admission.callId)) return admission;
    if (this.#env.carrier.streamTokenKey === undefined) return { ...admission, callId: randomUUID() };
    throw new RequestError('REQUEST_CONFLICT', 'The call is over.');
  }

  /** Turns a call away where the carrier needs a command for it, once the webhook is answered. */
  #reject(call: WaitingCall, reason: 'busy' | 'rejected'): void {
    const { carrier, clock, logger } = this.#env;
    const { callId, carrierCallId } = call;
    if (carrier.commands === undefined) return;
    const request = async () => carrier.commands?.reject(carrierCallId, reason);
    clock.after(0, () => {
      request().catch((error: unknown) =>
        logger.warn({ callId, ...describeError(error) }, 'the carrier did not reject the call'),
      );
    });
  }
}

/** True for a report that asks what the carrier shall do. */
function wantsAnswer({ type }: CallReport): boolean {
  return type === 'transfer' || type === 'resume';
}
