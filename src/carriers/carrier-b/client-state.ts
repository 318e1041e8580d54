// What the carrier keeps with a call leg and gives back in every webhook of it: our id of the call, and which leg it is.
import { parseObject } from './fields.js';

const CALL_ID = /^[\w-]{1,128}$/;
const MAX_LENGTH = 1024;

export interface ClientState {
  /** Null for a leg that we have not put a state on. */
  readonly callId: string | null;
  /** The leg is the one that a transfer has dialed. */
  readonly isTransferLeg: boolean;
}

/** The state of a leg as the carrier wants it, in base64. */
export function encodeClientState(callId: string, leg?: 'transfer'): string {
  return Buffer.from(JSON.stringify({ callId, leg })).toString('base64');
}

/** Reads a state. One that is missing, or that somebody else has written, names no call. */
export function decodeClientState(value: unknown): ClientState {
  const isReadable = typeof value === 'string' && value.length <= MAX_LENGTH;
  const { callId, leg } =
    (isReadable ? parseObject(Buffer.from(value, 'base64').toString('utf8')) : undefined) ?? {};
  return {
    callId: typeof callId === 'string' && CALL_ID.test(callId) ? callId : null,
    isTransferLeg: leg === 'transfer',
  };
}
