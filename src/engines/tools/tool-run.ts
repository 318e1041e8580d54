// One call of a tool while it runs: what the model wants, and the wait for the result.
import type { ModelToolCall } from '../../contract/chat-message.js';
import type { Settlement } from '../../conversation/tools.js';

export class ToolRun {
  readonly call: ModelToolCall;
  /** True for the one that ends the call: the reply that carries it settles it. */
  readonly endsCall: boolean;
  /** Does the same already: this one has its result. */
  readonly joins: ToolRun | undefined;
  /** Resolves when there is a result. Never rejects. */
  readonly settled: Promise<void>;
  #settlement: Settlement | undefined;
  #resolve: () => void = () => {};
  readonly #listeners: ((settlement: Settlement) => void)[] = [];

  constructor(
    call: ModelToolCall,
    { endsCall = false, joins }: { endsCall?: boolean; joins?: ToolRun | undefined } = {},
  ) {
    this.call = call;
    this.endsCall = endsCall;
    this.joins = joins;
    this.settled = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** The result; undefined until there is one. */
  get settlement(): Settlement | undefined {
    return this.#settlement;
  }

  get isSettled(): boolean {
    return this.#settlement !== undefined;
  }

  /** Calls `listener` in the tick of the result; at once when it is there. */
  onSettled(listener: (settlement: Settlement) => void): void {
    if (this.#settlement !== undefined) listener(this.#settlement);
    else this.#listeners.push(listener);
  }

  /** The first result counts. */
  settle(settlement: Settlement): void {
    if (this.isSettled) return;
    this.#settlement = settlement;
    this.#resolve();
    for (const listener of this.#listeners) listener(settlement);
  }
}
