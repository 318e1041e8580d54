// Hands out the record of a call when it is over and stored: the bus tells the end of a call only after the durable stage.
import type { CallRecord } from '../../contract/call-record.js';
import type { CallEvents } from '../../contract/call-event.js';
import { reduceCall } from '../../events/reduce.js';

interface Watched {
  record: CallRecord | undefined;
  readonly resolve: (record: CallRecord) => void;
}

export class RecordWatch {
  readonly #watched = new Map<string, Watched>();

  /** `sources`: of the facts of this process, and of others that may have its calls. */
  constructor(...sources: readonly CallEvents[]) {
    const hear: Parameters<CallEvents['subscribe']>[0] = (event) => {
      const watched = this.#watched.get(event.callId);
      if (watched === undefined) return;
      watched.record = reduceCall(watched.record, event);
      if (event.type !== 'call.ended') return;
      this.#watched.delete(event.callId);
      // The application may keep and change it.
      watched.resolve(structuredClone(watched.record));
    };
    for (const source of sources) source.subscribe(hear);
  }

  /** To be asked before the first fact of the call. Never rejects. */
  ended(callId: string): Promise<CallRecord> {
    return new Promise((resolve) => {
      this.#watched.set(callId, { record: undefined, resolve });
    });
  }
}
