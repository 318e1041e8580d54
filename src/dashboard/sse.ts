// The event stream: a snapshot, then every fact, to any number of pages. Knows responses only as sinks with a backlog.
import { randomBytes } from 'node:crypto';
import type { Clock, Timer } from '../base/clock.js';
import { LimitError } from '../base/errors.js';
import { describeError, type Logger } from '../base/log.js';
import type { Snapshot } from '../contract/dashboard-api.js';
import type { EventBus } from '../events/bus.js';
import { toSummary } from '../events/summarize.js';
import type { CallStore } from '../stores/call-store.js';
import { ReplayRing, type StampedEvent } from './replay-ring.js';

/** The writing side of one reader. A Node response is one. */
export interface EventSink {
  write(text: string): boolean;
  end(): void;
  /** Cuts the reader off at once. */
  destroy(): void;
  /** Bytes written and not yet taken by the network. */
  readonly writableLength: number;
}

/** What the feed is built from. The bounds are for tests. */
export interface EventFeedParts {
  store: CallStore;
  bus: EventBus;
  clock: Clock;
  logger: Logger;
  /** Facts kept for readers that come back. */
  ringSize?: number;
  /** Unread bytes past which a reader is cut off. */
  maxBacklogBytes?: number;
}

const RING_SIZE = 2000;
const MAX_BACKLOG_BYTES = 1024 * 1024;
const MAX_READERS = 500;
const HEARTBEAT_MS = 15_000;
const RETRY_MS = 2000;
const RECENT_CALLS = 50;
const SNAPSHOT_ATTEMPTS = 5;

interface Reader {
  readonly sink: EventSink;
  /** False while the snapshot is being read. What comes meanwhile is in the ring. */
  live: boolean;
  /** Sequence numbers that the snapshot had already, by call, until a newer fact of the call passes. */
  known: Map<string, number>;
  /** Backlog that is still fair: the bound, and what the opening itself wrote until it is drained. */
  allowance: number;
  /** What its snapshot says of commands. */
  readonly controls: boolean;
}

/** One event stream for all readers. Each fact is serialized once. */
export class EventFeed {
  readonly #parts: EventFeedParts;
  #ring: ReplayRing;
  readonly #readers = new Set<Reader>();
  readonly #maxBacklogBytes: number;
  readonly #unsubscribe: () => void;
  #heartbeat: Timer | null = null;
  #closed = false;

  constructor(parts: EventFeedParts) {
    this.#parts = parts;
    this.#maxBacklogBytes = parts.maxBacklogBytes ?? MAX_BACKLOG_BYTES;
    this.#ring = this.#createRing();
    this.#unsubscribe = parts.bus.subscribe((event) => this.#publish(this.#ring.push(event)));
  }

  /** Readers that are connected now. */
  get readerCount(): number {
    return this.#readers.size;
  }

