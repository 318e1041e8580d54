// The states of the calls of a node, on their way to the broker: of each call one at a time, and then the newest. A slow broker gets them, too, and holds up nobody.
import type { Clock, Timer } from '../../base/clock.js';
import { within } from '../../base/pause.js';
import type { Rounds } from '../../base/rounds.js';
import type { StateStore } from '../../calls/resume/call-states.js';
import { BROKER_MS, type Coordinator } from '../../cluster/coordinator.js';

export interface KeptStatesParts {
  readonly clock: Clock;
  /** When it is told what nobody waits for. @default each at once */
  readonly rounds?: Rounds;
  /** Undefined before it has joined. */
  coordinator(): Coordinator | undefined;
  /** In which this node has the call; undefined where it has it no more. */
  termOf(callId: string): number | undefined;
  /** The broker is reached again: it may lack the newest state of any call. */
  returned(): void;
}

/** How often it is looked whether the broker is reached again, in milliseconds. */
const LOOK_MS = 1000;

interface Sent {
  /** Resolves when nothing of the call is on its way any more. */
  readonly done: Promise<void>;
  /** What has come meanwhile. */
  next: KeptState | undefined;
}

interface KeptState {
  readonly term: number;
  readonly text: string;
}

export class KeptStates implements StateStore {
  readonly #parts: KeptStatesParts;
  readonly #sent = new Map<string, Sent>();
  /** Set while the broker is away that was to be given a state. */
  #away: Timer | undefined;
  #isClosed = false;

  constructor(parts: KeptStatesParts) {
    this.#parts = parts;
  }

  get rounds(): Rounds | undefined {
    return this.#parts.rounds;
  }

  get isTaking(): boolean {
    const isReached = this.#parts.coordinator()?.isReached === true;
    if (!isReached) this.#awaitReturn();
    return isReached;
  }

  /** Resolves when the broker has it, or has had the time of a webhook; at once where it is known to be slower than that. */
  async write(callId: string, text: string): Promise<void> {
    const { clock } = this.#parts;
    const [coordinator, term] = [this.#parts.coordinator(), this.#parts.termOf(callId)];
    if (coordinator === undefined || term === undefined) return;
    const kept = this.#keep(coordinator, callId, { term, text });
    if (coordinator.isThere) await within(clock, BROKER_MS, kept);
  }

  /** It goes as the call is released. */
  async remove(): Promise<void> {}

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#away?.cancel();
  }

  #awaitReturn(): void {
    if (this.#isClosed) return;
    this.#away ??= this.#parts.clock.after(LOOK_MS, () => {
      this.#away = undefined;
      if (this.isTaking) this.#parts.returned();
    });
  }

  #keep(coordinator: Coordinator, callId: string, state: KeptState): Promise<void> {
    const before = this.#sent.get(callId);
    if (before !== undefined) {
      before.next = state;
      return before.done;
    }
    const done = this.#send(coordinator, callId, state);
    this.#sent.set(callId, { done, next: undefined });
    return done;
  }

  async #send(coordinator: Coordinator, callId: string, first: KeptState): Promise<void> {
    for (let state: KeptState | undefined = first; state !== undefined; ) {
      await coordinator.keepState(callId, state.term, state.text).catch(() => {
        if (!coordinator.isReached) this.#awaitReturn();
      });
      const sent = this.#sent.get(callId);
      // Of a call that is over by now, or another node's, nothing more is kept.
      state = this.#parts.termOf(callId) === undefined ? undefined : sent?.next;
      if (sent !== undefined) sent.next = undefined;
    }
    this.#sent.delete(callId);
  }
}
