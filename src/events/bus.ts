// One bus for facts. A subscriber that fails is logged and never felt by the call or by the others.
import { type Clock, systemClock, type Timer } from '../base/clock.js';
import { describeError, type Logger } from '../base/log.js';
import { heldTimer } from '../base/process-hold.js';
import type { CallEvent, CallEvents } from '../contract/call-event.js';

/** Returns nothing of interest: a promise that it may return is only watched for its failure. */
export type EventListener = (event: CallEvent) => void;
export type DurableListener = (event: CallEvent) => Promise<void>;

/** How long the end of a call waits for the durable stage, in milliseconds. */
const DURABLE_TIMEOUT_MS = 1000;

/**
 * Publishes facts in order. Durable listeners (the store) hear every fact first; all others hear `call.ended` only when
 * the durable ones have it, or after a second. The facts of one call keep their order for every listener.
 */
export class EventBus implements CallEvents {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #listeners = new Set<EventListener>();
  readonly #durable = new Set<DurableListener>();
  /** Facts behind a `call.ended` that is not durable yet, by call. */
  readonly #held = new Map<string, CallEvent[]>();
  /** Facts that wait for the delivery under way: a listener may publish. */
  readonly #queue: CallEvent[] = [];
  #delivering = false;
  readonly #releases = new Set<Promise<void>>();

  /** `clock`: one that is not stopped before the last fact. @default the system's */
  constructor(logger: Logger, clock = systemClock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Hears every fact, synchronously. Returns the function that unsubscribes. */
  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Hears every fact before the others, and may take a moment over it. */
  subscribeDurable(listener: DurableListener): () => void {
    this.#durable.add(listener);
    return () => this.#durable.delete(listener);
  }

  /** Never throws. */
  publish(event: CallEvent): void {
    const written = [...this.#durable].map((listener) => this.#write(listener, event));
    const held = this.#held.get(event.callId);
    if (held !== undefined) {
      held.push(event);
    } else if (event.type === 'call.ended' && written.length > 0) {
      this.#held.set(event.callId, [event]);
      const release = this.#release(event.callId, written);
      this.#releases.add(release);
      void release.finally(() => this.#releases.delete(release));
    } else {
      this.#deliver([event]);
    }
  }

  /** Resolves when every listener has heard every fact published so far: within about a second. */
  async settled(): Promise<void> {
    while (this.#releases.size > 0) await Promise.all(this.#releases);
  }

  async #write(listener: DurableListener, event: CallEvent): Promise<void> {
    try {
      await listener(event);
    } catch (error) {
      this.#complain(error, event, 'event not stored');
    }
  }

  async #release(callId: string, written: Promise<void>[]): Promise<void> {
    let timer: Timer | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = heldTimer(this.#clock, DURABLE_TIMEOUT_MS, resolve);
    });
    await Promise.race([Promise.all(written), timeout]);
    timer?.cancel();
    const held = this.#held.get(callId) ?? [];
    this.#held.delete(callId);
    this.#deliver(held);
  }

  #deliver(events: readonly CallEvent[]): void {
    this.#queue.push(...events);
    if (this.#delivering) return;
    this.#delivering = true;
    for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift()) {
      for (const listener of [...this.#listeners]) this.#tell(listener, event);
    }
    this.#delivering = false;
  }

  #tell(listener: EventListener, event: CallEvent): void {
    try {
      const result: unknown = listener(event);
      if (result instanceof Promise) {
        result.catch((error: unknown) => this.#complain(error, event, 'event listener failed'));
      }
    } catch (error) {
      this.#complain(error, event, 'event listener failed');
    }
  }

  #complain(error: unknown, event: CallEvent, sentence: string): void {
    this.#logger.error({ callId: event.callId, type: event.type, ...describeError(error) }, sentence);
  }
}
