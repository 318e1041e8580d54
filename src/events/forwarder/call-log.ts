// The facts of one call on their way to a dashboard: what it has of them, and what is to be sent.
import type { CallEvent, FactPlace } from '../../contract/call-event.js';
import type { IngestEvent, IngestPosition } from '../../contract/ingest.js';
import { isNewer, originOf, termOf } from '../reduce.js';

interface Kept {
  readonly event: CallEvent;
  /** Length as JSON, in characters. */
  readonly length: number;
}

/** A call as its facts name it. Where it is named alone, `nodeId` is the process that it began in. */
export interface KnownCall {
  readonly callId: string;
  readonly nodeId: string;
  readonly originId?: string;
}

/** A call is known by its id and the process that it began in, whoever has it now. */
export function callKey(call: KnownCall): string {
  return `${originOf(call)}\n${call.callId}`;
}

/** Before the first fact of a call. */
export const WHOLE_CALL: FactPlace = { term: 1, seq: 0 };

const BEHIND_ALL: FactPlace = { term: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER };

/** Length of a fact as JSON, in characters. */
export function lengthOf(event: CallEvent): number {
  return JSON.stringify(event).length;
}

export class CallLog {
  readonly callId: string;
  /** The process that the call began in. */
  readonly originId: string;
  readonly key: string;
  #kept: Kept[] = [];
  #length = 0;
  /** The last fact that is not kept, because it came before the first one that is. */
  #before: FactPlace;
  /** Up to where the dashboard has the call; undefined until it was asked. */
  #there: FactPlace | undefined;
  /** Another process has taken the call over, and tells of it: nothing is sent from here. */
  #isTaken = false;
  #endedAt: number | null = null;
  /** The last partial of each piece of transcript that is not the first one of it, which holds its place. */
  readonly #partials = new Map<string, Kept>();
  readonly #pieces = new Set<string>();
  #cost: Kept | undefined;
  #phase: Kept | undefined;

  /** `before`: the fact before the first one that comes, at the latest. */
  constructor(call: KnownCall, before: FactPlace) {
    this.callId = call.callId;
    this.originId = originOf(call);
    this.key = callKey(call);
    this.#before = before;
    // A call that begins here is nowhere else.
    this.#there = isNewer(before, WHOLE_CALL) ? undefined : WHOLE_CALL;
  }

  get count(): number {
    return this.#kept.length;
  }

  /** Length of the facts that are kept, in characters of JSON. */
  get length(): number {
    return this.#length;
  }

  get endedAt(): number | null {
    return this.#endedAt;
  }

  /** True when the dashboard has to be asked what it has. */
  get isUnknown(): boolean {
    return this.#there === undefined && !this.#isTaken;
  }

  /** True when there is something to send. */
  get isBehind(): boolean {
    return this.#there !== undefined && !this.#isTaken && isNewer(this.#last, this.#there);
  }

  /** True when facts are to be sent that are not kept here any more. */
  get lacksFacts(): boolean {
    return this.isBehind && isNewer(this.#before, this.#there ?? WHOLE_CALL);
  }

  /** Facts of a call come in order. What a later fact makes needless is let go of. */
  append(event: CallEvent, length: number = lengthOf(event)): void {
    if (event.type === 'call.ended' || event.type === 'call.forgotten') this.#endedAt = event.at;
    if (this.#isTaken) return;
    // All that a dashboard needs of a deleted call.
    if (event.type === 'call.forgotten') this.shed();
    const kept: Kept = { event, length };
    this.#supersede(kept);
    this.#kept.push(kept);
    this.#length += kept.length;
  }

  /** Facts that were let go of, from the store; undefined when nobody has them: the dashboard then gets the call with a hole. */
  recover(events: readonly CallEvent[] | undefined): void {
    const missing = (events ?? []).filter((event) => !isNewer(event, this.#before));
    const recovered = missing.map((event) => ({ event, length: lengthOf(event) }));
    this.#before = WHOLE_CALL;
    this.#kept.unshift(...recovered);
    this.#length += recovered.reduce((sum, { length }) => sum + length, 0);
  }

  /** Lets go of every fact. */
  shed(): void {
    this.#before = this.#last;
    this.#kept = [];
    this.#length = 0;
    this.#cost = undefined;
    this.#phase = undefined;
    this.#partials.clear();
  }

  /** A fact that the dashboard will never take. */
  skip({ term, seq }: FactPlace): void {
    const kept = this.#kept.find(({ event }) => event.seq === seq && termOf(event) === term);
    if (kept !== undefined) this.#remove(kept);
  }

  /** The dashboard said what it has. Who learns of a higher term has lost the call, and says no more of it, to whatever dashboard. */
  learn(position: Pick<IngestPosition, 'seq' | 'wanted'> & { term?: number }): void {
    const { wanted, seq } = position;
    this.#there = wanted ? { term: termOf(position), seq } : BEHIND_ALL;
    if (!wanted || termOf(position) <= this.#last.term) return;
    this.shed();
    this.#isTaken = true;
  }

  /** What the dashboard said may no longer hold. */
  forget(): void {
    this.#there = undefined;
  }

  /** The next facts to send, no more than fit, but at least one. */
  next(maxLength: number): { events: IngestEvent[]; length: number } {
    const events: IngestEvent[] = [];
    let length = 0;
    const there = this.#there ?? WHOLE_CALL;
    for (const [index, kept] of this.#kept.entries()) {
      const { event } = kept;
      if (!isNewer(event, there)) continue;
      if (events.length > 0 && length + kept.length > maxLength) break;
      const before = this.#kept[index - 1]?.event ?? this.#before;
      const [term, afterTerm] = [termOf(event), termOf(before)];
      events.push({ ...event, term, after: before.seq, ...(afterTerm === term ? {} : { afterTerm }) });
      length += kept.length;
    }
    return { events, length };
  }

  get #last(): FactPlace {
    const last = this.#kept.at(-1)?.event ?? this.#before;
    return { term: termOf(last), seq: last.seq };
  }

  #supersede(kept: Kept): void {
    const { event } = kept;
    if (event.type === 'cost.updated') {
      if (this.#cost !== undefined) this.#remove(this.#cost);
      this.#cost = kept;
    }
    if (event.type === 'phase.changed' || event.type === 'call.ended') {
      if (this.#phase !== undefined) this.#remove(this.#phase);
      this.#phase = event.type === 'phase.changed' ? kept : undefined;
    }
    if (event.type !== 'transcript.segment') return;
    const { id, final } = event.entry;
    const partial = this.#partials.get(id);
    if (partial !== undefined) this.#remove(partial);
    this.#partials.delete(id);
    if (!final && this.#pieces.has(id)) this.#partials.set(id, kept);
    this.#pieces.add(id);
  }

  #remove(kept: Kept): void {
    const index = this.#kept.lastIndexOf(kept);
    if (index === -1) return;
    this.#kept.splice(index, 1);
    this.#length -= kept.length;
  }
}
