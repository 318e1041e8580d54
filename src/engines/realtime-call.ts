// One call with a realtime model: its parts, and its life from the start to the end, trouble included. Whose turn it is to speak the
// model decides; what the caller hears of it, and that nothing stale is heard, is decided in `realtime-dialogue`.
import type { AudioFormat } from '../audio/format.js';
import { describeThrown } from '../base/log.js';
import type { RealtimeEvents } from '../providers/realtime-model.js';
import { Conversation } from './conversation.js';
import type { Engine, EngineContext, EngineFact, EngineFailure, Resumption, Takeover } from './engine.js';
import { type Leaving, owesAtStart, toSteps, toTakeover } from './handover.js';
import { IdlePrompts } from './idle-prompts.js';
import { keysAsText, PressedKeys } from './pressed-keys.js';
import { toReconnected } from './provider-roster.js';
import { isOpeningInterruptible, type RealtimeCallOptions } from './realtime-call-options.js';
import { RealtimeDialogue } from './realtime-dialogue.js';
import { guardEvents } from './realtime-events.js';
import { REALTIME_FAILED, silentModel, toRealtimeFailure } from './realtime-failure.js';
import { RealtimeLine } from './realtime-line.js';
import { RealtimeTools } from './realtime-tools.js';
import { RealtimeTurns } from './realtime-turns.js';
import { countRealtime } from './realtime-usage.js';
import { RealtimeVoice } from './realtime-voice.js';
import { RealtimeWatch } from './realtime-watch.js';
import type { AnswerSplit } from './turn-book.js';
import { TOO_MANY } from './tools/tool-box.js';
import { UsageMeter } from './usage-meter.js';

const NOTHING: AnswerSplit = { heard: '', unheard: '' };
const NOBODY_WAITS = { isCutOff: false, goodbye: undefined, waitingSince: [] };

export class RealtimeCall implements Engine {
  readonly mode = 'realtime';
  readonly #context: EngineContext;
  readonly #options: RealtimeCallOptions;
  readonly #line: RealtimeLine;
  readonly #conversation: Conversation;
  readonly #turns: RealtimeTurns;
  readonly #tools: RealtimeTools;
  readonly #usage: UsageMeter;
  readonly #voice: RealtimeVoice;
  readonly #watch: RealtimeWatch;
  readonly #idle: IdlePrompts | undefined;
  readonly #keys: PressedKeys;
  readonly #dialogue: RealtimeDialogue;
  #failure: EngineFailure | undefined;
  #isTooMuch = false;
  /** Since when the caller speaks to nobody, on the clock, an engine before this one included; undefined from the first connection on. */
  #deafSince: number | undefined;
  /** How the call stood as its engine was stopped in the middle of it. */
  #standing: Pick<Leaving, 'isCutOff' | 'goodbye' | 'waitingSince'> = NOBODY_WAITS;
  /** The beginning of what it was saying then was heard. */
  #isHalfHeard = false;
  #state: 'new' | 'live' | 'ending' | 'handed-over' | 'closed' = 'new';

