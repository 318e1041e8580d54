// Where a carrier shall open the media stream of a call: a URL that names the call and proves that we named it.
import type { Carrier, StreamInvitation, StreamResume } from '../../carriers/carrier.js';
import { issueStreamToken, type StreamFacts } from './stream-token.js';

/** What has a say in how its streams are invited. */
type ResumableCarrier = Pick<Carrier, 'id' | 'streamTokenKey'> & {
  readonly webhooks: Pick<Carrier['webhooks'], 'routes'>;
};

export interface InvitationOptions {
  /** Streams carry a token where it has a key for them, and a way on where it asks for one. */
  readonly carrier: ResumableCarrier;
  /** Public host of this server, with a port if it has one. */
  readonly host: string;
  /** Public host for the stream alone. @default `host` */
  readonly streamHost?: string | undefined;
  /** How long the carrier waits behind the stream before it asks. */
  readonly holdSeconds: number;
  /** Epoch milliseconds. */
  readonly nowMs: number;
  /** How long the token is good for. @default STREAM_TOKEN_TTL_MS */
  readonly ttlMs?: number | undefined;
}

/** `wss://<stream host>/ws/stream/<callId>[/<token>]?caller=…&callee=…`, and the same facts as parameters. */
export function inviteStream(call: StreamFacts, options: InvitationOptions): StreamInvitation {
  const { carrier, host, streamHost = host, nowMs, ttlMs } = options;
  const { callId, caller, callee, number } = call;
  const key = carrier.streamTokenKey;
  const token = key === undefined ? '' : `/${issueStreamToken(key, { ...call, ttlMs }, nowMs)}`;
  const query = `caller=${encodeValue(caller)}&callee=${encodeValue(callee)}`;
  const url = `wss://${streamHost}/ws/stream/${callId}${token}?${query}`;
  return { url, parameters: { caller, callee }, resume: resumeAt({ callId, number: number + 1 }, options) };
}

/**
 * True where the carrier asks by itself what comes after a stream. Without its secret nobody is answered: who knows the ID of a call must not
 * get a stream of it.
 */
export function asksToResume({ webhooks, streamTokenKey }: ResumableCarrier): boolean {
  return webhooks.routes.includes('resume') && streamTokenKey !== undefined;
}

/** Where the carrier goes when stream `number - 1` of a call is over and the call is not. */
export function resumeAt(
  call: { readonly callId: string; readonly number: number },
  { carrier, host, holdSeconds }: Pick<InvitationOptions, 'carrier' | 'host' | 'holdSeconds'>,
): StreamResume | undefined {
  if (!asksToResume(carrier)) return undefined;
  return { url: `https://${host}/webhooks/${carrier.id}/resume/${call.callId}/${call.number}`, holdSeconds };
}

/** Percent-encodes any text; half a surrogate pair, which has no encoding, becomes the replacement character. */
function encodeValue(value: string): string {
  return encodeURIComponent(Buffer.from(value).toString('utf8'));
}
