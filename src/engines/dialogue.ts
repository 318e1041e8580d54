// Who has the floor: what follows from what the caller does for what the agent says, and the other way round.
import type { Clock } from '../base/clock.js';
import type { AgentVoice, Manner, Utterance } from './agent-voice.js';
import type { BargeIn, BargeInDecision } from './barge-in.js';
import type { CallerTurn } from './caller-turn.js';
import type { CallerWait } from './caller-wait.js';
import type { EndOfTurn } from './endpointing.js';
import type { Goodbye, Resumption } from './engine.js';
import type { IdlePrompts } from './idle-prompts.js';
import type { TurnTimes } from './pending-turn.js';
import { lastText, onlyText, type ReplySource, type ReplySplit } from './reply.js';
import type { SpokenSplit } from './speaker.js';
import type { TurnBook } from './turn-book.js';
import type { TurnLatencyMeter } from './turn-latency.js';

const NOTHING: SpokenSplit = { heard: '', unheard: '' };

export interface DialogueOptions {
  readonly clock: Clock;
  readonly caller: CallerTurn;
  readonly agent: AgentVoice;
  readonly turns: TurnBook;
  readonly bargeIn: BargeIn;
  readonly idle: IdlePrompts | undefined;
  readonly wait: CallerWait;
  readonly answer: ReplySource;
  readonly keysInterrupt: boolean;
  /** True while the caller is listened to. */
  readonly isListening: () => boolean;
  /** Asks the recogniser for what it still has. */
  readonly finishUtterance: () => void;
  /** No words have come of a sound: nobody waits any more, unless they may still come. */
  readonly wordless: () => void;
  /** The call was to end with what was said last, and nobody has objected. */
  readonly leave: (reason: Goodbye['reason']) => void;
}

/** A text of the agent, and how it is to be taken. */
interface Line {
  readonly text: string;
  readonly manner: Manner;
}

/** Who is cut off this often by sounds without words, finishes the sentence first. */
const MAX_RESUMPTIONS = 2;

/** How long an answer that another engine owed waits for words, where a sound cut it off before it was heard. */
const SOME_WORDS_MS = 300;

export class Dialogue {
  readonly #options: DialogueOptions;
  /** Rest of an answer that was cut off, until it is known that words were meant by it. */
  #cutOff: Line | undefined;
  /** What the agent says of itself, whose words may not have come to the voice yet. */
  #own: Line | undefined;
  /** How often it has gone on with such a rest since the caller last said something. */
  #resumptions = 0;

  constructor(options: DialogueOptions) {
    this.#options = options;
  }

  /** A frame of the caller has passed. */
  frame(voiced: boolean): void {
    const { agent, bargeIn } = this.#options;
    if (agent.isBusy) this.#decide(bargeIn.frame(voiced, agent.phase));
  }

  /** The caller has begun to make a sound, `beforeMs` before this frame. */
  speechStarted(beforeMs = 0): void {
    const { agent, bargeIn } = this.#options;
    if (agent.isBusy) bargeIn.speechStarted(beforeMs);
  }

  /** All that the caller has said so far. */
  words(text: string): void {
    const { agent, bargeIn, idle } = this.#options;
    idle?.callerActive();
    if (agent.isBusy) this.#decide(bargeIn.text(text, agent.phase));
  }

  /** The caller has gone quiet, or speaks without end. */
  quiet(end: EndOfTurn): void {
    const { agent, bargeIn, caller, wait, finishUtterance } = this.#options;
    wait.begin(end.endedAt);
    if (agent.isBusy) {
      if (!agent.yields) {
        finishUtterance();
        return;
      }
      this.#decide(bargeIn.silence());
      if (agent.isBusy) {
        caller.forgetSound();
        return;
      }
    }
    this.#awaitText(end);
  }

  /** A key was pressed: the first of them already interrupts the agent. Keys need no words to be meant. */
  keyPressed(): void {
    this.#options.idle?.callerActive();
    this.#yieldToKeys();
  }

