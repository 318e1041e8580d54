// One call of the pipeline: its stages, and its life from the start to the end, trouble included. What the caller does is gathered in
// `caller-turn`, what the agent says is in `agent-voice`, and who has the floor is decided in `driver`.
import type { Resumption } from '../../conversation/floor.js';
import type { TranscriptEntry } from '../../contract/call-record.js';
import { AgentVoice } from './speaking/agent-voice.js';
import { Apology } from './speaking/apology.js';
import { BargeIn } from './hearing/barge-in.js';
import { CallerTurn } from './hearing/caller-turn.js';
import { begun, type ConversationState, leftBy } from '../../conversation/state.js';
import { Conversation } from '../conversation.js';
import { PipelineDriver } from './driver.js';
import type { Engine, EngineContext, EngineFact, EngineFailure, SpokenText, Takeover } from '../engine.js';
import { LanguageStage } from './language-stage.js';
import { lexiconFor } from '../languages/lexicon.js';
import { isPassing, type Stage } from './failure.js';
import type { PipelineCallOptions } from './call-options.js';
import { PipelineStages } from './stages.js';
import { ProviderRoster } from '../provider-roster.js';
import { Recognition } from './hearing/recognition.js';
import type { ReplySplit } from './speaking/reply.js';
import { TurnBook } from '../turn-book.js';
import { UsageMeter } from '../usage-meter.js';

export class PipelineCall implements Engine {
  readonly mode = 'pipeline';
  pushSpokenText?: (segment: SpokenText) => void;
  readonly #context: EngineContext;
  readonly #options: PipelineCallOptions;
  readonly #conversation: Conversation;
  readonly #stages: PipelineStages;
  readonly #language: LanguageStage;
  readonly #turns: TurnBook;
  readonly #caller: CallerTurn;
  readonly #agent: AgentVoice;
  readonly #driver: PipelineDriver;
  readonly #usage: UsageMeter;
  readonly #roster: ProviderRoster;
  readonly #recognition: Recognition;
  readonly #apology: Apology;
  #failure: EngineFailure | undefined;
  /** A recognizer has failed that is not needed any more, unless the goodbye is not brought to its end. */
  #deafness: EngineFailure | undefined;
  /** When the silence began in which the caller waited as the call failed, on the clock. */
  #silentSince: number | undefined;
  /** Since when the caller had waited for the agent when the call failed, on the clock. */
  #awaitedSince: number | undefined;
  #held = false;
  #state: 'new' | 'live' | 'ending' | 'handed-over' | 'closed' = 'new';

