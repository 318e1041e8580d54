// What a server takes over from the process before it: ends the calls that died with it, and knows those that are over.
import type { Logger } from '../base/log.js';
import type { CallDirectory } from '../calls/call-directory.js';
import type { AttachedCallbacks } from '../calls/facts/callbacks.js';
import { termAfter } from '../calls/facts/fact-stamp.js';
import type { CallEventOf } from '../contract/call-event.js';
import type { CallOutcome, CallRecord } from '../contract/call-record.js';
import type { EventBus } from '../events/bus.js';
import { originOf } from '../events/reduce.js';
import type { CallStore } from '../stores/call-store.js';

const MAX_RECALLED = 500;

export interface Successor {
  /** This process. */
  readonly nodeId: string;
  readonly bus: EventBus;
  readonly callbacks: Pick<AttachedCallbacks, 'adopt'>;
  readonly desk: Pick<CallDirectory, 'recall' | 'mayBeUp'>;
  readonly logger: Logger;
}

/**
 * Publishes the end of every call that the store holds as active: nobody has it any more. To be called before there are calls.
 * It is stored like any other end, so it is told once.
 */
export async function takeOver(store: CallStore, successor: Successor): Promise<void> {
  const { nodeId, bus, callbacks, desk, logger } = successor;
  const lost = await store.active();
  for (const record of lost.reverse()) {
    const at = await lastHeardAt(store, record);
    callbacks.adopt(record);
    bus.publish(lostEnd(record, { nodeId, at, mayBeUp: desk.mayBeUp({ ...record, endedAt: at }) }));
  }
  await bus.settled();
  if (lost.length > 0) logger.warn({ calls: lost.length }, 'calls of the previous process were lost');
  const { calls } = await store.list({ limit: MAX_RECALLED, status: 'completed' });
  for (const record of calls) desk.recall(record);
}

/**
 * The end of a call that was under way when its process died, in a term of `nodeId`: facts that were lost with that process may have been heard
 * elsewhere, and whoever has heard them must not take the end for one of them. `at`: when the call was last known to be. `mayBeUp`: it is yet to
 * be hung up.
 */
function lostEnd(
  record: CallRecord,
  { nodeId, at, mayBeUp }: { nodeId: string; at: number; mayBeUp: boolean },
): CallEventOf<'call.ended'> {
  const { callId, seq, media } = record;
  return {
    callId,
    nodeId,
    term: termAfter(record, nodeId),
    originId: originOf(record),
    seq: seq + 1,
    at,
    type: 'call.ended',
    endReason: 'process-lost',
    outcome: outcomeOf(record),
    error: null,
    media,
    ...(mayBeUp ? { hangUp: 'pending' } : {}),
  };
}

function outcomeOf({ answeredAt, amd }: CallRecord): CallOutcome {
  if (answeredAt === null) return 'failed';
  if (amd?.answeredBy === 'fax') return 'failed';
  return amd?.answeredBy === 'machine' ? 'voicemail' : 'answered';
}

/** Time of the last fact: nobody knows how much longer the call went on, and what is billed by it shall not be too much. */
async function lastHeardAt(store: CallStore, record: CallRecord): Promise<number> {
  const facts = await store.events?.(record.callId).catch(() => undefined);
  return facts?.at(-1)?.at ?? record.answeredAt ?? record.startedAt;
}
