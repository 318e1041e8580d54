// The facts of one call on their way to a dashboard: what it has of them, and what is to be sent.
import type { CallEvent } from '../../contract/call-event.js';
import type { IngestEvent, IngestPosition } from '../../contract/ingest.js';

interface Kept {
  readonly event: CallEvent;
  /** Length as JSON, in characters. */
  readonly length: number;
}

/** A call is known by its id and the process that owns it. */
export function callKey({ callId, nodeId }: { callId: string; nodeId: string }): string {
  return `${nodeId}\n${callId}`;
}

/** Length of a fact as JSON, in characters. */
export function lengthOf(event: CallEvent): number {
  return JSON.stringify(event).length;
}

export class CallLog {
  readonly callId: string;
  readonly nodeId: string;
  #kept: Kept[] = [];
  #length = 0;
  /** `seq` of the last fact that is not kept, because it came before the first one that is. */
  #before: number;
  /** Up to where the dashboard has the call, in its numbers; undefined until it was asked. */
  #there: number | undefined;
  /**
   * What the dashboard's numbers are ahead of ours: it has facts of a process that died before they were on disk, and what the next
   * process knows comes behind them.
   */
  #shift = 0;
  #endSeq: number | undefined;
  #endedAt: number | null = null;
  /** The last partial of each piece of transcript that is not the first one of it, which holds its place. */
  readonly #partials = new Map<string, Kept>();
  readonly #pieces = new Set<string>();
  #cost: Kept | undefined;
  #phase: Kept | undefined;

  /** `before`: `seq` of the fact before the first one that comes, 0 for the whole call. */
  constructor(call: { callId: string; nodeId: string }, before: number) {
    this.callId = call.callId;
    this.nodeId = call.nodeId;
    this.#before = before;
    // A call that begins here is nowhere else.
    this.#there = before === 0 ? 0 : undefined;
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
    return this.#there === undefined;
  }

  /** True when there is something to send. */
  get isBehind(): boolean {
    return this.#there !== undefined && this.#last + this.#shift > this.#there;
  }

  /** True when facts are to be sent that are not kept here any more. */
  get lacksFacts(): boolean {
    return this.isBehind && (this.#there ?? 0) < this.#before + this.#shift;
  }

  /** Facts of a call come in order. What a later fact makes needless is let go of. */
  append(event: CallEvent, length: number = lengthOf(event)): void {
    const kept: Kept = { event, length };
    this.#supersede(kept);
    this.#kept.push(kept);
    this.#length += kept.length;
    if (event.type !== 'call.ended') return;
    this.#endSeq = event.seq;
    this.#endedAt = event.at;
  }

  /** Facts that were let go of, from the store; undefined when nobody has them: the dashboard then gets the call with a hole. */
  recover(events: readonly CallEvent[] | undefined): void {
    const missing = (events ?? []).filter(({ seq }) => seq <= this.#before);
    const recovered = missing.map((event) => ({ event, length: lengthOf(event) }));
    this.#before = 0;
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

  /** A fact that the dashboard will never take. `seq` is the dashboard's. */
  skip(seq: number): void {
    const kept = this.#kept.find(({ event }) => event.seq === seq - this.#shift);
    if (kept === undefined) return;
    this.#remove(kept);
    if (kept.event.seq === this.#endSeq) this.#endSeq = undefined;
  }

  /** The dashboard said what it has. */
  learn({ seq, ended, wanted }: Pick<IngestPosition, 'seq' | 'ended' | 'wanted'>): void {
    this.#there = wanted ? seq : Number.MAX_SAFE_INTEGER;
    const end = this.#endSeq;
    const isAhead = wanted && !ended && end !== undefined && end <= seq;
    if (isAhead && this.#shift === 0) this.#shift = seq + 1 - end;
  }

  /** What the dashboard said may no longer hold. */
  forget(): void {
    this.#there = undefined;
    this.#shift = 0;
  }

  /** The next facts to send, no more than fit, but at least one. */
  next(maxLength: number): { events: IngestEvent[]; length: number } {
    const events: IngestEvent[] = [];
    let length = 0;
    const there = this.#there ?? 0;
    for (const [index, kept] of this.#kept.entries()) {
      const { event } = kept;
      const seq = event.seq + this.#shift;
      if (seq <= there) continue;
      if (events.length > 0 && length + kept.length > maxLength) break;
      const before = this.#kept[index - 1]?.event.seq ?? this.#before;
      // All facts of a call are those of one process, whoever wrote the last one.
      events.push({ ...event, nodeId: this.nodeId, seq, after: before === 0 ? 0 : before + this.#shift });
      length += kept.length;
    }
    return { events, length };
  }

  get #last(): number {
    return this.#kept.at(-1)?.event.seq ?? this.#before;
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
