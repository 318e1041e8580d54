// Deletes a call: everything that is kept of it in this process, on its disk, at dashboards, and what the carrier recorded.
import type { Clock } from '../base/clock.js';
import { NotFoundError, RequestError, StoreError } from '../base/errors.js';
import { describeError, type Logger } from '../base/log.js';
import type { Carrier } from '../carriers/carrier.js';
import type { ForgetOutcome } from '../contract/call-command.js';
import type { CallEvent } from '../contract/call-event.js';
import type { CallRecord } from '../contract/call-record.js';
import type { EventBus } from '../events/bus.js';
import { originOf, termOf } from '../events/reduce.js';
import type { CallStore } from '../stores/call-store.js';

export interface ForgetParts {
  readonly store: CallStore;
  readonly bus: EventBus;
  /** Undefined where calls of other processes are kept. */
  readonly carrier?: Carrier;
  /** The carrier records calls: what it has made may not be reported yet. @default false */
  readonly isRecording?: boolean;
  /** Of a call that the store may take for over. @default none is */
  isLive?(callId: string): boolean;
  /** Lets go of what else is kept of the call. @throws StoreError where some of it stays. @default nothing is */
  remove?(callId: string): Promise<boolean>;
  readonly nodeId: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * `callId` may be the carrier's. Once deleted, a call can be deleted again, by our id: what could not be done then is done. So it is by the carrier's for as long as something is left to do. @throws NotFoundError, RequestError for one that is not over or yet to be hung up,
 * StoreError where data stays in the store
 */
export type Forget = (callId: string) => Promise<ForgetOutcome>;

/** Deletions of which something is left to do at the carrier, or to say of it: no more than these are remembered, and only by this process. */
const MAX_UNFINISHED = 1000;

type Recorded = Pick<CallRecord, 'callId' | 'carrierCallId' | 'carrier' | 'recording'>;

interface Unfinished extends Recorded {
  readonly carrierRecording: ForgetOutcome['carrierRecording'];
}

/** By our id. */
type UnfinishedCalls = Map<string, Unfinished>;

export function createForget(parts: ForgetParts): Forget {
  const unfinished: UnfinishedCalls = new Map();
  return async (callId) => {
    const record = await parts.store.get(callId);
    return record === undefined
      ? forgetAgain(callId, { ...parts, unfinished })
      : forgetCall(record, { ...parts, unfinished });
  };
}

type Parts = ForgetParts & { readonly unfinished: UnfinishedCalls };

async function forgetCall(record: CallRecord, parts: Parts): Promise<ForgetOutcome> {
  const { bus } = parts;
  const { callId: id } = record;
  if (record.status !== 'completed' || parts.isLive?.(id) === true)
    throw new RequestError('REQUEST_CONFLICT', 'The call is not over: hang up first.');
  if (record.hangUp === 'pending')
    throw new RequestError(
      'REQUEST_CONFLICT',
      'The call is yet to be hung up at the carrier: delete it then.',
    );
  const outcome = await deleteAtCarrier(record, parts);
  const deletion = toDeletion(record, parts);
  // Before anything says that the call is deleted: who dies meanwhile is asked again.
  await parts.remove?.(id);
  const deleted = deleteFromStore(deletion, parts);
  bus.publish(deletion);
  await deleted;
  return finish(outcome, parts);
}

/** What could not be done the last time is done now. */
async function forgetAgain(given: string, parts: Parts): Promise<ForgetOutcome> {
  const { store, remove, unfinished } = parts;
  const before = unfinishedOf(given, unfinished);
  const callId = before?.callId ?? given;
  const forgotten = (await store.forgotten?.()) ?? [];
  const deletion = forgotten.find((event) => event.callId === callId);
  // The recording of a call outlives its place among those that the store keeps.
  const wasRecorded = (await remove?.(callId)) === true;
  if (deletion !== undefined) await deleteFromStore(deletion, parts);
  else if (!wasRecorded && before === undefined) throw new NotFoundError('No such call.');
  if (before === undefined) return { carrierRecording: null, carrierCallId: null };
  return finish(before.carrierRecording === 'failed' ? await deleteAtCarrier(before, parts) : before, parts);
}

/** `id`: ours or the carrier's. */
function unfinishedOf(id: string, unfinished: UnfinishedCalls): Unfinished | undefined {
  const isOfIt = ({ carrierCallId }: Unfinished) => carrierCallId === id;
  return unfinished.get(id) ?? [...unfinished.values()].find(isOfIt);
}

/** Remembered until the whole deletion is done and has been said: whatever fails behind it, the next one knows. */
async function deleteAtCarrier(recorded: Recorded, parts: Parts): Promise<Unfinished> {
  const { unfinished } = parts;
  const { callId, carrierCallId, carrier, recording } = recorded;
  const carrierRecording = await deleteRecordings(recorded, parts);
  const outcome = { callId, carrierCallId, carrier, recording, carrierRecording };
  unfinished.set(callId, outcome);
  const [oldest] = unfinished.keys();
  if (unfinished.size > MAX_UNFINISHED && oldest !== undefined) unfinished.delete(oldest);
  return outcome;
}

/** Nothing of the call is left here. */
function finish(
  { callId, carrierCallId, carrierRecording }: Unfinished,
  { unfinished }: Parts,
): ForgetOutcome {
  if (carrierRecording === 'failed') return { carrierRecording, carrierCallId };
  unfinished.delete(callId);
  return { carrierRecording, carrierCallId: null };
}

/** The store first: where it listens to the bus as well, it knows the fact then. @throws StoreError where it has the call all the same */
async function deleteFromStore(deletion: CallEvent, { store }: ForgetParts): Promise<void> {
  await store.append(deletion);
  if ((await store.get(deletion.callId)) !== undefined)
    throw new StoreError('The store still has the call: its append() does not delete on call.forgotten.');
}

/** Above whatever was stated of the call, so that it is news to everybody who has something of it. */
function toDeletion(record: CallRecord, { nodeId, clock }: ForgetParts): CallEvent {
  const originId = originOf(record);
  const origin = originId === nodeId ? {} : { originId };
  const place = { nodeId, term: termOf(record) + 1, seq: 1, at: clock.wallNow() };
  return { type: 'call.forgotten', callId: record.callId, ...place, ...origin };
}

async function deleteRecordings(
  { callId, carrierCallId, carrier: carrierId, recording }: Recorded,
  { carrier, isRecording = false, logger }: ForgetParts,
): Promise<ForgetOutcome['carrierRecording']> {
  const mayBeThere = recording === null ? isRecording : recording.status !== 'absent';
  if (!mayBeThere || carrierCallId === null) return null;
  try {
    if (carrierId !== carrier?.id || carrier.rest.deleteRecordings === undefined) return 'failed';
    await carrier.rest.deleteRecordings(carrierCallId);
    return 'deleted';
  } catch (error) {
    logger.warn(
      { callId, carrierCallId, ...describeError(error) },
      'the recording of a deleted call is still at the carrier',
    );
    return 'failed';
  }
}
