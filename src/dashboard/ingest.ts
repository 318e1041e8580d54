// Takes the facts that servers send: each once, in order, whatever comes twice, late or forged.
import { randomBytes } from 'node:crypto';
import { RequestError } from '../base/errors.js';
import type { CallEvent } from '../contract/call-event.js';
import type {
  IngestAnswer,
  IngestBatch,
  IngestPosition,
  IngestQuestion,
  IngestRefusalReason,
} from '../contract/ingest.js';
import type { EventBus } from '../events/bus.js';
import { opensCall } from '../events/reduce.js';
import type { CallStore } from '../stores/call-store.js';
import { type FactEnvelope, readEnvelope, readFact } from './ingest-event.js';
import type { Senders } from './ingest-senders.js';
import type { LostCallWatch } from './lost-call-watch.js';
import { readAs, SchemaMismatch } from './schema-reader.js';
import { MAX_INGEST_EVENTS } from './schemas.js';

/** Ended calls that the history holds. Source: specification, Limits. */
const HISTORY_SIZE = 500;

export interface IngestParts {
  store: CallStore;
  /** Hears every fact that was new, once it is stored. */
  bus: EventBus;
  senders: Senders;
  watch: LostCallWatch;
}

/** A call of a sender, as far as it is here. */
interface Place {
  readonly callId: string;
  readonly nodeId: string;
  /** Its id in the store. */
  readonly storedId: string;
  seq: number;
  /** Like `seq`, with the facts counted that were passed over for good. */
  passed: number;
  ended: boolean;
}

/** One batch at a time, so that what is known of a call is still so when its next fact is taken. */
export class Ingest {
  readonly #parts: IngestParts;
  readonly #dashboardId = randomBytes(8).toString('hex');
  #queue: Promise<unknown> = Promise.resolve();

  constructor(parts: IngestParts) {
    this.#parts = parts;
  }

  /** Takes a body as it came. @throws RequestError for what is no batch, StoreError; what was taken until then comes again harmlessly. */
  take(body: unknown): Promise<IngestAnswer> {
    const taking = this.#queue.then(() => this.#take(readBatch(body)));
    this.#queue = taking.catch(() => {});
    return taking;
  }

