// One bus for facts. A subscriber that fails is logged and never felt by the call or by the others.
import { describeError, type Logger } from '../base/log.js';
import type { CallEvent } from '../contract/call-event.js';

export type EventListener = (event: CallEvent) => void;
export type DurableListener = (event: CallEvent) => Promise<void>;

/** How long the end of a call waits for the durable stage, in milliseconds. */
const DURABLE_TIMEOUT_MS = 1000;

/**
 * Publishes facts in order. Durable listeners (the store) hear every fact first; all others hear `call.ended` only when
 * the durable ones have it, or after a second. The facts of one call keep their order for every listener.
 */
export class EventBus {
  readonly #logger: Logger;
  readonly #listeners = new Set<EventListener>();
  readonly #durable = new Set<DurableListener>();
  /** Facts behind a `call.ended` that is not durable yet, by call. */
  readonly #held = new Map<string, CallEvent[]>();

  constructor(logger: Logger) {
    this.#logger = logger;
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
      void this.#release(event.callId, written);
    } else {
      this.#deliver(event);
    }
  }

  async #write(listener: DurableListener, event: CallEvent): Promise<void> {
    try {
      await listener(event);
    } catch (error) {
      this.#logger.error(
        { callId: event.callId, type: event.type, ...describeError(error) },
        'event not stored',
      );
    }
  }

  async #release(callId: string, written: Promise<void>[]): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, DURABLE_TIMEOUT_MS);
    });
    await Promise.race([Promise.all(written), timeout]);
    clearTimeout(timer);
    const held = this.#held.get(callId) ?? [];
    this.#held.delete(callId);
    for (const event of held) this.#deliver(event);
  }

  #deliver(event: CallEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#logger.error(
          { callId: event.callId, type: event.type, ...describeError(error) },
          'event listener failed',
        );
      }
    }
  }
}
