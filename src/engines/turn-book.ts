// The turns of one call as facts: opened, spoken, completed. At most one turn is open.
import type { TranscriptEntry, Turn, TurnLatency } from '../contract/call-record.js';
import type { ChatMessage } from '../providers/language-model.js';
import type { Conversation, Step } from './conversation.js';
import type { EngineFact, Takeover } from './engine.js';
import type { SpokenSplit } from './speaker.js';
import type { Round } from './tools/rounds.js';
import { ToolEntries } from './tools/tool-entries.js';
import type { ToolRun } from './tools/tool-run.js';
import { TurnLatencyMeter } from './turn-latency.js';

/** What became of an answer. Without rounds, all that was heard was said in one go. */
export interface AnswerSplit extends SpokenSplit {
  readonly rounds?: readonly Round[];
  /** Heard after the last of the rounds. */
  readonly heardAfter?: string;
  /** It was stopped behind its tools, before anything was heard of what follows from them. */
  readonly isOwed?: boolean;
}

interface OpenTurn {
  readonly index: number;
  readonly startedAt: number;
  userText: string;
  /** Text of answers that were dropped before a word of them was heard. */
  dropped: string;
  /** What happened in it so far, for the language model. */
  readonly steps: Step[];
  latency: TurnLatencyMeter;
  /** When the agent's transcript entry came up; undefined while there is none. */
  agentAt: number | undefined;
}

export interface TurnBookOptions {
  readonly conversation: Conversation;
  readonly fact: (fact: EngineFact) => void;
  readonly wallNow: () => number;
  /** Set where another engine has begun the call. */
  readonly takeover?: Takeover | undefined;
}

export class TurnBook {
  readonly #options: TurnBookOptions;
  #open: OpenTurn | undefined;
  #nextIndex: number;
  #isOwed: boolean;
  /** Tells the end of a turn of which only the text is told. */
  #completion: (() => void) | undefined;
  readonly #tools = new ToolEntries((entry) => this.#tell(entry));

  constructor(options: TurnBookOptions) {
    this.#options = options;
    const { takeover, wallNow } = options;
    this.#nextIndex = takeover?.turnIndex ?? 0;
    this.#isOwed = takeover?.owes === 'answer';
    if (takeover?.isTurnOpen === true) this.#open = this.#begin('', wallNow());
  }

  /** Index of the turn that words of the caller belong to while the agent is silent. */
  get userIndex(): number {
    return this.#open?.index ?? this.#nextIndex;
  }

  /** Index of the turn after the open one. */
  get nextIndex(): number {
    return this.#nextIndex;
  }

  /** Text of the caller in the open turn; undefined when none is open. */
  get userText(): string | undefined {
    return this.#open?.userText;
  }

  /** Adds to the open turn, or opens one. Every answer is measured afresh, with the meter that is returned. */
  open(userText: string, startedAt: number): { index: number; userText: string; latency: TurnLatencyMeter } {
    let turn = this.#open;
    const latency = new TurnLatencyMeter(turn?.latency);
    if (turn === undefined) {
      turn = this.#begin(userText, startedAt);
      this.#open = turn;
      this.#options.fact({ type: 'turn.started', turnIndex: turn.index });
    } else {
      turn.userText = `${turn.userText} ${userText}`.trim();
    }
    turn.latency = latency;
    turn.steps.push({ role: 'user', text: userText });
    return { index: turn.index, userText: turn.userText, latency };
  }

  /**
   * True when the last answer was stopped behind its tools, nothing heard of what follows from them, or when the engine before this one
   * left an answer to be given; until something is heard.
   */
  get isOwed(): boolean {
    return this.#isOwed;
  }

  /** An answer was given to its end, whatever it was. */
  answered(): void {
    this.#isOwed = false;
  }

  /** What the language model is asked with: everything so far, and the rounds of the answer that is on. */
  asking(rounds: readonly Round[]): ChatMessage[] {
    return this.#options.conversation.asking([...(this.#open?.steps ?? []), ...toSteps(rounds)]);
  }

  /** Tools without a result, which the language model has to wait for. */
  get unsettled(): ToolRun[] {
    return this.#options.conversation.unsettled(this.#open?.steps ?? []);
  }

  /** The agent's entry grows. */
  spoken(text: string): void {
    const turn = this.#open;
    if (turn === undefined) return;
    turn.agentAt ??= this.#options.wallNow();
    this.#tellAgent(turn, { text, final: false });
  }

