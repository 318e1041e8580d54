// Tells open pages of calls that are taken for lost, and of those that turn out not to be.
import type { Clock, Timer } from '../base/clock.js';
import { describeError, type Logger } from '../base/log.js';
import type { EventBus } from '../events/bus.js';
import type { CallStore } from '../stores/call-store.js';
import type { Senders } from './ingest-senders.js';
import { supposedEnd } from './lost-calls.js';

const SWEEP_MS = 5000;
/** After so long nobody is waited for: the supposed end becomes a fact. */
const FINAL_AFTER_MS = 24 * 60 * 60 * 1000;

export interface LostCallWatchParts {
  /** The store that the facts go to. */
  store: CallStore;
  /** What the pages hear. */
  bus: EventBus;
  senders: Senders;
  clock: Clock;
  logger: Logger;
  /** Pages have been told of an end that was none: they must start anew. */
  onCorrection(): void;
}

export class LostCallWatch {
  readonly #parts: LostCallWatchParts;
  /** Calls that pages have been told the end of, with their process. */
  readonly #told = new Map<string, string>();
  #timer: Timer | undefined;
  #closed = false;

  constructor(parts: LostCallWatchParts) {
    this.#parts = parts;
    this.#arm();
  }

  /** A process gave a sign of life: its calls are up after all. */
  heard(nodeId: string): void {
    const back = [...this.#told].filter(([, owner]) => owner === nodeId);
    if (back.length === 0) return;
    for (const [callId] of back) this.#told.delete(callId);
    this.#parts.onCorrection();
  }

  /** A fact of a call came, of whoever sent it: what was supposed of it is no longer so. */
  learned(callId: string): void {
    if (this.#told.delete(callId)) this.#parts.onCorrection();
  }

  /** A call is up again that was over, because another process took it over: pages have to read it anew. */
  reopened(): void {
    this.#parts.onCorrection();
  }

  /** Idempotent. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  /** Looks after all active calls once. Never rejects. */
  async sweep(): Promise<void> {
    const { store, bus, senders, logger } = this.#parts;
    try {
      for (const record of await store.active()) {
        const end = supposedEnd(record, senders);
        if (end === undefined) continue;
        if ((senders.silence(record.nodeId)?.forMs ?? 0) >= FINAL_AFTER_MS) {
          await store.append(end);
          senders.release(record.nodeId, record.callId);
          this.#told.delete(record.callId);
        } else if (!this.#told.has(record.callId)) {
          this.#told.set(record.callId, record.nodeId);
          logger.warn({ callId: record.callId, nodeId: record.nodeId }, 'call presumed lost');
          bus.publish(end);
        }
      }
    } catch (error) {
      logger.error(describeError(error), 'the check for lost calls failed');
    }
  }

  #arm(): void {
    if (this.#closed) return;
    this.#timer = this.#parts.clock.after(SWEEP_MS, () => void this.sweep().finally(() => this.#arm()));
  }
}
