// The turns of one call, held for the engine: keeps the value, tells the facts that follow, and knows the tools that run.
import type { TurnTimes } from '../conversation/floor.js';
import type { ChatMessage } from '../contract/chat-message.js';
import { textOf } from '../conversation/caller-words.js';
import type { Milestone } from '../conversation/latency.js';
import type { Id, Moment, Settlement } from '../conversation/tools.js';
import * as rules from '../conversation/turns.js';
import type { AnswerAccount, AnswerId, Change, TurnFact, Turns } from '../conversation/turns.js';
import type { Conversation } from './conversation.js';
import type { RunningTools } from './engine.js';
import type { SpokenSplit } from './pipeline/speaking/speaker.js';
import type { Round } from './tools/rounds.js';
import type { ToolBox } from './tools/tool-box.js';
import type { ToolRun } from './tools/tool-run.js';

/** What became of an answer. Without rounds, all that was heard was said in one go. */
export interface AnswerSplit extends SpokenSplit {
  readonly rounds?: readonly Round[];
  /** Heard after the last of the rounds. */
  readonly heardAfter?: string;
  /** It was stopped behind its tools, before anything was heard of what follows from them. */
  readonly isOwed?: boolean;
}

export interface TurnBookOptions {
  /** Which may have been begun by another engine. */
  readonly conversation: Conversation;
  /** @default '' */
  readonly systemPrompt?: string | undefined;
  /** A text comes for everything that the caller says, often after the answer. @default false */
  readonly transcribesCaller?: boolean;
  readonly fact: (fact: TurnFact) => void;
  /** A tool has given a result that no answer waits for. */
  readonly news?: () => void;
  /** Tools that an engine before this one has begun. @default none runs */
  readonly tools?: RunningTools | undefined;
  /** Runs tools again that nobody runs any more. @default those are lost */
  readonly box?: Pick<ToolBox, 'repeat'> | undefined;
}

/** Where the milestones of one answer are told. Those of an answer that was dropped are forgotten. */
export interface AnswerLatency {
  reached(milestone: Milestone, at: number): void;
  heard(at: number): void;
  /** The first frame of a filler was sent, so long after the caller began to wait. */
  fillerSent(afterMs: number): void;
  /** What the caller said is complete, its last text there at `textFinalAt`. */
  callerFinished(times: TurnTimes, textFinalAt: number): void;
  has(milestone: Milestone): boolean;
}

const NOTHING: AnswerSplit = { heard: '', unheard: '' };

/** Most methods are a function of `conversation/turns` each, which says more. */
export class TurnBook {
  readonly #options: TurnBookOptions;
  readonly #policy: rules.TurnsPolicy;
  /** Those that still run, and those that ran, by their ids. */
  readonly #runs = new Map<Id, ToolRun>();
  /** To be told: who is told of one may cause the next, and end the call, with which all are told that are left. */
  readonly #facts: TurnFact[] = [];

  constructor(options: TurnBookOptions) {
    this.#options = options;
    this.#policy = { transcribesCaller: options.transcribesCaller ?? false };
    options.conversation.whenDue('turns', () => {
      this.#become(rules.due(this.#turns, this.#now, this.#policy));
    });
    this.#takeOver();
  }

  /** The turns as they stand. */
  get value(): Turns {
    return this.#turns;
  }

  get isOpen(): boolean {
    return this.#turns.open !== null;
  }

