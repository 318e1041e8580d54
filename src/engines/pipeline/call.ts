// One call of the pipeline: its stages, and its life from the start to the end, trouble included. What the caller does is gathered in
// `caller-turn`, what the agent says is in `agent-voice`, and who has the floor is decided in `driver`.
import type { Resumption } from '../../conversation/floor.js';
import type { ProviderStage as Stage, TranscriptEntry } from '../../contract/call-record.js';
import { AgentVoice } from './speaking/agent-voice.js';
import { BargeIn } from './hearing/barge-in.js';
import { CallerTurn } from './hearing/caller-turn.js';
import type { ConversationState } from '../../conversation/state.js';
import type { Recourse, Trouble } from '../../conversation/trouble.js';
import { type Beginning, beginningOf, firstWordsOf, languageLeft, toGreeting } from '../beginning.js';
import { Conversation } from '../conversation.js';
import { PipelineDriver } from './driver.js';
import type { Engine, EngineContext, EngineFact, EngineFailure, Takeover } from '../engine.js';
import { type SpokenRequest, toInput } from '../spoken-request.js';
import { LanguageStage } from './language-stage.js';
import { tagsOf, voicesOf, wordsIn } from '../languages/agent-words.js';
import { countFailure, isPassing, logFailure } from '../failure.js';
import type { PipelineCallOptions } from './call-options.js';
import { SpokenLanguage } from './spoken-language.js';
import { PipelineStages } from './stages.js';
import { ProviderRoster } from '../provider-roster.js';
import { Recognition } from './hearing/recognition.js';
import type { ReplySplit } from './speaking/reply.js';
import { TurnBook } from '../turn-book.js';
import { UsageMeter } from '../usage-meter.js';

export class PipelineCall implements Engine {
  readonly mode = 'pipeline';
  pushSpokenText?: Engine['pushSpokenText'];
  readonly #context: EngineContext;
  readonly #options: PipelineCallOptions;
  readonly #beginning: Beginning;
  readonly #conversation: Conversation;
  readonly #stages: PipelineStages;
  readonly #language: LanguageStage;
  readonly #spoken: SpokenLanguage;
  readonly #turns: TurnBook;
  readonly #caller: CallerTurn;
  readonly #agent: AgentVoice;
  readonly #driver: PipelineDriver;
  readonly #usage: UsageMeter;
  readonly #roster: ProviderRoster;
  readonly #recognition: Recognition;
  /** What the call fails for, or did without. */
  #failure: EngineFailure | undefined;
  /** What has failed last. */
  #failed: { readonly stage: Stage; readonly failure: EngineFailure } | undefined;
  #state: 'new' | 'live' | 'ending' | 'handed-over' | 'closed' = 'new';

