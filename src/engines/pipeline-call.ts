// One call of the pipeline: who has the floor. Hears the caller, decides the turns, starts and stops the agent's replies.
import { FRAME_MS } from '../audio/format.js';
import type { Timer } from '../base/clock.js';
import type { TranscriptEntry } from '../contract/call-record.js';
import type { LanguageModel, LanguageModelEvent, TokenUsage } from '../providers/language-model.js';
import type { SpeechToText, SpeechToTextEvents } from '../providers/speech-to-text.js';
import type { TextToSpeech } from '../providers/text-to-speech.js';
import { type AgentPhase, BargeIn, type BargeInDecision } from './barge-in.js';
import { Conversation } from './conversation.js';
import { EchoGuard } from './echo-guard.js';
import { Endpointing } from './endpointing.js';
import type { Engine, EngineContext, EngineFact, EngineFailure, Resumption, SpokenText } from './engine.js';
import { Fillers } from './fillers.js';
import { IdlePrompts } from './idle-prompts.js';
import { lexiconFor } from './lexicon.js';
import { PendingTurn, type TurnTimes } from './pending-turn.js';
import { APOLOGY, APOLOGY_LIMIT_MS, FAILED, type Stage, toFailure } from './pipeline-failure.js';
import { PipelineStages } from './pipeline-stages.js';
import { keysAsText, PressedKeys } from './pressed-keys.js';
import { onlyText, Reply, type ReplyOutcome } from './reply.js';
import type { CutSplit, SpokenSplit } from './speaker.js';
import { SpeechDetector } from './speech-detector.js';
import { TurnBook } from './turn-book.js';
import type { TurnLatencyMeter } from './turn-latency.js';
import type { IdleSettings, TurnTakingSettings } from './turn-taking.js';
import { UsageMeter } from './usage-meter.js';
import { UserSpeech } from './user-speech.js';
import { createVoiceActivity, type VoiceActivity } from './voice-activity.js';

export interface PipelineCallOptions {
  readonly stt: SpeechToText;
  readonly tts: TextToSpeech;
  readonly model: LanguageModel;
  readonly timeouts: { readonly firstMs: number; readonly nextMs: number };
  readonly systemPrompt: string | undefined;
  readonly firstMessage: string | undefined;
  readonly language: string | undefined;
  readonly interruptible: boolean;
  readonly turnTaking: TurnTakingSettings;
  readonly idle: IdleSettings | undefined;
}

/** How long a finished caller waits for the recogniser: with an open piece of text, and with none at all. */
const OPEN_TEXT_WAIT_MS = 1000;
const NO_TEXT_WAIT_MS = 2000;

/** Speech is recognised as such after three voiced frames. */
const SPEECH_START_MS = 3 * FRAME_MS;

/** In the first second of what it says, and in the last, the agent is not easily interrupted. */
const EDGE_MS = 1000;

/** A connection to the language model that was idle for longer may have to be made anew. */
const WARM_MS = 30_000;

/** How a reply is to be taken. */
interface Manner {
  /** Where the caller cannot interrupt it. @default as the agent's options say */
  readonly interruptible?: boolean;
  /** The call ends with it. */
  readonly last?: boolean;
}

export class PipelineCall implements Engine {
  readonly mode = 'pipeline';
  pushSpokenText?: (segment: SpokenText) => void;
  readonly #context: EngineContext;
  readonly #options: PipelineCallOptions;
  readonly #stages: PipelineStages;
  readonly #conversation: Conversation;
  readonly #turns: TurnBook;
  readonly #speech: UserSpeech;
  readonly #keys: PressedKeys;
  readonly #endpointing: Endpointing;
  readonly #bargeIn: BargeIn;
  readonly #pending: PendingTurn;
  readonly #echo: EchoGuard;
  readonly #fillers: Fillers;
  readonly #idle: IdlePrompts | undefined;
  readonly #usage: UsageMeter;
  #detector = new SpeechDetector();
  #activity: VoiceActivity | undefined;
  #reply: Reply | undefined;
  #manner: Manner = {};
  #generation = 0;
  #startedAt = 0;
  #modelUsedAt = Number.NEGATIVE_INFINITY;
  #apology: Timer | undefined;
  /** When the caller began to speak, epoch milliseconds, and when their last sound began, on the clock. */
  #speechStartedAt: number | undefined;
  #soundBeganAt: number | undefined;
  /** Keys that no turn has taken, in words. */
  #pressed = '';
  /** Rest of an answer that was cut off, until it is known that words were meant by it. */
  #cutOff = '';
  #failure: EngineFailure | undefined;
  #held = false;
  #state: 'new' | 'live' | 'ending' | 'closed' = 'new';

