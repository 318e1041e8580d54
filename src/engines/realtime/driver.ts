// The floor of a call with a realtime model at work: tells the machine what the caller and the model do, and does what it decides.
// Whether the model is still any good is judged here, too.
import {
  type FloorInput,
  type FloorPolicy,
  type FloorState,
  type Goodbye,
  isAside,
  isLeaving,
  type Manner,
  owedOf,
  owesMore,
  type Utterance,
  utteranceOf,
  type View,
} from '../../conversation/floor.js';
import type { VoiceView } from '../../conversation/phase.js';
import type { Leaving } from '../../conversation/state.js';
import { back, began, cameToNothing, ended, owesCaller, rest } from '../../conversation/watch.js';
import type { RealtimeEvents } from '../../providers/realtime-model.js';
import type { Conversation, Driver, DriverEffect } from '../conversation.js';
import type { EngineContext } from '../engine.js';
import { keysAsText } from '../pressed-keys.js';
import type { RealtimeCallOptions } from './call-options.js';
import { silent } from '../failure.js';
import { RealtimeFillers } from './fillers.js';
import type { RealtimeLine } from './line.js';
import { RealtimeSpeech, type RealtimeSplit } from './speech.js';
import type { RealtimeTools } from './tools.js';
import type { RealtimeWatch } from './watch.js';
import type { ToolRun } from '../tools/tool-run.js';
import type { AnswerSplit, TurnBook } from '../turn-book.js';

type EventOf<Name extends keyof RealtimeEvents> = Parameters<Required<RealtimeEvents>[Name]>[0];

export interface RealtimeDriverOptions {
  readonly context: Pick<EngineContext, 'playout' | 'clock'>;
  readonly conversation: Conversation;
  readonly settings: Pick<RealtimeCallOptions, 'interruptible' | 'turnTaking' | 'idle'>;
  readonly line: RealtimeLine;
  readonly turns: TurnBook;
  readonly tools: RealtimeTools;
  readonly watch: RealtimeWatch;
  /** The model owed something, was asked for it again, and gave nothing. */
  readonly silent: () => void;
  /** Everything that came so far has been heard, and no response is under way. */
  readonly caughtUp: () => void;
  /** An answer has more text than anybody would listen to. */
  readonly tooMuch: () => void;
}

/** A model that breaks so many connections off when it is asked gives no answer on the next one either. */
const MAX_BARREN = 3;

const NOTHING: AnswerSplit = { heard: '', unheard: '' };

/** What a realtime model knows by itself the machine is not told. */
const NO_TURN = { userText: undefined, isOwed: false, hasNews: false };

export class RealtimeDriver implements Driver {
  readonly policy: FloorPolicy;
  readonly #options: RealtimeDriverOptions;
  readonly #fillers: RealtimeFillers;
  /** The answer that is on; undefined while the agent has nothing to say. */
  #speech: RealtimeSpeech | undefined;
  #isCallerSpeaking = false;
  /** Another engine goes on, and brings a goodbye to its end. */
  #isGivenUp = false;
  /** The account of what was stopped, or has come to its end, last. */
  #split: RealtimeSplit | undefined;
  /** Keys that were pressed, in words. */
  #pressed = '';
  /** Connections that were asked, one after the other, and lost before anything was heard. */
  #barren = 0;
  /** An answer was empty, and is asked for once more. */
  #isRepeated = false;
  /** The caller has heard in this answer that it takes a moment. */
  #hasFilled = false;