  get userIndex(): number {
    return rules.indexOf(this.#turns);
  }

  /** Index of the turn after the open one. */
  get nextIndex(): number {
    return this.#turns.nextIndex;
  }

  /** Index of the turn that what is used now belongs to: the one that is open, or was last. Null before the first. */
  get paidIndex(): number | null {
    const { open, nextIndex } = this.#turns;
    return open?.index ?? (nextIndex === 0 ? null : nextIndex - 1);
  }

  /** Text of the caller in the open turn; undefined when none is open. */
  get userText(): string | undefined {
    return this.isOpen ? textOf(rules.saidIn(this.#turns)) : undefined;
  }

  /** What the caller said that the open turn answers: `unknown` where its words come late, or never. */
  get answers(): 'words' | 'unknown' | 'nothing' {
    const said = rules.saidIn(this.#turns);
    if (textOf(said) !== '') return 'words';
    return said.some(({ isFinal }) => !isFinal) ? 'unknown' : 'nothing';
  }

  /**
   * True when the last answer was stopped behind its tools, nothing heard of what follows from them, or when the engine before this one
   * left an answer to be given; until something is heard.
   */
  get isOwed(): boolean {
    return this.#turns.isOwed;
  }

  /** A tool has given a result that no answer has waited for. */
  get hasNews(): boolean {
    return rules.newsIn(this.#turns).length > 0;
  }

  /** Tools that run, and that no answer was given without. */
  get awaited(): ToolRun[] {
    return rules.awaitedIn(this.#turns).flatMap((id) => this.#runs.get(id) ?? []);
  }

  /** Tools that run, for whoever goes on with them. */
  get running(): ReadonlyMap<Id, ToolRun> {
    const ids = rules.runningIn(this.#turns);
    return new Map([...this.#runs].filter(([id]) => ids.includes(id)));
  }

  speechStarted(): void {
    this.#turns = rules.speechStarted(this.#turns, this.#now);
  }

  speechEnded(itemId: string, { agoMs }: { agoMs: number }): void {
    this.#become(rules.speechEnded(this.#turns, { itemId, agoMs, at: this.#now }, this.#policy));
  }

  /** Keys, in words. */
  pressed(text: string): void {
    this.#turns = rules.says(this.#turns, text, this.#now);
  }

  heard(itemId: string, text: string, { isFinal }: { isFinal: boolean }): void {
    this.#become(rules.heard(this.#turns, { itemId, text, isFinal, at: this.#now }, this.#policy));
  }

  lost({ isAnswered }: { isAnswered: boolean }): void {
    this.#turns = rules.connectionLost(this.#turns, { isAnswered, at: this.#now }, this.#policy);
  }

  /** Returns true when the caller had finished any of what another connection hears again. */
  back(): boolean {
    return this.#become(rules.connectionBack(this.#turns, this.#policy)).isEnded;
  }

  answer(): void {
    this.#become(rules.answer(this.#turns, this.#now, this.#policy));
  }

  /**
   * Adds to the open turn, or opens one. Every answer is measured afresh, by what is returned. `isPutOff`: words that somebody outside asked for
   * came before it.
   */
  open(
    text: string,
    startedAt: number,
    { isPutOff } = { isPutOff: false },
  ): { index: number; latency: AnswerLatency } {
    const at = this.#now;
    this.#become(rules.answerTo(this.#turns, { text, startedAt, isPutOff, at }, this.#policy));
    const { open } = this.#turns;
    const id = { turnIndex: this.userIndex, answer: open?.answer ?? 0 };
    return { index: id.turnIndex, latency: this.#latencyOf(id) };
  }

  /** The agent says something that no model is told. */
  aside(): AnswerLatency {
    this.#become(rules.aside(this.#turns, this.#now));
    return this.#latencyOf({ turnIndex: this.userIndex, answer: this.#turns.open?.answer ?? 0 });
  }

  noted(text: string): void {
    this.#turns = rules.noted(this.#turns, text);
  }

  noAside(): void {
    this.#turns = rules.noAside(this.#turns);
  }

  firstFrameSent(at: number): void {
    this.#turns = rules.measured(this.#turns, { milestone: 'firstFrameSent', at });
  }

  firstFrameHeard(at: number): void {
    this.#turns = rules.measured(this.#turns, { milestone: 'heard', at });
  }

  spoken(text: string): void {
    this.#become(rules.spoken(this.#turns, text, this.#now));
  }

  /** The agent has called tools. They may be done already. */
  called(runs: readonly ToolRun[]): void {
    const wanted = runs.map(({ call, endsCall, isIdempotent, joins, settlement }) => ({
      call,
      endsCall,
      isIdempotent,
      settlement,
      joins: joins && this.#idsOf([joins])[0],
    }));
    const change = rules.called(this.#turns, wanted, this.#now);
    this.#turns = change.turns;
    for (const [place, run] of runs.entries()) {
      const id = change.ids[place] ?? '';
      this.#follow(id, run, (settlement) =>
        this.#become(rules.toolSettled(this.#turns, { id, settlement, at: this.#now })),
      );
    }
    this.#become(change);
  }

  /** No answer waits for these: the caller is told of their results when they are there. */
  goOnWithout(runs: readonly ToolRun[]): void {
    this.#turns = rules.goOnWithout(this.#turns, this.#idsOf(runs));
  }

  /** The model has the results of these. */
  told(runs: readonly ToolRun[]): void {
    this.#turns = rules.toldOf(this.#turns, this.#idsOf(runs));
  }

  /** What the language model is asked with: everything so far, and the rounds of the answer that is on. */
  asking(rounds: readonly Round[]): ChatMessage[] {
    this.#turns = rules.goOnWithout(this.#turns, rules.awaitedIn(this.#turns));
    return rules.requestOf(this.#turns, this.#options.systemPrompt ?? '', this.#toRounds(rounds));
  }

  history(answer?: AnswerSplit): ChatMessage[] {
    return rules.historyOf(this.#turns, answer && this.#toAccount(answer));
  }

  dropAnswer(split: AnswerSplit): void {
    this.#become(rules.dropAnswer(this.#turns, this.#toAccount(split), this.#now));
  }

  complete(split: AnswerSplit, { interrupted }: { interrupted: boolean }): void {
    this.#become(rules.complete(this.#turns, this.#toEnd(split, interrupted), this.#policy));
  }

  /** An answer was given to its end, whatever it was. */
  answered(): void {
    this.#turns = { ...this.#turns, isOwed: false };
  }

  giveUp(
    split = NOTHING,
    { interrupted } = { interrupted: false },
  ): { since: number | undefined; isUnheard: boolean } {
    const end = this.#toEnd(split, interrupted);
    const { since, isUnheard } = this.#become(rules.givenUp(this.#turns, end, this.#policy));
    return { since: since ?? undefined, isUnheard };
  }

  close(): void {
    this.#become(rules.closed(this.#turns, this.#policy));
  }

  get #now(): Moment {
    return this.#options.conversation.moment;
  }

  get #turns(): Turns {
    return this.#options.conversation.turns;
  }

  set #turns(turns: Turns) {
    this.#options.conversation.change({ turns });
  }

  /** What an engine before this one has begun is waited for by the answer that it left to be given, and else by nobody. */
  #takeOver(): void {
    const { conversation, tools } = this.#options;
    const repeated = this.#repeated(tools?.runs);
    const runs = new Map([...(tools?.runs ?? []), ...repeated]);
    this.#become(rules.takenOver(this.#turns, { live: [...runs.keys()], at: this.#now }));
    this.#turns = { ...this.#turns, isOwed: conversation.state.owed.kind === 'answer' };
    for (const [id, run] of runs)
      this.#follow(id, run, (settlement) => {
        const change = rules.toolSettled(this.#turns, { id, settlement, at: this.#now });
        // Whoever has begun it tells of it, unless nobody is left who has.
        if (repeated.has(id)) this.#become(change);
        else this.#turns = change.turns;
      });
    const waiting = this.#turns.isOwed ? rules.awaitedIn(this.#turns) : [];
    const others = rules.runningIn(this.#turns).filter((id) => !waiting.includes(id));
    this.#turns = rules.goOnWithout(this.#turns, others);
  }

  /** Those that nobody of `live` runs, and that may be run again: in the order in which they were called. */
  #repeated(live: ReadonlyMap<Id, ToolRun> = new Map()): ReadonlyMap<Id, ToolRun> {
    const { tools } = this.#turns;
    const repeated = new Map<Id, ToolRun>();
    for (const id of rules.repeatableIn(this.#turns)) {
      const tool = tools[id];
      if (tool === undefined || live.has(id)) continue;
      const joins = tool.joins === null ? undefined : (live.get(tool.joins) ?? repeated.get(tool.joins));
      const run = this.#options.box?.repeat(id, tool.call, joins);
      if (run !== undefined) repeated.set(id, run);
    }
    return repeated;
  }

  #follow(id: Id, run: ToolRun, onSettled: (settlement: Settlement) => void): void {
    this.#runs.set(id, run);
    run.identify(id);
    run.onSettled(onSettled);
    void run.settled.then(() => {
      if (rules.newsIn(this.#turns).includes(id)) this.#options.news?.();
    });
  }

  #latencyOf(of: AnswerId): AnswerLatency {
    const reached = (milestone: Milestone | 'heard', at: number) => {
      this.#turns = rules.measured(this.#turns, { milestone, at, of });
    };
    return {
      reached,
      heard: (at) => reached('heard', at),
      fillerSent: (afterMs) => {
        this.#turns = rules.filled(this.#turns, { afterMs, of });
      },
      callerFinished: ({ speechEndedAt, turnEndedAt }, textFinalAt) => {
        reached('speechEnded', speechEndedAt);
        reached('turnEnded', turnEndedAt);
        reached('textFinal', textFinalAt);
      },
      has: (milestone) => this.#turns.open?.latency.at[milestone] !== undefined,
    };
  }

  #become<Became extends Change>(change: Became): Became {
    this.#turns = change.turns;
    this.#facts.push(...change.facts);
    for (let fact = this.#facts.shift(); fact !== undefined; fact = this.#facts.shift())
      this.#options.fact(fact);
    return change;
  }

  #idsOf(runs: readonly ToolRun[]): Id[] {
    return [...this.#runs].filter(([, run]) => runs.includes(run)).map(([id]) => id);
  }

  #toRounds(rounds: readonly Round[]) {
    return rounds.map(({ text, runs }) => ({ text, tools: this.#idsOf(runs) }));
  }

  #toEnd(split: AnswerSplit, interrupted: boolean): rules.End {
    return { account: this.#toAccount(split), interrupted, at: this.#now };
  }

  #toAccount({
    heard,
    unheard,
    rounds = [],
    heardAfter = heard,
    isOwed = false,
  }: AnswerSplit): AnswerAccount {
    return { heard, unheard, rounds: this.#toRounds(rounds), heardAfter, isOwed };
  }
}