  /** Who presses keys while the agent may not be interrupted is answered afterwards, like who speaks. */
  keysComplete(): void {
    this.#yieldToKeys();
    if (!this.#options.agent.isBusy) this.#takeUp();
  }

  /** What the caller says is complete: the agent's turn to speak. */
  callerComplete(times: TurnTimes | undefined): void {
    const { clock, agent, caller, turns, wordless, isListening, leave } = this.#options;
    if (!isListening()) return;
    if (agent.isBusy) {
      // The agent has begun to speak meanwhile. What it cannot be interrupted with is answered afterwards.
      if (!agent.yields || (caller.text === '' && !caller.hasKeys)) return;
      this.#interrupt();
    }
    const { said, startedAt } = caller.take(turns.userIndex);
    const cutOff = this.#cutOff;
    this.#cutOff = undefined;
    if (said === '' && (turns.userText ?? '') === '') {
      wordless();
      // It has cut the agent off: that goes on with what its tools gave, or with the sentence that was cut.
      if (agent.manner.ends === 'idle') leave('idle');
      else if (turns.isOwed) this.#respondAgain();
      else if (cutOff !== undefined) this.#resume(cutOff);
      return;
    }
    this.#resumptions = 0;
    const turn = turns.open(said, startedAt);
    if (times !== undefined) turn.latency.callerFinished(times, clock.now());
    this.#respond(turn, times);
  }

  /** A turn that the agent opens itself. */
  say(text: string, manner: Manner = {}): void {
    const { clock, turns } = this.#options;
    const { latency } = turns.open('', clock.wallNow());
    const source = manner.ends === undefined ? onlyText : lastText;
    const own = { text, manner };
    // Where nobody listens any more it waits for the end of the hold.
    if (!this.#begin({ latency, source: () => source(text), manner })) this.#cutOff = own;
    this.#own = own;
  }

  /** Says what an engine before this one has left of a goodbye. */
  sayGoodbye({ text = '', reason = 'agent-hangup' }: Partial<Goodbye> = {}): void {
    this.say(text, { ends: reason });
  }

  /** Nobody listens for a while: the agent stops in this tick. */
  hold(): void {
    const { bargeIn, idle, wait } = this.#options;
    bargeIn.reset();
    wait.end();
    this.#interrupt({ isHold: true });
    idle?.pause();
  }

  /** After a hold: words that came before it are answered, and what it cut off is said after all where that is wanted. */
  goOn(how: Resumption): void {
    const { caller, turns, idle } = this.#options;
    const cutOff = this.#cutOff;
    idle?.wait();
    if (how === 'listen') {
      this.#cutOff = undefined;
      turns.complete(NOTHING, { interrupted: true });
    }
    if (caller.text !== '' || caller.hasKeys) this.#takeUp();
    // A caller who was not transferred is told so.
    else if (turns.isOwed) this.#respondAgain();
    else if (how === 'listen') return;
    else if ((turns.userText ?? '') !== '') this.#respondAgain();
    else if (cutOff !== undefined) {
      this.#cutOff = undefined;
      this.#sayOn(cutOff);
    }
  }

  /** All of a reply was heard. `handOver` follows, unless the call ends with it. */
  finished(outcome: ReplySplit): void {
    const { bargeIn, caller, turns } = this.#options;
    bargeIn.reset();
    caller.agentSaid(outcome.heard);
    turns.complete(outcome, { interrupted: false });
    turns.answered();
  }

  /** The floor is the caller's. Returns false when the call was to end with what was said, and nobody objects. */
  handOver(): boolean {
    const { agent, caller, idle } = this.#options;
    // Words or keys that came while the agent could not be interrupted, or an agreement to what it said.
    if (this.#hasMore && !caller.isSounding) this.#takeUp();
    else if (agent.manner.ends === 'idle' && !this.#isOpposed) return false;
    else idle?.wait();
    return true;
  }

  /** True while the agent says what the call ends with, and nobody has to be heard before it does. */
  get isLeaving(): boolean {
    const { agent } = this.#options;
    return agent.isLeaving && (agent.manner.ends !== 'idle' || !this.#isOpposed);
  }

  /** Ends what is being said, and the open turn. */
  stop(): void {
    const { agent, turns } = this.#options;
    const split = agent.interrupt();
    turns.complete(split ?? NOTHING, { interrupted: split !== undefined });
  }

  /** The call is over. What was said and heard so far stands; words that nobody answered belong to the turn that is open. */
  close(): void {
    this.#conclude(this.#options.agent.close() ?? NOTHING, { isLast: true });
  }

  /**
   * Another engine takes the call over: as `close`, but that tools which run go on, and that words which nobody answered are a turn in
   * any case. `isHeld`: nobody listens, and what was cut off was so by that. `isCutOff`: the agent owed something, or was in the middle
   * of it. `goodbye`: what was left of what the call was to end with.
   */
  giveUp({ isHeld }: { isHeld: boolean }): { isCutOff: boolean; goodbye: Goodbye | undefined } {
    const { agent, turns } = this.#options;
    const wasBusy = agent.isBusy || this.#cutOff !== undefined;
    const split = agent.giveUp();
    const cutOff = isHeld ? this.#cutOff : undefined;
    const goodbye = this.#goodbyeOf(split === undefined ? cutOff : this.#unsaid(split));
    this.#conclude(split ?? NOTHING, { isLast: false });
    return { isCutOff: wasBusy || turns.isOwed, goodbye };
  }

  /** The caller is not idle. */
  get #isOpposed(): boolean {
    return this.#hasMore || this.#options.caller.isSounding;
  }

  get #hasMore(): boolean {
    const { caller } = this.#options;
    return caller.text !== '' || caller.hasKeys;
  }

  /** Who has said something all the same is answered first. */
  #goodbyeOf(line: Line | undefined): Goodbye | undefined {
    const reason = line?.manner.ends;
    if (line === undefined || reason === undefined || (reason === 'idle' && this.#hasMore)) return undefined;
    return { text: line.text, reason };
  }

  /** What is left to say of what was cut off, word for word. */
  #unsaid(split: ReplySplit): Line | undefined {
    const { heard, unheard, goodbye } = split;
    // Nothing of it was even begun.
    if (heard === '' && unheard === '' && this.#own !== undefined) return this.#own;
    return this.#lineOf(split, goodbye ?? unheard);
  }

  #lineOf({ goodbye }: ReplySplit, text: string): Line | undefined {
    const { manner } = this.#options.agent;
    const ends = goodbye === undefined ? undefined : (manner.ends ?? 'agent-hangup');
    if (text === '' && ends === undefined) return undefined;
    return { text, manner: { ...manner, cutsIn: false, ...(ends && { ends }) } };
  }

  #conclude(split: SpokenSplit, { isLast }: { isLast: boolean }): void {
    const { caller, turns } = this.#options;
    const end = { interrupted: split.unheard !== '' };
    if (split.heard !== '') turns.complete(split, end);
    const isOpen = turns.userText !== undefined;
    const { said, startedAt } = caller.take(turns.userIndex);
    if (said !== '' && (isOpen || !isLast)) turns.open(said, startedAt);
    if (isOpen && !isLast) turns.giveUp(split, end);
    else if (isOpen) turns.complete(split, end);
    else turns.complete(NOTHING, { interrupted: false });
  }

  /** The caller takes the floor: in this tick the carrier is cleared and language and voice are stopped. */
  #interrupt({ isHold = false } = {}): ReplySplit | undefined {
    const { agent, bargeIn, idle, turns, wait } = this.#options;
    const split = agent.interrupt();
    if (split === undefined) return undefined;
    // Who has heard nothing of it goes on waiting: words may come late that were said before.
    if (split.heard !== '') wait.end();
    bargeIn.reset();
    idle?.wait();
    if (split.heard === '' && turns.userText !== '') {
      turns.dropAnswer(split);
      return split;
    }
    // Who comes back after a hold has lost nothing of the sentence: it goes on where it was.
    this.#cutOff = isHold ? this.#unsaid(split) : this.#lineOf(split, split.rest);
    // What a hold came upon before it was heard is said in the same turn when it is over.
    if (split.heard === '' && isHold) turns.dropAnswer(split);
    else turns.complete(split, { interrupted: !isHold || split.unheard !== '' });
    return split;
  }

  #resume({ text, manner }: Line): void {
    this.#resumptions += 1;
    const isLastTry = this.#resumptions > MAX_RESUMPTIONS;
    this.#sayOn({ text, manner: isLastTry ? { ...manner, interruptible: false } : manner });
  }