  async #take({ nodeId, calls, events }: ReceivedBatch): Promise<IngestAnswer> {
    const { senders, watch } = this.#parts;
    senders.hear(nodeId);
    watch.heard(nodeId);
    const places = new Map<string, Place>();
    const answer: IngestAnswer = {
      dashboardId: this.#dashboardId,
      accepted: 0,
      duplicates: 0,
      refused: [],
      calls: [],
    };
    for (const [index, value] of events.entries()) {
      const envelope = readEnvelope(value);
      if (envelope === undefined) {
        answer.refused.push({ index, reason: 'invalid', message: 'The envelope is not that of a fact.' });
        continue;
      }
      const place = await this.#place(places, envelope);
      const verdict = await this.#takeFact(place, envelope, value);
      if (verdict === 'accepted') answer.accepted += 1;
      else if (verdict === 'duplicate') answer.duplicates += 1;
      else answer.refused.push({ index, ...verdict });
    }
    const unknown: IngestQuestion[] = [];
    for (const question of calls) {
      const place = await this.#place(places, question);
      if (place.seq === 0 && question.endedAt !== null) unknown.push(question);
    }
    const unwanted = await this.#findUnwanted(unknown);
    for (const [key, { callId, nodeId: owner, seq, ended }] of places) {
      const position: IngestPosition = { callId, nodeId: owner, seq, ended, wanted: !unwanted.has(key) };
      answer.calls.push(position);
    }
    return answer;
  }

  async #takeFact(place: Place, envelope: FactEnvelope, value: unknown): Promise<Verdict> {
    const { seq, after } = envelope;
    if (seq <= place.seq) return 'duplicate';
    if (after > place.passed && after < seq) return { reason: 'gap' };
    const read = readFact(envelope, value);
    if ('reason' in read) {
      place.passed = seq;
      return read;
    }
    if (place.seq === 0 && !opensCall(read.event)) {
      place.passed = seq;
      return { reason: 'no-call' };
    }
    if (!place.ended && !this.#charge(place, read.event)) {
      place.passed = seq;
      return { reason: 'limit' };
    }
    await this.#keep(place, read.event);
    return 'accepted';
  }

  async #keep(place: Place, event: CallEvent): Promise<void> {
    const { store, bus, senders, watch } = this.#parts;
    const stored = place.storedId === event.callId ? event : { ...event, callId: place.storedId };
    await store.append(stored);
    bus.publish(stored);
    watch.learned(place.storedId);
    place.seq = event.seq;
    place.passed = event.seq;
    if (event.type !== 'call.ended') return;
    place.ended = true;
    senders.release(place.nodeId, place.storedId);
  }

  #charge(place: Place, event: CallEvent): boolean {
    // The end of a call makes room.
    if (event.type === 'call.ended') return true;
    return this.#parts.senders.charge(place.nodeId, place.storedId, JSON.stringify(event).length);
  }

  async #place(places: Map<string, Place>, call: { callId: string; nodeId: string }): Promise<Place> {
    const key = keyOf(call);
    const known = places.get(key);
    if (known !== undefined) return known;
    const place = await this.#locate(call);
    places.set(key, place);
    return place;
  }

  /**
   * Ids are unique in a process, not among several: the second process with an id that is taken has its call under
   * `<callId>~<nodeId>`.
   */
  async #locate({ callId, nodeId }: { callId: string; nodeId: string }): Promise<Place> {
    const { store } = this.#parts;
    const qualifiedId = `${callId}~${nodeId}`;
    const [qualified, plain] = await Promise.all([store.get(qualifiedId), store.get(callId)]);
    const isTaken = plain?.callId === callId && plain.nodeId !== nodeId;
    const storedId = qualified?.callId === qualifiedId || isTaken ? qualifiedId : callId;
    const record = [qualified, plain].find((found) => found?.callId === storedId);
    const seq = record?.seq ?? 0;
    return { callId, nodeId, storedId, seq, passed: seq, ended: record?.status === 'completed' };
  }

  /** Of ended calls that are not here: those that the full history has no place for any more. */
  async #findUnwanted(questions: readonly IngestQuestion[]): Promise<Set<string>> {
    if (questions.length === 0) return new Set();
    const { calls, total } = await this.#parts.store.list({ limit: HISTORY_SIZE, status: 'completed' });
    if (total < HISTORY_SIZE) return new Set();
    const oldest = Math.min(...calls.map((call) => call.endedAt ?? 0));
    return new Set(questions.filter(({ endedAt }) => (endedAt ?? 0) < oldest).map(keyOf));
  }
}

type Verdict = 'accepted' | 'duplicate' | { reason: IngestRefusalReason; message?: string };

type ReceivedBatch = Omit<IngestBatch, 'events'> & { readonly events: readonly unknown[] };

const BATCH = { $ref: '#/components/schemas/IngestBatch' };

/** The batch, its facts still as they came: one that is bad must not lose the others. */
function readBatch(body: unknown): ReceivedBatch {
  try {
    const events: unknown =
      typeof body === 'object' && body !== null ? Reflect.get(body, 'events') : undefined;
    const isList = Array.isArray(events);
    const batch = readAs(BATCH, isList ? { ...(body as object), events: [] } : body) as IngestBatch;
    if (isList && events.length > MAX_INGEST_EVENTS) {
      throw new SchemaMismatch(`the body.events must be at most ${MAX_INGEST_EVENTS} items.`);
    }
    return { ...batch, events: isList ? events : [] };
  } catch (error) {
    if (error instanceof SchemaMismatch) throw new RequestError('REQUEST_INVALID', error.message);
    throw error;
  }
}

function keyOf({ callId, nodeId }: { callId: string; nodeId: string }): string {
  return `${nodeId}\n${callId}`;
}
