// One call with a realtime model: what the model tells becomes speech, turns and orders, and what happens on the line is told to it.
// Whose turn it is to speak the model decides; what the caller hears, and that nothing stale is heard, is decided here.
import type { AudioFormat } from '../audio/format.js';
import { describeError } from '../base/log.js';
import type { RealtimeEvents } from '../providers/realtime-model.js';
import { Conversation } from './conversation.js';
import type { Engine, EngineContext, EngineFact, EngineFailure, Resumption } from './engine.js';
import { IdlePrompts } from './idle-prompts.js';
import { keysAsText, PressedKeys } from './pressed-keys.js';
import type { RealtimeCallOptions } from './realtime-call-options.js';
import { guardEvents } from './realtime-events.js';
import { REALTIME_FAILED, silentModel, toRealtimeFailure } from './realtime-failure.js';
import { RealtimeLine } from './realtime-line.js';
import type { RealtimeSpeech } from './realtime-speech.js';
import { RealtimeTools } from './realtime-tools.js';
import { RealtimeTurns } from './realtime-turns.js';
import { countRealtime } from './realtime-usage.js';
import { type Manner, RealtimeVoice } from './realtime-voice.js';
import { RealtimeWatch } from './realtime-watch.js';
import type { AnswerSplit } from './turn-book.js';
import { UsageMeter } from './usage-meter.js';

type EventOf<Name extends keyof RealtimeEvents> = Parameters<Required<RealtimeEvents>[Name]>[0];

const NOTHING: AnswerSplit = { heard: '', unheard: '' };

export class RealtimeCall implements Engine {
  readonly mode = 'realtime';
  readonly #context: EngineContext;
  readonly #options: RealtimeCallOptions;
  readonly #line: RealtimeLine;
  readonly #turns: RealtimeTurns;
  readonly #tools: RealtimeTools;
  readonly #usage: UsageMeter;
  readonly #voice: RealtimeVoice;
  readonly #watch: RealtimeWatch;
  readonly #idle: IdlePrompts | undefined;
  readonly #keys: PressedKeys;
  #isCallerSpeaking = false;
  #endCall = false;
  /** The caller has said something that is answered when the agent has finished. */
  #owesCaller = false;
  /** What a hold has cut off, or kept from beginning. */
  #owed: Manner | undefined;
  /** Tools have given their results while nobody listened. */
  #owesResults = false;
  #failure: EngineFailure | undefined;
  #held = false;
  #state: 'new' | 'live' | 'ending' | 'closed' = 'new';

