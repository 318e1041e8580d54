// Where a carrier shall open the media stream of a call: a URL that names the call and proves that we named it.
import type { StreamInvitation } from '../../carriers/carrier.js';
import { issueStreamToken, type StreamFacts } from './stream-token.js';

export interface InvitationOptions {
  /** Public host of this server, with a port if it has one. */
  readonly host: string;
  /** Key of the stream tokens; undefined where streams carry none. */
  readonly key: Uint8Array | undefined;
  /** Epoch milliseconds. */
  readonly nowMs: number;
  /** How long the token is good for. @default STREAM_TOKEN_TTL_MS */
  readonly ttlMs?: number | undefined;
}

/** `wss://<host>/ws/stream/<callId>[/<token>]?caller=…&callee=…`, and the same facts as parameters. */
export function inviteStream(call: StreamFacts, options: InvitationOptions): StreamInvitation {
  const { host, key, nowMs, ttlMs } = options;
  const { caller, callee } = call;
  const token = key === undefined ? '' : `/${issueStreamToken(key, { ...call, ttlMs }, nowMs)}`;
  const query = `caller=${encodeValue(caller)}&callee=${encodeValue(callee)}`;
  return { url: `wss://${host}/ws/stream/${call.callId}${token}?${query}`, parameters: { caller, callee } };
}

/** Percent-encodes any text; half a surrogate pair, which has no encoding, becomes the replacement character. */
function encodeValue(value: string): string {
  return encodeURIComponent(Buffer.from(value).toString('utf8'));
}
