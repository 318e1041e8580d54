// One call of a tool, from the model's wish to the result that it is told.
import type { Clock } from '../../base/clock.js';
import type { ToolCall } from '../../contract/call-record.js';
import type { ModelToolCall } from '../../providers/language-model.js';

export interface Settlement {
  /** For the model. */
  readonly text: string;
  /** For the record; null when all went well. */
  readonly error: string | null;
}

/** Longest name that is shown of what a model made up. */
const MAX_NAME_CHARS = 64;

export class ToolRun {
  readonly call: ModelToolCall;
  /** True for the one that ends the call: the reply that carries it settles it. */
  readonly endsCall: boolean;
  /** Resolves when there is a result. Never rejects. */
  readonly settled: Promise<void>;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #wallStartedAt: number;
  #durationMs: number | null = null;
  #settlement: Settlement | undefined;
  #resolve: () => void = () => {};
  #listener: (() => void) | undefined;

  constructor(call: ModelToolCall, options: { clock: Clock; endsCall: boolean }) {
    const { clock, endsCall } = options;
    this.call = call;
    this.endsCall = endsCall;
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#wallStartedAt = clock.wallNow();
    this.settled = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get isSettled(): boolean {
    return this.#settlement !== undefined;
  }

  /** What the model is told. */
  get resultText(): string {
    return this.#settlement?.text ?? '';
  }

  /** As it is now: without a duration while it runs. */
  get record(): ToolCall {
    return {
      name: this.call.name.slice(0, MAX_NAME_CHARS),
      startedAt: this.#wallStartedAt,
      durationMs: this.#durationMs,
      error: this.#settlement?.error ?? null,
    };
  }

  /** Calls `listener` in the tick of the result; at once when it is there. */
  onSettled(listener: () => void): void {
    if (this.isSettled) listener();
    else this.#listener = listener;
  }

  /** The first result counts. */
  settle(settlement: Settlement): void {
    if (this.isSettled) return;
    this.#durationMs = Math.round(this.#clock.now() - this.#startedAt);
    this.#settlement = settlement;
    this.#resolve();
    this.#listener?.();
  }
}