  constructor(context: EngineContext, options: PipelineCallOptions) {
    this.#context = context;
    this.#options = options;
    const { callId, clock, takeover } = context;
    const { turnTaking: settings, languages, firstMessage = '' } = options;
    const tags = tagsOf(languages);
    const beginning = beginningOf(context, {
      hasGreeting: firstMessage !== '',
      // What a model of before has heard of the caller may stand in the transcript without words.
      transcribesCaller: true,
      repeat: wordsIn(languages, languageLeft(context)).setPhrases.resumed.repeat,
      languages: tags,
      providers: options.providers,
      voices: voicesOf(languages),
    });
    const state = (fact: EngineFact) => this.#fact(fact);
    const idle = () => this.#spoken.words.idle;
    const conversation = new Conversation({
      clock,
      state: beginning.state,
      policy: {
        interruptible: options.interruptible,
        keysInterrupt: settings.keysInterrupt,
        get idle() {
          return idle();
        },
        endsTurns: false,
        transcribesCaller: false,
      },
      fact: state,
    });
    this.#beginning = beginning;
    this.#conversation = conversation;
    this.#usage = new UsageMeter(context, () => this.#turns.userIndex);
    for (const fact of beginning.facts) state(fact);
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
      hasSpoken: () => this.#conversation.untaken.isWordless,
      isSuccessor: takeover !== undefined,
      remedies: roster.listener('stt'),
      isHearing: () => this.#isHearing,
      words: (text, how) =>
        this.#attempt('engine', () => this.#caller.recognized(text, { ...how, isHeld: this.#isHeld })),
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
      words: wordsIn(languages, beginning.state.language.tag),
      tags: tags.length > 1 ? tags : undefined,
      heard: this.#recognition.events,
      spoke: { ...roster.listener('tts'), usage: (usage) => this.#usage.spoke(usage) },
      failed: (stage, error) => this.#fail(stage, error),
    });
    const spoken = new SpokenLanguage({
      ...options,
      conversation,
      roster,
      stages: this.#stages,
      fact: state,
    });
    this.#spoken = spoken;
    this.#turns = new TurnBook({
      conversation,
      get systemPrompt() {
        return spoken.instructions;
      },
      news: () => this.#attempt('engine', () => this.#conversation.tell({ type: 'news' })),
      tools: takeover?.tools,
      box: options.tools,
    });
    this.#language = new LanguageStage({ ...options, callId, clock, turns: this.#turns });
    const tell = (entry: TranscriptEntry) =>
      this.#fact({ type: 'transcript.segment', entry: this.#named(entry) });
    const { lexicon } = spoken;
    this.#agent = new AgentVoice({
      ...options,
      context,
      tell,
      stages: this.#stages,
      conversation,
      turns: this.#turns,
      settings,
      lexicon,
      fillers: spoken.fillers,
      isRecognizedLate: options.stt.writesAfterwards === true,
      maySpeak: () => this.#state === 'live' && !this.#isHeld,
      events: {
        sounds: () => this.#attempt('engine', () => this.#conversation.look()),
        finished: (outcome) => this.#attempt('engine', () => this.#finished(outcome)),
        failed: (stage, error) => this.#fail(stage, error),
        usage: (usage, turnIndex, payee) => this.#usage.thought(usage, turnIndex, payee),
        remedied: (remedy) => roster.remedied('llm', remedy),
      },
    });
    const { interruptAfterMs: voicedMs, interruptAfterWords } = settings;
    this.#caller = new CallerTurn({
      context,
      settings,
      lexicon,
      isToldEnds: options.stt.ownsTurnTaking === true,
      conversation,
      turnIndex: () => (this.#agent.isAudible ? this.#turns.nextIndex : this.#turns.userIndex),
      isEcho: (text, piece) => this.#agent.isEcho(text, piece),
      events: {
        speechStarted: (began) => this.#callerSpeaks(began),
        words: (text, piece) => this.#driver.words(text, piece),
        quiet: (end) => this.#attempt('engine', () => this.#isHearing && this.#driver.quiet(end)),
        finishUtterance: () => this.#finishUtterance(),
        keysComplete: (keys) =>
          this.#attempt('engine', () => this.#conversation.tell({ type: 'keys.complete', keys })),
        complete: () => this.#attempt('engine', () => this.#conversation.tell({ type: 'caller.complete' })),
      },
    });
    this.#driver = new PipelineDriver({
      clock,
      conversation,
      caller: this.#caller,
      agent: this.#agent,
      turns: this.#turns,
      bargeIn: new BargeIn({ voicedMs, words: interruptAfterWords, lexicon }),
      wait: options.wait,
      answer: this.#language.answer,
      hasVoice: () => this.#stages.voice !== undefined,
      finishUtterance: () => this.#finishUtterance(),
      spoken: spoken.spoken,
      wordless: () => this.#recognition.wordless(),
    });
    conversation.drivenBy(this.#driver, {
      attempt: (task) => this.#attempt('engine', task),
      context,
      ends: (reason) => this.#end(reason),
      recourse: (recourse, { isFirst }) => this.#follow(recourse, { isFirst }),
    });
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'live';
    const { firstMessage = '', turnTaking, wait } = this.#options;
    const { owed } = this.#beginning.state;
    wait.begins(this.#conversation, { isReplaceable: this.#context.hasFallback === true });
    this.#agent.start();
    if (!this.#stages.open()) return;
    const { recognizer } = this.#stages;
    if (recognizer?.pushSpokenText !== undefined)
      this.pushSpokenText = (segment) => this.#attempt('stt', () => recognizer.pushSpokenText?.(segment));
    this.#attempt('engine', () => this.#caller.start());
    if (!this.#isHearing) return;
    this.#attempt('llm', () => this.#language.warmUp());
    if (owed.kind === 'nothing' && wait.isOn) this.#recognition.asked();
    const first = firstWordsOf(this.#beginning, { greeting: toGreeting(firstMessage, turnTaking) });
    this.#conversation.tell(first ? { type: 'say', ...first } : { type: 'resume', how: 'continue' });
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
      this.#driver.frame(this.#agent.isTalkedOver(heard));
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

  request(request: SpokenRequest): boolean {
    if (!this.#isHearing || this.#conversation.isLeaving) return false;
    this.#attempt('engine', () => this.#conversation.tell(toInput(request)));
    return true;
  }

  inform(text: string): void {
    this.#conversation.tell({ type: 'noted', text });
  }

  markPlayed(name: string): void {
    this.#attempt('engine', () => this.#agent.markPlayed(name));
  }

  hold(): void {
    if (this.#state !== 'live' || this.#isHeld) return;
    this.#attempt('engine', () => {
      this.#caller.interruptListening();
      this.#conversation.tell({ type: 'hold' });
    });
  }

  resume(how: Resumption): void {
    if (!this.#isHeld) return;
    if (this.#state === 'live')
      this.#attempt('engine', () => this.#conversation.tell({ type: 'resume', how }));
    const isOver = this.#state !== 'live' || this.#conversation.isLeaving;
    if (this.#trouble.phase !== 'unheard' || this.#failure === undefined || isOver) return;
    this.#conversation.tell({ type: 'missed' });
    this.#failWith('stt', this.#failure);
  }

  handOver(): Takeover {
    const { tools } = this.#options;
    // Keys that are being pressed are answered as they are.
    this.#caller.interruptListening();
    const unheardSince = [this.#caller.forgetOpen()];
    const awaitedSince = this.#trouble.phase === 'over' ? this.#trouble.awaitedSince : null;
    const troubledSince = [awaitedSince, this.#recognition.deafSince];
    this.#driver.giveUp({ unheardSince, troubledSince });
    const { state } = this.#conversation;
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
    return this.#state === 'live' && !this.#conversation.isTroubled;
  }

  get #isListening(): boolean {
    return this.#isHearing && !this.#isHeld;
  }

  get #isHeld(): boolean {
    return this.#conversation.isHeld;
  }

  /** May open a barge-in that our own detector does not hear. */
  #soundRecognized(): void {
    if (!this.#isListening || !this.#agent.isBusy || this.#caller.isActive) return;
    this.#attempt('engine', () => {
      this.#caller.soundRecognized();
      this.#driver.speechStarted();
    });
  }

  #callerSpeaks(began: { beforeMs: number; startedAt: number }): void {
    this.#options.wait.end();
    this.#recognition.rest();
    this.#driver.speechStarted(began);
    this.#attempt('llm', () => this.#language.warmUp());
    this.#agent.prepareFiller();
  }

  #finishUtterance(): void {
    this.#recognition.asked();
    this.#attempt('stt', () => this.#stages.recognizer?.finishUtterance());
  }

  #finished(outcome: ReplySplit): void {
    this.#driver.finished(outcome);
    this.#conversation.tell({ type: 'over' });
  }

  /** A provider has failed: whether the caller hears of it, and from whom, `conversation/trouble` says. */
  #fail(stage: Stage, error: unknown): void {
    if (this.#state !== 'live') return;
    logFailure(this.#context, stage, error);
    // Nothing of it is needed to hang up.
    if (this.#conversation.hangsUp) return;
    this.#failWith(stage, countFailure(this.#context, stage, error), { isPassing: isPassing(error) });
  }

  #failWith(stage: Stage, failure: EngineFailure, { isPassing } = { isPassing: false }): void {
    this.#failed = { stage, failure };
    this.#conversation.tell({
      type: 'failed',
      stage,
      isPassing,
      hasFallback: this.#context.hasFallback === true,
      isAwaited: this.#agent.isBusy,
      awaitedSince: this.#agent.awaitedSince ?? null,
    });
    this.#failed = undefined;
  }

  /** What follows on a failure, or on what has become of the apology for one. */
  #follow(recourse: Recourse, { isFirst }: { isFirst: boolean }): void {
    const { wait } = this.#options;
    const { apologies } = this.#spoken.words.setPhrases;
    if (this.#failed !== undefined) this.#tellFailed(this.#failed, recourse, { isFirst });
    switch (recourse.type) {
      case 'nothing':
      case 'do-without':
        break;
      case 'apologize-for-turn':
        this.#driver.conclude(apologies.turn);
        break;
      case 'apologize':
        if (!wait.isOn) wait.begin(this.#context.clock.now());
        // A turn in which nothing else is said.
        if (!this.#agent.isBusy) this.#conversation.tell({ type: 'say', text: '', manner: {} });
        this.#driver.conclude(apologies.call, () => this.#apologyBegins());
        break;
      case 'hand-over':
      case 'leave-to-carrier':
        if (recourse.stops) this.#driver.stop();
        if (this.#failure !== undefined) this.#failure.wait = wait.untold(recourse.silentSince);
        this.#end('provider-failed');
        break;
      case 'end':
        this.#end('provider-failed');
    }
  }

  #tellFailed(
    { stage, failure }: { readonly stage: Stage; readonly failure: EngineFailure },
    { type }: Recourse,
    { isFirst }: { isFirst: boolean },
  ): void {
    this.#failed = undefined;
    if (type === 'apologize-for-turn') {
      this.#fact(this.#roster.passing(stage, failure.code));
      return;
    }
    if (isFirst) this.#failure = failure;
    this.#caller.interruptListening();
    if (type === 'do-without') this.#fact(this.#roster.dispensable(stage, failure.code));
  }

  /** The voice gives the first audio of a sentence of it, which is not with the playout. */
  #apologyBegins(): void {
    const { trouble } = this.#conversation.state;
    if (trouble.phase !== 'apologizing' || trouble.hasBegun) return;
    const { playout } = this.#context;
    this.#conversation.tell({ type: 'apology.begun' });
    const silentSince = Math.max(trouble.silentSince, this.#options.wait.soundsUntil);
    playout.onNextFrameSent((at) =>
      this.#fact({ type: 'apology.spoken', waitedMs: Math.max(0, at - silentSince) }),
    );
  }

  get #trouble(): Trouble {
    return this.#conversation.state.trouble;
  }

  #end(reason: 'agent-hangup' | 'provider-failed' | 'idle'): void {
    if (this.#state !== 'live') return;
    this.#state = 'ending';
    this.#caller.interruptListening();
    this.#conversation.tell({ type: 'ending' });
    this.#context.endCall(reason, reason === 'provider-failed' ? this.#failure : undefined);
  }

  #free(): void {
    this.#recognition.close();
    this.#caller.close();
    this.#stages.close();
  }

  #named(entry: TranscriptEntry): TranscriptEntry {
    return { ...entry, id: `${entry.id}${this.#conversation.turns.suffix}` };
  }

  #fact(fact: EngineFact): void {
    if (this.#state !== 'closed') this.#context.fact(fact);
  }

  #attempt(stage: Stage, task: () => unknown): void {
    this.#stages.attempt(stage, task);
  }
}
