// The turns of one call, as an engine deals with them: knows the tools that run, and what became of an answer in the words of the record.
import type { ChatMessage } from '../contract/chat-message.js';
import type { TurnTimes } from '../conversation/floor.js';
import type { Milestone } from '../conversation/latency.js';
import type { Id, Settlement } from '../conversation/tools.js';
import {
  type AnswerAccount,
  type AnswerId,
  awaitedIn,
  historyOf,
  indexOf,
  newsIn,
  nextToolIds,
  repeatableIn,
  requestOf,
  runningIn,
  type Turns,
} from '../conversation/turns.js';
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

export class TurnBook {
  readonly #options: TurnBookOptions;
  /** Those that still run, and those that ran, by their ids. */
  readonly #runs = new Map<Id, ToolRun>();

  constructor(options: TurnBookOptions) {
    this.#options = options;
    this.#takeOver();
  }

  /** The turn that words of the caller belong to while the agent is silent. */
  get userIndex(): number {
    return indexOf(this.#turns);
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

  /** Tools that run, and that no answer was given without. */
  get awaited(): ToolRun[] {
    return awaitedIn(this.#turns).flatMap((id) => this.#runs.get(id) ?? []);
  }

  /** Tools that run, for whoever goes on with them. */
  get running(): ReadonlyMap<Id, ToolRun> {
    const ids = runningIn(this.#turns);
    return new Map([...this.#runs].filter(([id]) => ids.includes(id)));
  }

  /** Where the milestones of this answer are told. */
  latencyOf(of: AnswerId): AnswerLatency {
    const { conversation } = this.#options;
    const reached = (milestone: Milestone | 'heard', time: number) =>
      conversation.tell({ type: 'reached', milestone, time, of });
    return {
      reached,
      heard: (at) => reached('heard', at),
      fillerSent: (afterMs) => conversation.tell({ type: 'filler.sent', afterMs, of }),
      callerFinished: ({ speechEndedAt, turnEndedAt }, textFinalAt) => {
        reached('speechEnded', speechEndedAt);
        reached('turnEnded', turnEndedAt);
        reached('textFinal', textFinalAt);
      },
      has: (milestone) => this.#turns.open?.latency.at[milestone] !== undefined,
    };
  }

  /** The agent has called tools. They may be done already. */
  called(runs: readonly ToolRun[]): void {
    const { conversation } = this.#options;
    const tools = runs.map(({ call, endsCall, isIdempotent, joins, settlement }) => ({
      call,
      endsCall,
      isIdempotent,
      settlement,
      joins: joins && this.#idsOf([joins])[0],
    }));
    const ids = nextToolIds(this.#turns, runs.length);
    // First: whoever is told of them may end the call, and with it the tools.
    for (const [place, run] of runs.entries()) this.#follow(ids[place] ?? '', run, { isTold: true });
    conversation.tell({ type: 'tools.called', tools });
  }

  /** No answer waits for these: the caller is told of their results when they are there. */
  goOnWithout(runs: readonly ToolRun[]): void {
    this.#options.conversation.tell({ type: 'tools.postponed', ids: this.#idsOf(runs) });
  }

  /** The model has the results of these. */
  told(runs: readonly ToolRun[]): void {
    this.#options.conversation.tell({ type: 'tools.told', ids: this.#idsOf(runs) });
  }

  /** What the language model is asked with: everything so far, and the rounds of the answer that is on. */
  asking(rounds: readonly Round[]): ChatMessage[] {
    const { conversation, systemPrompt = '' } = this.#options;
    conversation.tell({ type: 'tools.postponed', ids: awaitedIn(this.#turns) });
    return requestOf(this.#turns, systemPrompt, this.#toRounds(rounds));
  }

  history(answer?: AnswerSplit): ChatMessage[] {
    return historyOf(this.#turns, answer && this.accountOf(answer));
  }

  /** What became of an answer, as the record has it. */
  accountOf({ heard, unheard, rounds = [], heardAfter = heard, isOwed = false }: AnswerSplit): AnswerAccount {
    return { heard, unheard, rounds: this.#toRounds(rounds), heardAfter, isOwed };
  }

  get #turns(): Turns {
    return this.#options.conversation.turns;
  }

  /** Whoever has begun a tool tells of it, unless nobody is left who has. */
  #takeOver(): void {
    const { conversation, tools } = this.#options;
    const repeated = this.#repeated(tools?.runs);
    const runs = [...new Map([...(tools?.runs ?? []), ...repeated])];
    conversation.tell({
      type: 'takes-over',
      runs: runs.map(([id, { settlement }]) => ({ id, settlement, isTold: repeated.has(id) })),
    });
    for (const [id, run] of runs) this.#follow(id, run, { isTold: repeated.has(id) });
  }

  /** Those that nobody of `live` runs, and that may be run again: in the order in which they were called. */
  #repeated(live: ReadonlyMap<Id, ToolRun> = new Map()): ReadonlyMap<Id, ToolRun> {
    const { tools } = this.#turns;
    const repeated = new Map<Id, ToolRun>();
    for (const id of repeatableIn(this.#turns)) {
      const tool = tools[id];
      if (tool === undefined || live.has(id)) continue;
      const joins = tool.joins === null ? undefined : (live.get(tool.joins) ?? repeated.get(tool.joins));
      const run = this.#options.box?.repeat(id, tool.call, joins);
      if (run !== undefined) repeated.set(id, run);
    }
    return repeated;
  }

  #follow(id: Id, run: ToolRun, { isTold }: { isTold: boolean }): void {
    const { conversation, news } = this.#options;
    this.#runs.set(id, run);
    run.identify(id);
    run.onSettled((settlement: Settlement) =>
      conversation.tell({ type: 'tool.settled', id, settlement, isTold }),
    );
    void run.settled.then(() => {
      if (newsIn(this.#turns).includes(id)) news?.();
    });
  }

  #idsOf(runs: readonly ToolRun[]): Id[] {
    return [...this.#runs].filter(([, run]) => runs.includes(run)).map(([id]) => id);
  }

  #toRounds(rounds: readonly Round[]) {
    return rounds.map(({ text, runs }) => ({ text, tools: this.#idsOf(runs) }));
  }
}
