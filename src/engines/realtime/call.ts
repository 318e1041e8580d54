// One call with a realtime model: its parts, and its life from the start to the end, trouble included. Whose turn it is to speak the
// model decides; what the caller hears of it, and that nothing stale is heard, is decided in `driver`.
import type { Resumption } from '../../conversation/floor.js';
import type { AudioFormat } from '../../audio/format.js';
import { isHeardOut } from '../../conversation/trouble.js';
import type { RealtimeEvents } from '../../providers/realtime-model.js';
import type { Engine, EngineContext, EngineFact, EngineFailure, Takeover } from '../engine.js';
import { type SpokenRequest, toInput } from '../spoken-request.js';
import type { ConversationState } from '../../conversation/state.js';
import { type Beginning, beginningOf, firstWordsOf, toGreeting } from '../beginning.js';
import { Conversation } from '../conversation.js';
import { keysAsText, PressedKeys } from '../pressed-keys.js';
import { toReconnected } from '../provider-roster.js';
import { isOpeningInterruptible, type RealtimeCallOptions } from './call-options.js';
import { RealtimeDriver } from './driver.js';
import { type CallEvents, guardEvents } from './events.js';
import { countFailure, logFailure, silent } from '../failure.js';
import { RealtimeLine } from './line.js';
import { RealtimeTools } from './tools.js';
import { countRealtime } from './usage.js';
import { RealtimeWatch } from './watch.js';
import { TurnBook } from '../turn-book.js';
import { TOO_MANY } from '../tools/tool-box.js';
import { UsageMeter } from '../usage-meter.js';

export class RealtimeCall implements Engine {
  readonly mode = 'realtime';
  readonly #context: EngineContext;
  readonly #options: RealtimeCallOptions;
  readonly #beginning: Beginning;
  readonly #conversation: Conversation;
  readonly #line: RealtimeLine;
  readonly #turns: TurnBook;
  readonly #tools: RealtimeTools;
  readonly #usage: UsageMeter;
  readonly #watch: RealtimeWatch;
  readonly #keys: PressedKeys;
  readonly #driver: RealtimeDriver;
  #failure: EngineFailure | undefined;
  /** Why the model is gone whose last words are still heard. */
  #gone: { readonly error: unknown } | undefined;
  #isTooMuch = false;
  #state: 'new' | 'live' | 'ending' | 'handed-over' | 'closed' = 'new';

