// Other processes on the same calls: the one before or after this one, or the other nodes of a cluster. What belongs there is answered there, whichever port it came to.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { CallAnswer, WebhookRequest } from '../carriers/carrier.js';
import type { WholeAnswer } from './routes.js';

export interface Neighbor {
  /** True once it takes everything new: this process answers for the calls that it has, and for nothing else. */
  readonly takesNew: boolean;
  /**
   * Its answer to a webhook about a call that is not here, or what the carrier shall do while nobody knows who has it; undefined where it is for this process after all,
   * or cannot be had. Never rejects.
   */
  answer(webhook: WebhookRequest, about: WebhookSubject): Promise<WholeAnswer | CallAnswer | undefined>;
  /** Resolves once it is known who has a call that is on its way between the two. Never rejects. */
  settled(ids: readonly (string | null | undefined)[]): Promise<void>;
  /** Where a stream of a call is taken, which may come here because of this. @throws RequestError for one that is taken nowhere. */
  place(callId: string, stream: PlacedStream): Promise<'here' | 'there'>;
  /** Passes on what the page or its API is asked. Rejects with RequestError for a body that is not taken. Absent where it never takes everything new. */
  passRequest?(request: IncomingMessage, response: ServerResponse, address: string): Promise<void>;
  /** Passes a stream on for as long as it lasts. Resolves to false where the neighbor is not reached: the socket is as it was. Absent where streams are never `there`. */
  passUpgrade?(request: IncomingMessage, socket: Duplex, head: Buffer, address: string): Promise<boolean>;
}

/** What a webhook is about, for a neighbor that has many calls at many addresses. */
export interface WebhookSubject {
  /** Ours. */
  readonly callId: string;
  readonly carrierCallId: string;
  /** A call rings with it, perhaps for the first time. */
  readonly begins: boolean;
  /** The caller waits for what is answered. */
  readonly asks: boolean;
  /** Of the stream that may follow the last one, which is over; undefined for any other message. */
  readonly nextStream?: number | undefined;
  /** Public host that it came to. */
  readonly host: string;
  /** When it began to wait for other processes, on the clock. */
  readonly since: number;
}

/** A stream, as far as it matters to where it is taken. */
export interface PlacedStream {
  /** As its token has it; null where that says nothing. */
  readonly carrierCallId: string | null;
  /** The neighbor has passed it on. */
  readonly isPassed: boolean;
  /** Within its call; undefined without a token. */
  readonly number: number | undefined;
}

/** What came by a neighbor: not passed on once more. A header alone would prove nothing. */
const passed = new WeakSet<IncomingMessage>();

export function notePassed(request: IncomingMessage): void {
  passed.add(request);
}

export function isPassed(request: IncomingMessage): boolean {
  return passed.has(request);
}

/** Status and header of an answer to a webhook that is about no call of this process. */
export const NOT_HERE = { status: 421, header: 'x-offhook-not-here' } as const;
