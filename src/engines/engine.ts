// The contract of a voice mode: hears the caller frame by frame, speaks through a playout, and tells facts.
import type { RequestOutcome, Resumption } from '../conversation/floor.js';
import type { AudioFormat } from '../audio/format.js';
import type { LinePlayout } from '../audio/playout.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import type { Meters } from '../base/meters.js';
import type { CallFact } from '../contract/call-event.js';
import type {
  CallDirection,
  CallFailure,
  CallProviders,
  EndReason,
  ProviderStage,
  TranscriptEntry,
  Transfer,
  VoiceMode,
} from '../contract/call-record.js';
import type { OutsideEffect } from '../conversation/outside.js';
import type { ConversationState } from '../conversation/state.js';
import type { Id } from '../conversation/tools.js';
import type { Wait } from '../conversation/wait.js';
import type { Payee } from '../providers/remedy.js';
import type { SpokenText } from '../providers/speech-to-text.js';
import type { SetPhrases } from './languages/set-phrases.js';
import type { SpokenRequest } from './spoken-request.js';
import type { ToolRun } from './tools/tool-run.js';

/** What is paid for, each token and second counted once. */
export interface UsageQuantities {
  /** Tokens of text that go in and neither come from the vendor's cache nor go there. */
  readonly inputTokens?: number;
  readonly cachedInputTokens?: number;
  /** Tokens of text that go in and are kept by the vendor for the next request. */
  readonly cacheWrittenTokens?: number;
  readonly outputTokens?: number;
  readonly audioInputTokens?: number;
  readonly cachedAudioInputTokens?: number;
  readonly audioOutputTokens?: number;
  readonly audioSeconds?: number;
  readonly characters?: number;
}

/** Parts of a call that somebody is paid for by what they use. One realtime model is all of `llm`. */
export type PaidStage = 'stt' | 'llm' | 'tts';

/** What a stage has used since the last time. Only the owner of the call sees it, who knows the prices. */
export interface UsageFact {
  readonly type: 'usage.measured';
  readonly stage: PaidStage;
  /** The turn that caused it, which may be over or still to come; null for none. */
  readonly turnIndex: number | null;
  readonly quantities: UsageQuantities;
  /** The provider did not say, or said nonsense. */
  readonly isGuess: boolean;
  /** Who is paid for it. @default the stage's payee in the recipe */
  readonly payee?: Payee | undefined;
}

/** The caller hears the agent apologize, as the call cannot go on. The owner of the call makes an incident of it. */
export interface ApologyFact {
  readonly type: 'apology.spoken';
  /** How long the caller had heard nothing while they waited, or since the failure where they did not, in milliseconds. */
  readonly waitedMs: number;
}

/** The caller is with another agent from now on. The owner of the call makes the fact of it. */
export interface HandoffFact {
  readonly type: 'caller.handed-over';
  readonly from: string | null;
  readonly to: string;
  readonly summary: string;
  /** What the call is in from now on. */
  readonly language: string | undefined;
  /** Who serves the call in that language. */
  readonly provider: CallProviders;
  /** Of the other agent. */
  readonly recipe: EngineRecipe;
}

/** Facts that an engine may state. All others belong to the owner of the call. The cost of a turn, its tokens and its agent are null here, and the phase before
 * a phase is missing: the owner knows them. */
export type EngineFact =
  | Extract<
      CallFact,
      {
        type:
          | 'phase.changed'
          | 'transcript.segment'
          | 'turn.started'
          | 'turn.completed'
          | 'incident.noted'
          | 'provider.reconnected'
          | 'provider.replaced'
          | 'language.changed';
      }
    >
  | UsageFact
  | ApologyFact
  | HandoffFact;

/** Who is paid for what. `application`: what it spends is its own affair. A stage that is not there costs nothing. */
export type Payees = Readonly<Partial<Record<PaidStage, Payee | 'application'>>>;

/** What went wrong in an engine. */
export interface EngineFailure extends CallFailure {
  /**
   * Set where the caller was told nothing of it, because the agent's voice is what failed or could not be heard: their wait by then, on
   * the clock of the call. @default they were told
   */
  wait?: Wait;
  /** The part that failed. @default 'engine' */
  stage?: ProviderStage;
  /** False where that part had little time, because others had taken it: `countsAgainst` in `providers/circuits`. @default true */
  isFair?: boolean;
}