  /** The agent has called tools. */
  called(runs: readonly ToolRun[]): void {
    this.#tools.called(runs, this.userIndex);
  }

  /** An answer was stopped before a word was heard: the turn stays open for what the caller adds. */
  dropAnswer({ unheard, rounds = [], isOwed = false }: AnswerSplit): void {
    const turn = this.#open;
    if (turn === undefined) return;
    this.#isOwed ||= isOwed;
    turn.dropped = `${turn.dropped} ${unheard}`.trim();
    // What tools have done is done, whatever was heard.
    turn.steps.push(...toSteps(rounds));
    this.#withdrawAgent(turn);
  }

  /** Closes the open turn with what became of the answer. */
  complete(split: AnswerSplit, end: { interrupted: boolean }): void {
    const turn = this.#open;
    // Who is told of the text may end the call: then the turn is completed from in there.
    this.#completion?.();
    if (turn === undefined) return;
    this.#open = undefined;
    const { rounds = [], heardAfter = split.heard, isOwed = false } = split;
    this.#isOwed = isOwed || (this.#isOwed && split.heard === '');
    turn.steps.push(...toSteps(rounds), { role: 'assistant', text: heardAfter });
    this.#options.conversation.add(turn.steps);
    this.#completion = () => {
      this.#completion = undefined;
      this.#options.fact({ type: 'turn.completed', turn: toRecord(turn, split, end.interrupted) });
    };
    this.#tellHeard(turn, split.heard, end);
    this.#completion?.();
  }

  /** Another engine takes the call over: `complete`, but that a turn in which nothing was said or done stays open for it. */
  giveUp(split: AnswerSplit, end: { interrupted: boolean }): void {
    const turn = this.#open;
    const isEmpty = turn?.userText === '' && turn.steps.every(({ role }) => role === 'user');
    if (isEmpty && split.heard === '' && (split.rounds ?? []).length === 0) this.#withdrawAgent(turn);
    else this.complete(split, end);
  }

  /** Where another engine goes on: in the turn that is open, or with the next one. */
  get standing(): { turnIndex: number; isTurnOpen: boolean } {
    return { turnIndex: this.userIndex, isTurnOpen: this.#open !== undefined };
  }

  #begin(userText: string, startedAt: number): OpenTurn {
    const index = this.#nextIndex;
    this.#nextIndex += 1;
    const latency = new TurnLatencyMeter();
    return { index, startedAt, userText, dropped: '', steps: [], latency, agentAt: undefined };
  }

  #tellHeard(turn: OpenTurn, text: string, { interrupted }: { interrupted: boolean }): void {
    if (text === '') {
      this.#withdrawAgent(turn);
      return;
    }
    turn.agentAt ??= this.#options.wallNow();
    this.#tellAgent(turn, { text, final: true, ...(interrupted ? { interrupted } : {}) });
  }

  #tellAgent(turn: OpenTurn, change: { text: string; final: boolean; interrupted?: boolean }): void {
    const { index, agentAt } = turn;
    const at = agentAt ?? this.#options.wallNow();
    this.#tell({ id: `agent-${index}`, turnIndex: index, role: 'agent', at, ...change });
  }

  #tell(entry: TranscriptEntry): void {
    this.#options.fact({ type: 'transcript.segment', entry });
  }

  #withdrawAgent(turn: OpenTurn): void {
    if (turn.agentAt === undefined) return;
    this.#tellAgent(turn, { text: '', final: true });
    turn.agentAt = undefined;
  }
}

function toRecord(turn: OpenTurn, split: SpokenSplit, interrupted: boolean): Turn {
  const latency: TurnLatency = turn.latency.result();
  return {
    index: turn.index,
    startedAt: turn.startedAt,
    userText: turn.userText,
    agentText: split.heard,
    agentTextUnheard: `${turn.dropped} ${split.unheard}`.trim(),
    interrupted,
    latency,
    fillerMs: turn.latency.fillerMs,
    cost: null,
    toolCalls: turn.steps
      .flatMap((step) => (step.role === 'tools' ? step.runs : []))
      .map((run) => run.record),
  };
}

function toSteps(rounds: readonly Round[]): Step[] {
  return rounds.map(({ text, runs }) => ({ role: 'tools', text, runs }));
}