  constructor(context: EngineContext, options: RealtimeCallOptions) {
    this.#context = context;
    this.#options = options;
    const { clock, takeover } = context;
    const { model, systemPrompt, language, tools, turnTaking, firstMessage, interruptible, idle } = options;
    const { transcribesCaller } = model;
    const { keysInterrupt } = turnTaking;
    const beginning = beginningOf(context, {
      hasGreeting: firstMessage !== '',
      transcribesCaller,
      repeat: options.repeat,
      languages: options.tags,
      providers: options.providers,
    });
    const state = (fact: EngineFact) => this.#fact(fact);
    const conversation = new Conversation({
      clock,
      state: beginning.state,
      policy: { interruptible, keysInterrupt, idle, endsTurns: true, transcribesCaller },
      fact: state,
    });
    this.#beginning = beginning;
    this.#conversation = conversation;
    const { owed } = beginning.state;
    const isGreeting =
      owed.kind === 'greeting' || (owed.kind === 'rest' && owed.manner.interruptible === false);
    this.#usage = new UsageMeter(context, () => this.#turns.paidIndex);
    for (const fact of beginning.facts) state(fact);
    this.#turns = new TurnBook({ conversation, tools: takeover?.tools, box: tools });
    this.#watch = new RealtimeWatch(conversation);
    this.#line = new RealtimeLine({
      context,
      model,
      settings: {
        language,
        call: options.call,
        instructions: systemPrompt,
        tools: tools.definitions,
        interruptible: isOpeningInterruptible(options, { isGreeting: isGreeting && beginning.bridge === '' }),
        history: () => this.#turns.history(this.#driver.speech?.whole()),
        handle: beginning.session,
      },
      events: this.#events(),
      failed: (error) => this.#lose(error),
    });
    this.#tools = new RealtimeTools({
      box: tools,
      ask: (task) => this.#line.ask(task),
      turns: this.#turns,
      given: (speech) => {
        if (this.#state === 'live') this.#attempt(() => this.#driver.resultsGiven(speech));
      },
      idle: () => this.#attempt(() => this.#driver.settle()),
    });
    this.#keys = new PressedKeys({
      clock,
      pauseMs: turnTaking.keyPauseMs,
      onComplete: (keys) => {
        if (this.#isListening) this.#attempt(() => this.#driver.keysComplete(keys));
        else this.#conversation.tell({ type: 'pressed', text: keysAsText(keys) });
      },
    });
    this.#driver = new RealtimeDriver({
      context,
      conversation,
      settings: options,
      line: this.#line,
      turns: this.#turns,
      tools: this.#tools,
      watch: this.#watch,
      caughtUp: () => {
        this.#attempt(() => this.#driver.settle());
        this.#outlive();
      },
      tooMuch: () => this.#tooMuch(),
    });
    conversation.drivenBy(this.#driver, {
      attempt: (task) => this.#attempt(task),
      context,
      ends: (reason) => this.#end(reason),
      silent: () => this.#lose(silent('realtime model')),
    });
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'live';
    const isAwaited = this.#watch.value.wait.since !== null;
    this.#conversation.tell({ type: 'starts', isReplaceable: this.#context.hasFallback === true });
    if (!this.#line.open()) return;
    this.#begin({ isAwaited });
    this.#conversation.look();
  }

  get state(): ConversationState {
    return this.#conversation.state;
  }

  pushAudio(frame: Int16Array): void {
    if (this.#isListening) this.#line.hear(frame);
  }

  pushEncoded(bytes: Uint8Array, format: AudioFormat): boolean {
    return this.#isListening && this.#line.hearEncoded(bytes, format);
  }

  /** Keys are a turn of their own. The first of them already interrupts the agent. */
  pushDtmf(digit: string): void {
    if (!this.#isListening) return;
    this.#attempt(() => {
      this.#conversation.tell({ type: 'key' });
      this.#keys.press(digit);
    });
    this.#outlive();
  }

  request(request: SpokenRequest): boolean {
    if (this.#state !== 'live' || this.#conversation.isLeaving) return false;
    // Of a model that is gone what it has said is heard out: the next one says it.
    const interrupts = request.interrupts && this.#gone === undefined;
    this.#attempt(() => this.#conversation.tell(toInput({ ...request, interrupts })));
    return true;
  }

  inform(text: string): void {
    this.#conversation.tell({ type: 'noted', text });
    this.#line.ask((session) => session.addText({ role: 'system', text }));
  }

  markPlayed(name: string): void {
    this.#attempt(() => this.#driver.speech?.markPlayed(name));
  }

  hold(): void {
    if (this.#state !== 'live' || this.#driver.isHeld) return;
    if (this.#gone !== undefined) this.#fail(this.#gone.error);
    this.#attempt(() => {
      const keys = this.#keys.take();
      if (keys !== '') this.#driver.keysComplete(keys);
      this.#conversation.tell({ type: 'hold' });
    });
  }

  resume(how: Resumption): void {
    if (this.#driver.isHeld && this.#state === 'live')
      this.#attempt(() => this.#conversation.tell({ type: 'resume', how }));
  }

  handOver(): Takeover {
    this.#cutOff();
    this.#conversation.tell({ type: 'leaves', said: null, unheardSince: [], troubledSince: [] });
    const { state } = this;
    this.#free('handed-over');
    return { state, tools: { runs: this.#turns.running, close: () => this.#tools.close() } };
  }

  close(): void {
    if (this.#state === 'closed') return;
    // Also after `handOver`: nobody has gone on in a turn that was open.
    this.#tools.close();
    this.#driver.conclude();
    this.#conversation.tell({ type: 'closed' });
    this.#free('closed');
  }

  get #isListening(): boolean {
    return this.#state === 'live' && !this.#conversation.isHeld;
  }

  #events(): RealtimeEvents {
    const events: CallEvents = {
      ready: () => this.#conversation.tell({ type: 'ready' }),
      speechStarted: () => this.#conversation.tell({ type: 'caller.speaks' }),
      interrupted: () => this.#conversation.tell({ type: 'cut-off' }),
      speechEnded: (speech) => this.#conversation.tell({ type: 'caller.finished', ...speech }),
      userText: ({ itemId, text, final: isFinal }) =>
        this.#conversation.tell({ type: 'caller.text', itemId, text, isFinal }),
      responseStarted: () =>
        this.#conversation.tell({ type: 'began', isMore: this.#driver.speech?.hasAudio === true }),
      audio: ({ itemId, audio }) => this.#driver.audio(itemId, audio),
      text: ({ itemId, delta }) => this.#driver.text(itemId, delta),
      heardText: ({ itemId, text }) => this.#driver.speech?.replaceText(itemId, text),
      responseEnded: (end) => this.#driver.responseEnded(end),
      usage: (usage) => countRealtime(this.#usage, usage),
      resumable: (session) => this.#conversation.tell({ type: 'resumable', session }),
      lost: ({ agoMs } = { agoMs: 0 }) => {
        const { speech } = this.#driver;
        const isAnswered = speech?.hasAudio === true || (speech?.roundCount ?? 0) > 0;
        // Before the next connection is told the conversation.
        this.#driver.breakOff();
        const { unansweredMs } = this.#context;
        const knownMs = unansweredMs === undefined ? null : (unansweredMs() ?? 0);
        this.#conversation.tell({ type: 'connection.lost', agoMs, unansweredMs: knownMs, isAnswered });
      },
      reconnected: ({ isPlanned, hearsAgain, ...gap }) => {
        const { callId, logger } = this.#context;
        logger.info({ callId, gapMs: gap.gapMs }, 'the connection to the realtime model is back');
        if (isPlanned !== true) this.#fact(toReconnected('engine', this.#options.model.name, gap));
        this.#driver.reconnected({ gapMs: gap.gapMs, hearsAgain });
      },
      failed: (error) => this.#lose(error),
    };
    return guardEvents(events, {
      isLive: () => this.#state === 'live' && this.#gone === undefined,
      isListening: () => this.#isListening && this.#gone === undefined,
      failed: (error) => this.#fail(error),
      tooMuch: () => this.#tooMuch(),
      refuse: (calls) => this.#tools.refuse(calls, TOO_MANY),
    });
  }

  /** The model sends without an end. What nobody has use for is not taken, which is said once. */
  #tooMuch(): void {
    if (this.#isTooMuch) return;
    this.#isTooMuch = true;
    const { callId, logger } = this.#context;
    logger.warn({ callId }, 'a realtime model sent too much: the excess was dropped');
  }

  /** The model is gone. What it has said is heard to its end before anybody else speaks. */
  #lose(error: unknown): void {
    if (this.#state !== 'live' || this.#gone !== undefined) return;
    const { playout, hasFallback = false } = this.#context;
    const { speech } = this.#driver;
    const isWanted = isHeardOut({
      hasFallback,
      isLeaving: this.#conversation.isLeaving,
      isHeld: this.#driver.isHeld,
      isResponding: speech?.isResponding === true,
      inHandMs: playout.pushedMs - playout.playedMs,
    });
    if (!isWanted || speech?.runsOut() !== true) {
      this.#fail(error);
      return;
    }
    logFailure(this.#context, 'model', error);
    this.#gone = { error };
    this.#conversation.tell({ type: 'unheard' });
    this.#conversation.tell({ type: 'watch.closed' });
    this.#line.close();
  }

  /** A model that is gone is so for the caller, too, as soon as nothing of it is heard any more. */
  #outlive(): void {
    if (this.#gone !== undefined && this.#driver.speech?.runsOut() !== true) this.#fail(this.#gone.error);
  }

  /** The agent's voice is what has failed: the owner of the call tells the caller. */
  #fail(error: unknown): void {
    if (this.#state !== 'live') return;
    if (error !== this.#gone?.error) logFailure(this.#context, 'model', error);
    // Nothing of it is needed to hang up.
    if (this.#conversation.hangsUp) return;
    this.#failure = { ...countFailure(this.#context, 'model', error), wait: this.#watch.value.wait };
    this.#cutOff();
    this.#end('provider-failed');
  }

  /** Stops what is under way, for whoever may go on with it. */
  #cutOff(): void {
    // One that comes as the model is lost, too.
    const keys = this.#keys.take();
    if (keys !== '') this.#conversation.tell({ type: 'pressed', text: keysAsText(keys) });
    if (this.#state !== 'live') return;
    this.#driver.giveUp();
  }

  /** Goes on with what an engine before this one has left, or greets. */
  #begin({ isAwaited: wasAwaited }: { isAwaited: boolean }): void {
    const { firstMessage, turnTaking } = this.#options;
    const { owed, turns } = this.#beginning.state;
    const runs = [...this.#turns.running];
    if (runs.length > 0) this.#driver.adopt(runs.map(([, run]) => run));
    // The answer is given with their results.
    const isAwaited = owed.kind === 'answer' && runs.some(([id]) => turns.tools[id]?.waitedFor);
    const greeting = toGreeting(firstMessage, turnTaking);
    const first = firstWordsOf(this.#beginning, { greeting, isAwaited });
    if (first !== undefined) this.#attempt(() => this.#conversation.tell({ type: 'say', ...first }));
    else if (isAwaited) return;
    // What they said comes again, and the model answers it by itself.
    else if (owed.kind === 'nothing' && wasAwaited) this.#conversation.tell({ type: 'owes', isAsked: false });
    else if (owed.kind === 'nothing') this.#conversation.tell({ type: 'resume', how: 'continue' });
    else this.#attempt(() => this.#conversation.tell({ type: 'asked' }));
  }

  #end(reason: 'agent-hangup' | 'provider-failed' | 'idle'): void {
    if (this.#state !== 'live') return;
    this.#state = 'ending';
    this.#driver.close();
    this.#conversation.tell({ type: 'watch.closed' });
    this.#keys.take();
    this.#line.ask((session) => session.cancel());
    this.#context.endCall(reason, this.#failure);
  }

  #free(state: 'handed-over' | 'closed'): void {
    this.#state = state;
    this.#driver.close();
    this.#conversation.tell({ type: 'watch.closed' });
    this.#keys.take();
    this.#line.close();
  }

  #fact(fact: EngineFact): void {
    // What a failure cuts off is no news of the caller: whoever goes on tells.
    if (fact.type === 'phase.changed' && this.#failure !== undefined) return;
    if (this.#state !== 'closed') this.#context.fact(fact);
  }

  #attempt(task: () => void): void {
    if (this.#state === 'closed') return;
    try {
      task();
    } catch (error) {
      this.#fail(error);
    }
  }
}
