// What a server takes over from the process before it: goes on with the calls that it had, ends those that are lost, and knows those that are over.
import type { Logger } from '../base/log.js';
import type { CallDirectory } from '../calls/call-directory.js';
import type { AttachedCallbacks } from '../calls/facts/callbacks.js';
import { LOSSES, LOST_CODE, type Loss } from '../calls/ending/lost-call.js';
import { termAfter } from '../calls/facts/fact-stamp.js';
import { type CallState, decodeState, type LeftCall } from '../calls/resume/call-state.js';
import type { CallEvent } from '../contract/call-event.js';
import type { CallOutcome, CallRecord } from '../contract/call-record.js';
import type { EventBus } from '../events/bus.js';
import { originOf } from '../events/reduce.js';
import type { CallStore } from '../stores/call-store.js';
import type { LeftStates } from '../stores/state-folder.js';

const MAX_RECALLED = 500;

export interface TakeOverParts {
  /** This process. */
  readonly nodeId: string;
  readonly bus: EventBus;
  readonly callbacks: Pick<AttachedCallbacks, 'adopt'>;
  readonly desk: Pick<CallDirectory, 'recall' | 'mayBeUp'> & Partial<Pick<CallDirectory, 'budget'>>;
  /** True for a call that a process which lives has. @default none is */
  isHad?(callId: string): boolean;
  readonly logger: Logger;
}

/** What is kept of live calls beside the store. */
export interface KeptCalls {
  /** By the process before this one. */
  readonly left: LeftStates;
  /** When the process that had a call was last there, where each had another one. @default as `left` says */
  readonly lastAliveAt?: (callId: string) => number;
  /** As in `LeftCall`. @default 0 for each */
  readonly aheadMs?: (callId: string) => number;
  /** Has the call from now on. Returns why it cannot be gone on with; undefined where it is. */
  readonly resume: (call: LeftCall) => Loss | undefined;
  /** Of a call that is over. Never rejects. */
  readonly forget: (callId: string) => Promise<void>;
}

/**
 * Takes up every call that the store holds as active and that can be gone on with, and publishes the end of every other: nobody has it any
 * more. To be called before there are calls. An end is stored like any other, so it is told once. `kept`: undefined
 * where a call ends with its process.
 */
export async function takeOver(store: CallStore, parts: TakeOverParts, kept?: KeptCalls): Promise<void> {
  const { nodeId, bus, callbacks, desk, isHad = () => false, logger } = parts;
  const states = statesIn(kept?.left);
  for (const [callId, { facts }] of states)
    if (!isHad(callId)) for (const fact of facts) await store.append(fact);
  const found = await store.active();
  for (const record of found) if (isHad(record.callId)) desk.budget?.resume(record);
  const active = found.filter(({ callId }) => !isHad(callId));
  const resumed = new Set<string>();
  for (const record of active.reverse()) {
    const { callId } = record;
    const at = await lastHeardAt(store, record);
    // It may have come meanwhile.
    if (isHad(callId)) continue;
    const state = states.get(callId);
    callbacks.adopt(record);
    const aheadMs = kept?.aheadMs?.(callId) ?? 0;
    const lastAliveAt = Math.max(at, kept?.lastAliveAt?.(callId) ?? kept?.left.lastAliveAt ?? 0);
    const loss = kept === undefined ? 'not-kept' : kept.resume({ record, state, lastAliveAt, aheadMs });
    if (loss === undefined) resumed.add(callId);
    else {
      const mayBeUp = desk.mayBeUp({ ...record, endedAt: at - aheadMs });
      for (const fact of lostEnd(record, { nodeId, at, loss, mayBeUp })) bus.publish(fact);
    }
  }
  await bus.settled();
  const lost = active.length - resumed.size;
  if (resumed.size > 0) logger.info({ calls: resumed.size }, 'taking up the calls of a process that is gone');
  if (lost > 0) logger.warn({ calls: lost }, 'calls of the previous process were lost');
  const { calls } = await store.list({ limit: MAX_RECALLED, status: 'completed' });
  for (const record of calls) if (!isHad(record.callId)) desk.recall(record);
  for (const callId of kept?.left.texts.keys() ?? [])
    if (!resumed.has(callId) && !isHad(callId)) await kept?.forget(callId);
}

/** Those that can be read. */
function statesIn(left: LeftStates | undefined): ReadonlyMap<string, CallState> {
  const states = new Map<string, CallState>();
  for (const [callId, texts] of left?.texts ?? []) {
    for (const text of texts) {
      const state = decodeState(text);
      if (state !== undefined && !states.has(callId)) states.set(callId, state);
    }
  }
  return states;
}

/**
 * Why a call that was under way when its process died was lost, and its end, in a term of `nodeId`: facts that were lost with that process may have been heard
 * elsewhere, and whoever has heard them must not take the end for one of them. `at`: when the call was last known to be. `mayBeUp`: it is yet to
 * be hung up.
 */
function lostEnd(
  record: CallRecord,
  { nodeId, at, loss, mayBeUp }: { nodeId: string; at: number; loss: Loss; mayBeUp: boolean },
): CallEvent[] {
  const { callId, seq, media } = record;
  const envelope = { callId, nodeId, term: termAfter(record, nodeId), originId: originOf(record), at };
  return [
    { ...envelope, seq: seq + 1, type: 'incident.noted', code: LOST_CODE, message: LOSSES[loss] },
    {
      ...envelope,
      seq: seq + 2,
      type: 'call.ended',
      endReason: 'process-lost',
      outcome: outcomeOf(record),
      error: null,
      media,
      ...(mayBeUp ? { hangUp: 'pending' } : {}),
    },
  ];
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
