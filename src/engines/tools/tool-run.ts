// One call of a tool while it runs: what the model wants, its id in the conversation, and the wait for the result.
import type { ModelToolCall } from '../../contract/chat-message.js';
import type { Id, Settlement } from '../../conversation/tools.js';

export class ToolRun {
  readonly call: ModelToolCall;
  /** True for the one that ends the call: the reply that carries it settles it. */
  readonly endsCall: boolean;
  /** It may be run again under the same key, where nobody knows what became of it. */
  readonly isIdempotent: boolean;
  /** Does the same already: this one has its result. */
  readonly joins: ToolRun | undefined;
  /** Resolves when there is a result. Never rejects. */
  readonly settled: Promise<void>;
  /** Resolves with the id that the conversation knows it by. What has consequences outside waits for it. */
  readonly identified: Promise<Id>;
  #settlement: Settlement | undefined;
  #resolve: () => void = () => {};
  #identify: (id: Id) => void = () => {};
  readonly #listeners: ((settlement: Settlement) => void)[] = [];

  constructor(
    call: ModelToolCall,
    {
      endsCall = false,
      isIdempotent = false,
      joins,
    }: { endsCall?: boolean; isIdempotent?: boolean; joins?: ToolRun | undefined } = {},
  ) {
    this.call = call;
    this.endsCall = endsCall;
    this.isIdempotent = isIdempotent;
    this.joins = joins;
    this.settled = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.identified = new Promise((resolve) => {
      this.#identify = resolve;
    });
  }

  /** The conversation has it, under this id. The first counts. */
  identify(id: Id): void {
    this.#identify(id);
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
