// What somebody outside has asked the agent of one call to say: who waits to hear what became of it.
import { randomUUID } from 'node:crypto';
import { LimitError } from '../../base/errors.js';
import type { SayOutcome } from '../../contract/call-command.js';

/** Whoever asks for more at once does not want to have it heard. */
const MAX_WAITING = 20;

export class CallRequests {
  readonly #waiting = new Map<string, (outcome: SayOutcome) => void>();

  /** `ask`: hands the request of this ID to the agent; what it throws is thrown. @throws LimitError */
  async ask(ask: (id: string) => void): Promise<SayOutcome> {
    if (this.#waiting.size >= MAX_WAITING)
      throw new LimitError(`${MAX_WAITING} texts wait to be said on this call: wait for one of them.`);
    // Another process may have the call next, and requests of its own.
    const id = randomUUID();
    const { promise, resolve } = withResolver();
    this.#waiting.set(id, resolve);
    try {
      ask(id);
    } catch (error) {
      this.#waiting.delete(id);
      throw error;
    }
    return promise;
  }

  settle(id: string, outcome: SayOutcome): void {
    this.#waiting.get(id)?.(outcome);
    this.#waiting.delete(id);
  }

  /** Nothing more is said here. Idempotent. */
  close(outcome: 'call-ended' | 'moved'): void {
    for (const id of [...this.#waiting.keys()]) this.settle(id, outcome);
  }
}

function withResolver(): { promise: Promise<SayOutcome>; resolve: (outcome: SayOutcome) => void } {
  let resolve: (outcome: SayOutcome) => void = () => {};
  const promise = new Promise<SayOutcome>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
