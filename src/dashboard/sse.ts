// The event stream: a snapshot, then every fact, to any number of pages. Knows responses only as sinks with a backlog.
import { randomBytes } from 'node:crypto';
import type { Clock, Timer } from '../base/clock.js';
import { LimitError } from '../base/errors.js';
import { describeError, type Logger } from '../base/log.js';
import type { CallEntry } from '../contract/dashboard-api.js';

import type { CallEvents, FactPlace } from '../contract/call-event.js';
import { isNewer } from '../events/reduce.js';
import type { CallReader } from '../stores/call-store.js';
import { Breather, inChunks, type Piece } from './breather.js';
import { ReplayRing, type RingBounds, type StampedEvent } from './replay-ring.js';
import { readSnapshot, snapshotPieces } from './snapshot.js';

/** The writing side of one reader. A Node response is one. */
export interface EventSink {
  /** False when it will say `drain` before it should be given more. */
  write(chunk: string | Uint8Array): boolean;
  once(event: 'drain', listener: () => void): unknown;
  end(): void;
  /** Cuts the reader off at once. */
  destroy(): void;
  /** Bytes written and not yet taken by the network. */
  readonly writableLength: number;
}

/** What the feed is built from. The bounds are for tests. */
export interface EventFeedParts {
  store: CallReader;
  bus: CallEvents;
  /** Where this process takes calls. @default it takes none */
  entry?: (() => CallEntry) | undefined;
  /** Calls that are up can be listened in to. @default false */
  canListen?: boolean;
  clock: Clock;
  logger: Logger;
  /** Facts kept for readers that come back. */
  ring?: Partial<RingBounds>;
  /** Unread bytes past which a reader is cut off. */
  maxBacklogBytes?: number;
}

const RING_BOUNDS: RingBounds = { events: 5000, bytes: 16 * 1024 * 1024 };
const MAX_BACKLOG_BYTES = 1024 * 1024;
const MAX_READERS = 1000;
const HEARTBEAT_MS = 15_000;
const RETRY_MS = 2000;
/** Facts are sent together that come within this time: a page draws no faster, and each write costs what ten facts do. */
const GATHER_MS = 25;

/** Has no id: who comes back need not hear it again. */
const DRAINING = 'event: draining\ndata: {}\n\n';

function brokerEvent(isThere: boolean): string {
  return `event: broker\ndata: {"isThere":${isThere}}\n\n`;
}

/** One time that all readers are brought up to date. */
interface Round {
  /** The number of the last fact that is given out in it. */
  readonly target: number;
  /** What a reader gets that has no facts of its own to leave out, by the number that it stands at. */
  readonly shared: Map<number, Uint8Array>;
}

/** How busy the feed is. */
export interface FeedLoad {
  readonly readers: number;
  /** Written and not yet taken by the network, over all readers. */
  readonly backlogBytes: number;
}

interface Reader {
  readonly sink: EventSink;
  /** False while the opening is on its way. What comes meanwhile is in the ring. */
  live: boolean;
  /** The number of the last fact that it was given. */
  position: number;
  /** The last fact of each call that the snapshot had already, until a newer one of the call passes. */
  known: Map<string, FactPlace>;
  /** Backlog that is still fair: the bound, and what the opening itself wrote until it is drained. */
  allowance: number;
  /** A heartbeat found the opening where it was. */
  stands: boolean;
  /** Part of a snapshot was sent, and the rest comes. */
  isMidSnapshot: boolean;
  /** What its snapshot says of commands. */
  readonly controls: boolean;
  readonly isSignedIn: boolean;
}

/** One event stream for all readers. Each fact is serialized once, and no reader makes the one who publishes wait. */
export class EventFeed {
  readonly #parts: EventFeedParts;
  #ring: ReplayRing;
  readonly #readers = new Set<Reader>();
  readonly #maxBacklogBytes: number;
  readonly #unsubscribe: () => void;
  #heartbeat: Timer | null = null;
  #round: Timer | null = null;
  #isSending = false;
  #isDraining = false;
  /** Undefined where there is none, or it was never away. */
  #isBrokerThere: boolean | undefined;
  #closed = false;

