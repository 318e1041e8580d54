// One call of the pipeline: who has the floor. What the caller does is gathered in `caller-turn`, what the agent says is in
// `agent-voice`; here is what follows from one for the other.
import type { Timer } from '../base/clock.js';
import type { TranscriptEntry } from '../contract/call-record.js';
import type { SpeechToTextEvents } from '../providers/speech-to-text.js';
import { AgentVoice, type Manner, type Utterance } from './agent-voice.js';
import { BargeIn, type BargeInDecision } from './barge-in.js';
import { CallerTurn } from './caller-turn.js';
import { Conversation } from './conversation.js';
import type { Engine, EngineContext, EngineFact, EngineFailure, Resumption, SpokenText } from './engine.js';
import { IdlePrompts } from './idle-prompts.js';
import { LanguageStage } from './language-stage.js';
import { lexiconFor } from './lexicon.js';
import type { TurnTimes } from './pending-turn.js';
import { APOLOGY, APOLOGY_LIMIT_MS, FAILED, type Stage, toFailure } from './pipeline-failure.js';
import type { PipelineCallOptions } from './pipeline-call-options.js';
import { PipelineStages } from './pipeline-stages.js';
import { onlyText, type ReplyOutcome, type ReplySplit } from './reply.js';
import type { SpokenSplit } from './speaker.js';
import { TurnBook } from './turn-book.js';
import type { TurnLatencyMeter } from './turn-latency.js';
import { UsageMeter } from './usage-meter.js';

const NOTHING: SpokenSplit = { heard: '', unheard: '' };

export class PipelineCall implements Engine {
  readonly mode = 'pipeline';
  pushSpokenText?: (segment: SpokenText) => void;
  readonly #context: EngineContext;
  readonly #options: PipelineCallOptions;
  readonly #stages: PipelineStages;
  readonly #language: LanguageStage;
  readonly #turns: TurnBook;
  readonly #caller: CallerTurn;
  readonly #agent: AgentVoice;
  readonly #bargeIn: BargeIn;
  readonly #idle: IdlePrompts | undefined;
  readonly #usage: UsageMeter;
  #apology: Timer | undefined;
  /** Rest of an answer that was cut off, until it is known that words were meant by it. */
  #cutOff = '';
  #failure: EngineFailure | undefined;
  #held = false;
  #state: 'new' | 'live' | 'ending' | 'closed' = 'new';

