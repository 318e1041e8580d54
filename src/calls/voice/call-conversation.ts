// Agent and caller, over whatever stream is up: begins with the first one, goes on over the next, and tells when the agent ends it.
import { LimitError, OffhookError, RequestError } from '../../base/errors.js';
import { describeError } from '../../base/log.js';
import { maskPhone } from '../../base/redact.js';
import type { SayOptions, SayOutcome } from '../../contract/call-command.js';
import type { CallFailure, EndReason, MediaCounters, TranscriptEntry } from '../../contract/call-record.js';
import { notesIn } from '../../conversation/turns.js';
import { NOBODY_WAITS } from '../../conversation/wait.js';
import type {
  BeforeOutside,
  EngineControls,
  EngineFact,
  EngineFailure,
  EngineRecipe,
} from '../../engines/engine.js';
import { type CallEnding, NORMAL_CLOSE } from '../ending/call-ending.js';
import { type SessionContext, toFailure, webhookBaseUrl } from '../session-context.js';
import type { LiveMessage } from '../streams/call-stream.js';
import { limitAtCarrier } from '../ending/carrier-limit.js';
import type { CallListening } from '../listening/call-listening.js';
import type { CallRecording } from '../recording/call-recording.js';
import type { StoredConversation } from '../resume/call-state.js';
import { CallVoice, type HoldReason, type VoiceLine, type VoiceOptions } from './call-voice.js';
import { CallRequests } from './call-requests.js';
import type { Preparations } from './preparations.js';
import type { PreparedCall } from './prepared-call.js';
import type { SessionSeed } from '../session-owner.js';

/** A call that is answered from here is that by now. */
const ANSWERING_MS = 15_000;
/** What a ring may be longer than it was asked for: it begins some time after the dial. */
const RING_SLACK_MS = 5000;
/** Each stays in what the model is told, and in what is kept of the call. */
const MAX_NOTES = 100;

/** The conversation that another process has left. */
export interface LeftConversation {
  readonly stored: StoredConversation;
  /** Entries of the record that are not final. */
  readonly open: readonly TranscriptEntry[];
  /** What the caller is told first. */
  readonly message: string;
  readonly term: number;
}

export interface ConversationEvents {
  /** The agent ends the call. */
  ends(ending: CallEnding): void;
  /** The caller is with another agent. */
  handedOver(to: EngineRecipe): void;
  /** The conversation has changed in a way that no fact tells. */
  changed(): void;
  /** Resolves when it is kept as it is now, for another process. Undefined where nothing is kept. */
  beforeOutside: BeforeOutside | undefined;
}

export interface ConversationOptions {
  readonly seed: Pick<SessionSeed, 'outbound' | 'prepared'>;
  readonly preparations: Preparations;
  readonly controls: EngineControls;
  readonly counters: MediaCounters;
  readonly recording: CallRecording;
  readonly listening: CallListening;
}

export class CallConversation {
  readonly #context: SessionContext;
  readonly #options: ConversationOptions;
  readonly #events: ConversationEvents;
  readonly #holds = new Set<HoldReason>();
  #prepared: PreparedCall | undefined;
  #voice: CallVoice | undefined;
  readonly #requests = new CallRequests();
  /** What was asked before there was an agent to ask, but about to be. */
  #early: ((voice: CallVoice) => void)[] = [];
  #isStarted = false;
  #isBeginning = false;
  #isClosed = false;
  /** Set until it is gone on with. */
  #left: LeftConversation | undefined;
  /** What the caller is told in its place. */
  #news: string | undefined;

  constructor(context: SessionContext, options: ConversationOptions, events: ConversationEvents) {
    this.#context = context;
    this.#options = options;
    this.#events = events;
    this.#prepared = options.seed.prepared;
  }

