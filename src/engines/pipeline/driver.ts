// The floor of a pipeline call at work: tells the machine what the caller and the agent do, and does what it decides.
import type { EndOfTurn, TurnTimes } from '../../conversation/floor.js';
import type { Clock } from '../../base/clock.js';
import {
  type FloorInput,
  type FloorPolicy,
  type FloorState,
  goodbyeOf,
  isAside,
  isLeaving,
  isWordForWord,
  owedOf,
  owesMore,
  type Utterance,
  unsaidOf,
  utteranceOf,
  type View,
  yields,
} from '../../conversation/floor.js';
import type { SpokenPiece } from '../../conversation/language.js';
import { LIMITS } from '../../conversation/limits.js';
import type { VoiceView } from '../../conversation/phase.js';
import type { Leaving } from '../../conversation/state.js';
import type { AgentVoice } from './speaking/agent-voice.js';
import type { BargeIn, BargeInDecision } from './hearing/barge-in.js';
import type { CallerTurn } from './hearing/caller-turn.js';
import type { CallerWait } from './caller-wait.js';
import type { Conversation, Driver, DriverEffect } from '../conversation.js';
import { lastText, onlyText, type ReplySource, type ReplySplit } from './speaking/reply.js';
import type { SpokenSplit } from './speaking/speaker.js';
import type { ToolRun } from '../tools/tool-run.js';
import type { AnswerLatency, TurnBook } from '../turn-book.js';

const NOTHING: SpokenSplit = { heard: '', unheard: '' };

export interface PipelineDriverOptions {
  readonly clock: Clock;
  readonly conversation: Conversation;
  readonly caller: CallerTurn;
  readonly agent: AgentVoice;
  readonly turns: TurnBook;
  readonly bargeIn: BargeIn;
  readonly wait: CallerWait;
  readonly answer: ReplySource;
  readonly policy: FloorPolicy;
  /** True while the caller is listened to. */
  readonly isListening: () => boolean;
  /** Asks the recognizer for what it still has. */
  readonly finishUtterance: () => void;
  /** A turn of the caller is complete, before it is answered: the pieces of it whose language is known. */
  readonly spoken: (pieces: readonly SpokenPiece[], turnIndex: number) => void;
  /** No words have come of a sound: nobody waits any more, unless they may still come. */
  readonly wordless: () => void;
}

const MEANINGS = { interrupt: 'interrupted', pause: 'doubted', dismiss: 'signed' } as const;

export class PipelineDriver implements Driver {
  readonly policy: FloorPolicy;
  readonly #options: PipelineDriverOptions;
  /** The account of what was stopped, or has come to its end, last. */
  #split: ReplySplit | undefined;

  constructor(options: PipelineDriverOptions) {
    this.#options = options;
    this.policy = options.policy;
  }

