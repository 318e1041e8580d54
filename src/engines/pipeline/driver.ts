// The floor of a pipeline call at work: tells the machine what the caller and the agent do, and does what it decides.
import type { EndOfTurn } from '../../conversation/floor.js';
import type { Clock } from '../../base/clock.js';
import { type FloorState, type Utterance, utteranceOf, yields } from '../../conversation/floor.js';
import type { SpokenPiece } from '../../conversation/language.js';
import { LIMITS } from '../../conversation/limits.js';
import type { VoiceView } from '../../conversation/phase.js';
import type { Leaving } from '../../conversation/state.js';
import type { Input, Live } from '../../conversation/step.js';
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
  /** There is a voice. */
  readonly hasVoice: () => boolean;
  /** Asks the recognizer for what it still has. */
  readonly finishUtterance: () => void;
  /** A turn of the caller is complete, before it is answered: the pieces of it whose language is known. */
  readonly spoken: (pieces: readonly SpokenPiece[], turnIndex: number) => void;
  /** No words have come of a sound: nobody waits any more, unless they may still come. */
  readonly wordless: () => void;
}

const MEANINGS = { interrupt: 'interrupted', pause: 'doubted', dismiss: 'signed' } as const;

export class PipelineDriver implements Driver {
  readonly live: Live;
  readonly #options: PipelineDriverOptions;

  constructor(options: PipelineDriverOptions) {
    this.#options = options;
    const { hasVoice } = options;
    this.live = {
      get hasVoice() {
        return hasVoice();
      },
      isCaughtUp: false,
      awaitsTools: false,
    };
  }

  /** A frame of the caller has passed. `voiced`: it talks the agent over. */
  frame(voiced: boolean): void {
    const { agent, bargeIn } = this.#options;
    if (!bargeIn.isOpen || !this.#isBusy) return;
    this.#decide(bargeIn.frame(voiced, agent.interruptibility, () => agent.ignoresSound()));
  }

  /** The caller has begun to make a sound, `beforeMs` before this frame. `startedAt`: as `caller.sounds` has it. */
  speechStarted({ beforeMs = 0, startedAt }: { beforeMs?: number; startedAt?: number } = {}): void {
    if (this.#isBusy) this.#options.bargeIn.speechStarted(beforeMs);
    this.#tell({ type: 'caller.sounds', ...(startedAt !== undefined && { startedAt }) });
  }

  /** All that the caller has said so far. */
  words(text: string, { isFinal }: { isFinal: boolean }): void {
    const { agent, bargeIn } = this.#options;
    this.#tell({ type: 'caller.active' });
    if (this.#isBusy) this.#decide(bargeIn.text(text, agent.interruptibility, { isFinal }));
  }

  /** The caller has gone quiet, or speaks without end. */
  quiet(end: EndOfTurn): void {
    const { bargeIn, clock, conversation } = this.#options;
    const isInDoubt = yields(this.#state, clock.now(), conversation.policy);
    const decision = isInDoubt ? bargeIn.silence() : 'wait';
    const means = decision === 'wait' || decision === 'pause' ? 'unknown' : MEANINGS[decision];
    this.#tell({ type: 'quiet', end, means });
  }

  /** Says `text` as the last words of what is being said. `begins`: the voice gives the first audio of a sentence of it. */
  conclude(text: string, begins?: () => void): void {
    this.#tell({ type: 'apologizes' });
    this.#options.agent.conclude(text, begins);
  }

  /** All of a reply was heard. `over` follows, unless the call has failed. */
  finished(outcome: ReplySplit): void {
    const { bargeIn, caller, turns } = this.#options;
    bargeIn.reset();
    caller.agentSaid(outcome.heard);
    this.#tell({ type: 'finished', answer: turns.accountOf(outcome) });
  }

  /** Ends what is being said, and the open turn. */
  stop(): void {
    const split = this.#options.agent.interrupt();
    this.#tell({ type: 'end' });
    this.#complete(split ?? NOTHING, { interrupted: split !== undefined });
  }

  /** The call is over. What was said and heard so far stands; words that nobody answered belong to the turn that is open. */
  close(): void {
    this.#tell({ type: 'end' });
    const split = this.#options.agent.close() ?? NOTHING;
    const answer = this.#options.turns.accountOf(split);
    this.#tell({ type: 'concluded', answer, interrupted: split.unheard !== '' });
  }

  /**
   * Another engine takes the call over: as `close`, but that tools which run go on, and that words which nobody answered are a turn in
   * any case. The state is what it begins with.
   */
  giveUp({ unheardSince, troubledSince }: Pick<Leaving, 'unheardSince' | 'troubledSince'>): void {
    const { agent, turns } = this.#options;
    this.#tell({ type: 'gives-up' });
    const split = agent.giveUp();
    const said = split === undefined ? null : { account: split, answer: turns.accountOf(split) };
    this.#tell({ type: 'leaves', said, unheardSince, troubledSince });
  }

  get #state(): FloorState {
    return this.#options.conversation.floor;
  }

  #tell(input: Input): void {
    this.#options.conversation.tell(input);
  }

  get #isBusy(): boolean {
    return utteranceOf(this.#state) !== undefined;
  }

  get sound(): VoiceView {
    return this.#options.agent.sound;
  }

  #decide(decision: BargeInDecision): void {
    if (decision !== 'wait') this.#tell({ type: MEANINGS[decision] });
  }

  perform(effect: DriverEffect): void {
    const { agent, bargeIn, caller, clock, turns } = this.#options;
    switch (effect.type) {
      case 'say':
        this.#begin(effect.utterance, { latency: turns.latencyOf(effect.answer) });
        break;
      case 'answer':
        this.#answer(effect);
        break;
      case 'answer-again': {
        const { awaited } = turns;
        const { turnIndex } = effect.answer;
        const answers = { turnIndex, since: clock.now() };
        this.#begin(effect.utterance, { latency: turns.latencyOf(effect.answer), awaited, answers });
        break;
      }
      case 'stop': {
        const split = agent.interrupt();
        if (split !== undefined) bargeIn.reset();
        const answer = split === undefined ? null : turns.accountOf(split);
        this.#tell({ type: 'stopped', account: split ?? null, answer });
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
        caller.awaitText({ isResuming: effect.isResuming, longestMs });
        break;
      }
      case 'take-words':
        caller.taken(effect.taken);
        break;
      case 'dismiss-words':
        caller.dismiss();
        break;
      case 'wordless':
        this.#options.wordless();
        break;
      case 'heard-nothing':
        agent.heardNothing();
        break;
      // The rest is asked of whoever ends turns by itself alone.
      default:
        break;
    }
  }

  /** Who has said something new is answered without the tools that still run. */
  #answer({ utterance, times, answer, taken }: Extract<DriverEffect, { type: 'answer' }>): void {
    const { caller, clock, spoken, turns } = this.#options;
    const latency = turns.latencyOf(answer);
    spoken(caller.taken(taken), answer.turnIndex);
    if (times !== null) latency.callerFinished(times, clock.now());
    const since = times?.speechEndedAt ?? clock.now();
    this.#begin(utterance, { latency, answers: { turnIndex: answer.turnIndex, since } });
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

  #complete(split: ReplySplit | SpokenSplit, { interrupted }: { interrupted: boolean }): void {
    this.#tell({ type: 'completed', answer: this.#options.turns.accountOf(split), interrupted });
  }
}