  constructor(context: EngineContext, options: RealtimeCallOptions) {
    this.#context = context;
    this.#options = options;
    const { clock } = context;
    const { model, systemPrompt, language, interruptible, idle, tools, turnTaking, firstMessage } = options;
    this.#usage = new UsageMeter(context, () => this.#turns.paidIndex);
    this.#turns = new RealtimeTurns({
      clock,
      conversation: new Conversation(undefined),
      transcribesCaller: model.transcribesCaller,
      fact: (fact) => this.#fact(fact),
    });
    this.#voice = new RealtimeVoice({
      context,
      turns: this.#turns,
      caughtUp: () => this.#attempt(() => this.#settle()),
    });
    this.#line = new RealtimeLine({
      context,
      model,
      settings: {
        language,
        instructions: systemPrompt,
        tools: tools.definitions,
        interruptible: interruptible && (turnTaking.interruptibleGreeting || firstMessage === ''),
        history: () => this.#turns.history(this.#voice.speech?.whole()),
      },
      events: this.#events(),
      failed: (error) => this.#fail(error),
    });
    this.#tools = new RealtimeTools({
      box: tools,
      ask: (task) => this.#line.ask(task),
      given: (speech) => this.#attempt(() => this.#resultsGiven(speech)),
      idle: () => this.#attempt(() => this.#settle()),
    });
    this.#watch = new RealtimeWatch({
      clock,
      late: () => this.#attempt(() => this.#respond()),
      silent: () => this.#fail(silentModel()),
    });
    this.#keys = new PressedKeys({
      clock,
      pauseMs: turnTaking.keyPauseMs,
      onComplete: (keys) => this.#attempt(() => this.#keysComplete(keys)),
    });
    this.#idle =
      idle &&
      new IdlePrompts({
        ...idle,
        clock,
        isSounding: () => this.#isCallerSpeaking || this.#watch.isOwed,
        ask: (text) => this.#attempt(() => this.#say({ text })),
        leave: (text) => this.#attempt(() => this.#say({ text, isLast: true })),
      });
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'live';
    this.#watch.opening();
    if (!this.#line.open()) return;
    const { firstMessage } = this.#options;
    if (firstMessage === '') this.#idle?.wait();
    else this.#attempt(() => this.#say({ text: firstMessage, isGreeting: true }));
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
      this.#idle?.callerActive();
      this.#yieldToKeys();
      this.#keys.press(digit);
    });
  }

  markPlayed(name: string): void {
    this.#attempt(() => this.#voice.speech?.markPlayed(name));
  }

  hold(): void {
    if (this.#state !== 'live' || this.#held) return;
    this.#attempt(() => {
      if (this.#watch.isOwed || this.#voice.isBusy) this.#owed = this.#voice.manner;
      this.#held = true;
      this.#silence();
      this.#keys.take();
      this.#isCallerSpeaking = false;
      this.#idle?.pause();
    });
  }

  resume(how: Resumption): void {
    if (!this.#held) return;
    this.#held = false;
    if (this.#state === 'live') this.#attempt(() => this.#goOn(how));
  }

  close(): void {
    if (this.#state === 'closed') return;
    this.#tools.close();
    const split = this.#voice.speech?.stop(this.#context.playout.playedMs) ?? NOTHING;
    this.#voice.end();
    this.#turns.complete(split, { interrupted: split.unheard !== '' });
    this.#turns.close();
    this.#state = 'closed';
    this.#watch.close();
    this.#keys.take();
    this.#idle?.pause();
    this.#line.close();
  }

  get #isListening(): boolean {
    return this.#state === 'live' && !this.#held;
  }

  get #isInterruptible(): boolean {
    const { interruptible, turnTaking } = this.#options;
    return interruptible && (turnTaking.interruptibleGreeting || this.#voice.manner.isGreeting !== true);
  }

  #events(): RealtimeEvents {
    const events: Required<RealtimeEvents> = {
      ready: () => this.#watch.ready(),
      speechStarted: () => this.#callerSpeaks(),
      interrupted: () => this.#interrupt(),
      speechEnded: (speech) => this.#callerFinished(speech),
      userText: ({ itemId, text, final }) => this.#turns.userText(itemId, text, { isFinal: final }),
      responseStarted: () => this.#responseStarted(),
      audio: ({ itemId, audio }) => this.#spoken(itemId, audio),
      text: ({ itemId, delta }) => {
        this.#watch.alive();
        this.#voice.speech?.text(itemId, delta);
      },
      heardText: ({ itemId, text }) => this.#voice.speech?.replaceText(itemId, text),
      responseEnded: (end) => this.#responseEnded(end),
      usage: (usage) => countRealtime(this.#usage, usage),
      reconnected: ({ gapMs }) => this.#reconnected(gapMs),
      failed: (error) => this.#fail(error),
    };
    return guardEvents(events, {
      isLive: () => this.#state === 'live',
      isListening: () => this.#isListening,
      attempt: (task) => this.#attempt(task),
    });
  }

  #callerSpeaks(): void {
    this.#isCallerSpeaking = true;
    this.#turns.speechStarted();
    this.#idle?.callerActive();
  }

  #callerFinished({ itemId, agoMs }: EventOf<'speechEnded'>): void {
    this.#isCallerSpeaking = false;
    this.#idle?.callerActive();
    this.#turns.speechEnded(itemId, { agoMs });
    if (this.#isInterruptible) this.#watch.owes({ isAsked: false });
    else if (this.#voice.speech === undefined) this.#respond();
    else this.#owesCaller = true;
  }

  /** The caller takes the floor: in this tick the carrier is cleared, and the model told what was heard. */
  #interrupt(): void {
    const speech = this.#voice.speech;
    this.#watch.rest();
    if (speech === undefined) return;
    const split = speech.stop(this.#context.playout.clear());
    for (const item of split.cut) this.#line.ask((session) => session.truncate(item));
    this.#tools.release({ caughtUp: false });
    this.#endCall = false;
    this.#tools.settleEnd(speech, { callEnds: false });
    if (split.heard === '' && this.#turns.answersCaller) this.#turns.dropAnswer(split);
    else this.#turns.complete(split, { interrupted: !this.#held || split.unheard !== '' });
    this.#idle?.wait();
    this.#over();
  }

  /** The agent stops by our own will: the model has to be told that, too. */
  #silence(): void {
    this.#line.ask((session) => session.cancel());
    this.#interrupt();
  }

  #responseStarted(): void {
    if (this.#held) {
      this.#owed ??= {};
      this.#line.ask((session) => session.cancel());
      return;
    }
    this.#watch.began();
    this.#idle?.pause();
    if (this.#voice.speech !== undefined) this.#turns.answer();
    (this.#voice.speech ?? this.#voice.begin()).responseStarted();
  }

  #spoken(itemId: string, audio: Uint8Array): void {
    this.#watch.alive();
    if (this.#voice.speech?.isResponding) this.#voice.speech.push(itemId, this.#line.decode(itemId, audio));
  }

  #responseEnded({ toolCalls: calls, reason }: EventOf<'responseEnded'>): void {
    const speech = this.#voice.speech;
    this.#watch.ended();
    if (speech?.isResponding !== true) {
      this.#tools.refuse(calls);
      return;
    }
    if (calls.length > 0 && reason !== 'interrupted') {
      if (this.#tools.start(calls, speech)) this.#endCall = true;
    } else this.#tools.refuse(calls);
    speech.responseEnded();
  }

  /** A turn that the agent opens itself. */
  #say(manner: Manner & { readonly text: string }): void {
    this.#idle?.pause();
    this.#voice.begin(manner);
    this.#line.ask((session) => session.say(manner.text));
    this.#watch.owes({ isAsked: true });
  }

  #respond(): void {
    this.#line.ask((session) => session.respond());
    this.#watch.owes({ isAsked: true });
  }

  /** Is the answer over? Tools that were waiting for the caller to have heard everything go on. */
  #settle(): void {
    const speech = this.#voice.speech;
    if (speech === undefined || !speech.caughtUp || this.#watch.isOwed) return;
    this.#tools.release({ caughtUp: true });
    if (!speech.awaitsTools) this.#finished(speech);
  }

  #finished(speech: RealtimeSpeech): void {
    if (this.#endCall) this.#tools.settleEnd(speech, { callEnds: true });
    this.#turns.complete(speech.stop(this.#context.playout.playedMs), { interrupted: false });
    const { isLast } = this.#over();
    if (this.#endCall) this.#end('agent-hangup');
    else if (this.#owesCaller) {
      this.#owesCaller = false;
      this.#respond();
    } else if (isLast === true && !this.#isCallerSpeaking) this.#end('idle');
    else this.#idle?.wait();
  }

  /** The answer is over, and with it what was special about it. */
  #over(): Manner {
    const manner = this.#voice.end();
    if (manner.isGreeting === true && this.#options.interruptible)
      this.#line.ask((session) => session.update({ interruptible: true }));
    return manner;
  }

  /** The model has the results of tools. Who speaks now is answered with them anyway. */
  #resultsGiven(speech: RealtimeSpeech): void {
    if (this.#state !== 'live') return;
    if (this.#held) this.#owesResults = true;
    else if (speech === this.#voice.speech || !this.#isCallerSpeaking) this.#respond();
  }

  #yieldToKeys(): void {
    const isBusy = this.#voice.speech !== undefined || this.#watch.isOwed;
    if (isBusy && this.#isInterruptible && this.#options.turnTaking.keysInterrupt) this.#silence();
  }

  #keysComplete(keys: string): void {
    if (!this.#isListening) return;
    const text = keysAsText(keys);
    this.#yieldToKeys();
    this.#turns.pressed(text);
    this.#line.ask((session) => session.addText({ role: 'user', text }));
    if (this.#voice.speech === undefined) this.#respond();
    else this.#owesCaller = true;
  }

  /** After a hold: what it cut off is said after all where that is wanted. */
  #goOn(how: Resumption): void {
    const owed = how === 'continue' ? this.#owed : undefined;
    const owesAnswer = this.#owesResults || (owed !== undefined && owed.text === undefined);
    this.#owed = undefined;
    this.#owesResults = false;
    this.#idle?.wait();
    if (how === 'listen') this.#turns.complete(NOTHING, { interrupted: true });
    if (owesAnswer) this.#respond();
    else if (owed?.text !== undefined) this.#say({ text: owed.text, isLast: owed.isLast === true });
  }

  /** Another connection knows the conversation as text; what was under way is asked for again. */
  #reconnected(gapMs: number): void {
    const { callId, logger } = this.#context;
    logger.info({ callId, gapMs }, 'the connection to the realtime model is back');
    const wasResponding = this.#voice.speech?.isResponding === true;
    this.#isCallerSpeaking = false;
    if (this.#held || !(wasResponding || this.#watch.isOwed)) return;
    const { unsaid } = this.#voice;
    this.#line.ask((session) => (unsaid === undefined ? session.respond() : session.say(unsaid)));
    this.#watch.owes({ isAsked: true, waitedMs: gapMs });
    this.#voice.speech?.responseEnded();
  }

  /** The agent's voice is what has failed: the owner of the call tells the caller. */
  #fail(error: unknown): void {
    if (this.#state !== 'live') return;
    const { callId, logger, meters } = this.#context;
    logger.warn({ callId, ...describeError(error) }, REALTIME_FAILED);
    this.#failure = toRealtimeFailure(error);
    meters.providerFailed('engine', this.#failure.code);
    this.#interrupt();
    this.#end('provider-failed');
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
