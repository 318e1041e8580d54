// Listening in to live calls: who may, how many, and what becomes of a reader that does not keep up. Where the sound comes from is
// somebody else's business.
import type { Clock } from '../base/clock.js';
import { LimitError, NotFoundError, RequestError } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { maskPhone } from '../base/redact.js';
import type { CallRecord } from '../contract/call-record.js';
import type { LiveListening, LiveSound, SoundEnd, SoundSink } from '../contract/live-sound.js';
import type { CallReader } from '../stores/call-store.js';

/** The writing side of one listener. A Node response is one. */
export interface AudioReader {
  write(bytes: Uint8Array): unknown;
  end(): void;
  /** Cuts the listener off at once. */
  destroy(): void;
  /** Bytes written and not yet taken by the network. */
  readonly writableLength: number;
  /** Nothing that is written goes anywhere. */
  readonly destroyed: boolean;
}

/** The bounds are for tests. */
export interface LiveAudioParts {
  /** Null where nobody can listen in. */
  readonly sound: LiveSound | null;
  readonly store: CallReader;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly maxListeners?: number;
  readonly maxListenersPerCall?: number;
  readonly maxBacklogBytes?: number;
}

const MAX_LISTENERS = 20;
const MAX_LISTENERS_PER_CALL = 3;
/** A reader has so long for the last of a call. */
const LAST_SOUND_MS = 10_000;
/** Eight seconds. */
const MAX_BACKLOG_BYTES = 512 * 1024;

/** How it ended for one listener, as the log says it. */
type ListeningEnd = SoundEnd | 'left' | 'too-slow' | 'server-shutdown';

const NOBODY: SoundSink = { write: () => {}, end: () => {} };

interface Listener {
  readonly callId: string;
  readonly reader: AudioReader;
  readonly since: number;
  listening: LiveListening | undefined;
}

export class LiveAudio {
  readonly #parts: LiveAudioParts;
  readonly #listeners = new Set<Listener>();
  #isClosed = false;

  constructor(parts: LiveAudioParts) {
    this.#parts = parts;
  }

  get isOffered(): boolean {
    return this.#parts.sound !== null;
  }

  /** A call that can be listened in to. `callId` may be the carrier's. @throws NotFoundError, RequestError */
  async find(callId: string): Promise<CallRecord> {
    const record = await this.#parts.store.get(callId);
    if (record === undefined) throw new NotFoundError('No such call.');
    if (record.status === 'completed') throw new RequestError('REQUEST_CONFLICT', 'The call is over.');
    if (this.isOffered) return record;
    throw new RequestError(
      'REQUEST_CONFLICT',
      'Nobody can listen in here: ask the server that has the call, and set its option listenIn.',
    );
  }

  /** Writes nothing before the tick behind that in which it resolves. `leave` is for a reader that is gone. @throws RequestError, LimitError, ClusterError */
  async open(record: CallRecord, reader: AudioReader): Promise<LiveListening> {
    const { clock, logger } = this.#parts;
    const { callId } = record;
    const listener: Listener = { callId, reader, since: clock.now(), listening: undefined };
    const listening = await this.#listen(listener, {
      write: (bytes) => this.#write(listener, bytes),
      end: (reason) => this.#end(listener, reason),
    });
    listener.listening = listening;
    const parties = { caller: maskPhone(record.caller), callee: maskPhone(record.callee) };
    logger.info({ callId, ...parties }, 'somebody listens in to a call');
    return { delayMs: listening.delayMs, leave: () => this.#end(listener, 'left') };
  }

  /** What `open` would come to, for nobody. @throws RequestError, LimitError */
  async probe({ callId }: CallRecord, reader: AudioReader): Promise<Pick<LiveListening, 'delayMs'>> {
    const nobody: Listener = { callId, reader, since: 0, listening: undefined };
    const { delayMs, leave } = await this.#listen(nobody, NOBODY);
    this.#listeners.delete(nobody);
    leave();
    return { delayMs };
  }

  /** Ends every stream. Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const listener of [...this.#listeners]) this.#end(listener, 'server-shutdown');
  }

  /** It has its place from now on, unless this rejects. */
  async #listen(listener: Listener, sink: SoundSink): Promise<LiveListening> {
    const { callId } = listener;
    this.#demandRoom(callId);
    this.#listeners.add(listener);
    try {
      const listening = await this.#parts.sound?.listen(callId, sink);
      if (listening === undefined)
        throw new RequestError('REQUEST_CONFLICT', 'Another process has this call. Try again in a moment.');
      if (this.#listeners.has(listener)) return listening;
      listening.leave();
      throw new RequestError('REQUEST_CONFLICT', 'The server is shutting down.');
    } catch (error) {
      this.#listeners.delete(listener);
      throw error;
    }
  }

  #demandRoom(callId: string): void {
    const { maxListeners = MAX_LISTENERS, maxListenersPerCall = MAX_LISTENERS_PER_CALL } = this.#parts;
    if (this.#isClosed) throw new RequestError('REQUEST_CONFLICT', 'The server is shutting down.');
    if (this.#listeners.size >= maxListeners)
      throw new LimitError(`No more than ${maxListeners} can listen in to the calls of this server.`);
    const here = [...this.#listeners].filter((listener) => listener.callId === callId);
    if (here.length >= maxListenersPerCall)
      throw new LimitError(`No more than ${maxListenersPerCall} can listen in to a call.`);
  }

  #write(listener: Listener, bytes: Uint8Array): void {
    const { maxBacklogBytes = MAX_BACKLOG_BYTES } = this.#parts;
    const { reader } = listener;
    if (!this.#listeners.has(listener)) return;
    if (reader.destroyed) this.#end(listener, 'left');
    else if (reader.writableLength > maxBacklogBytes) this.#end(listener, 'too-slow');
    else reader.write(bytes);
  }

  #end(listener: Listener, reason: ListeningEnd): void {
    if (!this.#listeners.delete(listener)) return;
    const { callId, reader, since } = listener;
    const { clock, logger } = this.#parts;
    listener.listening?.leave();
    const mayTakeRest = reader.writableLength === 0 || reason === 'call-ended' || reason === 'moved';
    if (mayTakeRest) reader.end();
    else reader.destroy();
    if (reader.writableLength > 0 && !reader.destroyed) clock.after(LAST_SOUND_MS, () => reader.destroy());
    const durationMs = Math.round(clock.now() - since);
    logger.info({ callId, durationMs, reason }, 'somebody has stopped listening in to a call');
  }
}