  /** True while the agent says what the call ends with, and nobody has to be heard before it does. */
  get isLeaving(): boolean {
    return isLeaving(this.#state, this.view);
  }

  /** A frame of the caller has passed. */
  frame(voiced: boolean): void {
    const { agent, bargeIn } = this.#options;
    if (this.#isBusy) this.#decide(bargeIn.frame(voiced, agent.interruptibility, () => agent.ignoresSound()));
  }

  /** The caller has begun to make a sound, `beforeMs` before this frame. */
  speechStarted(beforeMs = 0): void {
    if (this.#isBusy) this.#options.bargeIn.speechStarted(beforeMs);
    this.#options.conversation.look();
  }

  /** All that the caller has said so far. */
  words(text: string, { isFinal }: { isFinal: boolean }): void {
    const { agent, bargeIn } = this.#options;
    this.#tell({ type: 'caller.active' });
    if (this.#isBusy) this.#decide(bargeIn.text(text, agent.interruptibility, { isFinal }));
  }

  /** The caller has gone quiet, or speaks without end. */
  quiet(end: EndOfTurn): void {
    const { bargeIn, clock } = this.#options;
    const isInDoubt = yields(this.#state, clock.now(), this.#options.policy);
    const decision = isInDoubt ? bargeIn.silence() : 'wait';
    const means = decision === 'wait' || decision === 'pause' ? 'unknown' : MEANINGS[decision];
    this.#tell({ type: 'quiet', end, means });
  }

  /** Says `text` as the last words of what is being said. `begins`: the voice gives the first audio of a sentence of it. */
  conclude(text: string, begins?: () => void): void {
    this.#tell({ type: 'goes-on' });
    this.#options.agent.conclude(text, begins);
  }

  /** All of a reply was heard. `over` follows, unless the call has failed. */
  finished(outcome: ReplySplit): void {
    this.#split = outcome;
    this.#options.bargeIn.reset();
    this.#options.caller.agentSaid(outcome.heard);
    this.#tell({ type: 'finished' });
  }

  /** Ends what is being said, and the open turn. */
  stop(): void {
    const { agent, turns } = this.#options;
    const split = agent.interrupt();
    this.#tell({ type: 'end' });
    turns.complete(split ?? NOTHING, { interrupted: split !== undefined });
  }

  /** The call is over. What was said and heard so far stands; words that nobody answered belong to the turn that is open. */
  close(): void {
    this.#tell({ type: 'end' });
    this.#conclude(this.#options.agent.close() ?? NOTHING, { isLast: true });
  }

  /**
   * Another engine takes the call over: as `close`, but that tools which run go on, and that words which nobody answered are a turn in
   * any case. `isHeld`: nobody listens, and what was cut off was so by that. `isCutOff`: the agent owed something, or was in the middle
   * of it. `goodbye`: what was left of what the call was to end with. `rest`: the same of other words that nobody has to be asked for.
   */
  giveUp({ isHeld }: { isHeld: boolean }): Pick<Leaving, 'isCutOff' | 'goodbye' | 'rest'> {
    const { agent, turns } = this.#options;
    const { floor, manner } = this.#state;
    const utterance = utteranceOf(this.#state);
    const rest = 'rest' in floor ? owedOf(floor.rest) : null;
    const isKnown = isWordForWord(this.#state);
    const split = agent.giveUp();
    const unsaid = split === undefined ? (isHeld ? rest : null) : unsaidOf(utterance, manner, split);
    const goodbye = goodbyeOf(unsaid, this.view);
    this.#tell({ type: 'end' });
    this.#conclude(split ?? NOTHING, { isLast: false });
    return {
      isCutOff: owesMore(utterance) || rest !== null || turns.isOwed || turns.hasNews,
      goodbye,
      rest: isKnown ? unsaid : null,
    };
  }

  get #state(): FloorState {
    return this.#options.conversation.floor;
  }

  #tell(input: FloorInput): void {
    this.#options.conversation.tell(input);
  }

  get #isBusy(): boolean {
    return utteranceOf(this.#state) !== undefined;
  }

  get sound(): VoiceView {
    return this.#options.agent.sound;
  }

  get view(): View {
    const { agent, caller, turns, wait, isListening } = this.#options;
    const { text, hasKeys, isSounding, isActive } = caller;
    return {
      isListening: isListening(),
      maySpeak: agent.maySpeak,
      caller: { hasText: text !== '', hasKeys, isSounding, isActive },
      // Looked up where it is asked for: it takes a look at the whole conversation.
      turn: turns,
      isTakenOver: wait.isTakenOver,
      isAwaited: false,
      isCaughtUp: false,
      awaitsTools: false,
    };
  }

  #decide(decision: BargeInDecision): void {
    if (decision !== 'wait') this.#tell({ type: MEANINGS[decision] });
  }

  perform(effect: DriverEffect): void {
    const { agent, bargeIn, caller, clock, turns, wait } = this.#options;
    switch (effect.type) {
      case 'say': {
        const { utterance } = effect;
        const latency = isAside(utterance) ? turns.aside() : turns.open('', clock.wallNow()).latency;
        this.#begin(utterance, { latency });
        break;
      }
      case 'answer':
        this.#answer(effect.utterance, effect.times);
        break;
      case 'answer-again': {
        const { awaited } = turns;
        const { isPostponed: isPutOff } = effect;
        const { index, latency } = turns.open('', clock.wallNow(), { isPutOff });
        this.#begin(effect.utterance, {
          latency,
          awaited,
          answers: { turnIndex: index, since: clock.now() },
        });
        break;
      }
      case 'stop': {
        this.#split = agent.interrupt();
        if (this.#split !== undefined) bargeIn.reset();
        this.#tell({ type: 'stopped', account: this.#split ?? null });
        break;
      }
      case 'pause':
        agent.pause();
        break;
      case 'go-on':
        bargeIn.reset();
        agent.goOn();
        break;
      case 'finish-utterance':
        this.#options.finishUtterance();
        break;
      case 'expect-words': {
        const longestMs = effect.isTakenOver ? LIMITS.answer.takenOverWordsMs : Number.POSITIVE_INFINITY;
        caller.awaitText(effect.end, { isResuming: effect.isResuming, longestMs });
        break;
      }
      case 'take-words':
        caller.take(turns.userIndex);
        break;
      case 'dismiss-words':
        caller.dismiss();
        break;
      case 'forget-sound':
        caller.forgetSound();
        break;
      case 'wordless':
        this.#options.wordless();
        break;
      case 'heard-nothing':
        agent.heardNothing();
        break;
      case 'complete-turn': {
        const split = effect.with === 'account' ? this.#split : undefined;
        turns.complete(split ?? NOTHING, { interrupted: effect.interrupted });
        if (effect.isAnswered === true) turns.answered();
        break;
      }
      case 'drop-answer':
        if (this.#split !== undefined) turns.dropAnswer(this.#split);
        break;
      case 'wait':
        wait.begin(effect.since);
        break;
      case 'wait-over':
        wait.end();
        break;
      // Asked of whoever ends turns by itself alone.
      case 'respond':
      case 'expect-answer':
      case 'begin-answer':
      case 'suppress':
      case 'postpone-tools':
      case 'tell-keys':
      case 'interruptible':
        break;
    }
  }

  /** Who has said something new is answered without the tools that still run. */
  #answer(utterance: Utterance | null, times: TurnTimes | null): void {
    const { caller, clock, turns } = this.#options;
    const { said, startedAt, pieces } = caller.take(turns.userIndex);
    const { index, latency } = turns.open(said, startedAt);
    this.#options.spoken(pieces, index);
    if (times !== null) latency.callerFinished(times, clock.now());
    const since = times?.speechEndedAt ?? clock.now();
    this.#begin(utterance, { latency, answers: { turnIndex: index, since } });
  }

  #begin(
    utterance: Utterance | null,
    begun: {
      latency: AnswerLatency;
      awaited?: readonly ToolRun[];
      answers?: { turnIndex: number; since: number };
    },
  ): void {
    const { agent, answer, bargeIn } = this.#options;
    bargeIn.reset();
    // Who was told of the turn may have stopped it.
    if (utterance === null || utteranceOf(this.#state)?.id !== utterance.id) return;
    const { text, manner } = utterance;
    const own = manner.ends === undefined ? onlyText : lastText;
    agent.say({ ...begun, source: text === null ? answer : () => own(text) });
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
}