  constructor(context: EngineContext, options: PipelineCallOptions) {
    this.#context = context;
    this.#options = options;
    const { callId, clock, takeover } = context;
    const { turnTaking: settings, idle, language, firstMessage = '' } = options;
    const conversation = new Conversation(
      clock,
      takeover?.state ?? begun({ hasGreeting: firstMessage !== '' }),
    );
    this.#conversation = conversation;
    this.#usage = new UsageMeter(context, () => this.#turns.userIndex);
    const state = (fact: EngineFact) => this.#fact(fact);
    const roster = new ProviderRoster({
      context,
      mode: 'pipeline',
      providers: options.providers,
      tell: state,
    });
    this.#roster = roster;
    this.#recognition = new Recognition({
      clock,
      wait: options.wait,
      hasSpoken: () => this.#caller.hasSpokenWordless,
      isSuccessor: takeover !== undefined,
      remedies: roster.listener('stt'),
      isHearing: () => this.#isHearing,
      words: (text, how) =>
        this.#attempt('engine', () => this.#caller.recognized(text, { ...how, isHeld: this.#held })),
      settled: () => this.#caller.settled(),
      withdrawn: () => this.#attempt('engine', () => this.#caller.withdrawn()),
      heardAgain: () => this.#attempt('engine', () => this.#caller.heardAgain()),
      sound: () => this.#soundRecognized(),
      turnEnded: () => {
        if (this.#isListening && options.stt.ownsTurnTaking === true)
          this.#attempt('engine', () => this.#caller.endRecognized());
      },
      usage: (usage) => this.#usage.heard(usage),
      failed: (error) => this.#fail('stt', error),
    });
    this.#stages = new PipelineStages({
      context,
      ...options,
      heard: this.#recognition.events,
      spoke: { ...roster.listener('tts'), usage: (usage) => this.#usage.spoke(usage) },
      failed: (stage, error) => this.#fail(stage, error),
    });
    this.#turns = new TurnBook({
      conversation,
      systemPrompt: options.systemPrompt,
      fact: state,
      news: () => this.#attempt('engine', () => this.#conversation.tell({ type: 'news' })),
      tools: takeover?.tools,
    });
    this.#language = new LanguageStage({ ...options, callId, clock, turns: this.#turns });
    const tell = (entry: TranscriptEntry) => this.#fact({ type: 'transcript.segment', entry });
    const lexicon = lexiconFor(language);
    this.#agent = new AgentVoice({
      ...options,
      context,
      tell,
      stages: this.#stages,
      settings,
      lexicon,
      isRecognizedLate: options.stt.writesAfterwards === true,
      maySpeak: () => this.#state === 'live' && !this.#held,
      events: {
        spoken: (text) => this.#turns.spoken(text),
        audible: () => this.#conversation.tell({ type: 'audible' }),
        whole: () => this.#conversation.tell({ type: 'whole' }),
        sounds: () => this.#attempt('engine', () => this.#conversation.look()),
        endsCall: () => this.#conversation.tell({ type: 'ends' }),
        called: (runs) => this.#turns.called(runs),
        finished: (outcome) => this.#attempt('engine', () => this.#finished(outcome)),
        failed: (stage, error) => this.#fail(stage, error),
        usage: (usage, turnIndex, payee) => this.#usage.thought(usage, turnIndex, payee),
        remedied: (remedy) => roster.remedied('llm', remedy),
      },
    });
    const { interruptAfterMs: voicedMs, interruptAfterWords: words } = settings;
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
        words: (text, piece) => this.#driver.words(text, piece),
        quiet: (end) => this.#attempt('engine', () => this.#isHearing && this.#driver.quiet(end)),
        finishUtterance: () => this.#finishUtterance(),
        keysComplete: () => this.#attempt('engine', () => this.#conversation.tell({ type: 'keys.complete' })),
        complete: (times) =>
          this.#attempt('engine', () => this.#conversation.tell({ type: 'caller.complete', times })),
      },
    });
    this.#driver = new PipelineDriver({
      clock,
      conversation,
      caller: this.#caller,
      agent: this.#agent,
      turns: this.#turns,
      bargeIn: new BargeIn({ voicedMs, words, lexicon }),
      wait: options.wait,
      answer: this.#language.answer,
      policy: {
        interruptible: options.interruptible,
        keysInterrupt: settings.keysInterrupt,
        idle,
        endsTurns: false,
      },
      isListening: () => this.#isListening,
      finishUtterance: () => this.#finishUtterance(),
      wordless: () => this.#recognition.wordless(),
      leave: (reason) => this.#end(reason),
    });
    conversation.drivenBy(this.#driver, {
      fact: state,
      attempt: (task) => this.#attempt('engine', task),
      beforeOutside: context.beforeOutside,
    });
    this.#apology = new Apology({
      text: options.apologies.call,
      clock,
      playout: context.playout,
      wait: options.wait,
      agent: this.#agent,
      driver: this.#driver,
      heard: (waitedMs) => this.#fact({ type: 'sorry.spoken', waitedMs }),
      late: ({ untold }) => (untold ? this.#endUntold() : this.#end('provider-failed')),
    });
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'live';
    const { firstMessage = '', turnTaking, wait } = this.#options;
    const { owed } = this.#conversation.state;
    wait.begins(this.#conversation, { isReplaceable: this.#context.hasFallback === true });
    this.#agent.start();
    if (!this.#stages.open()) return;
    const { ears } = this.#stages;
    if (ears?.pushSpokenText !== undefined)
      this.pushSpokenText = (segment) => this.#attempt('stt', () => ears.pushSpokenText?.(segment));
    this.#attempt('engine', () => this.#caller.start());
    if (this.#failure !== undefined) return;
    this.#attempt('llm', () => this.#language.warmUp());
    if (owed.kind === 'nothing' && wait.isOn) this.#recognition.asked();
    if (owed.kind === 'greeting')
      this.#driver.say(firstMessage, turnTaking.interruptibleGreeting ? {} : { interruptible: false });
    else if (owed.kind === 'rest') this.#driver.say(owed.text, owed.manner);
    else if (owed.kind === 'goodbye') this.#driver.say(owed.text, { ends: owed.reason });
    else this.#conversation.tell({ type: 'resume', how: 'continue' });
  }

  get state(): ConversationState {
    return this.#conversation.state;
  }

  pushAudio(frame: Int16Array): void {
    if (!this.#isListening) return;
    this.#stages.hear(frame);
    // The recognizer may have ended the call.
    if (this.#state === 'closed') return;
    try {
      const heard = this.#caller.hear(frame);
      this.#driver.frame(this.#agent.isTalkedOver(heard) && heard.voiced);
      this.#caller.passed(heard);
    } catch (error) {
      this.#fail('engine', error);
    }
  }

  /** Keys are a turn of their own. */
  pushDtmf(digit: string): void {
    if (!this.#isListening) return;
    this.#attempt('engine', () => {
      this.#conversation.tell({ type: 'key' });
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
      this.#conversation.tell({ type: 'hold' });
      if (this.#failure === undefined) return;
      this.#untold();
      this.#end('provider-failed');
    });
  }

  resume(how: Resumption): void {
    if (!this.#held) return;
    this.#held = false;
    if (this.#state === 'live')
      this.#attempt('engine', () => this.#conversation.tell({ type: 'resume', how }));
    const isOver = this.#state !== 'live' || this.#driver.isLeaving;
    if (this.#deafness !== undefined && !isOver) this.#failWith('stt', this.#deafness);
  }

  handOver(): Takeover {
    const { tools } = this.#options;
    const unheardSince = [this.#caller.forgetOpen()];
    const troubledSince = [this.#awaitedSince, this.#recognition.deafSince];
    const standing = this.#driver.giveUp({ isHeld: this.#held });
    const state = leftBy(this.state, { ...standing, unheardSince, troubledSince });
    this.#state = 'handed-over';
    this.#free();
    return { state, tools: tools && { runs: this.#turns.running, close: () => tools.close() } };
  }

  close(): void {
    if (this.#state === 'closed') return;
    const isHandedOver = this.#state === 'handed-over';
    // Also then: nobody has gone on in a turn that was open.
    this.#driver.close();
    this.#state = 'closed';
    if (!isHandedOver) this.#free();
  }

  /** The caller still matters. */
  get #isHearing(): boolean {
    return this.#state === 'live' && this.#failure === undefined && this.#deafness === undefined;
  }

  get #isListening(): boolean {
    return this.#isHearing && !this.#held;
  }

  /** May open a barge-in that our own detector does not hear. */
  #soundRecognized(): void {
    if (!this.#isListening || !this.#agent.isBusy || this.#caller.isActive) return;
    this.#attempt('engine', () => {
      this.#caller.soundRecognized();
      this.#driver.speechStarted();
    });
  }

  #callerSpeaks(beforeMs: number): void {
    this.#options.wait.end();
    this.#recognition.rest();
    this.#driver.speechStarted(beforeMs);
    this.#attempt('llm', () => this.#language.warmUp());
    this.#agent.prepareFiller();
  }

  #finishUtterance(): void {
    this.#recognition.asked();
    this.#attempt('stt', () => this.#stages.ears?.finishUtterance());
  }

  #finished(outcome: ReplySplit): void {
    this.#driver.finished(outcome);
    if (this.#failure !== undefined && !this.#apology.hasBegun) this.#endUntold();
    else if (this.#failure !== undefined) this.#end('provider-failed');
    else this.#conversation.tell({ type: 'over' });
  }

  /** A provider has failed. If no other one takes over, the caller hears the apology, provided that there is a voice to say it. */
  #fail(stage: Stage, error: unknown): void {
    if (this.#state !== 'live') return;
    const failure = this.#stages.report(stage, error);
    const isNeeded = stage !== 'stt' || (this.#deafness === undefined && !this.#driver.isLeaving);
    if (isPassing(error) && this.#failure === undefined && this.#context.hasFallback !== true) {
      this.#fact(this.#roster.passing(stage, failure.code));
      this.#driver.conclude(this.#options.apologies.turn);
    } else if (isNeeded) this.#failWith(stage, failure);
    else this.#doWithoutEars(failure);
  }

  /** In a goodbye nobody has to be heard any more. */
  #doWithoutEars(failure: EngineFailure): void {
    if (!this.#isHearing) return;
    this.#deafness = failure;
    this.#caller.interruptListening();
    this.#conversation.tell({ type: 'goes-on' });
    this.#fact(this.#roster.dispensable('stt', failure.code));
  }

  #failWith(stage: Stage, failure: EngineFailure): void {
    const isApologizing = this.#failure !== undefined;
    this.#failure ??= failure;
    this.#silentSince ??= this.#options.wait.silentSince({ isAwaited: this.#agent.isBusy });
    this.#caller.interruptListening();
    this.#conversation.tell({ type: 'failing' });
    if (this.#context.hasFallback === true) {
      this.#awaitedSince = this.#agent.awaitedSince;
      this.#untold();
      this.#end('provider-failed');
    } else if (stage === 'tts' || this.#stages.voice === undefined || this.#held) this.#endUntold();
    else if (!isApologizing) this.#apology.say(this.#silentSince);
  }

  /** The caller was told nothing, and has waited since. */
  #untold(): void {
    if (this.#failure === undefined) return;
    this.#failure.wait = this.#options.wait.untold(this.#silentSince ?? this.#context.clock.now());
  }

  /** The owner of the call tells the caller. */
  #endUntold(): void {
    this.#driver.stop();
    this.#untold();
    this.#end('provider-failed');
  }

  #end(reason: 'agent-hangup' | 'provider-failed' | 'idle'): void {
    if (this.#state !== 'live') return;
    this.#state = 'ending';
    this.#apology.cancel();
    this.#caller.interruptListening();
    this.#conversation.tell({ type: 'ending' });
    this.#context.endCall(reason, this.#failure);
  }

  #free(): void {
    this.#apology.cancel();
    this.#recognition.close();
    this.#caller.close();
    this.#stages.close();
  }

  #fact(fact: EngineFact): void {
    if (this.#state !== 'closed') this.#context.fact(fact);
  }

  #attempt(stage: Stage, task: () => unknown): void {
    this.#stages.attempt(stage, task);
  }
}