  constructor(parts: EventFeedParts) {
    this.#parts = parts;
    this.#maxBacklogBytes = parts.maxBacklogBytes ?? MAX_BACKLOG_BYTES;
    this.#ring = this.#createRing();
    this.#unsubscribe = parts.bus.subscribe((event) => {
      this.#ring.push(event);
      this.#startRound();
    });
  }

  /** Readers that are connected now. */
  get readerCount(): number {
    return this.#readers.size;
  }

  get load(): FeedLoad {
    const backlogs = [...this.#readers].map(({ sink }) => sink.writableLength);
    return { readers: backlogs.length, backlogBytes: backlogs.reduce((sum, bytes) => sum + bytes, 0) };
  }

  /** @throws LimitError when there are too many readers already. To be asked before headers are sent. */
  checkRoom(): void {
    if (this.#readers.size >= MAX_READERS) throw new LimitError('Too many event streams are open.');
  }

  /**
   * Serves a reader whose headers are out: resumes behind `lastEventId` when the ring still reaches back to it, else
   * sends a snapshot. Returns the function to call when the reader is gone; it is idempotent.
   */
  open(
    sink: EventSink,
    options: { lastEventId: string | null; controls: boolean; isSignedIn?: boolean },
  ): () => void {
    const reader: Reader = {
      sink,
      live: false,
      position: 0,
      known: new Map(),
      allowance: this.#maxBacklogBytes,
      stands: false,
      isMidSnapshot: false,
      controls: options.controls,
      isSignedIn: options.isSignedIn ?? false,
    };
    const leave = () => this.#remove(reader);
    if (this.#closed) {
      sink.end();
      return leave;
    }
    this.#readers.add(reader);
    this.#startHeartbeat();
    sink.write(`retry: ${RETRY_MS}\n\n`);
    const { lastEventId } = options;
    const position = lastEventId === null ? null : this.#ring.positionOf(lastEventId);
    if (position === null) void this.#sendSnapshot(reader);
    else this.#begin(reader, this.#ring.after(position));
    return leave;
  }

  /** Starts every reader anew, with a snapshot: a fact that was sent has turned out to be none. Nobody resumes behind it. */
  refresh(): void {
    this.#ring = this.#createRing();
    for (const reader of this.#readers) {
      // One that is in its opening begins again by itself.
      if (!reader.live) continue;
      reader.live = false;
      void this.#sendSnapshot(reader);
    }
  }

  /** Tells every reader, and those who come yet, that the server is about to stop. Idempotent. */
  announceDrain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    for (const reader of this.#readers) if (reader.live) this.#send(reader, DRAINING);
  }

  /** Tells every reader, and those who come yet, whether the broker of the cluster is there: without it, facts are missing. */
  announceBroker(isThere: boolean): void {
    this.#isBrokerThere = isThere;
    for (const reader of this.#readers) if (reader.live) this.#send(reader, brokerEvent(isThere));
  }

  /** Ends every stream, each with all that was published, and one that is in the middle of a snapshot behind that. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#unsubscribe();
    this.#heartbeat?.cancel();
    this.#round?.cancel();
    const round = { target: this.#ring.newest, shared: new Map<number, Uint8Array>() };
    for (const reader of [...this.#readers]) {
      if (reader.isMidSnapshot) continue;
      const { sink, live } = reader;
      const isBehind = sink.writableLength > 0;
      if (live && !isBehind) this.#catchUp(reader, round);
      if (isBehind) sink.destroy();
      else sink.end();
      this.#readers.delete(reader);
    }
  }

  #createRing(): ReplayRing {
    return new ReplayRing(randomBytes(6).toString('hex'), { ...RING_BOUNDS, ...this.#parts.ring });
  }

  #startRound(): void {
    if (this.#round !== null || this.#isSending || this.#readers.size === 0 || this.#closed) return;
    this.#round = this.#parts.clock.after(GATHER_MS, () => {
      this.#round = null;
      void this.#sendRound();
    });
  }

  /** Brings every reader up to date, a few at a time. */
  async #sendRound(): Promise<void> {
    const ring = this.#ring;
    const round = { target: ring.newest, shared: new Map<number, Uint8Array>() };
    const breather = new Breather(this.#parts.clock);
    this.#isSending = true;
    for (const reader of [...this.#readers]) {
      if (ring !== this.#ring) break;
      if (reader.live && this.#readers.has(reader)) this.#catchUp(reader, round);
      if (breather.isDue) await breather.breathe();
    }
    this.#isSending = false;
    if (ring !== this.#ring || ring.newest > round.target) this.#startRound();
  }

  /** Gives a live reader what it has not got. */
  #catchUp(reader: Reader, { target, shared }: Round): void {
    const { position } = reader;
    if (position >= target) return;
    const events = this.#ring.after(position)?.slice(0, target - position);
    if (events === undefined) {
      this.#cutOff(reader);
      return;
    }
    reader.position = target;
    const wanted = this.#unknownTo(reader, events);
    if (wanted.length < events.length) {
      if (wanted.length > 0) this.#send(reader, join(wanted));
      return;
    }
    const bytes = shared.get(position) ?? join(events);
    shared.set(position, bytes);
    this.#send(reader, bytes);
  }

  #unknownTo(reader: Reader, events: readonly StampedEvent[]): readonly StampedEvent[] {
    if (reader.known.size === 0) return events;
    return events.filter((event) => {
      const last = reader.known.get(event.callId);
      if (last === undefined) return true;
      if (!isNewer(event, last)) return false;
      reader.known.delete(event.callId);
      return true;
    });
  }

  async #sendSnapshot(reader: Reader): Promise<void> {
    const { store, logger } = this.#parts;
    try {
      for (let ring = this.#ring; ; ring = this.#ring) {
        const read = await readSnapshot(store, ring);
        if (!this.#readers.has(reader)) return;
        if (read === null) break;
        const [first] = read.news;
        const id = ring.idOf(first === undefined ? read.position : first.counter - 1);
        await this.#sendPieces(
          reader,
          snapshotPieces(read, id, {
            controls: reader.controls,
            isSignedIn: reader.isSignedIn,
            entry: this.#parts.entry?.() ?? null,
            canListen: this.#parts.canListen ?? false,
          }),
        );
        if (!this.#readers.has(reader)) return;
        // Everything was begun anew meanwhile: so is this.
        if (ring !== this.#ring) continue;
        reader.known = read.known;
        const since = ring.after(read.position);
        this.#begin(reader, since && [...read.news, ...this.#unknownTo(reader, since)]);
        return;
      }
    } catch (error) {
      logger.error(describeError(error), 'dashboard snapshot failed');
    }
    this.#cutOff(reader);
  }

  async #sendPieces(reader: Reader, pieces: Iterable<Piece>): Promise<void> {
    const breather = new Breather(this.#parts.clock);
    for await (const chunk of inChunks(pieces)) {
      reader.stands = false;
      reader.isMidSnapshot = true;
      reader.allowance += chunk.length * 2;
      if (!reader.sink.write(chunk)) await isDrained(reader.sink);
      if (breather.isDue) await breather.breathe();
      if (!this.#readers.has(reader)) return;
    }
  }

  /** The reader goes live in the tick in which it gets what it missed: nothing falls between. Null: it is too far behind. */
  #begin(reader: Reader, missed: readonly StampedEvent[] | null): void {
    if (missed === null) {
      this.#cutOff(reader);
      return;
    }
    reader.live = true;
    reader.isMidSnapshot = false;
    reader.position = this.#ring.newest;
    if (this.#isDraining) reader.sink.write(DRAINING);
    if (this.#isBrokerThere !== undefined) reader.sink.write(brokerEvent(this.#isBrokerThere));
    if (missed.length > 0) {
      const bytes = join(missed);
      reader.allowance += bytes.length;
      reader.sink.write(bytes);
    }
    if (!this.#closed) return;
    reader.sink.end();
    this.#readers.delete(reader);
  }

  #send(reader: Reader, chunk: string | Uint8Array): void {
    const backlog = reader.sink.writableLength;
    if (backlog <= this.#maxBacklogBytes) reader.allowance = this.#maxBacklogBytes;
    if (backlog > reader.allowance) this.#cutOff(reader);
    else reader.sink.write(chunk);
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
    this.#round?.cancel();
    this.#round = null;
  }

  /** A comment keeps proxies from closing a quiet stream, and finds readers that are gone. */
  #startHeartbeat(): void {
    this.#heartbeat ??= this.#parts.clock.after(HEARTBEAT_MS, () => {
      this.#heartbeat = null;
      for (const reader of [...this.#readers]) this.#beat(reader);
      if (this.#readers.size > 0) this.#startHeartbeat();
    });
  }

  /** A comment in the middle of an opening would break it; one that does not move is given up. */
  #beat(reader: Reader): void {
    if (reader.live) this.#send(reader, ':\n\n');
    else if (reader.stands) this.#cutOff(reader);
    else reader.stands = true;
  }
}

/** Settles never for a reader that goes away first, and is forgotten with it. */
function isDrained(sink: EventSink): Promise<void> {
  return new Promise((resolve) => sink.once('drain', resolve));
}

function join(events: readonly StampedEvent[]): Uint8Array {
  return Buffer.concat(events.map(({ bytes }) => bytes));
}