/** What became of a transfer. */
export type TransferOutcome = NonNullable<Transfer['result']>;

/** Where a caller is handed over to, by the name that the model has chosen, and what the next agent is told of them. */
export interface HandoffOrder {
  readonly to: string;
  readonly summary: string;
}

/** Checks an order, and returns what carries it out in the tick in which it is called, what the next agent's model is told, and what the transcript shows of that. */
export type HandOff = (order: HandoffOrder) => {
  readonly told: string;
  readonly shown: string;
  carryOut(): void;
};

/** What an engine may have done with its call. Each rejects with an OffhookError, and the call then goes on. */
export interface EngineControls {
  /**
   * Hands the caller over to an E.164 number. Resolves when the result is known; never when the call ends before. From the moment
   * that the carrier has taken the order the engine is held, and a caller who was not connected comes back by `resume`.
   */
  transfer(to: string): Promise<TransferOutcome>;
  /** Plays keys (`0-9 A-D # *`, `w` and `W` for silence, at most 32) to the other side. Resolves when the carrier has taken them. */
  sendDigits(digits: string): Promise<void>;
  /** Records nothing of the call on this machine until `resumeRecording`, and gives nothing of it to whoever listens in. @throws RequestError where no call is recorded, or can be listened in to */
  pauseRecording(): void;
  /** @throws RequestError where no call is recorded */
  resumeRecording(): void;
}

/**
 * Called right before an effect with consequences outside; the effect happens when the promise resolves, or at once without one. It
 * never rejects.
 */
export type BeforeOutside = (effect: OutsideEffect) => Promise<void> | undefined;

/** Tools that an engine has begun, and that outlive it. */
export interface RunningTools {
  readonly runs: ReadonlyMap<Id, ToolRun>;
  /** The call is over: whatever still runs is told so. Idempotent. */
  close(): void;
}

/** What an engine leaves to the one that takes its place in the middle of a call. */
export interface Takeover {
  /** The conversation, with what the caller is to hear next and how long they have waited for it. Plain data, which may have been stored. */
  readonly state: ConversationState;
  /** By their ids in `state`, which has no results of them. Others that run there are lost. @default none runs */
  readonly tools?: RunningTools | undefined;
}

/** What an engine goes on with whose call another process had, which is gone. */
export interface Resumed {
  /** As that process stored it last. */
  readonly state: ConversationState;
  /** Those of the record that are not final: the record may know of what was said behind that. @default as `state` knows */
  readonly open?: readonly TranscriptEntry[] | undefined;
  /** What the caller is told first, unless nothing of the call was heard, or nothing is left of it; '' for nothing. */
  readonly message: string;
  /** Which process has the call, counted from 1 for the one that it began in: what this one states has names of its own. */
  readonly term: number;
}

/** What an engine is given of its call. */
export interface EngineContext {
  readonly callId: string;
  readonly caller: string;
  readonly callee: string;
  readonly direction: CallDirection;
  /** `now()` is milliseconds since the call began. */
  readonly clock: Clock;
  /** Puts the call's id on every line. */
  readonly logger: Logger;
  readonly meters: Meters;
  readonly playout: LinePlayout;
  /** What the caller's line carries as the call begins; undefined where that is not known. */
  readonly line?: { readonly inbound: AudioFormat; readonly outbound: AudioFormat } | undefined;
  readonly controls: EngineControls;
  /** What has consequences outside the call passes here before it is done. @default nobody writes it down */
  readonly beforeOutside?: BeforeOutside | undefined;
  /** Set where another engine has begun the call: there is no greeting then but an owed one. */
  readonly takeover?: Takeover | undefined;
  /** Set where another process has begun the call. `clock` goes on as that one's. */
  readonly resumed?: Resumed | undefined;
  /**
   * Another engine takes this one's place where it fails. It then says nothing of its trouble to the caller, and gives a silent
   * provider up sooner. @default false
   */
  readonly hasFallback?: boolean | undefined;
  /**
   * How long ago the caller finished what nobody has answered, in milliseconds, as far as the line tells; undefined where they have
   * said nothing. Set where another engine takes this one's place.
   */
  readonly unansweredMs?: (() => number | undefined) | undefined;
  /**
   * Hands the caller over to another agent: the engine is at its end with that. Set where there are others.
   * @throws ToolError, and the engine goes on then
   */
  readonly handOff?: HandOff | undefined;
  /** Told what became of a request that the engine, or one before it, has taken. Nothing is told of one that the call ends before. */
  requested?: ((id: string, outcome: RequestOutcome) => void) | undefined;
  /** States a fact. Never throws. */
  fact(fact: EngineFact): void;
  /** Asks the owner to end the call, after what was said has been heard. */
  endCall(reason: EndReason, failure?: EngineFailure): void;
}

