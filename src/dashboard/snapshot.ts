// The first event of the stream: what is known now, read at one moment of the facts and written in pieces.
import type { FactPlace } from '../contract/call-event.js';
import type { CallRecord } from '../contract/call-record.js';
import type { Aggregates, Snapshot } from '../contract/dashboard-api.js';
import type { CallReader } from '../stores/call-store.js';
import type { Piece } from './breather.js';
import { listPieces, recordPieces, summaryPieces } from './record-text.js';
import type { ReplayRing, StampedEvent } from './replay-ring.js';

const RECENT_CALLS = 50;
const ATTEMPTS = 5;

/** What a store held at one moment, and where the facts go on from there. */
export interface SnapshotRead {
  readonly active: readonly CallRecord[];
  readonly recent: readonly CallRecord[];
  readonly aggregates: Aggregates;
  /** Sequence numbers that are part of it, by call. */
  readonly known: Map<string, FactPlace>;
  /** Facts that were told already and are not part of it. */
  readonly news: readonly StampedEvent[];
  /** The number of the newest fact that was told. */
  readonly position: number;
}

/** Reads a snapshot. Null when calls keep ending while it is read. @throws what the store throws. */
export async function readSnapshot(store: CallReader, ring: ReplayRing): Promise<SnapshotRead | null> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const before = ring.newest;
    const [active, ended, aggregates] = await Promise.all([
      store.active(),
      store.list({ limit: RECENT_CALLS, status: 'completed' }),
      store.aggregates(),
    ]);
    const meanwhile = ring.after(before);
    // A call that ended between the reads may be in neither of them: read again.
    if (meanwhile === null || meanwhile.some(({ endsCall }) => endsCall)) continue;
    const recent = ended.calls;
    const over = new Set(recent.map(({ callId }) => callId));
    const stillActive = active.filter(({ callId }) => !over.has(callId));
    const known = new Map(
      [...stillActive, ...recent].map(({ callId, term, seq }) => [callId, { term, seq }]),
    );
    const news = ring.newerThan(known);
    return { active: stillActive, recent, aggregates, known, news, position: ring.newest };
  }
  return null;
}

/** The event as text, one piece per call. `id` is where a reader resumes that gets no further. */
export function* snapshotPieces(
  read: SnapshotRead,
  id: string,
  about: Pick<Snapshot, 'controls' | 'entry' | 'isSignedIn' | 'canListen'>,
): Generator<Piece> {
  yield `id: ${id}\nevent: snapshot\ndata: {"active":`;
  yield* listPieces(read.active, recordPieces);
  yield ',"recent":';
  yield* listPieces(read.recent, summaryPieces);
  const rest: Omit<Snapshot, 'active' | 'recent'> = { aggregates: read.aggregates, ...about };
  yield `,${JSON.stringify(rest).slice(1)}\n\n`;
}
