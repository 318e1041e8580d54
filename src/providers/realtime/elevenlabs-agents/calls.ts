// Calls of tools that the agent has made, and what its results are sent as.
import { forgetOldest, KEPT_CALLS } from '../../wire/bounds.js';
import type { Json } from '../../wire/json.js';
import { SeenIds } from '../../wire/seen-ids.js';
import { toContext, toResult } from './settings.js';

export interface ToolResult {
  readonly toolCallId: string;
  readonly result: string;
}

export interface SentResults {
  readonly messages: readonly Json[];
  /** The agent has waited for one of them, and goes on by itself. */
  readonly isAwaited: boolean;
  /** One of them was called for in an earlier conversation: the agent knows it now, and says nothing to it by itself. */
  readonly isLate: boolean;
}

export class ElevenLabsAgentsCalls {
  /** Those without a result, and whether the agent waits for it. */
  readonly #open = new Map<string, boolean>();
  readonly #told = new SeenIds();

  /** Returns false when that was told before. */
  called(id: string, { expectsResult }: { expectsResult: boolean }): boolean {
    if (!this.#told.add(id)) return false;
    this.#open.set(id, expectsResult);
    forgetOldest(this.#open, KEPT_CALLS);
    return true;
  }

  /** What to send. Of a tool that the agent does not wait for the result goes nowhere. */
  settle(results: readonly ToolResult[]): SentResults {
    const messages: Json[] = [];
    let isAwaited = false;
    let isLate = false;
    for (const { toolCallId, result } of results) {
      const expectsResult = this.#open.get(toolCallId);
      this.#open.delete(toolCallId);
      if (expectsResult === true) messages.push(toResult(toolCallId, result));
      if (expectsResult === undefined) messages.push(toContext(`(A tool gave: ${result})`));
      isAwaited ||= expectsResult === true;
      isLate ||= expectsResult === undefined;
    }
    return { messages, isAwaited, isLate };
  }

  /** Another conversation knows none of them. */
  reset(): void {
    this.#open.clear();
    this.#told.clear();
  }
}
