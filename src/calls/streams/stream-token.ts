// The token in a stream's path: it carries the facts of the call and proves that this installation invited the stream.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CallDirection } from '../../contract/call-record.js';

/** A token opens a stream for this long, in milliseconds, unless it is issued for longer. */
export const STREAM_TOKEN_TTL_MS = 60_000;

/** What a token states. */
export interface StreamFacts {
  callId: string;
  carrierCallId: string;
  caller: string;
  callee: string;
  direction: CallDirection;
  /** Of the stream within its call, from 1. Each opens one stream. */
  number: number;
  /** Name of the agent; absent for one without. */
  agent?: string | undefined;
}

/** `<payload>.<mac>`, both base64url: the facts with their expiry as JSON, and its HMAC-SHA256. `nowMs` is epoch milliseconds. */
export function issueStreamToken(
  key: Uint8Array,
  facts: StreamFacts & { ttlMs?: number | undefined },
  nowMs: number,
): string {
  const {
    callId,
    carrierCallId,
    caller,
    callee,
    direction,
    number,
    agent,
    ttlMs = STREAM_TOKEN_TTL_MS,
  } = facts;
  const expiresAt = nowMs + ttlMs;
  const payload = Buffer.from(
    JSON.stringify({ callId, carrierCallId, caller, callee, direction, number, agent, expiresAt }),
  ).toString('base64url');
  return `${payload}.${macOf(key, payload).toString('base64url')}`;
}

/** The facts of a token; undefined for one that is wrong or stale. Constant time in the content of the MAC. */
export function readStreamToken(key: Uint8Array, token: string, nowMs: number): StreamFacts | undefined {
  const [payload = '', encodedMac = '', ...rest] = token.split('.');
  const mac = Buffer.from(encodedMac, 'base64url');
  const expected = macOf(key, payload);
  const isOurs = rest.length === 0 && mac.length === expected.length && timingSafeEqual(mac, expected);
  // Only what we wrote ourselves gets as far as the parser.
  if (!isOurs || mac.toString('base64url') !== encodedMac) return undefined;
  const { expiresAt, ...facts } = JSON.parse(
    Buffer.from(payload, 'base64url').toString('utf8'),
  ) as StreamFacts & { expiresAt: number };
  return nowMs < expiresAt ? facts : undefined;
}

function macOf(key: Uint8Array, payload: string): Buffer {
  return createHmac('sha256', key).update(payload).digest();
}
