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
      name: this.call.name,
      startedAt: this.#wallStartedAt,
      durationMs: this.#durationMs,
      error: this.#settlement?.error ?? null,
    };
  }

  /** The first result counts. */
  settle(settlement: Settlement): void {
    if (this.isSettled) return;
    this.#durationMs = this.#clock.now() - this.#startedAt;
    this.#settlement = settlement;
    this.#resolve();
  }
}