  /** @throws LimitError when there are too many readers already. To be asked before headers are sent. */
  checkRoom(): void {
    if (this.#readers.size >= MAX_READERS) throw new LimitError('Too many event streams are open.');
  }

  /**
   * Serves a reader whose headers are out: resumes behind `lastEventId` when the ring still reaches back to it, else
   * sends a snapshot. Returns the function to call when the reader is gone; it is idempotent.
   */
  open(sink: EventSink, options: { lastEventId: string | null; controls: boolean }): () => void {
    const leave = () => this.#remove(reader);
    const reader: Reader = {
      sink,
      live: false,
      known: new Map(),
      allowance: this.#maxBacklogBytes,
      controls: options.controls,
    };
    if (this.#closed) {
      sink.end();
      return leave;
    }
    this.#readers.add(reader);
    this.#startHeartbeat();
    sink.write(`retry: ${RETRY_MS}\n\n`);
    const missed = options.lastEventId === null ? null : this.#ring.after(options.lastEventId);
    if (missed !== null) this.#begin(reader, '', missed);
    else void this.#sendSnapshot(reader);
    return leave;
  }

  /** Starts every reader anew, with a snapshot: a fact that was sent has turned out to be none. Nobody resumes behind it. */
  refresh(): void {
    this.#ring = this.#createRing();
    for (const reader of this.#readers) {
      reader.live = false;
      reader.known.clear();
      void this.#sendSnapshot(reader);
    }
  }

  /** Ends every stream. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#unsubscribe();
    this.#heartbeat?.cancel();
    this.#heartbeat = null;
    for (const { sink } of this.#readers) {
      if (sink.writableLength > 0) sink.destroy();
      else sink.end();
    }
    this.#readers.clear();
  }

  #createRing(): ReplayRing {
    return new ReplayRing(randomBytes(6).toString('hex'), this.#parts.ringSize ?? RING_SIZE);
  }

  #publish(stamped: StampedEvent): void {
    const { callId, seq } = stamped.event;
    for (const reader of this.#readers) {
      if (!reader.live || seq <= (reader.known.get(callId) ?? 0)) continue;
      reader.known.delete(callId);
      this.#send(reader, stamped.text);
    }
  }

  async #sendSnapshot(reader: Reader): Promise<void> {
    try {
      for (let attempt = 0; attempt < SNAPSHOT_ATTEMPTS; attempt += 1) {
        const ring = this.#ring;
        const mark = ring.idBefore(undefined);
        const snapshot = await this.#readSnapshot(reader.controls);
        // A refresh meanwhile sends its own.
        if (!this.#readers.has(reader) || ring !== this.#ring) return;
        const meanwhile = this.#ring.after(mark);
        // A call that ended between the reads may be in neither of them: read again.
        if (meanwhile === null || meanwhile.some(({ event }) => event.type === 'call.ended')) continue;
        for (const record of [...snapshot.active, ...snapshot.recent])
          reader.known.set(record.callId, record.seq);
        const news = this.#ring.newerThan(reader.known);
        const id = this.#ring.idBefore(news[0]);
        this.#begin(reader, `id: ${id}\nevent: snapshot\ndata: ${JSON.stringify(snapshot)}\n\n`, news);
        return;
      }
    } catch (error) {
      this.#parts.logger.error(describeError(error), 'dashboard snapshot failed');
    }
    this.#cutOff(reader);
  }

  async #readSnapshot(controls: boolean): Promise<Snapshot> {
    const { store } = this.#parts;
    const [active, ended, aggregates] = await Promise.all([
      store.active(),
      store.list({ limit: RECENT_CALLS, status: 'completed' }),
      store.aggregates(),
    ]);
    const over = new Set(ended.calls.map((record) => record.callId));
    return {
      active: active.filter((record) => !over.has(record.callId)),
      recent: ended.calls.map(toSummary),
      aggregates,
      controls,
    };
  }

  /** Writes the opening in one go, in the tick in which the reader goes live: nothing falls between. */
  #begin(reader: Reader, opening: string, events: readonly StampedEvent[]): void {
    const text = opening + events.map((stamped) => stamped.text).join('');
    reader.live = true;
    reader.allowance += text.length * 4;
    if (text !== '') reader.sink.write(text);
  }

  #send(reader: Reader, text: string): void {
    const backlog = reader.sink.writableLength;
    if (backlog <= this.#maxBacklogBytes) reader.allowance = this.#maxBacklogBytes;
    if (backlog > reader.allowance) this.#cutOff(reader);
    else reader.sink.write(text);
  }

  #cutOff(reader: Reader): void {
    this.#remove(reader);
    this.#parts.logger.warn({ backlogBytes: reader.sink.writableLength }, 'event stream cut off');
    reader.sink.destroy();
  }

  #remove(reader: Reader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    this.#heartbeat?.cancel();
    this.#heartbeat = null;
  }

  /** A comment keeps proxies from closing a quiet stream, and finds readers that are gone. */
  #startHeartbeat(): void {
    this.#heartbeat ??= this.#parts.clock.after(HEARTBEAT_MS, () => {
      this.#heartbeat = null;
      for (const reader of this.#readers) this.#send(reader, ':\n\n');
      if (this.#readers.size > 0) this.#startHeartbeat();
    });
  }
}