  /** Null before the agent talks, and after. */
  get state(): StoredConversation | null {
    const { clock } = this.#context.ledger;
    const { state, beganAt = 0 } = this.#voice?.state ?? {};
    if (this.#isClosed) return null;
    if (state !== undefined)
      return { state, beganAt: clock.wallNow() - (clock.now() - beganAt), news: this.#voice?.news };
    const left = this.#left?.stored;
    return left === undefined ? null : { ...left, news: this.#news ?? left.news };
  }

  /** Another process has begun it: the first stream here goes on with it. */
  restore(left: LeftConversation): void {
    this.#isStarted = true;
    this.#left = left;
  }

  /** True once a stream was up: the call was told as started. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** True while there is an agent to talk to. */
  get isOpen(): boolean {
    return this.#voice !== undefined && !this.#isClosed;
  }

  /** True while there is an agent that can be asked for something, or there is one in a moment: whoever hears of the start may ask at once. */
  get isAttended(): boolean {
    return !this.#isClosed && (this.#voice !== undefined || this.#isBeginning);
  }

  /** The end that the line shows, unless the agent was about to end the call because of some trouble. */
  endedBy(reason: EndReason, failure?: CallFailure): CallEnding {
    const failing = this.#voice?.failing;
    if (failing === undefined) return { reason, failure, close: NORMAL_CLOSE };
    return { reason: failing.reason, failure: plain(failing.failure), close: NORMAL_CLOSE };
  }

  /** The call rings, here or there: readies what the agent will need. */
  prepare(): void {
    const { callId, identity } = this.#context;
    const { seed, preparations } = this.#options;
    if (this.#isStarted || this.#isClosed || this.#prepared !== undefined) return;
    const { ringTimeoutSeconds } = seed.outbound ?? {};
    const ringMs =
      ringTimeoutSeconds === undefined ? ANSWERING_MS : ringTimeoutSeconds * 1000 + RING_SLACK_MS;
    this.#prepared = preparations.begin({ callId, ...identity }, this.#context.recipe, { ringMs });
  }

  /** Somebody is on the line, and a stream is due. */
  answered(): void {
    this.#prepared?.answered();
  }

  /** A stream is up. */
  attach(stream: VoiceLine): void {
    if (this.#isStarted && this.#left === undefined) this.#voice?.attach(stream);
    else this.#begin(stream);
  }

  /** The stream is gone, and the call is not over. */
  detach(): void {
    this.#voice?.detach();
  }

  /** Silences the agent and makes it deaf, also one that does not speak yet. */
  hold(reason: HoldReason): void {
    this.#holds.add(reason);
    this.#voice?.hold(reason);
  }

  /** `news`: what the agent tells the caller of it when they listen again. */
  release(reason: HoldReason, news?: string): void {
    this.#holds.delete(reason);
    if (this.#voice === undefined) this.#news = news ?? this.#news;
    this.#voice?.release(reason, news);
  }

  receive(message: Exclude<LiveMessage, { type: 'dtmf' }>): void {
    if (message.type === 'mark') {
      this.#voice?.markEchoed(message.name);
      this.#events.changed();
    } else {
      const { id, text, final, language } = message;
      this.#voice?.pushSpokenText({ id, text, final, language });
    }
  }

  /** Has the agent say something. @throws RequestError while it says goodbye, LimitError */
  async say(text: string, { interrupt: interrupts = false, interruptible }: SayOptions): Promise<SayOutcome> {
    return this.#requests.ask((id) => {
      let isTaken = true;
      this.#ask((voice) => {
        isTaken = voice.request({ id, text, interrupts, interruptible });
        if (!isTaken) this.#requests.settle(id, 'call-ended');
      });
      if (!isTaken)
        throw new RequestError('REQUEST_CONFLICT', 'The agent cannot say that now. It says goodbye.');
      this.#events.changed();
    });
  }

  /** Tells the model. @throws LimitError */
  inform(text: string): void {
    const { state } = this.#voice?.state ?? {};
    if (state !== undefined && notesIn(state.turns) >= MAX_NOTES)
      throw new LimitError(`The model was told ${MAX_NOTES} texts on this call, and takes no more.`);
    this.#ask((voice) => voice.inform(text));
    this.#events.changed();
  }

  pushDtmf(digit: string): void {
    this.#voice?.pushDtmf(digit);
  }

  /** The agent states its last facts and is gone. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#voice?.close();
    this.#isClosed = true;
    this.#requests.close('call-ended');
    this.#prepared?.close();
    this.#options.recording.end();
    const envelope = this.#voice?.envelope();
    if (envelope !== undefined) this.#context.ledger.publish({ type: 'audio.measured', envelope });
  }

  /** Another process goes on with it: the agent is gone in this tick, and states what it has used, and nothing else. Idempotent. */
  letGo(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#requests.close('moved');
    this.#voice?.close();
    this.#options.recording.letGo();
    this.#prepared?.book(this.#context.ledger, { isCharged: this.#isStarted });
  }

  /** States what was made ready in vain. For a call that has a record. */
  book(): void {
    this.#prepared?.book(this.#context.ledger, { isCharged: this.#isStarted });
  }

  /** Of the agent that is there, or is about to be. */
  #ask(task: (voice: CallVoice) => void): void {
    if (this.#voice === undefined || this.#isBeginning) this.#early.push(task);
    else task(this.#voice);
  }

  #begin(stream: VoiceLine): void {
    this.#isBeginning = true;
    this.#beginWith(stream);
    this.#isBeginning = false;
    for (const task of this.#early.splice(0)) if (this.#voice !== undefined) task(this.#voice);
  }

  #beginWith(stream: VoiceLine): void {
    const { callId, environment, identity, ledger, recipe } = this.#context;
    const { backend, logger, meters } = environment;
    const { controls, counters, recording, listening } = this.#options;
    const { carrier, caller, callee } = identity;
    const left = this.#isClosed ? undefined : this.#left;
    this.#left = undefined;
    const isFirst = !this.#isStarted;
    this.#isStarted = true;
    ledger.pays(recipe);
    const parties = { callId, carrier, caller: maskPhone(caller), callee: maskPhone(callee) };
    if (isFirst) {
      const { mode, providers: provider, language } = recipe;
      const spoken = language === undefined ? {} : { language };
      ledger.publish({ type: 'call.started', mode, provider, ...spoken, ...identity });
      logger.info(parties, 'call started');
    } else logger.info(parties, 'call resumed');
    // Whoever heard of the start may have ended the call already.
    if (this.#context.isOver) return;
    const resumed = this.#resumed(left);
    recording.begin(resumed.beganAt);
    try {
      this.#voice = new CallVoice(stream, {
        callId,
        identity,
        counters,
        backend,
        recipe,
        controls,
        prepared: this.#prepared,
        clock: ledger.clock,
        ...resumed,
        tape: recording.tape,
        tap: listening,
        beforeOutside: this.#events.beforeOutside,
        requested: (id, outcome) => this.#requests.settle(id, outcome),
        logger,
        meters,
        noticeStall: environment.noticeStall,
        onFact: (fact) => this.#state(fact),
        onEnd: (reason, failure) => this.#ends(reason, failure),
        onFailure: (error) => this.#fail(error),
      });
    } catch (error) {
      this.#fail(error);
    }
    if (this.#isClosed || this.#context.isOver) {
      this.#voice?.close();
      recording.end();
      return;
    }
    this.#voice?.start();
    for (const reason of this.#holds) this.#voice?.hold(reason);
    if (!isFirst) return;
    limitAtCarrier(this.#context);
    this.#record();
  }

  #resumed(left: LeftConversation | undefined): Pick<VoiceOptions, 'resumed'> & { readonly beganAt: number } {
    const { clock } = this.#context.ledger;
    if (left === undefined) return { beganAt: clock.now() };
    const { stored, open, message, term } = left;
    const agoMs = Math.max(0, clock.wallNow() - stored.beganAt);
    return {
      beganAt: clock.now() - agoMs,
      resumed: { state: stored.state, open, message: this.#news ?? stored.news ?? message, term },
    };
  }

  /** Has an inbound call recorded; an outbound one is from its answer on. */
  #record(): void {
    const { callId, environment, identity, ledger } = this.#context;
    const { carrier, recording, logger } = environment;
    const { direction, carrierCallId } = identity;
    const isWanted = recording && carrier.supports.recording && direction === 'inbound';
    if (!isWanted || carrierCallId === null || this.#context.isOver) return;
    const request = async () => {
      await carrier.rest.startRecording(carrierCallId, {
        callId,
        webhookBaseUrl: webhookBaseUrl(this.#context),
      });
    };
    request().catch((error: unknown) => {
      logger.warn({ callId, ...describeError(error) }, 'the call is not recorded');
      const code = OffhookError.isInstance(error) ? error.code : 'CARRIER_FAILED';
      ledger.note(code, 'The carrier did not start the recording.');
    });
  }

  #ends(reason: EndReason, failure: EngineFailure | undefined): void {
    const ending: CallEnding = {
      reason,
      failure: plain(failure),
      close: NORMAL_CLOSE,
      carrier: 'hang-up',
      wait: failure?.wait,
    };
    this.#events.ends(ending);
  }

  #fail(error: unknown): void {
    if (this.#context.isOver || this.#isClosed) return;
    const { callId, environment } = this.#context;
    environment.logger.error({ callId, ...describeError(error) }, 'voice engine failed');
    const failure = toFailure(error, { code: 'INTERNAL', message: 'The voice engine failed.' });
    const close = { code: 1011, reason: 'Voice engine failed' };
    this.close();
    const reason = 'provider-failed';
    this.#events.ends({ reason, failure, close, carrier: 'hang-up', wait: NOBODY_WAITS });
  }

  /** Facts of an engine that was closed are dropped, but for the final bill. */
  #state(fact: EngineFact): void {
    if (this.#isClosed && fact.type !== 'usage.measured') return;
    if (fact.type === 'caller.handed-over') this.#events.handedOver(fact.recipe);
    this.#context.ledger.take(fact);
  }
}

/** A failure as records show it. */
function plain(failure: EngineFailure | undefined): CallFailure | undefined {
  return failure === undefined ? undefined : { code: failure.code, message: failure.message };
}
