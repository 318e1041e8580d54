// Who has the floor in a call with a realtime model: what follows from what the caller and the model do, for what is heard and asked.
import { keysAsText } from './pressed-keys.js';
import type { RealtimeEvents } from '../providers/realtime-model.js';
import type { EngineContext, Goodbye, Resumption } from './engine.js';
import type { IdlePrompts } from './idle-prompts.js';
import { isOpeningInterruptible, type RealtimeCallOptions } from './realtime-call-options.js';
import { RealtimeHold } from './realtime-hold.js';
import type { RealtimeLine } from './realtime-line.js';
import type { RealtimeSpeech } from './realtime-speech.js';
import type { RealtimeTools } from './realtime-tools.js';
import type { RealtimeTurns } from './realtime-turns.js';
import type { Manner, RealtimeVoice } from './realtime-voice.js';
import type { RealtimeWatch } from './realtime-watch.js';
import type { AnswerSplit } from './turn-book.js';

type EventOf<Name extends keyof RealtimeEvents> = Parameters<Required<RealtimeEvents>[Name]>[0];

export interface RealtimeDialogueOptions {
  readonly context: Pick<EngineContext, 'playout'>;
  readonly settings: Pick<RealtimeCallOptions, 'interruptible' | 'turnTaking'>;
  readonly line: RealtimeLine;
  readonly turns: RealtimeTurns;
  readonly voice: RealtimeVoice;
  readonly tools: RealtimeTools;
  readonly watch: RealtimeWatch;
  readonly idle: IdlePrompts | undefined;
  /** The call is to end: what was said last has been heard. */
  readonly ends: (reason: 'agent-hangup' | 'idle') => void;
}

const NOTHING: AnswerSplit = { heard: '', unheard: '' };

export class RealtimeDialogue {
  readonly #options: RealtimeDialogueOptions;
  readonly #hold = new RealtimeHold();
  #isCallerSpeaking = false;
  #endCall = false;
  /** The caller has said something that is answered when the agent has finished. */
  #owesCaller = false;

  constructor(options: RealtimeDialogueOptions) {
    this.#options = options;
  }

  get isHeld(): boolean {
    return this.#hold.isOn;
  }

  get isCallerSpeaking(): boolean {
    return this.#isCallerSpeaking;
  }

  /** True when the agent owes something, or is in the middle of it. */
  get isBusy(): boolean {
    const { voice, watch } = this.#options;
    const isSpeaking = voice.isBusy || voice.speech?.awaitsTools === true;
    return isSpeaking || watch.isOwed || this.#owesCaller || this.#hold.owes;
  }

  /** Another engine goes on: the agent stops in this tick. Returns what was left of what the call was to end with. */
  giveUp(): Goodbye | undefined {
    const manner = this.#hold.manner ?? this.#options.voice.manner;
    const reason = this.#endReasonOf(manner);
    const { text = '' } = manner;
    const { heard, unheard } = this.#stop() ?? NOTHING;
    if (reason === undefined) return undefined;
    // What it was told to say it may not have told us.
    const isKnown = text.startsWith(heard) && text !== '';
    return { text: isKnown ? text.slice(heard.length).trim() : unheard, reason };
  }

  /** Nobody listens for a while: the agent stops in this tick. */
  hold(): void {
    const { idle, voice, watch } = this.#options;
    this.#hold.begin(watch.isOwed || voice.isBusy ? voice.manner : undefined);
    this.#silence();
    this.#isCallerSpeaking = false;
    idle?.pause();
  }

