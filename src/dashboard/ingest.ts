// Takes the facts that servers send: each once, in order, whatever comes twice, late or forged.
import { randomBytes } from 'node:crypto';
import { RequestError } from '../base/errors.js';
import { type CallEvent, type FactPlace, LATE_FACTS } from '../contract/call-event.js';
import type {
  IngestAnswer,
  IngestBatch,
  IngestPosition,
  IngestQuestion,
  IngestRefusalReason,
} from '../contract/ingest.js';
import type { EventBus } from '../events/bus.js';
import { isNewer, opensCall, originOf, termOf } from '../events/reduce.js';
import type { CallStore } from '../stores/call-store.js';
import { type FactEnvelope, readEnvelope, readFact } from './ingest-event.js';
import type { Senders } from './ingest-senders.js';
import type { LostCallWatch } from './lost-call-watch.js';
import { readAs, SchemaMismatch } from './schema-reader.js';
import { MAX_INGEST_EVENTS, MAX_PLACE } from './schemas.js';

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
  /** The process that it began in. */
  readonly originId: string;
  /** Its id in the store. */
  readonly storedId: string;
  /** The process that has it. */
  owner: string;
  /** The last fact that is here. */
  last: FactPlace;
  /** Like `last`, with the facts counted that were passed over for good. */
  passed: FactPlace;
  ended: boolean;
}

/** Of a call that was deleted: whatever comes is known, and no sender has more to say. */
const ALL_TOLD: FactPlace = { term: MAX_PLACE, seq: MAX_PLACE };

/** Before the first fact. */
const NOTHING: FactPlace = { term: 1, seq: 0 };

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
      const { callId, nodeId: originId } = question;
      const place = await this.#place(places, { callId, originId });
      if (place.last.seq === 0 && question.endedAt !== null) unknown.push(question);
    }
    const unwanted = await this.#findUnwanted(unknown);
    for (const [key, { callId, originId, last, ended }] of places) {
      const position: IngestPosition = {
        callId,
        nodeId: originId,
        ...last,
        ended,
        wanted: !unwanted.has(key),
      };
      answer.calls.push(position);
    }
    return answer;
  }

  /** A fact of a process that another one has taken the call over from comes too late, whatever it says. */
  async #takeFact(place: Place, envelope: FactEnvelope, value: unknown): Promise<Verdict> {
    const { term, seq, after } = envelope;
    if (!isNewer(envelope, place.last)) return 'duplicate';
    if (isNewer(after, place.passed) && isNewer(envelope, after)) return { reason: 'gap' };
    const read = readFact(envelope, value);
    if ('reason' in read) {
      place.passed = { term, seq };
      return read;
    }
    if (place.last.seq === 0 && !opensCall(read.event)) {
      place.passed = { term, seq };
      return { reason: 'no-call' };
    }
    const isUp = !place.ended || reopens(place, read.event);
    if (isUp) this.#give(place, read.event);
    if (isUp && !this.#charge(place, read.event)) {
      place.passed = { term, seq };
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
    if (reopens(place, event)) {
      place.ended = false;
      watch.reopened();
    }
    const { term, seq } = event;
    place.last = { term, seq };
    place.passed = place.last;
    if (event.type !== 'call.ended' && event.type !== 'call.forgotten') return;
    place.ended = true;
    senders.release(place.owner, place.storedId);
  }

  /** What is counted of a call goes with it to the process that takes it over. */
  #give(place: Place, { term, nodeId }: CallEvent): void {
    if (term <= place.last.term || nodeId === place.owner) return;
    this.#parts.senders.move(place.storedId, { from: place.owner, to: nodeId });
    place.owner = nodeId;
  }

  #charge(place: Place, event: CallEvent): boolean {
    // The end of a call makes room.
    if (event.type === 'call.ended' || event.type === 'call.forgotten') return true;
    return this.#parts.senders.charge(place.owner, place.storedId, JSON.stringify(event).length);
  }

  async #place(places: Map<string, Place>, call: { callId: string; originId: string }): Promise<Place> {
    const key = keyOf(call.callId, call.originId);
    const known = places.get(key);
    if (known !== undefined) return known;
    const place = await this.#locate(call);
    places.set(key, place);
    return place;
  }

  /**
   * Ids are unique in a process, not among several: the second process that begins a call with an id that is taken has it under
   * `<callId>~<originId>`. Whoever takes a call over goes on with the record that it has.
   */
  async #locate({ callId, originId }: { callId: string; originId: string }): Promise<Place> {
    const { store } = this.#parts;
    const qualifiedId = `${callId}~${originId}`;
    const [qualified, plain] = await Promise.all([store.get(qualifiedId), store.get(callId)]);
    const gone = plain === undefined ? await this.#deletions(callId, qualifiedId) : [];
    const deletion = gone.find((event) => event.callId === qualifiedId || originOf(event) === originId);
    if (qualified === undefined && deletion !== undefined) {
      const { callId: storedId, nodeId: owner } = deletion;
      return { callId, originId, storedId, owner, last: ALL_TOLD, passed: ALL_TOLD, ended: true };
    }
    const taken = plain?.callId === callId ? [plain] : gone.filter((event) => event.callId === callId);
    const isTaken = taken.some((other) => originOf(other) !== originId);
    const storedId = qualified?.callId === qualifiedId || isTaken ? qualifiedId : callId;
    const record = [qualified, plain].find((found) => found?.callId === storedId);
    const last = record === undefined ? NOTHING : { term: termOf(record), seq: record.seq };
    const ended = record?.status === 'completed';
    return { callId, originId, storedId, owner: record?.nodeId ?? originId, last, passed: last, ended };
  }

  async #deletions(...ids: readonly string[]): Promise<CallEvent[]> {
    const forgotten = (await this.#parts.store.forgotten?.()) ?? [];
    return forgotten.filter(({ callId }) => ids.includes(callId));
  }

  /** Of ended calls that are not here: those that the full history has no place for any more. */
  async #findUnwanted(questions: readonly IngestQuestion[]): Promise<Set<string>> {
    if (questions.length === 0) return new Set();
    const { calls, total } = await this.#parts.store.list({ limit: HISTORY_SIZE, status: 'completed' });
    if (total < HISTORY_SIZE) return new Set();
    const oldest = Math.min(...calls.map((call) => call.endedAt ?? 0));
    return new Set(
      questions
        .filter(({ endedAt }) => (endedAt ?? 0) < oldest)
        .map(({ callId, nodeId }) => keyOf(callId, nodeId)),
    );
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

function keyOf(callId: string, originId: string): string {
  return `${originId}\n${callId}`;
}

/** A process that has taken the call over goes on with it: the end that another one has stated is none. */
function reopens({ ended, last }: Place, { term, type }: CallEvent): boolean {
  return ended && term > last.term && !LATE_FACTS.includes(type);
}
