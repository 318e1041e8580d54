// The sound of calls of a cluster: the node that has a call sends it to the one where somebody listens, piece by piece, for as long as that hears it.
import type { Clock, Timer } from '../../base/clock.js';
import { LimitError } from '../../base/errors.js';
import type { CallDirectory } from '../../calls/call-directory.js';
import type { Coordinator } from '../../cluster/coordinator.js';
import type { LiveListening, LiveSound, SoundEnd, SoundSink } from '../../contract/live-sound.js';
import type { CallStore } from '../../stores/call-store.js';
import { askNode, type RequestHandlers } from './requests.js';

/** For one message. What comes so late is heard by nobody. */
const ASK_MS = 2000;
/** A call that is up is never silent for so long: its node is gone. */
const SILENCE_MS = 5000;
/** Listeners at other nodes. */
const MAX_SENT = 20;
/** What waits for a node that does not keep up: four seconds. */
const MAX_WAITING_BYTES = 256 * 1024;

export interface NodeSoundParts {
  readonly nodeId: string;
  readonly clock: Clock;
  readonly desk: Pick<CallDirectory, 'listen'>;
  readonly coordinator: () => Coordinator | undefined;
  store(): CallStore;
}

/** Somebody here who listens in to a call of another node. */
interface Listener {
  readonly sink: SoundSink;
  /** What came before the answer. */
  readonly early: Uint8Array[];
  isOpen: boolean;
  timer: Timer;
}

export class NodeSound implements LiveSound {
  readonly #parts: NodeSoundParts;
  readonly #listeners = new Map<string, Listener>();
  #asked = 0;
  #sent = 0;

  constructor(parts: NodeSoundParts) {
    this.#parts = parts;
  }

  readonly handlers: Pick<RequestHandlers, 'listen' | 'sound'> = {
    listen: async ({ id }, { callId, from }) => {
      if (this.#sent >= MAX_SENT)
        throw new LimitError(`No more than ${MAX_SENT} can listen in to the calls of a server from others.`);
      return { delayMs: this.#send(callId, id, from) };
    },
    sound: async ({ id, bytes, end }) => {
      const listener = this.#listeners.get(id);
      if (listener === undefined) return { isHeard: false };
      this.#hear(id, listener, Buffer.from(bytes, 'base64'));
      if (end !== null) this.#end(id, end);
      return { isHeard: true };
    },
  };

  async listen(callId: string, sink: SoundSink): Promise<LiveListening | undefined> {
    const { desk, store, coordinator, nodeId, clock } = this.#parts;
    const own = desk.listen(callId, sink);
    const owner = (await store().get(callId))?.nodeId;
    const cluster = coordinator();
    if (own !== undefined || owner === undefined || owner === nodeId || cluster === undefined) return own;
    this.#asked += 1;
    const id = `${nodeId}-${this.#asked}`;
    const timer = clock.after(SILENCE_MS, () => this.#end(id, 'failed'));
    const listener: Listener = { sink, early: [], isOpen: false, timer };
    this.#listeners.set(id, listener);
    try {
      const request = { type: 'listen', callId, ask: { id } } as const;
      const { delayMs } = await askNode(cluster, owner, { request, timeoutMs: ASK_MS });
      if (delayMs === null) {
        this.#leave(id);
        return undefined;
      }
      listener.isOpen = true;
      return { delayMs, leave: () => this.#leave(id) };
    } catch (error) {
      this.#leave(id);
      throw error;
    }
  }

  /** The delay; null for a call that is not here. @throws RequestError */
  #send(callId: string, id: string, to: string): number | null {
    const waiting: Uint8Array[] = [];
    let [bytes, isSending, end]: [number, boolean, SoundEnd | null] = [0, false, null];
    let isOver = false;
    const stop = () => {
      if (isOver) return;
      isOver = true;
      this.#sent -= 1;
      listening?.leave();
    };
    const send = async () => {
      const cluster = this.#parts.coordinator();
      if (isSending || isOver || cluster === undefined) return;
      isSending = true;
      try {
        while (waiting.length > 0 || end !== null) {
          const ask = { id, bytes: Buffer.concat(waiting.splice(0)).toString('base64'), end };
          bytes = 0;
          const request = { type: 'sound', callId, ask } as const;
          const { isHeard } = await askNode(cluster, to, { request, timeoutMs: ASK_MS });
          if (!isHeard || ask.end !== null) return stop();
        }
      } catch {
        stop();
      } finally {
        isSending = false;
      }
    };
    const listening = this.#parts.desk.listen(callId, {
      write: (piece) => {
        waiting.push(piece);
        bytes += piece.length;
        if (bytes > MAX_WAITING_BYTES) stop();
        else void send();
      },
      end: (reason) => {
        end = reason;
        void send();
      },
    });
    if (listening === undefined) return null;
    this.#sent += 1;
    return listening.delayMs;
  }

  #hear(id: string, listener: Listener, bytes: Uint8Array): void {
    listener.timer.cancel();
    listener.timer = this.#parts.clock.after(SILENCE_MS, () => this.#end(id, 'failed'));
    listener.early.push(bytes);
    if (!listener.isOpen) return;
    for (const piece of listener.early.splice(0)) if (piece.length > 0) listener.sink.write(piece);
  }

  #end(id: string, reason: SoundEnd): void {
    const listener = this.#listeners.get(id);
    this.#leave(id);
    listener?.sink.end(reason);
  }

  #leave(id: string): void {
    this.#listeners.get(id)?.timer.cancel();
    this.#listeners.delete(id);
  }
}