/** One engine lives for one call. No method throws; what goes wrong inside ends in `context.endCall`. */
export interface Engine {
  readonly mode: VoiceMode;
  /** The conversation as it stands: what another engine can go on with where this one is gone without a word. */
  readonly state: ConversationState;
  /** Opens providers and says the greeting. */
  start(): void;
  /** One 20 ms frame in the internal format. Valid until the method returns. */
  pushAudio(frame: Int16Array): void;
  /**
   * The same audio as the line carries it, before its frames, for an engine that passes it on. Valid until the method returns. True when its
   * frames need not follow.
   */
  pushEncoded?(bytes: Uint8Array, format: AudioFormat): boolean;
  /** A key the caller pressed. Keys are not speech. */
  pushDtmf(digit: string): void;
  /** Only there when the speech-to-text of this engine is the simulated one. */
  pushSpokenText?: ((segment: SpokenText) => void) | undefined;
  /**
   * Has the agent say something: when the caller, and an answer to them, come to no harm by it. Words that are cut off by it before
   * anything was heard of them are an answer that is given afterwards. False where the call is about to end: nothing more is said then.
   */
  request(request: SpokenRequest): boolean;
  /** Tells the model what nobody hears. It asks for no answer. */
  inform(text: string): void;
  /** A mark was heard by the caller. */
  markPlayed(name: string): void;
  /**
   * Nobody listens for a while: the stream is being replaced, or the caller is connected elsewhere. Stops speaking in this tick,
   * with the bookkeeping of an interruption, and neither hears nor says anything until `resume`. Idempotent.
   */
  hold(): void;
  /** The caller is back. Does nothing without a hold. */
  resume(how: Resumption): void;
  /**
   * What the next engine has to know, and as `close` otherwise, which follows only where there is no next one after all. Where it is not
   * there, nothing can take this one's place.
   */
  handOver?(): Takeover;
  /** Stops at once, states the facts of a turn that is cut off by it, and frees everything. Idempotent. */
  close(): void;
}

/** What is known of a call before it has a stream. `line` is what the carrier's streams usually carry. */
export interface PreparationContext
  extends Pick<
    EngineContext,
    'callId' | 'caller' | 'callee' | 'direction' | 'clock' | 'logger' | 'meters' | 'line'
  > {
  /** States what was used for a call that does not begin, while `close` runs. What an engine is made of, the engine states. */
  spent?(fact: UsageFact): void;
}

/** Connections that were opened, and a greeting that was synthesized, for one call that is about to begin. */
export interface Preparation {
  /**
   * The stream is next: the call is answered. What costs while it waits, and is not needed to have the greeting ready, is opened
   * now and not while a phone rings. Never throws. Idempotent.
   */
  answered?(): void;
  /** For a call that does not begin. Idempotent; does nothing once an engine was made of it. */
  close(): void;
}

/** Makes engines: the immutable recipe that an agent holds. */
export interface EngineRecipe {
  /** Name of the agent. @default it has none */
  readonly agentName?: string | undefined;
  readonly mode: VoiceMode;
  readonly providers: CallProviders;
  /** BCP 47 tag of what the agent speaks. @default nobody knows */
  readonly language?: string | undefined;
  /** The same of each language that a call may be in, the first one first. @default there is one */
  readonly languages?:
    | readonly (Pick<EngineRecipe, 'language' | 'setPhrases'> & Partial<Pick<EngineRecipe, 'providers'>>)[]
    | undefined;
  /** What the caller is told where neither the agent nor its model has words for it. @default English */
  readonly setPhrases?: SetPhrases | undefined;
  /** @default the names of `providers`, an engine as `llm`, whose prices are then known only where `pricing` names them */
  readonly payees?: Payees | undefined;
  /** Readies what the call will need while the carrier still connects. Never throws: what fails here fails again in `create`. */
  prepare?(context: PreparationContext): Preparation;
  /** `preparation`: that of this recipe and this call, which is the engine's from now on. */
  create(context: EngineContext, preparation?: Preparation): Engine;
}