  /** Of what the call was to end with, all may have been heard. */
  #sayOn({ text, manner }: Line): void {
    if (text === '' && manner.ends !== undefined) this.#options.leave(manner.ends);
    else this.say(text, manner);
  }

  #decide(decision: BargeInDecision): void {
    const { agent, caller } = this.#options;
    if (!agent.yields) return;
    if (decision === 'interrupt') this.#interrupt();
    else if (decision === 'dismiss') caller.dismiss();
  }

  /** What keys cut off is not said again. */
  #yieldToKeys(): void {
    const { agent, keysInterrupt } = this.#options;
    if (!keysInterrupt || !agent.yields) return;
    this.#interrupt();
    this.#cutOff = undefined;
  }

  #awaitText(end: EndOfTurn): void {
    const { caller, turns, wait } = this.#options;
    wait.begin(end.endedAt);
    const isResuming = this.#cutOff !== undefined || turns.isOwed;
    const longestMs = wait.isTakenOver ? SOME_WORDS_MS : Number.POSITIVE_INFINITY;
    caller.awaitText(end, { isResuming, longestMs });
  }

  /** Answers what has come while nobody could answer it. */
  #takeUp(): void {
    const { caller, clock } = this.#options;
    if (caller.text !== '') this.#awaitText({ endedAt: clock.now(), isCutShort: false });
    else if (caller.hasKeys) this.callerComplete(undefined);
  }

  #respond({ index, latency }: { index: number; latency: TurnLatencyMeter }, times?: TurnTimes): void {
    const { answer, clock, turns } = this.#options;
    const answers = { turnIndex: index, since: times?.speechEndedAt ?? clock.now() };
    const manner: Manner = { cutsIn: times?.isCutShort === true };
    this.#begin({ latency, source: answer, awaited: turns.unsettled, answers, manner });
  }

  /** Nobody has said anything more. */
  #respondAgain(): void {
    const { clock, turns } = this.#options;
    this.#respond(turns.open('', clock.wallNow()));
  }

  #begin(utterance: Utterance): boolean {
    const { agent, bargeIn, idle } = this.#options;
    this.#own = undefined;
    bargeIn.reset();
    idle?.pause();
    return agent.say(utterance);
  }
}