  /** After a hold: what it cut off is said after all where that is wanted. `isLive`: there is anything to go on with. */
  resume(how: Resumption, { isLive }: { isLive: boolean }): void {
    const owed = this.#hold.end(how);
    if (!isLive) return;
    const { idle, turns } = this.#options;
    idle?.wait();
    if (how === 'listen') turns.complete(NOTHING, { interrupted: true });
    const { text, isGreeting = false } = owed ?? {};
    if (isGreeting && !isOpeningInterruptible(this.#options.settings, { isGreeting }))
      this.#options.line.ask((session) => session.update({ interruptible: false }));
    if (text !== undefined) this.say({ ...owed, text });
    else if (owed !== undefined) this.respond();
  }

  /** The caller has begun to speak. */
  callerSpeaks(): void {
    const { idle, turns } = this.#options;
    this.#isCallerSpeaking = true;
    turns.speechStarted();
    idle?.callerActive();
  }

  callerFinished({ itemId, agoMs }: EventOf<'speechEnded'>): void {
    const { idle, turns, voice, watch } = this.#options;
    this.#isCallerSpeaking = false;
    idle?.callerActive();
    turns.speechEnded(itemId, { agoMs });
    if (this.#isInterruptible) watch.owesCaller(agoMs);
    else if (voice.speech === undefined) this.respond();
    else this.#owesCaller = true;
  }

  /** The caller takes the floor: in this tick the carrier is cleared, and the model told what was heard. */
  interrupt(): void {
    this.#stop();
  }

  #stop(): AnswerSplit | undefined {
    const { context, idle, line, tools, turns, voice, watch } = this.#options;
    const { speech } = voice;
    watch.rest();
    if (speech === undefined) return undefined;
    const split = speech.stop(context.playout.clear());
    for (const item of split.cut) line.ask((session) => session.truncate(item));
    tools.release({ caughtUp: false });
    this.#endCall = false;
    tools.settleEnd(speech, { callEnds: false });
    // Where nobody has heard anything the turn goes on: with what the caller says, by another engine, or after a hold.
    if (split.heard === '') turns.dropAnswer(split);
    else turns.complete(split, { interrupted: !this.isHeld || split.unheard !== '' });
    idle?.wait();
    this.#over();
    return split;
  }

  responseStarted(): void {
    const { idle, line, turns, voice, watch } = this.#options;
    if (this.isHeld) {
      this.#hold.kept();
      line.ask((session) => session.cancel());
      return;
    }
    // What nobody has asked for is the model's own answer to the caller.
    if (!watch.isOwed) this.#owesCaller = false;
    watch.began();
    idle?.pause();
    if (voice.speech !== undefined) turns.answer();
    (voice.speech ?? voice.begin()).responseStarted();
  }

  audio(itemId: string, audio: Uint8Array): void {
    const { line, voice, watch } = this.#options;
    watch.alive();
    if (voice.speech?.isResponding) voice.speech.push(itemId, line.voiceOf(itemId, audio));
  }

  text(itemId: string, delta: string): void {
    const { voice, watch } = this.#options;
    if (voice.speech?.text(itemId, delta) === true) watch.alive();
  }

  responseEnded({ toolCalls: calls, reason }: EventOf<'responseEnded'>): void {
    const { tools, voice, watch } = this.#options;
    const { speech } = voice;
    watch.ended();
    if (speech?.isResponding !== true) {
      tools.refuse(calls);
      return;
    }
    if (calls.length > 0 && reason !== 'interrupted') {
      if (tools.start(calls, speech)) this.#endCall = true;
    } else tools.refuse(calls);
    speech.responseEnded();
  }

  /** A turn that the agent opens itself. */
  say(manner: Manner & { readonly text: string }): void {
    const { idle, line, voice, watch } = this.#options;
    idle?.pause();
    this.#endCall = manner.isGoodbye === true;
    voice.begin(manner);
    line.ask((session) => session.say(manner.text));
    watch.owes({ isAsked: true });
  }

  respond(): void {
    const { line, watch } = this.#options;
    line.ask((session) => session.respond());
    watch.owes({ isAsked: true });
  }

  /** Is the answer over? Tools that were waiting for the caller to have heard everything go on. */
  settle(): void {
    const { tools, voice, watch } = this.#options;
    const { speech } = voice;
    if (speech === undefined || !speech.caughtUp || watch.isOwed) return;
    tools.release({ caughtUp: true });
    if (!speech.awaitsTools) this.#finished(speech);
  }

  /** The model has the results of tools. Who speaks now is answered with them anyway. */
  resultsGiven(speech: RealtimeSpeech | undefined): void {
    if (this.isHeld) this.#hold.keptResults();
    else if (speech === this.#options.voice.speech || !this.#isCallerSpeaking) this.respond();
  }

  /** A key was pressed: the first of them already interrupts the agent. */
  keyPressed(): void {
    this.#options.idle?.callerActive();
    this.#yieldToKeys();
  }

  keysComplete(keys: string): void {
    const { line, turns, voice } = this.#options;
    const text = keysAsText(keys);
    this.#yieldToKeys();
    turns.pressed(text);
    line.ask((session) => session.addText({ role: 'user', text }));
    if (voice.speech === undefined) this.respond();
    else this.#owesCaller = true;
  }

  /** Another connection knows the conversation as text; what was under way is asked for again, unless it comes by itself. */
  reconnected({ gapMs, hearsAgain = false }: EventOf<'reconnected'>): void {
    const { line, voice, watch } = this.#options;
    const wasResponding = voice.speech?.isResponding === true;
    this.#isCallerSpeaking = false;
    watch.back();
    if (this.isHeld || !(wasResponding || watch.isOwed)) return;
    const left = voice.breakOff();
    const isAsked = left !== undefined || !hearsAgain;
    if (left === '') watch.ended();
    else {
      if (isAsked) line.ask((session) => (left === undefined ? session.respond() : session.say(left)));
      watch.owes({ isAsked, waitedMs: gapMs });
    }
    voice.speech?.responseEnded();
  }

  /** Why the call ends with what is said so; undefined where it goes on. A caller who has something to say is not idle. */
  #endReasonOf({ isLast = false, isGoodbye = false }: Manner): Goodbye['reason'] | undefined {
    if (this.#endCall || isGoodbye) return 'agent-hangup';
    return isLast && !this.#owesCaller && !this.#isCallerSpeaking ? 'idle' : undefined;
  }

  get #isInterruptible(): boolean {
    const { settings, voice } = this.#options;
    return isOpeningInterruptible(settings, { isGreeting: voice.manner.isGreeting === true });
  }

  /** The agent stops by our own will: the model has to be told that, too. */
  #silence(): void {
    this.#options.line.ask((session) => session.cancel());
    this.interrupt();
  }

  #yieldToKeys(): void {
    const { settings, voice, watch } = this.#options;
    const isBusy = voice.speech !== undefined || watch.isOwed;
    if (isBusy && this.#isInterruptible && settings.turnTaking.keysInterrupt) this.#silence();
  }

  #finished(speech: RealtimeSpeech): void {
    const { context, ends, idle, tools, turns } = this.#options;
    if (this.#endCall) tools.settleEnd(speech, { callEnds: true });
    turns.complete(speech.stop(context.playout.playedMs), { interrupted: false });
    const { isLast } = this.#over();
    if (this.#endCall) ends('agent-hangup');
    else if (this.#owesCaller) {
      this.#owesCaller = false;
      this.respond();
    } else if (isLast === true && !this.#isCallerSpeaking) ends('idle');
    else idle?.wait();
  }

  /** The answer is over, and with it what was special about it. */
  #over(): Manner {
    const { line, settings, voice } = this.#options;
    const manner = voice.end();
    if (manner.isGreeting === true && settings.interruptible)
      line.ask((session) => session.update({ interruptible: true }));
    return manner;
  }
}
