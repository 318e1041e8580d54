// What is kept of a live call beside its record, so that another process can go on with it: plain data.
import { hash } from 'node:crypto';
import type { CallEvent } from '../../contract/call-event.js';
import type { CallRecord, RecordingPauser } from '../../contract/call-record.js';
import type { ConversationState } from '../../conversation/state.js';
import type { OutboundRequest } from '../call-desk.js';
import type { AgentlessAnswer } from '../choice/call-choice.js';
import type { AnnouncementState } from '../ending/carrier-announcement.js';
import type { LedgerState } from '../facts/call-ledger.js';
import type { MediaState } from '../streams/call-media.js';
import type { TransferState } from '../transfer/transfer.js';

/** Raised when what is kept can no longer be read as it is. */
const VERSION = 1;

/** An agent and a caller as the last process left them. */
export interface StoredConversation {
  readonly state: ConversationState;
  /** Epoch milliseconds at which the time in it is 0. */
  readonly beganAt: number;
  /** What the caller is to be told as soon as they listen again. Absent for nothing. */
  readonly news?: string | undefined;
}

/** Moments are epoch milliseconds. */
export interface CallState {
  readonly callId: string;
  /** Public host that a webhook of the call came to; null where none did. */
  readonly host: string | null;
  /** How it was placed; null for an inbound call. */
  readonly outbound: Omit<OutboundRequest, 'recipe'> | null;
  /** What was chosen for an inbound call beside the name of its agent. @default the agent's own texts */
  readonly texts?: OutboundRequest['texts'];
  /** How it is answered in the place of an agent. @default by one */
  readonly agentless?: AgentlessAnswer | undefined;
  readonly media: MediaState;
  /** Null before agent and caller talk, and after. */
  readonly conversation: StoredConversation | null;
  readonly ledger: LedgerState;
  /** The caller is being handed over; null where they are not. */
  readonly transfer: TransferState | null;
  /** The carrier's voice has the last word; null where it has not. */
  readonly announcement: AnnouncementState | null;
  /** Who has paused its recording on this machine. @default as the record says */
  readonly pausedBy?: readonly RecordingPauser[] | undefined;
  /** Since when the call waits for a process to take it up; null where one has. */
  readonly awaitedSince: number | null;
  /** A process has died, and the one that let the call go had no stream to tell the caller by. @default false */
  readonly isNoticeOwed?: boolean | undefined;
  /** How far the time that processes share is ahead of the dates of the call, in milliseconds. Absent where they share a clock. */
  readonly sharedAheadMs?: number | undefined;
  /** The newest facts, which the store may not have yet. */
  readonly facts: readonly CallEvent[];
}

/** A call that another process has left, `state` undefined where that cannot be read. */
export interface LeftCall {
  readonly record: CallRecord;
  readonly state: CallState | undefined;
  /** When that process was known to be there last, as the call is dated. */
  readonly lastAliveAt: number;
  /** How far the dates of the call are ahead of the clock of this process, in milliseconds: it keeps those that it began with. @default 0 */
  readonly aheadMs?: number | undefined;
  /** It has let the call go, and told all that it had used. @default false: it died */
  readonly wasLetGo?: boolean;
  /** In which this process has it. @default one more than that of the record */
  readonly term?: number | undefined;
  /** Resolves when that process writes nothing more of the call. @default it is gone */
  readonly free?: Promise<void> | undefined;
}

/** One line that names the version and proves the rest whole, and the rest. */
export function encodeState(state: CallState): string {
  const body = JSON.stringify(state);
  return `${VERSION} ${digestOf(body)}\n${body}`;
}

/** Undefined for what is damaged, or of another version. */
export function decodeState(text: string): CallState | undefined {
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  // Who has written it whole has written it right.
  return text.slice(0, end) === `${VERSION} ${digestOf(body)}` ? (JSON.parse(body) as CallState) : undefined;
}

function digestOf(body: string): string {
  return hash('sha256', body, 'base64url');
}
