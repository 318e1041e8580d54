// Agent and caller, over whatever stream is up: begins with the first one, goes on over the next, and tells when the agent ends it.
import { OffhookError } from '../../base/errors.js';
import { describeError } from '../../base/log.js';
import { maskPhone } from '../../base/redact.js';
import type { CallFailure, EndReason, MediaCounters } from '../../contract/call-record.js';
import { NOBODY_WAITS } from '../../conversation/wait.js';
import type { EngineControls, EngineFact, EngineFailure } from '../../engines/engine.js';
import { type CallEnding, NORMAL_CLOSE } from '../ending/call-ending.js';
import { type CallLine, webhookBaseUrl } from '../call-line.js';
import type { LiveMessage } from '../streams/call-stream.js';
import { limitAtCarrier } from '../ending/carrier-limit.js';
import { CallVoice, type HoldReason, type VoiceLine } from './call-voice.js';
import type { Preparations } from './preparations.js';
import type { PreparedCall } from './prepared-call.js';
import type { SessionSeed } from '../session-owner.js';

/** A call that is answered from here is that by now. */
const ANSWERING_MS = 15_000;
/** What a ring may be longer than it was asked for: it begins some time after the dial. */
const RING_SLACK_MS = 5000;

export interface ConversationEvents {
  /** The agent ends the call. */
  ends(ending: CallEnding): void;
}

export interface ConversationOptions {
  readonly seed: Pick<SessionSeed, 'outbound' | 'prepared'>;
  readonly preparations: Preparations;
  readonly controls: EngineControls;
  readonly counters: MediaCounters;
}

export class CallConversation {
  readonly #line: CallLine;
  readonly #options: ConversationOptions;
  readonly #events: ConversationEvents;
  readonly #holds = new Set<HoldReason>();
  #prepared: PreparedCall | undefined;
  #voice: CallVoice | undefined;
  #isStarted = false;
  #isClosed = false;

  constructor(line: CallLine, options: ConversationOptions, events: ConversationEvents) {
    this.#line = line;
    this.#options = options;
    this.#events = events;
    this.#prepared = options.seed.prepared;
  }

  /** True once a stream was up: the call was told as started. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** True while there is an agent to talk to. */
  get isOpen(): boolean {
    return this.#voice !== undefined && !this.#isClosed;
  }

  /** The end that the line shows, unless the agent was about to end the call because of some trouble. */
  endedBy(reason: EndReason, failure?: CallFailure): CallEnding {
    const failing = this.#voice?.failing;
    if (failing === undefined) return { reason, failure, close: NORMAL_CLOSE };
    return { reason: failing.reason, failure: plain(failing.failure), close: NORMAL_CLOSE };
  }

  /** The call rings, here or there: readies what the agent will need. */
  prepare(): void {
    const { callId, identity } = this.#line;
    const { seed, preparations } = this.#options;
    if (this.#isStarted || this.#isClosed || this.#prepared !== undefined) return;
    const { ringTimeoutSeconds } = seed.outbound ?? {};
    const ringMs =
      ringTimeoutSeconds === undefined ? ANSWERING_MS : ringTimeoutSeconds * 1000 + RING_SLACK_MS;
    this.#prepared = preparations.begin({ callId, ...identity }, this.#line.recipe, { ringMs });
  }

  /** Somebody is on the line, and a stream is due. */
  answered(): void {
    this.#prepared?.answered();
  }

  /** A stream is up. */
  attach(stream: VoiceLine): void {
    if (this.#isStarted) this.#voice?.attach(stream);
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
    this.#voice?.release(reason, news);
  }

  receive(message: Exclude<LiveMessage, { type: 'dtmf' }>): void {
    if (message.type === 'mark') this.#voice?.markEchoed(message.name);
    else this.#voice?.pushSpokenText({ id: message.id, text: message.text, final: message.final });
  }

  pushDtmf(digit: string): void {
    this.#voice?.pushDtmf(digit);
  }

  /** The agent states its last facts and is gone. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#voice?.close();
    this.#isClosed = true;
    this.#prepared?.close();
    const envelope = this.#voice?.envelope();
    if (envelope !== undefined) this.#line.ledger.publish({ type: 'audio.measured', envelope });
  }

  /** States what was made ready in vain. For a call that has a record. */
  book(): void {
    this.#prepared?.book(this.#line.ledger, { isCharged: this.#isStarted });
  }

  #begin(stream: VoiceLine): void {
    const { callId, environment, identity, ledger, recipe } = this.#line;
    const { backend, logger, meters } = environment;
    const { controls, counters } = this.#options;
    const { carrier, caller, callee } = identity;
    this.#isStarted = true;
    ledger.pays(recipe);
    ledger.publish({ type: 'call.started', mode: recipe.mode, provider: recipe.providers, ...identity });
    logger.info({ callId, carrier, caller: maskPhone(caller), callee: maskPhone(callee) }, 'call started');
    // Whoever heard of the start may have ended the call already.
    if (this.#line.isOver) return;
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
        logger,
        meters,
        onFact: (fact) => this.#state(fact),
        onEnd: (reason, failure) => this.#ends(reason, failure),
        onFailure: (error) => this.#fail(error),
      });
    } catch (error) {
      this.#fail(error);
    }
    if (this.#isClosed || this.#line.isOver) {
      this.#voice?.close();
      return;
    }
    this.#voice?.start();
    for (const reason of this.#holds) this.#voice?.hold(reason);
    limitAtCarrier(this.#line);
    this.#record();
  }

  /** Has an inbound call recorded; an outbound one is from its answer on. */
  #record(): void {
    const { callId, environment, identity, ledger } = this.#line;
    const { carrier, recording, logger } = environment;
    const { direction, carrierCallId } = identity;
    const isWanted = recording && carrier.supports.recording && direction === 'inbound';
    if (!isWanted || carrierCallId === null || this.#line.isOver) return;
    const request = async () => {
      await carrier.rest.startRecording(carrierCallId, {
        callId,
        webhookBaseUrl: webhookBaseUrl(this.#line),
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
    if (this.#line.isOver || this.#isClosed) return;
    const { callId, environment } = this.#line;
    environment.logger.error({ callId, ...describeError(error) }, 'voice engine failed');
    const failure = OffhookError.isInstance(error)
      ? { code: error.code, message: error.message }
      : { code: 'INTERNAL', message: 'The voice engine failed.' };
    const close = { code: 1011, reason: 'Voice engine failed' };
    this.close();
    const reason = 'provider-failed';
    this.#events.ends({ reason, failure, close, carrier: 'hang-up', wait: NOBODY_WAITS });
  }

  /** Facts of an engine that was closed are dropped, but for the final bill. */
  #state(fact: EngineFact): void {
    if (!this.#isClosed || fact.type === 'usage.measured') this.#line.ledger.state(fact);
  }
}

/** A failure as records show it. */
function plain(failure: EngineFailure | undefined): CallFailure | undefined {
  return failure === undefined ? undefined : { code: failure.code, message: failure.message };
}