  constructor(context: EngineContext, options: RealtimeCallOptions) {
    this.#context = context;
    this.#options = options;
    const { clock, takeover, hasFallback = false, unansweredMs } = context;
    const { model, systemPrompt, language, idle, tools, turnTaking } = options;
    this.#usage = new UsageMeter(context, () => this.#turns.paidIndex);
    this.#conversation = new Conversation(undefined, toSteps(takeover, clock));
    this.#turns = new RealtimeTurns({
      clock,
      conversation: this.#conversation,
      transcribesCaller: model.transcribesCaller,
      takeover,
      fact: (fact) => this.#fact(fact),
    });
    this.#voice = new RealtimeVoice({
      context,
      turns: this.#turns,
      caughtUp: () => this.#attempt(() => this.#dialogue.settle()),
      tooMuch: () => this.#tooMuch(),
    });
    this.#line = new RealtimeLine({
      context,
      model,
      settings: {
        language,
        instructions: systemPrompt,
        tools: tools.definitions,
        interruptible: isOpeningInterruptible(options, { isGreeting: this.#owes === 'greeting' }),
        history: () => this.#turns.history(this.#voice.speech?.whole()),
      },
      events: this.#events(),
      failed: (error) => this.#fail(error),
    });
    this.#tools = new RealtimeTools({
      box: tools,
      ask: (task) => this.#line.ask(task),
      called: (runs) => this.#turns.called(runs),
      given: (speech) => {
        if (this.#state === 'live') this.#attempt(() => this.#dialogue.resultsGiven(speech));
      },
      idle: () => this.#attempt(() => this.#dialogue.settle()),
    });
    this.#watch = new RealtimeWatch({
      clock,
      late: () => this.#attempt(() => this.#dialogue.respond()),
      silent: () => this.#fail(silentModel()),
      isReplaceable: hasFallback,
      takenOverMs: takeover?.silentMs,
      unansweredMs,
    });
    this.#keys = new PressedKeys({
      clock,
      pauseMs: turnTaking.keyPauseMs,
      onComplete: (keys) => {
        if (this.#isListening) this.#attempt(() => this.#dialogue.keysComplete(keys));
      },
    });
    this.#idle =
      idle &&
      new IdlePrompts({
        ...idle,
        clock,
        isSounding: () => this.#dialogue.isCallerSpeaking || this.#watch.isOwed,
        ask: (text) => this.#attempt(() => this.#dialogue.say({ text })),
        leave: (text) => this.#attempt(() => this.#dialogue.say({ text, isLast: true })),
      });
    this.#dialogue = new RealtimeDialogue({
      context,
      settings: options,
      line: this.#line,
      turns: this.#turns,
      voice: this.#voice,
      tools: this.#tools,
      watch: this.#watch,
      idle: this.#idle,
      ends: (reason) => this.#end(reason),
    });
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'live';
    this.#watch.opening();
    this.#deafSince = this.#context.clock.now() - (this.#context.takeover?.unheardMs ?? 0);
    if (!this.#line.open()) return;
    const { tools: { runs = [] } = {}, silentMs } = this.#context.takeover ?? {};
    if (runs.length > 0) this.#tools.adopt(runs);
    // What they said comes again, and the model answers it by itself.
    else if (this.#owes === 'nothing' && silentMs !== undefined) this.#watch.owes({ isAsked: false });
    else if (this.#owes === 'nothing') this.#idle?.wait();
    else if (this.#owes === 'answer') this.#attempt(() => this.#dialogue.respond());
    else if (this.#owes === 'goodbye') this.#attempt(() => this.#sayGoodbye());
    else this.#attempt(() => this.#dialogue.say({ text: this.#options.firstMessage, isGreeting: true }));
  }

  pushAudio(frame: Int16Array): void {
    if (this.#isListening) this.#attempt(() => this.#line.hear(frame));
  }

  pushEncoded(bytes: Uint8Array, format: AudioFormat): void {
    if (this.#isListening) this.#attempt(() => this.#line.hearEncoded(bytes, format));
  }

  /** Keys are a turn of their own. The first of them already interrupts the agent. */
  pushDtmf(digit: string): void {
    if (!this.#isListening) return;
    this.#attempt(() => {
      this.#dialogue.keyPressed();
      this.#keys.press(digit);
    });
  }

  markPlayed(name: string): void {
    this.#attempt(() => this.#voice.speech?.markPlayed(name));
  }

  hold(): void {
    if (this.#state !== 'live' || this.#dialogue.isHeld) return;
    this.#attempt(() => {
      this.#dialogue.hold();
      this.#keys.take();
    });
  }

  resume(how: Resumption): void {
    if (this.#dialogue.isHeld)
      this.#attempt(() => this.#dialogue.resume(how, { isLive: this.#state === 'live' }));
  }

  handOver(): Takeover {
    const { clock } = this.#context;
    const { firstMessage } = this.#options;
    this.#cutOff();
    const { lostSince } = this.#watch;
    const { since, isUnheard } = this.#turns.giveUp();
    this.#free('handed-over');
    return toTakeover({
      clock,
      conversation: this.#conversation,
      ...this.#turns.standing,
      ...this.#standing,
      hasGreeting: firstMessage !== '',
      isUnheard: isUnheard && !this.#isHalfHeard,
      unheardSince: [since, lostSince, this.#deafSince],
      tools: this.#tools,
    });
  }

  close(): void {
    if (this.#state === 'closed') return;
    // Also after `handOver`: nobody has gone on in a turn that was open.
    this.#tools.close();
    const split = this.#voice.speech?.stop(this.#context.playout.playedMs) ?? NOTHING;
    this.#voice.end();
    this.#turns.complete(split, { interrupted: split.unheard !== '' });
    this.#turns.close();
    this.#free('closed');
  }

  /** What the caller is to hear before anything else. */
  get #owes(): Takeover['owes'] {
    return owesAtStart(this.#context.takeover, this.#options.firstMessage);
  }

  get #isListening(): boolean {
    return this.#state === 'live' && !this.#dialogue.isHeld;
  }

  #events(): RealtimeEvents {
    const events: Required<RealtimeEvents> = {
      ready: () => {
        this.#deafSince = undefined;
        this.#watch.ready();
      },
      speechStarted: () => this.#dialogue.callerSpeaks(),
      interrupted: () => this.#dialogue.interrupt(),
      speechEnded: (speech) => this.#dialogue.callerFinished(speech),
      userText: ({ itemId, text, final }) => this.#turns.userText(itemId, text, { isFinal: final }),
      responseStarted: () => this.#dialogue.responseStarted(),
      audio: ({ itemId, audio }) => this.#dialogue.audio(itemId, audio),
      text: ({ itemId, delta }) => this.#dialogue.text(itemId, delta),
      heardText: ({ itemId, text }) => this.#voice.speech?.replaceText(itemId, text),
      responseEnded: (end) => this.#dialogue.responseEnded(end),
      usage: (usage) => countRealtime(this.#usage, usage),
      lost: ({ agoMs } = { agoMs: 0 }) => {
        const { speech } = this.#voice;
        this.#turns.lost({ isAnswered: speech?.hasAudio === true || (speech?.roundCount ?? 0) > 0 });
        // Before the next connection is told the conversation.
        this.#voice.breakOff();
        this.#watch.lost(agoMs);
      },
      reconnected: ({ isPlanned, hearsAgain, ...gap }) => {
        const { callId, logger } = this.#context;
        logger.info({ callId, gapMs: gap.gapMs }, 'the connection to the realtime model is back');
        if (isPlanned !== true) this.#fact(toReconnected('engine', this.#options.model.name, gap));
        const isRepeated = this.#turns.back();
        this.#dialogue.reconnected({ gapMs: gap.gapMs, hearsAgain: hearsAgain === true || isRepeated });
      },
      failed: (error) => this.#fail(error),
    };
    return guardEvents(events, {
      isLive: () => this.#state === 'live',
      isListening: () => this.#isListening,
      attempt: (task) => this.#attempt(task),
      tooMuch: () => this.#tooMuch(),
      refuse: (calls) => this.#tools.refuse(calls, TOO_MANY),
    });
  }

  /** The model sends without an end. What nobody has use for is not taken, which is said once. */
  #tooMuch(): void {
    if (this.#isTooMuch) return;
    this.#isTooMuch = true;
    const { callId, logger } = this.#context;
    logger.warn({ callId }, 'a realtime model sends more than is taken of it');
  }

  /** The agent's voice is what has failed: the owner of the call tells the caller. */
  #fail(error: unknown): void {
    if (this.#state !== 'live') return;
    const { callId, logger, meters } = this.#context;
    logger.warn({ callId, ...describeThrown(error) }, REALTIME_FAILED);
    this.#failure = toRealtimeFailure(error, this.#waitedMs);
    meters.providerFailed('engine', this.#failure.code);
    this.#cutOff();
    this.#end('provider-failed');
  }

  get #waitedMs(): number {
    const now = this.#context.clock.now();
    const { soundsUntil = Number.NEGATIVE_INFINITY } = this.#voice.speech ?? {};
    return Math.max(0, now - Math.max(this.#watch.waitingSince ?? now, soundsUntil));
  }

  /** Stops what is under way, for whoever may go on with it. */
  #cutOff(): void {
    if (this.#state !== 'live') return;
    const { isBusy } = this.#dialogue;
    const wasSpeaking = this.#voice.speech !== undefined;
    const { waitingSince, lostSince } = this.#watch;
    const keys = this.#keys.take();
    if (keys !== '') this.#turns.pressed(keysAsText(keys));
    const goodbye = this.#dialogue.giveUp();
    this.#isHalfHeard = wasSpeaking && !this.#turns.isOpen;
    this.#standing = { isCutOff: isBusy, goodbye, waitingSince: [waitingSince, lostSince] };
  }

  /** What an engine before this one has left of it. */
  #sayGoodbye(): void {
    const { text = '', reason } = this.#context.takeover?.goodbye ?? {};
    this.#dialogue.say({ text, ...(reason === 'idle' ? { isLast: true } : { isGoodbye: true }) });
  }

  #end(reason: 'agent-hangup' | 'provider-failed' | 'idle'): void {
    if (this.#state !== 'live') return;
    this.#state = 'ending';
    this.#watch.close();
    this.#keys.take();
    this.#idle?.pause();
    this.#line.ask((session) => session.cancel());
    this.#context.endCall(reason, this.#failure);
  }

  #free(state: 'handed-over' | 'closed'): void {
    this.#state = state;
    this.#watch.close();
    this.#keys.take();
    this.#idle?.pause();
    this.#line.close();
  }

  #fact(fact: EngineFact): void {
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
