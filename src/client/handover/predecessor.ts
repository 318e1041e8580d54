// The process that had the calls before this one, seen from here: gives its store, its calls one by one, and the answers that are still its.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.js';
import { ConfigError, RequestError } from '../../base/errors.js';
import { describeError, type Logger } from '../../base/log.js';
import { within } from '../../base/pause.js';
import type { WebhookRequest } from '../../carriers/carrier.js';
import type { CallEvent } from '../../contract/call-event.js';
import type { Neighbor, PlacedStream } from '../../server/neighbor.js';
import type { Peer, PeerAnswer } from '../../server/peer.js';
import type { WholeAnswer } from '../../server/routes.js';
import type { OtherProcess, RemoteCommand } from './remote-controls.js';

/** It writes what is left to disk before it gives the store. */
const RELEASE_MS = 30_000;
/** A webhook waits no longer for it. */
const WEBHOOK_MS = 1000;
/** A stream waits no longer for its call. */
const CLAIM_MS = 2000;
export const COMMAND_MS = 30_000;
/** A disk that takes longer has failed. */
const KEPT_MS = 30_000;
const READY_MS = 5000;
/** What it says once its store is free. */
export const RELEASED = 'released';

/** A call as it is given to another process. */
export interface GivenCall {
  /** As `encodeState` has made it. */
  readonly state: string;
  /** Facts that the store may not have yet, in order. */
  readonly facts: readonly CallEvent[];
}

/** The last that is known of a call, stated in a higher term than a fact that has come. */
export type Outranking = Pick<CallEvent, 'callId' | 'nodeId' | 'term' | 'type'>;

/** What became of facts that were given to the process that has the store. */
export interface FactsTaken {
  /** Calls whose deletion it could not finish. @default none */
  readonly undeleted?: readonly string[];
  /** Of calls that are another process's: what says so. @default none */
  readonly outranked?: readonly Outranking[];
}

export interface PredecessorEvents {
  /** Takes a call up for the stream that has come for it. `free`: see `LeftCall`. */
  taken(callId: string, call: GivenCall, free: Promise<void>): Promise<void>;
  /** True for a call that the store does not know. */
  isNew(callId: string): Promise<boolean>;
  /** It has no call left, and is gone. */
  done(): void;
  /** It died, and its calls are nobody's. */
  died(): void;
}

export class Predecessor implements Neighbor, OtherProcess {
  readonly takesNew = false;
  readonly #peer: Peer;
  readonly #lifeline: IncomingMessage;
  readonly #logger: Logger;
  /** Streams whose calls are asked for, or are being taken up, by our ID and the carrier's. */
  readonly #placing = new Map<string, Promise<unknown>>();
  #events: PredecessorEvents | undefined;
  #isGone = false;

  private constructor(peer: Peer, lifeline: IncomingMessage, logger: Logger) {
    this.#peer = peer;
    this.#lifeline = lifeline;
    this.#logger = logger;
  }

  /** Has it give its store away. `path`: of this process's control socket. @throws ConfigError when it does not. */
  static async ask(
    peer: Peer,
    { path, clock, logger }: { path: string; clock: Clock; logger: Logger },
  ): Promise<Predecessor> {
    // It says nothing at all before its store is free.
    const late = new AbortController();
    const timer = clock.after(RELEASE_MS, () => late.abort());
    const opening = peer.open('/successor', JSON.stringify({ path }), { signal: late.signal });
    const lifeline = await opening
      .catch((cause: unknown) => {
        peer.close();
        throw new ConfigError(
          'CONFIG_CONFLICT',
          'The server that has the calls did not answer: stop it first.',
          { cause },
        );
      })
      .finally(() => timer.cancel());
    const line = firstLineOf(lifeline);
    await within(clock, RELEASE_MS, line);
    // What it has not said by now it does not say.
    lifeline.pause();
    const first = await Promise.race([line, 'nothing in time']);
    if (lifeline.statusCode === 200 && first === RELEASED) return new Predecessor(peer, lifeline, logger);
    lifeline.destroy();
    peer.close();
    throw new ConfigError(
      'CONFIG_CONFLICT',
      `The server that has the calls does not hand them over (it said: ${first.slice(0, 200)}): stop it first.`,
    );
  }

