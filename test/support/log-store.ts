// A store whose log outlives its process, as one on disk does: what is killed is opened again from the same log.
import type { CallEvent } from '../../src/contract/call-event.js';
import { isNewer } from '../../src/events/reduce.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { ended } from './call-facts.js';

/** What is on disk. Partial transcripts are not. */
export class CallLogFile {
  readonly events = new Map<string, CallEvent[]>();

  keep(event: CallEvent): void {
    if (event.type === 'transcript.segment' && !event.entry.final) return;
    const events = this.events.get(event.callId) ?? [];
    const last = events.at(-1);
    if (last !== undefined && !isNewer(event, last)) return;
    this.events.set(event.callId, [...events, event]);
  }
}

export class LogStore extends MemoryStore {
  readonly #file: CallLogFile;
  #isClosed = false;

  /** `owner`: the process whose calls are over when the one before it is dead; none for a store of others' calls. */
  static async open(file: CallLogFile, options: { owner?: string } = {}): Promise<LogStore> {
    const store = new LogStore(file);
    for (const events of [...file.events.values()]) {
      for (const event of events) await store.append(event);
      const last = events.at(-1);
      if (last === undefined || options.owner === undefined) continue;
      const record = await store.get(last.callId);
      if (record === undefined || record.status === 'completed') continue;
      const { callId } = last;
      const { originId, term, seq } = record;
      const place = { term: term + 1, seq: seq + 1 };
      const envelope = { callId, nodeId: options.owner, originId, ...place, at: last.at };
      await store.append({ ...envelope, ...ended({ endReason: 'process-lost' }) } as CallEvent);
    }
    return store;
  }

  private constructor(file: CallLogFile) {
    super();
    this.#file = file;
  }

  override async append(event: CallEvent): Promise<void> {
    if (this.#isClosed) return;
    this.#file.keep(event);
    await super.append(event);
  }

  async events(callId: string): Promise<readonly CallEvent[] | undefined> {
    return this.#file.events.get(callId);
  }

  override async close(): Promise<void> {
    this.#isClosed = true;
  }
}

/** Histories of a dashboard, to be opened again and again: one begins empty each time, the other has what was on disk. */
export const HISTORIES = [
  ['in memory', () => async () => new MemoryStore()],
  [
    'on disk',
    () => {
      const file = new CallLogFile();
      return () => LogStore.open(file);
    },
  ],
] as const satisfies readonly (readonly [where: string, create: () => () => Promise<MemoryStore>])[];