  constructor(options: RealtimeDriverOptions) {
    this.#options = options;
    const { context, settings, tools, watch } = options;
    const { interruptible, turnTaking, idle } = settings;
    const { fillers: phrases, fillerAfterMs: afterMs, keysInterrupt } = turnTaking;
    this.policy = { interruptible, keysInterrupt, idle, endsTurns: true };
    this.#fillers = new RealtimeFillers({
      clock: context.clock,
      phrases,
      afterMs,
      isRunning: () => tools.isRunning,
      isListening: () => !this.isHeld && !this.#isCallerSpeaking,
      soundsUntil: () => watch.soundsUntil,
      say: (phrase) => this.#fill(phrase),
    });
  }

  /** The call is about to end. Idempotent. */
  close(): void {
    this.#fillers.close();
    this.#tell({ type: 'ending' });
  }

  get isHeld(): boolean {
    return this.#options.conversation.isHeld;
  }

  /** True while the agent says what the call ends with, and nobody has to be heard before it does. */
  get isLeaving(): boolean {
    return isLeaving(this.#state, this.view);
  }

  get speech(): RealtimeSpeech | undefined {
    return this.#speech;
  }

  /** True when the agent owes something, or is in the middle of it. */
  get isBusy(): boolean {
    const { watch } = this.#options;
    const { floor, isCallerOwed } = this.#state;
    const utterance = utteranceOf(this.#state);
    const isSpeaking = this.#speech?.caughtUp === false || this.#speech?.awaitsTools === true;
    if (isAside(utterance)) return owesMore(utterance) || isCallerOwed;
    const owes = floor.phase === 'held' && (owesMore(floor.rest) || floor.owes.answer || floor.owes.results);
    return isSpeaking || watch.isOwed || isCallerOwed || owes;
  }

  /** Another engine goes on: the agent stops in this tick. Returns what was left of what it was told to say, or what the call was to end with. */
  giveUp(): Pick<Leaving, 'goodbye' | 'rest'> {
    const { floor } = this.#state;
    const words = floor.phase === 'held' ? floor.rest : (utteranceOf(this.#state) ?? null);
    const left = owedOf(words);
    const reason = this.#endReasonOf(left?.manner ?? {});
    const text = left?.text ?? '';
    this.#split = undefined;
    this.#isGivenUp = true;
    this.#tell({ type: 'cut-off' });
    const { heard, unheard } = this.#split ?? NOTHING;
    // Nothing of it was begun.
    if (isAside(words)) {
      if (reason !== undefined) return { goodbye: { text, reason } };
      return { goodbye: undefined, rest: left && { text, manner: left.manner } };
    }
    // What it was told to say it may not have told us.
    const isKnown = text.startsWith(heard) && text !== '';
    const rest = isKnown ? text.slice(heard.length).trim() : unheard;
    if (reason !== undefined) return { goodbye: { text: rest, reason } };
    return {
      goodbye: undefined,
      rest: isKnown && rest !== '' ? { text: rest, manner: left?.manner ?? {} } : null,
    };
  }

  /** The connection is gone. What is left of what the agent was told to say; undefined where it was told nothing, or that is complete. */
  breakOff(): string | undefined {
    const told = utteranceOf(this.#state)?.text ?? null;
    return told === null ? undefined : this.#speech?.breakOff(told);
  }

  /** The call is over. What was said and heard so far stands. */
  conclude(): void {
    const { context, turns } = this.#options;
    const split = this.#speech?.stop(context.playout.playedMs) ?? NOTHING;
    this.#over();
    turns.complete(split, { interrupted: split.unheard !== '' });
  }

  /** Nobody listens for a while: the agent stops in this tick. */
  hold(): void {
    this.#isCallerSpeaking = false;
    this.#tell({ type: 'hold' });
  }

  /** The caller has begun to speak. */
  callerSpeaks(): void {
    this.#isCallerSpeaking = true;
    this.#options.turns.speechStarted();
    this.#tell({ type: 'caller.active' });
  }

  callerFinished({ itemId, agoMs }: EventOf<'speechEnded'>): void {
    this.#isCallerSpeaking = false;
    this.#options.turns.speechEnded(itemId, { agoMs });
    this.#tell({ type: 'caller.finished', agoMs });
  }

  audio(itemId: string, audio: Uint8Array): void {
    const { line, watch } = this.#options;
    this.#barren = 0;
    const speech = this.#speech;
    if (speech?.isResponding !== true) {
      watch.alive();
      return;
    }
    const wasDry = speech.isDry;
    watch.alive(speech.push(itemId, line.voiceOf(itemId, audio)));
    if (wasDry) this.#options.conversation.look();
  }

  text(itemId: string, delta: string): void {
    if (this.#speech?.text(itemId, delta) === true) this.#options.watch.alive();
  }

  responseEnded({ toolCalls: calls, reason }: EventOf<'responseEnded'>): void {
    const { tools, watch } = this.#options;
    const speech = this.#speech;
    watch.tell(ended);
    if (speech?.isResponding !== true) {
      tools.refuse(calls);
      return;
    }
    if (calls.length > 0 && reason !== 'interrupted') {
      if (tools.start(calls, speech)) this.#tell({ type: 'ends' });
      this.#fillers.arm();
    } else tools.refuse(calls);
    // A phrase while a tool ran is no answer.
    const hasAnswered = this.#hasFilled ? speech.hasResponseAudio : speech.hasAudio;
    const isEmpty = calls.length === 0 && reason !== 'interrupted' && !hasAnswered;
    if (isEmpty && this.#cameToNothing(speech)) return;
    if (!isEmpty) this.#isRepeated = false;
    speech.responseEnded();
  }

  respond(): void {
    const { line, watch } = this.#options;
    line.ask((session) => session.respond());
    watch.owes({ isAsked: true });
  }

  /** An answer without a sound: where one is owed it is asked for once more, and then given up. Returns true for the end of the call. */
  #cameToNothing(speech: RealtimeSpeech): boolean {
    const { line, silent, turns, watch } = this.#options;
    const text = utteranceOf(this.#state)?.text ?? null;
    const isSure = text !== null || speech.roundCount > 0 || turns.answers === 'words';
    const wasRepeated = this.#isRepeated;
    this.#isRepeated = !wasRepeated && (isSure || turns.answers === 'unknown');
    if (this.#isRepeated) {
      line.ask((session) => (text === null ? session.respond() : session.say(text)));
      watch.tell(cameToNothing);
    } else if (wasRepeated && isSure) {
      silent();
      return true;
    }
    return false;
  }

  /** Is the answer over? Tools that were waiting for the caller to have heard everything go on. */
  settle(): void {
    const { tools, watch } = this.#options;
    const speech = this.#speech;
    if (speech === undefined || !speech.caughtUp) return;
    if (!watch.isOwed) tools.release({ caughtUp: true });
    if (watch.isOwed || speech.awaitsTools) this.#options.conversation.look();
    else this.#finished(speech);
  }

  /** Tools that an engine before this one has begun. */
  adopt(runs: readonly ToolRun[]): void {
    this.#options.tools.adopt(runs);
    this.#fillers.arm();
  }

  /** The model has the results of tools. */
  resultsGiven(speech: RealtimeSpeech | undefined): void {
    this.#tell({ type: 'results', isCurrent: speech === this.#speech });
  }

  keysComplete(keys: string): void {
    this.#pressed = keysAsText(keys);
    this.#tell({ type: 'keys.complete' });
  }

  /**
   * Another connection knows the conversation as text; what was under way is asked for again, unless it comes by itself.
   * @throws ProviderError when that has come to nothing too often
   */
  reconnected({ gapMs, hearsAgain = false }: EventOf<'reconnected'>): void {
    const { line, watch } = this.#options;
    const wasResponding = this.#speech?.isResponding === true;
    this.#isCallerSpeaking = false;
    watch.tell(back);
    if (this.isHeld || !(wasResponding || watch.isOwed)) return;
    this.#barren += 1;
    if (this.#barren > MAX_BARREN) throw silent('realtime model');
    const left = this.breakOff();
    const isAsked = left !== undefined || !hearsAgain;
    if (left === '') watch.tell(ended);
    else {
      if (isAsked) line.ask((session) => (left === undefined ? session.respond() : session.say(left)));
      watch.owes({ isAsked, waitedMs: gapMs });
    }
    this.#speech?.responseEnded();
    this.#options.conversation.look();
  }

  /** Why the call ends with what is said so; undefined where it goes on. A caller who has something to say is not idle. */
  #endReasonOf({ ends }: Manner): Goodbye['reason'] | undefined {
    return ends === 'idle' && (this.#state.isCallerOwed || this.#isCallerSpeaking) ? undefined : ends;
  }

  /** Owed to nobody: a model that says nothing now is not given up for it. A response may be under way that has not sounded yet. */
  #fill(phrase: string): void {
    const { line, tools, watch } = this.#options;
    if (!line.isReady || watch.isOwed || this.#speech?.isResponding === true) return;
    this.#hasFilled = true;
    line.ask((session) => {
      if (session.fill !== undefined) session.fill(phrase);
      else if (tools.postpone()) session.respond();
      else session.say(phrase);
    });
  }

  #finished(speech: RealtimeSpeech): void {
    const { context, tools } = this.#options;
    tools.settleEnd(speech, this.#state.manner.ends === 'agent-hangup' ? 'ends' : 'goes-on');
    this.#split = speech.stop(context.playout.playedMs);
    this.#tell({ type: 'finished' });
    this.#tell({ type: 'over' });
  }

  get #state(): FloorState {
    return this.#options.conversation.floor;
  }

  #tell(input: FloorInput): void {
    this.#options.conversation.tell(input);
  }

  /** An answer may follow on tools that an engine before this one has begun. */
  get isAwaited(): boolean {
    const { tools, turns, watch } = this.#options;
    return watch.isOwed || (turns.isOwed && tools.isRunning);
  }

  get sound(): VoiceView {
    return { isDry: this.#speech?.isDry === true, isFilling: false };
  }

  get view(): View {
    const { tools, watch } = this.#options;
    const isSounding = this.#isCallerSpeaking;
    return {
      isListening: !this.isHeld,
      maySpeak: true,
      caller: { hasText: false, hasKeys: false, isSounding, isActive: isSounding || watch.isOwed },
      turn: NO_TURN,
      isTakenOver: false,
      isAwaited: watch.isOwed,
      isCaughtUp: this.#speech?.caughtUp ?? true,
      awaitsTools: tools.isAwaited,
    };
  }

  perform(effect: DriverEffect): void {
    const { line, tools, turns, watch } = this.#options;
    switch (effect.type) {
      case 'say': {
        const { utterance } = effect;
        const text = utterance?.text ?? null;
        if (text === null) break;
        if (isAside(utterance)) turns.aside();
        else turns.answer();
        // Who was told of the turn may have stopped it.
        if (utterance === null || utteranceOf(this.#state)?.id !== utterance.id) break;
        this.#begin(utterance);
        line.ask((session) => session.say(text));
        watch.owes({ isAsked: true });
        break;
      }
      case 'respond':
        this.respond();
        break;
      case 'expect-answer':
        watch.tell((owing, at) => owesCaller(owing, { agoMs: effect.agoMs, at }));
        break;
      case 'begin-answer': {
        watch.tell(began);
        turns.answer();
        if (this.#speech?.hasAudio === true) turns.noAside();
        const utterance = utteranceOf(this.#state);
        if (utterance !== undefined) (this.#speech ?? this.#begin(utterance)).responseStarted();
        break;
      }
      case 'suppress':
        line.ask((session) => session.cancel());
        break;
      case 'postpone-tools':
        tools.postpone();
        break;
      case 'tell-keys': {
        const text = this.#pressed;
        turns.pressed(text);
        line.ask((session) => session.addText({ role: 'user', text }));
        break;
      }
      case 'interruptible':
        line.ask((session) => session.update({ interruptible: effect.value }));
        break;
      case 'stop':
        if (effect.isOwn) line.ask((session) => session.cancel());
        this.#stop();
        break;
      case 'complete-turn': {
        const split = effect.with === 'account' ? this.#split : undefined;
        turns.complete(split ?? NOTHING, { interrupted: effect.interrupted });
        if (split !== undefined) this.#over();
        break;
      }
      case 'drop-answer':
        if (this.#split !== undefined) turns.dropAnswer(this.#split);
        this.#over();
        break;
      // A realtime model hears the caller by itself, and its watch knows how long they wait.
      default:
        break;
    }
  }

  #stop(): void {
    const { context, line, tools, watch } = this.#options;
    const speech = this.#speech;
    watch.tell(rest);
    if (speech === undefined) {
      this.#tell({ type: 'stopped', account: null });
      return;
    }
    const split = speech.stop(context.playout.clear());
    watch.silenced();
    for (const item of split.cut) line.ask((session) => session.truncate(item));
    tools.release({ caughtUp: false });
    tools.settleEnd(speech, this.#isGivenUp ? 'ends-later' : 'goes-on');
    this.#split = split;
    const { heard, unheard } = split;
    this.#tell({
      type: 'stopped',
      account: { heard, unheard, rest: '', isOwed: false, goodbye: undefined },
    });
  }

  /** The answer is over, and with it what was special about it. */
  #over(): void {
    this.#speech = undefined;
    this.#hasFilled = false;
  }

  #begin({ id }: Pick<Utterance, 'id'>): RealtimeSpeech {
    const { caughtUp, context, tooMuch, turns } = this.#options;
    this.#speech = new RealtimeSpeech({
      id: `answer-${id}`,
      playout: context.playout,
      clock: context.clock,
      events: {
        firstFrameSent: (at) => {
          turns.firstFrameSent(at);
          this.#tell({ type: 'audible' });
        },
        firstFrameHeard: (at) => turns.firstFrameHeard(at),
        spoken: (text) => turns.spoken(text),
        caughtUp,
        tooMuch,
      },
    });
    return this.#speech;
  }
}
