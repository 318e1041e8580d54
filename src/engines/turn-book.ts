// The turns of one call as facts: opened, spoken, completed. At most one turn is open.
import type { Turn, TurnLatency } from '../contract/call-record.js';
import type { Conversation } from './conversation.js';
import type { EngineFact } from './engine.js';
import type { SpokenSplit } from './speaker.js';
import { TurnLatencyMeter } from './turn-latency.js';

interface OpenTurn {
  readonly index: number;
  readonly startedAt: number;
  userText: string;
  /** Text of answers that were dropped before a word of them was heard. */
  dropped: string;
  latency: TurnLatencyMeter;
  /** When the agent's transcript entry came up; undefined while there is none. */
  agentAt: number | undefined;
}

export interface TurnBookOptions {
  readonly conversation: Conversation;
  readonly fact: (fact: EngineFact) => void;
  readonly wallNow: () => number;
  /** A turn is complete, and the fact of it stated. */
  readonly completed?: () => void;
}

export class TurnBook {
  readonly #options: TurnBookOptions;
  #open: OpenTurn | undefined;
  #nextIndex = 0;

  constructor(options: TurnBookOptions) {
    this.#options = options;
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
    const latency = new TurnLatencyMeter();
    let turn = this.#open;
    if (turn === undefined) {
      const index = this.#nextIndex;
      this.#nextIndex += 1;
      turn = { index, startedAt, userText, dropped: '', latency, agentAt: undefined };
      this.#open = turn;
      this.#options.fact({ type: 'turn.started', turnIndex: index });
    } else {
      turn.userText = `${turn.userText} ${userText}`.trim();
      turn.latency = latency;
    }
    return { index: turn.index, userText: turn.userText, latency };
  }

  /** The agent's entry grows. */
  spoken(text: string): void {
    const turn = this.#open;
    if (turn === undefined) return;
    turn.agentAt ??= this.#options.wallNow();
    this.#tellAgent(turn, { text, final: false });
  }

  /** An answer was stopped before a word was heard: the turn stays open for what the caller adds. */
  dropAnswer(unheard: string): void {
    const turn = this.#open;
    if (turn === undefined) return;
    turn.dropped = `${turn.dropped} ${unheard}`.trim();
    this.#withdrawAgent(turn);
  }

  /** Closes the open turn with what became of the answer. */
  complete(split: SpokenSplit, end: { interrupted: boolean }): void {
    const turn = this.#open;
    if (turn === undefined) return;
    this.#open = undefined;
    if (split.heard === '') this.#withdrawAgent(turn);
    else {
      turn.agentAt ??= this.#options.wallNow();
      this.#tellAgent(turn, {
        text: split.heard,
        final: true,
        ...(end.interrupted ? { interrupted: true } : {}),
      });
    }
    this.#options.conversation.add(turn.userText, split.heard);
    this.#options.fact({ type: 'turn.completed', turn: toRecord(turn, split, end.interrupted) });
    this.#options.completed?.();
  }

  #tellAgent(turn: OpenTurn, change: { text: string; final: boolean; interrupted?: boolean }): void {
    const { index, agentAt } = turn;
    this.#options.fact({
      type: 'transcript.segment',
      entry: {
        id: `agent-${index}`,
        turnIndex: index,
        role: 'agent',
        at: agentAt ?? this.#options.wallNow(),
        ...change,
      },
    });
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
    cost: null,
    toolCalls: [],
  };
}