  constructor(context: EngineContext, options: PipelineCallOptions) {
    this.#context = context;
    this.#options = options;
    this.#conversation = new Conversation(options.systemPrompt);
    const { clock, playout, logger } = context;
    const { turnTaking: settings, idle, language } = options;
    const lexicon = lexiconFor(language);
    this.#usage = new UsageMeter((fact) => context.fact(fact));
    this.#stages = new PipelineStages({
      context,
      ...options,
      heard: this.#recognition(),
      spoke: (usage) => this.#usage.spoke(usage),
      failed: (stage, error) => this.#fail(stage, error),
    });
    this.#turns = new TurnBook({
      conversation: this.#conversation,
      fact: (fact) => this.#fact(fact),
      wallNow: () => clock.wallNow(),
    });
    const tell = (entry: TranscriptEntry) => this.#fact({ type: 'transcript.segment', entry });
    this.#speech = new UserSpeech({
      tell,
      wallNow: () => this.#speechStartedAt ?? clock.wallNow(),
      turnIndex: () => (this.#reply?.audible === true ? this.#turns.nextIndex : this.#turns.userIndex),
    });
    this.#endpointing = new Endpointing({
      clock,
      lexicon,
      waits: {
        baseMs: settings.silenceMs,
        completeMs: settings.silenceAfterSentenceMs,
        openMs: settings.silenceAfterOpenEndMs,
        maxMs: settings.maxSilenceMs,
      },
      guardOnly: options.stt.ownsTurnTaking === true,
      onEndOfTurn: (endedAt) => this.#callerFinished(endedAt),
    });
    const { interruptAfterMs: voicedMs, interruptAfterWords: words, keyPauseMs: pauseMs } = settings;
    this.#bargeIn = new BargeIn({ voicedMs, words, lexicon });
    this.#pending = new PendingTurn(clock);
    this.#keys = new PressedKeys({ clock, pauseMs, onComplete: (keys) => this.#keysComplete(keys) });
    const voice = () => this.#stages.voice;
    this.#fillers = new Fillers({ phrases: settings.fillers, voice, playout, clock, logger, tell });
    this.#echo = new EchoGuard({ clock, playout, filler: () => this.#fillers.sounding });
    this.#idle =
      idle &&
      new IdlePrompts({
        ...idle,
        clock,
        isSounding: () => this.#endpointing.active || this.#pending.isOpen,
        ask: (text) => this.#say(text),
        leave: (text) => this.#say(text, { last: true }),
      });
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'live';
    this.#startedAt = this.#context.clock.now();
    const { firstMessage, turnTaking } = this.#options;
    if (!this.#stages.open()) return;
    const { ears } = this.#stages;
    if (ears?.pushSpokenText !== undefined)
      this.pushSpokenText = (segment) => this.#attempt('stt', () => ears.pushSpokenText?.(segment));
    this.#attempt('engine', () => {
      this.#activity = createVoiceActivity();
    });
    if (this.#failure !== undefined) return;
    this.#warmUp();
    if (firstMessage === undefined || firstMessage === '') this.#idle?.wait();
    else this.#say(firstMessage, turnTaking.interruptibleGreeting ? {} : { interruptible: false });
  }

  pushAudio(frame: Int16Array): void {
    if (!this.#isListening) return;
    this.#attempt('stt', () => this.#stages.ears?.pushAudio(frame));
    this.#attempt('engine', () => this.#listen(this.#activity?.isVoiced(frame) ?? false));
  }

  /** Keys are a turn of their own. The first of them already interrupts the agent. */
  pushDtmf(digit: string): void {
    if (!this.#isListening) return;
    this.#attempt('engine', () => {
      this.#idle?.callerActive();
      if (this.#options.turnTaking.keysInterrupt && this.#yields) this.#interruptForGood();
      this.#keys.press(digit);
    });
  }

  markPlayed(name: string): void {
    this.#attempt('engine', () => this.#reply?.markPlayed(name));
  }

  hold(): void {
    if (this.#state !== 'live' || this.#held) return;
    this.#held = true;
    this.#attempt('engine', () => {
      this.#stopListening();
      this.#bargeIn.reset();
      this.#detector = new SpeechDetector();
      const split = this.#interrupt();
      this.#idle?.pause();
      if (split !== undefined && this.#cutOff !== '') this.#cutOff = split.unheard;
      if (this.#failure === undefined) return;
      this.#failure.untold = true;
      this.#end('provider-failed');
    });
  }

  resume(how: Resumption): void {
    if (!this.#held) return;
    this.#held = false;
    if (this.#state === 'live') this.#attempt('engine', () => this.#goOn(how));
  }

  close(): void {
    if (this.#state === 'closed') return;
    const { playedMs } = this.#context.playout;
    const reply = this.#reply;
    this.#reply = undefined;
    this.#speech.take(this.#turns.userIndex);
    this.#fillers.cut(playedMs);
    const split = reply?.stop(playedMs) ?? { heard: '', unheard: '' };
    this.#turns.complete(split, { interrupted: split.unheard !== '' });
    this.#state = 'closed';
    this.#apology?.cancel();
    this.#stopListening();
    this.#idle?.pause();
    this.#fillers.close();
    this.#activity?.close();
    this.#stages.close();
    this.#usage.state();
  }

  get #isListening(): boolean {
    return this.#state === 'live' && this.#failure === undefined && !this.#held;
  }

  #recognition(): SpeechToTextEvents {
    return {
      partial: (text) => this.#recognised(text, { isFinal: false }),
      final: (text) => this.#recognised(text, { isFinal: true }),
      failed: (error) => this.#fail('stt', error),
      speechStarted: () => this.#soundRecognised(),
      turnEnded: () => this.#turnRecognised(),
      usage: (usage) => this.#usage.heard(usage),
    };
  }

  #listen(voiced: boolean): void {
    if (this.#detector.update(voiced)) {
      const { clock } = this.#context;
      const beganAt = clock.now() - SPEECH_START_MS;
      this.#speechStartedAt ??= clock.wallNow() - SPEECH_START_MS;
      if (!this.#endpointing.active) this.#soundBeganAt = beganAt;
      this.#speech.speechStarted();
      this.#pending.take();
      this.#endpointing.speechStarted(beganAt);
      if (this.#reply !== undefined) this.#bargeIn.speechStarted(SPEECH_START_MS - FRAME_MS);
      if (clock.now() - this.#modelUsedAt > WARM_MS) this.#warmUp();
      this.#fillers.prepare();
    }
    if (this.#reply !== undefined) this.#decide(this.#bargeIn.frame(voiced, this.#phase));
    this.#endpointing.frame(voiced);
  }

  /** The recogniser has given text. An empty final says that nothing is open. */
  #recognised(text: string, { isFinal }: { isFinal: boolean }): void {
    if (this.#state !== 'live' || this.#failure !== undefined) return;
    this.#attempt('engine', () => {
      const before = this.#speech.text;
      const soundBeganAt = this.#soundBeganAt;
      const isEcho = this.#options.turnTaking.echoGuard && this.#echo.isEcho(text, { isFinal, soundBeganAt });
      const said = isEcho ? '' : text;
      if (isFinal) this.#speech.final(said);
      else this.#speech.partial(said);
      const { text: after } = this.#speech;
      if (after !== before && after !== '') this.#idle?.callerActive();
      if (this.#pending.isOpen) {
        if (this.#speech.settled || (isFinal && after === '')) this.#answer();
        return;
      }
      if (after === before || after === '' || this.#held) return;
      this.#endpointing.text(after);
      if (this.#reply !== undefined) this.#decide(this.#bargeIn.text(after, this.#phase));
    });
  }

  /** The recogniser hears speech. It may do so where our own detector does not, while the agent speaks. */
  #soundRecognised(): void {
    if (!this.#isListening || this.#reply === undefined || this.#endpointing.active) return;
    this.#attempt('engine', () => {
      this.#endpointing.speechStarted(this.#context.clock.now());
      this.#bargeIn.speechStarted();
    });
  }

  /** The recogniser says that the caller has finished. */
  #turnRecognised(): void {
    if (!this.#isListening || this.#options.stt.ownsTurnTaking !== true) return;
    this.#attempt('engine', () => {
      if (this.#endpointing.finish() || this.#pending.isOpen || this.#speech.text === '') return;
      this.#callerFinished(this.#context.clock.now());
    });
  }

  /** True when there is a reply that the caller may interrupt. */
  get #yields(): boolean {
    return this.#reply !== undefined && (this.#manner.interruptible ?? this.#options.interruptible);
  }

  get #phase(): AgentPhase {
    const { clock, playout } = this.#context;
    if (this.#fillers.sounding !== undefined) return 'careful';
    const audibleAt = this.#reply?.audibleAt;
    if (audibleAt === undefined) return 'thinking';
    const now = clock.now();
    const isNew = now - this.#startedAt < this.#options.turnTaking.carefulMs;
    const isEnding = this.#reply?.isGivenOut === true && playout.pushedMs - playout.playedMs < EDGE_MS;
    return isNew || isEnding || now - audibleAt < EDGE_MS ? 'careful' : 'speaking';
  }

  #decide(decision: BargeInDecision): void {
    if (!this.#yields) return;
    if (decision === 'interrupt') this.#interrupt();
    else if (decision === 'dismiss') this.#speech.dismiss();
  }

  /** The caller takes the floor: in this tick the carrier is cleared and language and voice are stopped. */
  #interrupt(): CutSplit | undefined {
    const reply = this.#reply;
    if (reply === undefined) return undefined;
    this.#reply = undefined;
    this.#bargeIn.reset();
    this.#echo.silent();
    const playedMs = this.#context.playout.clear();
    this.#fillers.cut(playedMs);
    const split = reply.stop(playedMs);
    this.#idle?.wait();
    if (split.heard === '' && this.#turns.userText !== '') {
      this.#turns.dropAnswer(split.unheard);
      return split;
    }
    this.#cutOff = split.rest;
    this.#completeTurn(split, { interrupted: true });
    return split;
  }

  /** The same for what needs no words to be meant. */
  #interruptForGood(): void {
    this.#interrupt();
    this.#cutOff = '';
  }

  #callerFinished(speechEndedAt: number): void {
    if (this.#state !== 'live' || this.#failure !== undefined) return;
    if (this.#reply !== undefined) {
      if (!this.#yields) {
        this.#attempt('stt', () => this.#stages.ears?.finishUtterance());
        return;
      }
      this.#decide(this.#bargeIn.silence());
      if (this.#reply !== undefined) {
        this.#speechStartedAt = undefined;
        return;
      }
    }
    this.#awaitText(speechEndedAt);
  }

  /** Asks the recogniser for what it still has, and answers when that is there. */
  #awaitText(speechEndedAt: number): void {
    const pending = this.#pending.open(speechEndedAt);
    this.#attempt('stt', () => this.#stages.ears?.finishUtterance());
    // The recogniser may have answered at once, or failed.
    if (!this.#pending.isStill(pending) || this.#state !== 'live' || this.#failure !== undefined) return;
    const { text, settled } = this.#speech;
    if (settled || (text === '' && this.#pressed !== '')) {
      this.#answer();
      return;
    }
    this.#pending.limit(this.#textWaitMs(pending), () => this.#attempt('engine', () => this.#answer()));
  }

  #textWaitMs({ speechEndedAt, turnEndedAt }: TurnTimes): number {
    if (this.#speech.text !== '') return OPEN_TEXT_WAIT_MS;
    if (this.#cutOff === '') return NO_TEXT_WAIT_MS;
    return Math.max(0, speechEndedAt + this.#options.turnTaking.resumeAfterMs - turnEndedAt);
  }

  /** What the caller is in the middle of is no longer waited for. */
  #stopListening(): void {
    this.#pending.take();
    this.#endpointing.reset();
    this.#keys.reset();
  }

  /** Keys are complete. Who presses them while the agent may not be interrupted is answered afterwards, like who speaks. */
  #keysComplete(keys: string): void {
    this.#attempt('engine', () => {
      this.#pressed = `${this.#pressed} ${keysAsText(keys)}`.trim();
      if (this.#options.turnTaking.keysInterrupt && this.#yields) this.#interruptForGood();
      if (this.#reply === undefined && !this.#endpointing.active && !this.#pending.isOpen) this.#takeUp();
    });
  }

  /** Answers what has come while nobody could answer it. */
  #takeUp(): void {
    if (this.#speech.text !== '') this.#awaitText(this.#context.clock.now());
    else if (this.#pressed !== '') this.#takeTurn(undefined);
  }

  /** The caller's words are complete: the agent's turn to speak, unless keys are still being pressed. */
  #answer(): void {
    const times = this.#pending.take();
    if (times !== undefined && !this.#keys.isOpen) this.#takeTurn(times);
  }

  #takeTurn(times: TurnTimes | undefined): void {
    const { clock } = this.#context;
    const said = `${this.#speech.take(this.#turns.userIndex)} ${this.#pressed}`.trim();
    const startedAt = this.#speechStartedAt ?? clock.wallNow();
    this.#speechStartedAt = undefined;
    this.#pressed = '';
    const cutOff = this.#cutOff;
    this.#cutOff = '';
    if (said === '' && (this.#turns.userText ?? '') === '') {
      // A sound without words has cut the agent off: it goes on with the sentence that was cut.
      if (cutOff !== '') this.#say(cutOff);
      return;
    }
    const turn = this.#turns.open(said, startedAt);
    if (times !== undefined) {
      turn.latency.reached('speechEnded', times.speechEndedAt);
      turn.latency.reached('turnEnded', times.turnEndedAt);
      turn.latency.reached('textFinal', clock.now());
    }
    this.#respond(turn, times?.speechEndedAt);
  }

  #respond(turn: { index: number; userText: string; latency: TurnLatencyMeter }, since?: number): void {
    const messages = this.#conversation.asking(turn.userText);
    const { callId, clock } = this.#context;
    const now = clock.now();
    this.#modelUsedAt = now;
    this.#begin(turn.latency, (signal) => this.#options.model.respond({ callId, messages, signal }));
    const reply = this.#reply;
    const delayMs = (since ?? now) + this.#options.turnTaking.fillerAfterMs - now;
    const isAwaited = () => this.#reply === reply && !turn.latency.has('firstAudio') && !this.#held;
    this.#fillers.arm({ turnIndex: turn.index, delayMs, isAwaited });
  }

  /** After a hold: words that came before it are answered, and what it cut off is said after all where that is wanted. */
  #goOn(how: Resumption): void {
    const { clock } = this.#context;
    const cutOff = this.#cutOff;
    this.#idle?.wait();
    if (how === 'listen') {
      this.#cutOff = '';
      this.#completeTurn({ heard: '', unheard: '' }, { interrupted: true });
    }
    if (this.#speech.text !== '') this.#awaitText(clock.now());
    else if (how === 'listen') return;
    else if ((this.#turns.userText ?? '') !== '') this.#respond(this.#turns.open('', clock.wallNow()));
    else if (cutOff !== '') {
      this.#cutOff = '';
      this.#say(cutOff);
    }
  }

  /** A turn that the agent opens itself. */
  #say(text: string, manner: Manner = {}): void {
    const turn = this.#turns.open('', this.#context.clock.wallNow());
    this.#begin(turn.latency, () => onlyText(text), manner);
  }

  #begin(
    latency: TurnLatencyMeter,
    source: (signal: AbortSignal) => AsyncIterable<LanguageModelEvent>,
    manner: Manner = {},
  ): void {
    const { voice } = this.#stages;
    if (voice === undefined) return;
    const { playout, clock } = this.#context;
    this.#generation += 1;
    this.#manner = manner;
    this.#bargeIn.reset();
    this.#idle?.pause();
    const reply = new Reply({
      id: `reply-${this.#generation}`,
      source,
      timeouts: this.#options.timeouts,
      voice,
      playout,
      clock,
      latency,
      events: {
        spoken: (text) => this.#turns.spoken(text),
        finished: (outcome) => this.#attempt('engine', () => this.#finished(outcome)),
        failed: (stage, error) => this.#fail(stage, error),
        usage: (usage) => this.#used(usage),
      },
    });
    this.#reply = reply;
    this.#echo.speaking(reply);
    reply.start();
  }

  #finished(outcome: ReplyOutcome): void {
    this.#reply = undefined;
    this.#bargeIn.reset();
    this.#fillers.disarm();
    this.#echo.silent();
    this.#endpointing.agentSaid(outcome.heard);
    this.#completeTurn(outcome, { interrupted: false });
    if (this.#failure !== undefined) this.#end('provider-failed');
    else if (outcome.endCall) this.#end('agent-hangup');
    // Words or keys that came while the agent could not be interrupted, or an agreement to what it said.
    else if ((this.#speech.text !== '' || this.#pressed !== '') && !this.#endpointing.active) this.#takeUp();
    else if (this.#manner.last === true && !this.#endpointing.active) this.#end('idle');
    else this.#idle?.wait();
  }

  /** The turn and what it has used. */
  #completeTurn(split: SpokenSplit, end: { interrupted: boolean }): void {
    this.#turns.complete(split, end);
    this.#usage.state();
  }

  /** Tokens of a reply that was given up are told late, perhaps after the last turn. */
  #used(usage: TokenUsage): void {
    this.#usage.thought(usage);
    if (this.#state === 'closed') this.#usage.state();
  }

  #warmUp(): void {
    this.#modelUsedAt = this.#context.clock.now();
    this.#attempt('llm', () => this.#options.model.warmUp?.());
  }

  /** A provider has failed. The caller hears that something went wrong, if there is a voice to say it. */
  #fail(stage: Stage, error: unknown): void {
    if (this.#state !== 'live') return;
    this.#stages.log(FAILED[stage], error);
    const apologising = this.#failure !== undefined;
    this.#failure ??= toFailure(stage, error);
    this.#stopListening();
    this.#idle?.pause();
    this.#fillers.disarm();
    if (stage === 'tts' || this.#stages.voice === undefined || this.#held) {
      this.#failure.untold = true;
      const split = this.#reply?.stop(this.#context.playout.playedMs);
      this.#reply = undefined;
      this.#completeTurn(split ?? { heard: '', unheard: '' }, { interrupted: split !== undefined });
      this.#end('provider-failed');
      return;
    }
    if (apologising) return;
    this.#apology = this.#context.clock.after(APOLOGY_LIMIT_MS, () => this.#end('provider-failed'));
    if (this.#reply !== undefined) this.#reply.conclude(APOLOGY);
    else this.#say(APOLOGY);
  }

  #end(reason: 'agent-hangup' | 'provider-failed' | 'idle'): void {
    if (this.#state !== 'live') return;
    this.#state = 'ending';
    this.#apology?.cancel();
    this.#stopListening();
    this.#idle?.pause();
    this.#fillers.disarm();
    this.#context.endCall(reason, this.#failure);
  }

  #fact(fact: EngineFact): void {
    if (this.#state !== 'closed') this.#context.fact(fact);
  }

  #attempt(stage: Stage, task: () => unknown): void {
    this.#stages.attempt(stage, task);
  }
}