  /** This process listens, and takes everything new from now on. @throws ConfigError where the other one has gone on meanwhile */
  async ready(events: PredecessorEvents): Promise<void> {
    this.#events = events;
    this.#lifeline.on('error', () => {});
    const ask = () => this.#peer.ask('/successor/ready', { timeoutMs: READY_MS });
    const status = this.#lifeline.destroyed
      ? 0
      : await ask().then(
          (answer) => answer.status,
          () => 0,
        );
    if (status !== 200)
      throw new ConfigError(
        'CONFIG_CONFLICT',
        'The server that has the calls has not waited for this one: start it again.',
      );
    this.#lifeline.on('end', () => this.#leave(() => events.done()));
    this.#lifeline.on('close', () => this.#leave(() => events.died()));
    this.#lifeline.resume();
    if (this.#lifeline.destroyed) this.#leave(() => events.died());
  }

  /** A process that does not answer holds up what is said of its own calls, and of no other one. */
  async settled(ids: readonly (string | null | undefined)[]): Promise<void> {
    await Promise.allSettled(ids.map((id) => (id == null ? undefined : this.#placing.get(id))));
  }

  async answer(webhook: WebhookRequest): Promise<WholeAnswer | undefined> {
    try {
      return await this.#peer.answer(webhook, { timeoutMs: WEBHOOK_MS });
    } catch (error) {
      this.#logger.warn(describeError(error), 'the process before this one did not answer a webhook');
      return undefined;
    }
  }

  place(callId: string, stream: PlacedStream): Promise<'here' | 'there'> {
    const placing = this.#place(callId, stream);
    const ids = [callId, stream.carrierCallId].filter((id) => id !== null);
    for (const id of ids) this.#placing.set(id, placing);
    return placing.finally(() => {
      for (const id of ids) if (this.#placing.get(id) === placing) this.#placing.delete(id);
    });
  }

  async #place(callId: string, { isPassed, number = 1 }: PlacedStream): Promise<'here' | 'there'> {
    const claim = () => this.#peer.ask(`/calls/${encodeURIComponent(callId)}/claim`, { timeoutMs: CLAIM_MS });
    // What it has given once it gives again.
    const { status, body } = await claim()
      .catch(claim)
      .catch(() => ({ status: 0, body: '' }));
    if (status === 200) {
      const answer = JSON.parse(body) as GivenCall | { readonly isOver: true };
      if ('isOver' in answer) throw new RequestError('REQUEST_CONFLICT', 'The call is over.');
      return this.#take(callId, answer);
    }
    if (status === 404) return 'here';
    if (status === 409 && !isPassed) return 'there';
    const isNew = status === 0 && number === 1;
    if (isNew && (await this.#events?.isNew(callId)) === true) return 'here';
    throw new RequestError('REQUEST_CONFLICT', 'The call is at another process.');
  }

  async #take(callId: string, call: GivenCall): Promise<'here'> {
    try {
      await this.#events?.taken(callId, call, this.kept(callId));
      return 'here';
    } catch (cause) {
      // The call shall be somebody's.
      const path = `/calls/${encodeURIComponent(callId)}/refused`;
      await this.#peer.ask(path, { body: JSON.stringify(call), timeoutMs: CLAIM_MS });
      throw cause;
    }
  }

  /** Resolves when it writes no more of a call that it has given: that is on disk, or the process is gone. Never rejects. */
  async kept(callId: string): Promise<void> {
    const path = `/calls/${encodeURIComponent(callId)}/kept`;
    const ask = () => this.#peer.ask(path, { timeoutMs: KEPT_MS });
    await ask()
      .catch(ask)
      .catch(() => {});
  }

  async command(
    callId: string,
    command: RemoteCommand,
    { timeoutMs = COMMAND_MS } = {},
  ): Promise<PeerAnswer> {
    const answer = await this.#peer.ask(`/calls/${encodeURIComponent(callId)}/command`, {
      body: JSON.stringify(command),
      timeoutMs,
    });
    // It may be on its way here.
    if (answer.status === 404) await this.settled([callId]);
    return answer;
  }

  passRequest(request: IncomingMessage, response: ServerResponse, address: string): Promise<void> {
    return this.#peer.pass(request, response, address);
  }

  passUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, address: string): Promise<boolean> {
    return this.#peer.passUpgrade(request, { socket, head, address });
  }

  /** It has its store back, as far as this process has left it. Idempotent. */
  close(): void {
    this.#isGone = true;
    this.#lifeline.destroy();
    this.#peer.close();
  }

  #leave(tell: () => void): void {
    if (this.#isGone) return;
    this.close();
    tell();
  }
}

/** Resolves with the first line once it is there, or the end is. The stream is paused then. */
function firstLineOf(stream: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const done = () => {
      stream.off('data', take).off('end', done).off('close', done).pause();
      resolve(text.split('\n')[0] ?? '');
    };
    const take = (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (text.includes('\n')) done();
    };
    stream.on('data', take).on('end', done).on('close', done);
  });
}