  constructor(context: EngineContext, options: PipelineCallOptions) {
    this.#context = context;
    this.#options = options;
    const { callId, clock } = context;
    const { model, tools, turnTaking: settings, idle, language } = options;
    this.#usage = new UsageMeter((fact) => context.fact(fact));
    this.#stages = new PipelineStages({
      context,
      ...options,
      heard: this.#recognition(),
      spoke: (usage) => this.#usage.spoke(usage),
      failed: (stage, error) => this.#fail(stage, error),
    });
    this.#turns = new TurnBook({
      conversation: new Conversation(options.systemPrompt),
      fact: (fact) => this.#fact(fact),
      completed: () => this.#usage.state(),
      wallNow: () => clock.wallNow(),
    });
    this.#language = new LanguageStage({ callId, clock, model, tools, turns: this.#turns });
    const tell = (entry: TranscriptEntry) => this.#fact({ type: 'transcript.segment', entry });
    this.#agent = new AgentVoice({
      ...options,
      context,
      tell,
      stages: this.#stages,
      settings,
      events: {
        spoken: (text) => this.#turns.spoken(text),
        finished: (outcome) => this.#attempt('engine', () => this.#finished(outcome)),
        failed: (stage, error) => this.#fail(stage, error),
        usage: (usage) => this.#usage.thought(usage),
      },
    });
    const lexicon = lexiconFor(language);
    const { interruptAfterMs: voicedMs, interruptAfterWords: words } = settings;
    this.#bargeIn = new BargeIn({ voicedMs, words, lexicon });
    this.#caller = new CallerTurn({
      context,
      settings,
      lexicon,
      isToldEnds: options.stt.ownsTurnTaking === true,
      tell,
      turnIndex: () => (this.#agent.isAudible ? this.#turns.nextIndex : this.#turns.userIndex),
      isEcho: (text, piece) => this.#agent.isEcho(text, piece),
      events: {
        speechStarted: (beforeMs) => this.#callerSpeaks(beforeMs),
        words: (text) => this.#callerSays(text),
        quiet: (endedAt) => this.#attempt('engine', () => this.#callerFinished(endedAt)),
        finishUtterance: () => this.#attempt('stt', () => this.#stages.ears?.finishUtterance()),
        keysComplete: () => this.#attempt('engine', () => this.#keysComplete()),
        complete: (times) => this.#attempt('engine', () => this.#takeTurn(times)),
      },
    });
    this.#idle =
      idle &&
      new IdlePrompts({
        ...idle,
        clock,
        isSounding: () => this.#caller.isActive,
        ask: (text) => this.#attempt('engine', () => this.#say(text)),
        leave: (text) => this.#attempt('engine', () => this.#say(text, { last: true })),
      });
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'live';
    const { firstMessage, turnTaking } = this.#options;
    this.#agent.start();
    if (!this.#stages.open()) return;
    const { ears } = this.#stages;
    if (ears?.pushSpokenText !== undefined)
      this.pushSpokenText = (segment) => this.#attempt('stt', () => ears.pushSpokenText?.(segment));
    this.#attempt('engine', () => this.#caller.start());
    if (this.#failure !== undefined) return;
    this.#attempt('llm', () => this.#language.warmUp());
    if (firstMessage === undefined || firstMessage === '') this.#idle?.wait();
    else this.#say(firstMessage, turnTaking.interruptibleGreeting ? {} : { interruptible: false });
  }

  pushAudio(frame: Int16Array): void {
    if (!this.#isListening) return;
    this.#attempt('stt', () => this.#stages.ears?.pushAudio(frame));
    this.#attempt('engine', () =>
      this.#caller.hear(frame, (voiced) => {
        if (this.#agent.isTalkedOver(frame)) this.#decide(this.#bargeIn.frame(voiced, this.#agent.phase));
      }),
    );
  }

  /** Keys are a turn of their own. The first of them already interrupts the agent. */
  pushDtmf(digit: string): void {
    if (!this.#isListening) return;
    this.#attempt('engine', () => {
      this.#idle?.callerActive();
      this.#yieldToKeys();
      this.#caller.press(digit);
    });
  }

  markPlayed(name: string): void {
    this.#attempt('engine', () => this.#agent.markPlayed(name));
  }

  hold(): void {
    if (this.#state !== 'live' || this.#held) return;
    this.#held = true;
    this.#attempt('engine', () => {
      this.#caller.interruptListening();
      this.#bargeIn.reset();
      const split = this.#interrupt();
      // Who comes back has lost nothing of the sentence: it goes on where it was.
      if (split !== undefined && this.#cutOff !== '') this.#cutOff = split.unheard;
      this.#idle?.pause();
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
    this.#caller.take(this.#turns.userIndex);
    const split = this.#agent.close() ?? NOTHING;
    this.#turns.complete(split, { interrupted: split.unheard !== '' });
    this.#state = 'closed';
    this.#apology?.cancel();
    this.#idle?.pause();
    this.#caller.close();
    this.#stages.close();
    this.#usage.close();
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
      turnEnded: () => {
        const isWanted = this.#isListening && this.#options.stt.ownsTurnTaking === true;
        if (isWanted) this.#attempt('engine', () => this.#caller.endRecognised());
      },
      usage: (usage) => this.#usage.heard(usage),
    };
  }

  #recognised(text: string, { isFinal }: { isFinal: boolean }): void {
    if (this.#state !== 'live' || this.#failure !== undefined) return;
    this.#attempt('engine', () => this.#caller.recognised(text, { isFinal, isHeld: this.#held }));
  }

  /** May open a barge-in that our own detector does not hear. */
  #soundRecognised(): void {
    if (!this.#isListening || !this.#agent.isBusy || this.#caller.isActive) return;
    this.#attempt('engine', () => {
      this.#caller.soundRecognised();
      this.#bargeIn.speechStarted();
    });
  }

  #callerSpeaks(beforeMs: number): void {
    if (this.#agent.isBusy) this.#bargeIn.speechStarted(beforeMs);
    this.#attempt('llm', () => this.#language.warmUp());
    this.#agent.prepareFiller();
  }

  #callerSays(text: string): void {
    this.#idle?.callerActive();
    if (this.#agent.isBusy) this.#decide(this.#bargeIn.text(text, this.#agent.phase));
  }

  #decide(decision: BargeInDecision): void {
    if (!this.#agent.yields) return;
    if (decision === 'interrupt') this.#interrupt();
    else if (decision === 'dismiss') this.#caller.dismiss();
  }

  /** The caller takes the floor: in this tick the carrier is cleared and language and voice are stopped. */
  #interrupt(): ReplySplit | undefined {
    const split = this.#agent.interrupt();
    if (split === undefined) return undefined;
    this.#bargeIn.reset();
    this.#idle?.wait();
    if (split.heard === '' && this.#turns.userText !== '') {
      this.#turns.dropAnswer(split);
      return split;
    }
    this.#cutOff = split.rest;
    this.#turns.complete(split, { interrupted: !this.#held || split.unheard !== '' });
    return split;
  }

  /** Keys need no words to be meant: what they cut off is not said again. */
  #yieldToKeys(): void {
    if (!this.#options.turnTaking.keysInterrupt || !this.#agent.yields) return;
    this.#interrupt();
    this.#cutOff = '';
  }

  #callerFinished(speechEndedAt: number): void {
    if (this.#state !== 'live' || this.#failure !== undefined) return;
    if (this.#agent.isBusy) {
      if (!this.#agent.yields) {
        this.#attempt('stt', () => this.#stages.ears?.finishUtterance());
        return;
      }
      this.#decide(this.#bargeIn.silence());
      if (this.#agent.isBusy) {
        this.#caller.forgetSound();
        return;
      }
    }
    this.#awaitText(speechEndedAt);
  }

  #awaitText(speechEndedAt: number): void {
    this.#caller.awaitText(speechEndedAt, { isResuming: this.#cutOff !== '' || this.#turns.isOwed });
  }

  /** Who presses keys while the agent may not be interrupted is answered afterwards, like who speaks. */
  #keysComplete(): void {
    this.#yieldToKeys();
    if (!this.#agent.isBusy) this.#takeUp();
  }

  /** Answers what has come while nobody could answer it. */
  #takeUp(): void {
    if (this.#caller.text !== '') this.#awaitText(this.#context.clock.now());
    else if (this.#caller.hasKeys) this.#takeTurn(undefined);
  }

  /** What the caller says is complete: the agent's turn to speak. */
  #takeTurn(times: TurnTimes | undefined): void {
    if (!this.#isListening) return;
    const { said, startedAt } = this.#caller.take(this.#turns.userIndex);
    const cutOff = this.#cutOff;
    this.#cutOff = '';
    if (said === '' && (this.#turns.userText ?? '') === '') {
      // A sound without words has cut the agent off: it goes on with what its tools gave, or with the sentence that was cut.
      if (this.#turns.isOwed) this.#respondAgain();
      else if (cutOff !== '') this.#say(cutOff);
      return;
    }
    const turn = this.#turns.open(said, startedAt);
    if (times !== undefined) turn.latency.callerFinished(times, this.#context.clock.now());
    this.#respond(turn, times?.speechEndedAt);
  }

  /** The caller waits for the answer since `since`. */
  #respond({ index, latency }: { index: number; latency: TurnLatencyMeter }, since?: number): void {
    const answers = { turnIndex: index, since: since ?? this.#context.clock.now() };
    const { unsettled: awaited } = this.#turns;
    this.#begin({ latency, source: this.#language.answer, awaited, answers });
  }

  /** Nobody has said anything more. */
  #respondAgain(): void {
    this.#respond(this.#turns.open('', this.#context.clock.wallNow()));
  }

  /** A turn that the agent opens itself. */
  #say(text: string, manner: Manner = {}): void {
    const { latency } = this.#turns.open('', this.#context.clock.wallNow());
    this.#begin({ latency, source: () => onlyText(text), manner });
  }

  #begin(utterance: Utterance): void {
    this.#bargeIn.reset();
    this.#idle?.pause();
    this.#agent.say(utterance);
  }

  /** After a hold: words that came before it are answered, and what it cut off is said after all where that is wanted. */
  #goOn(how: Resumption): void {
    const cutOff = this.#cutOff;
    this.#idle?.wait();
    if (how === 'listen') {
      this.#cutOff = '';
      this.#turns.complete(NOTHING, { interrupted: true });
    }
    if (this.#caller.text !== '') this.#awaitText(this.#context.clock.now());
    // A caller who was not transferred is told so.
    else if (this.#turns.isOwed) this.#respondAgain();
    else if (how === 'listen') return;
    else if ((this.#turns.userText ?? '') !== '') this.#respondAgain();
    else if (cutOff !== '') {
      this.#cutOff = '';
      this.#say(cutOff);
    }
  }

  #finished(outcome: ReplyOutcome): void {
    this.#bargeIn.reset();
    this.#caller.agentSaid(outcome.heard);
    this.#turns.complete(outcome, { interrupted: false });
    const isSounding = this.#caller.isSounding;
    const hasMore = this.#caller.text !== '' || this.#caller.hasKeys;
    if (this.#failure !== undefined) this.#end('provider-failed');
    else if (outcome.endCall) this.#end('agent-hangup');
    // Words or keys that came while the agent could not be interrupted, or an agreement to what it said.
    else if (hasMore && !isSounding) this.#takeUp();
    else if (this.#agent.wasLast && !hasMore && !isSounding) this.#end('idle');
    else this.#idle?.wait();
  }

  /** A provider has failed. The caller hears that something went wrong, if there is a voice to say it. */
  #fail(stage: Stage, error: unknown): void {
    if (this.#state !== 'live') return;
    this.#stages.log(FAILED[stage], error);
    const apologising = this.#failure !== undefined;
    this.#failure ??= toFailure(stage, error);
    this.#caller.interruptListening();
    this.#idle?.pause();
    if (stage === 'tts' || this.#stages.voice === undefined || this.#held) {
      this.#failure.untold = true;
      const split = this.#agent.stop();
      this.#turns.complete(split ?? NOTHING, { interrupted: split !== undefined });
      this.#end('provider-failed');
      return;
    }
    if (apologising) return;
    this.#apology = this.#context.clock.after(APOLOGY_LIMIT_MS, () => this.#end('provider-failed'));
    if (!this.#agent.conclude(APOLOGY)) this.#say(APOLOGY);
  }

  #end(reason: 'agent-hangup' | 'provider-failed' | 'idle'): void {
    if (this.#state !== 'live') return;
    this.#state = 'ending';
    this.#apology?.cancel();
    this.#caller.interruptListening();
    this.#idle?.pause();
    this.#context.endCall(reason, this.#failure);
  }

  #fact(fact: EngineFact): void {
    if (this.#state !== 'closed') this.#context.fact(fact);
  }

  #attempt(stage: Stage, task: () => unknown): void {
    this.#stages.attempt(stage, task);
  }
}
