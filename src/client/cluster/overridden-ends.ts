// Ends of calls that this node has stated, and that facts of another one undo, which had taken the call over while nobody could tell: where it has let the
// call go since, the end is told again.
import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import { type CallEvent, LATE_FACTS } from '../../contract/call-event.js';
import { type CallFinder, PROBE_MS } from './call-finder.js';

const LOOK_MS = 1000;
/** One that has just ended the call says so in a moment. */
const LOOKS = 2;
/** Who goes on with the call for so long tells of its end. */
const WATCH_MS = 60_000;

export interface OverriddenEndsParts {
  readonly clock: Clock;
  /** As in `CallFinder`. */
  whoHas(...asked: Parameters<CallFinder['whoHas']>): ReturnType<CallFinder['whoHas']>;
  /** This node hears in a moment what others state. */
  isInTouch(): boolean;
  /** False also for one that has ended here long ago. */
  hasEnded(callId: string): boolean;
  /** Tells it again, in a higher term than this. */
  restate(callId: string, term: number): void;
}

export class OverriddenEnds {
  readonly #parts: OverriddenEndsParts;
  /** The last fact of another node, of calls that it is asked about. */
  readonly #undone = new Map<string, CallEvent>();
  #isClosed = false;

  constructor(parts: OverriddenEndsParts) {
    this.#parts = parts;
  }

  /** A fact of another node, for the first time. */
  heard(fact: CallEvent): void {
    const { callId, type } = fact;
    if (type === 'call.ended' || type === 'call.forgotten') this.#undone.delete(callId);
    else if (this.#undone.has(callId)) this.#undone.set(callId, fact);
    else if (!LATE_FACTS.includes(type) && this.#parts.hasEnded(callId)) {
      this.#undone.set(callId, fact);
      void this.#watch(callId);
    }
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
  }

  /** Never rejects. */
  async #watch(callId: string): Promise<void> {
    const { clock, whoHas, isInTouch, hasEnded, restate } = this.#parts;
    const until = clock.now() + WATCH_MS;
    let [looks, asked] = [0, ''];
    while (!this.#isClosed && clock.now() < until) {
      const { nodeId = '' } = this.#undone.get(callId) ?? {};
      if (nodeId !== asked) [looks, asked] = [0, nodeId];
      const answers = await whoHas([callId], { timeoutMs: PROBE_MS });
      const undone = this.#undone.get(callId);
      if (undone === undefined || this.#isClosed) return;
      const hasSaid = undone.nodeId === nodeId && answers.some(([each]) => each === nodeId);
      const isHad = answers.some(([, places]) => places.some(({ state }) => state !== 'ended'));
      looks = hasSaid && !isHad && isInTouch() ? looks + 1 : 0;
      if (!hasEnded(callId)) break;
      if (looks === LOOKS) {
        restate(callId, undone.term);
        break;
      }
      await pause(clock, LOOK_MS);
    }
    this.#undone.delete(callId);
  }
}
