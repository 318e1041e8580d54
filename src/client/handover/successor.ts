// The process that takes this one's place, seen from here: is given the store, what happens in the calls that are still here, and the calls.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock, Timer } from '../../base/clock.js';
import { describeError, type Logger } from '../../base/log.js';
import { pause, within } from '../../base/pause.js';
import type { CallDirectory } from '../../calls/call-directory.js';
import { CallMover, type MovableCall } from '../../calls/resume/call-mover.js';
import type { WebhookRequest } from '../../carriers/carrier.js';
import type { CallEvent } from '../../contract/call-event.js';
import type { Neighbor, PlacedStream } from '../../server/neighbor.js';
import { Peer, type PeerAnswer } from '../../server/peer.js';
import type { WholeAnswer } from '../../server/routes.js';
import { FactRelay } from './fact-relay.js';
import { COMMAND_MS, type FactsTaken, type GivenCall, RELEASED } from './predecessor.js';
import type { OtherProcess, RemoteCommand } from './remote-controls.js';

/** It listens by then, or will not. */
const READY_MS = 10_000;
/** A proxy that looks every second has switched by then. */
const SWITCH_MS = 2000;
const FACTS_MS = 5000;
/** Its store rewrites all of its files to delete a call. */
const DELETION_MS = 120_000;
const WEBHOOK_MS = 3000;
const STATE_MS = 3000;
/** Its last facts are there by then, or are lost with it. */
const FLUSH_MS = 5000;
const FAREWELL_MS = 1000;
const RETRY_MS = 200;
/** Whether it is there is asked so often. */
const BEAT_MS = 100;
/** One that takes longer to say so stands still: a stream would wait for it, and the caller with that. */
const STILL_MS = 300;
/** An answer may have been lost with which a call was given: after this it is given once more. */
const CONFIRM_MS = 500;
const LOOK_MS = 50;

export interface SuccessorParts {
  /** Of its control socket. */
  readonly path: string;
  readonly desk: Pick<
    CallDirectory,
    | 'learn'
    | 'movableCalls'
    | 'letGo'
    | 'giveInvited'
    | 'isLive'
    | 'holdsPlace'
    | 'hasEnded'
    | 'liveCount'
    | 'expectedCount'
  >;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long calls may take to go there, in milliseconds. */
  readonly timeoutMs: number;
}

export interface SuccessorEvents {
  /** It takes everything new from now on. */
  ready(): void;
  /** Nothing is left here, or the time is over. */
  done(): void;
  /** It cannot have the call, with which this process goes on, and whose state it writes until `free` resolves. Never rejects. */
  refused(callId: string, call: GivenCall, free: Promise<void> | undefined): Promise<void>;
  /** It is gone, and this process goes on in its place. */
  died(): void;
}

/** A call that it was given. */
interface Given {
  readonly call: GivenCall;
  /** Resolves when it is on disk. Never rejects. */
  readonly kept: Promise<void>;
}

export class Successor implements Neighbor, OtherProcess {
  readonly relay: FactRelay;
  readonly #parts: SuccessorParts;
  readonly #events: SuccessorEvents;
  readonly #peer: Peer;
  readonly #mover: CallMover;
  /** What it was given of calls, should its answer have been lost. */
  readonly #given = new Map<string, Given>();
  /** Calls that this process has no more and the other one has not yet, by our ID and the carrier's. */
  readonly #onTheirWay = new Map<string, Promise<unknown>>();
  /** Calls of which it has not said that it has them. */
  readonly #unconfirmed = new Set<Promise<void>>();
  #lifeline: ServerResponse | undefined;
  #timer: Timer | undefined;
  /** Since when it has not answered, on the clock; undefined while it does. */
  #askedAt: number | undefined;
  #isReady = false;
  #isOver = false;

  constructor(parts: SuccessorParts, events: SuccessorEvents) {
    const { path, desk, clock, logger } = parts;
    this.#parts = parts;
    this.#events = events;
    this.#peer = new Peer(path);
    this.relay = new FactRelay(clock);
    this.#mover = new CallMover({
      calls: () => desk.movableCalls(),
      isReceived: () => !this.#standsStill,
      send: (call) => this.#send(call),
      clock,
      logger,
    });
  }

  get takesNew(): boolean {
    return this.#isReady;
  }

  /** The store is free. `lifeline` stays open for as long as both processes are there. */
  begin(lifeline: ServerResponse): void {
    this.#lifeline = lifeline;
    lifeline.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
    lifeline.write(`${RELEASED}\n`);
    lifeline.on('close', () => this.#died());
    if (lifeline.destroyed) this.#died();
    this.#timer = this.#parts.clock.after(READY_MS, () => {
      this.#parts.logger.warn({}, 'the process that was to take over did not get ready');
      lifeline.destroy();
    });
  }

  /** It listens. */
  ready(): void {
    if (this.#isReady || this.#isOver) return;
    const { clock, desk, logger, timeoutMs } = this.#parts;
    this.#isReady = true;
    this.#timer?.cancel();
    this.relay.start((facts) => this.#sendFacts(facts));
    this.#events.ready();
    logger.info({ calls: desk.liveCount }, 'handing over to another process: it takes new calls from now on');
    void this.#beat();
    const begun = clock.now();
    this.#timer = clock.after(SWITCH_MS, () => {
      this.#mover.start();
      this.#watch(begun + timeoutMs);
    });
  }

  /** What another process goes on with for which a stream has come there. `here`: the call stays. `over`: it has ended. Undefined: it is not known here. */
  claim(callId: string): GivenCall | 'here' | 'over' | undefined {
    const given = this.#given.get(callId);
    if (given !== undefined) return given.call;
    const { desk } = this.#parts;
    if (desk.hasEnded(callId)) return 'over';
    // Of a call that was invited here, this process alone knows which agent is to answer it, and how.
    if (!desk.isLive(callId)) {
      if (desk.holdsPlace(callId)) return 'here';
      // Its stream comes late, and begins the call there: here it would be told of a second end.
      desk.giveInvited(callId);
      return undefined;
    }
    const moving = desk.movableCalls().find((call) => call.callId === callId);
    if (moving === undefined || !this.#mover.isMoving(callId)) return 'here';
    const call = this.#letGo(callId);
    // The answer may be lost.
    if (call !== undefined) this.#await(this.#give(callId, call, CONFIRM_MS));
    return call;
  }

  /** Resolves when what it goes on with is on disk, and this process writes nothing more of that: of one call, or of all. Never rejects. */
  async kept(callId?: string): Promise<void> {
    const given = callId === undefined ? [...this.#given.values()] : [this.#given.get(callId)];
    await Promise.all(given.map((each) => each?.kept));
  }

  async settled(ids: readonly (string | null | undefined)[]): Promise<void> {
    await Promise.all(ids.map((id) => (id == null ? undefined : this.#onTheirWay.get(id))));
  }

  /** It cannot have a call that it was given. Never rejects. */
  async refused(callId: string, call: GivenCall): Promise<void> {
    const free = this.#given.get(callId)?.kept;
    this.#given.delete(callId);
    this.#mover.keep(callId);
    await this.#events.refused(callId, call, free);
  }

  async answer(webhook: WebhookRequest): Promise<WholeAnswer | undefined> {
    try {
      return await this.#peer.answer(webhook, { timeoutMs: WEBHOOK_MS });
    } catch (error) {
      this.#parts.logger.warn(describeError(error), 'the process after this one did not answer a webhook');
      return undefined;
    }
  }

  async place(callId: string, { isPassed }: PlacedStream): Promise<'here' | 'there'> {
    if (isPassed || !this.#isReady) return 'here';
    const { desk } = this.#parts;
    const isHere = desk.isLive(callId) ? !this.#mover.isMoving(callId) : desk.holdsPlace(callId);
    return isHere ? 'here' : 'there';
  }

  async command(
    callId: string,
    command: RemoteCommand,
    { timeoutMs = COMMAND_MS } = {},
  ): Promise<PeerAnswer> {
    await this.settled([callId]);
    const path = `/calls/${encodeURIComponent(callId)}/command`;
    return this.#peer.ask(path, { body: JSON.stringify(command), timeoutMs });
  }

  passRequest(request: IncomingMessage, response: ServerResponse, address: string): Promise<void> {
    return this.#peer.pass(request, response, address);
  }

  passUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, address: string): Promise<boolean> {
    return this.#peer.passUpgrade(request, { socket, head, address });
  }

  /** This process is about to end: what is still here ends with it, and its last facts are sent. */
  async finish(): Promise<void> {
    this.#mover.stop();
    const given = Promise.all(this.#unconfirmed).then(() => this.relay.flushed());
    await within(this.#parts.clock, FLUSH_MS, given);
  }

  /** It is not to begin any more. */
  giveUp(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.#lifeline?.destroy();
  }

  /** Idempotent. */
  async close(): Promise<void> {
    const wasOver = this.#isOver;
    this.#isOver = true;
    this.#timer?.cancel();
    this.#mover.stop();
    this.relay.close();
    this.#peer.close();
    // An end that does not arrive would be taken for a death.
    const ended = new Promise<void>((resolve) => void this.#lifeline?.end(resolve));
    if (!wasOver && this.#lifeline !== undefined) await within(this.#parts.clock, FAREWELL_MS, ended);
  }

  #died(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.cancel();
    this.#mover.stop();
    this.#peer.close();
    this.#events.died();
  }

  #watch(deadline: number): void {
    const { desk, clock } = this.#parts;
    const left = desk.liveCount + desk.expectedCount + this.#peer.pipedCount + this.#unconfirmed.size;
    if (left === 0 || clock.now() >= deadline) this.#events.done();
    else this.#timer = clock.after(LOOK_MS, () => this.#watch(deadline));
  }

  get #standsStill(): boolean {
    return this.#askedAt !== undefined && this.#parts.clock.now() - this.#askedAt > STILL_MS;
  }

  async #beat(): Promise<void> {
    const { clock } = this.#parts;
    while (!this.#isOver) {
      this.#askedAt ??= clock.now();
      await this.#peer
        .ask('/status', { method: 'GET', timeoutMs: STATE_MS })
        .then(() => {
          this.#askedAt = undefined;
        })
        .catch(() => {});
      await pause(clock, BEAT_MS);
    }
  }

  #letGo(callId: string): GivenCall | undefined {
    const { desk, logger } = this.#parts;
    try {
      const letGo = desk.letGo(callId);
      if (letGo === undefined) return undefined;
      const { text: state, kept } = letGo;
      const call = { state, facts: this.relay.pendingOf(callId) };
      this.#given.set(callId, { call, kept });
      return call;
    } catch (error) {
      logger.error({ callId, ...describeError(error) }, 'the call could not be given away');
      return undefined;
    }
  }

  #send(moving: MovableCall): void {
    const { callId } = moving;
    const call = this.#letGo(callId);
    if (call === undefined) return;
    const sending = this.#give(callId, call, 0);
    this.#holdReports(moving, sending);
    this.#await(sending);
  }

  /** What the carrier says of a call waits for as long as it is nobody's. */
  #holdReports({ callId, carrierCallId }: MovableCall, until: Promise<unknown>): void {
    const ids = [callId, carrierCallId].filter((id) => id !== null);
    for (const id of ids) this.#onTheirWay.set(id, until);
    void until.finally(() => {
      for (const id of ids) if (this.#onTheirWay.get(id) === until) this.#onTheirWay.delete(id);
    });
  }

  #await(task: Promise<void>): void {
    this.#unconfirmed.add(task);
    void task.finally(() => this.#unconfirmed.delete(task));
  }

  async #give(callId: string, call: GivenCall, afterMs: number): Promise<void> {
    await pause(this.#parts.clock, afterMs);
    const path = `/calls/${encodeURIComponent(callId)}`;
    const body = JSON.stringify(call);
    // Without an answer it may have the call. Once it is gone, the call is in its file.
    while (!this.#isOver && this.#given.has(callId)) {
      const answer = await this.#peer.ask(path, { body, timeoutMs: STATE_MS }).catch(() => undefined);
      if (answer?.status === 200) return;
      if (answer !== undefined) {
        await this.refused(callId, call);
        return;
      }
      await pause(this.#parts.clock, RETRY_MS);
    }
  }

  async #sendFacts(facts: readonly CallEvent[]): Promise<readonly string[]> {
    const { status, body } = await this.#peer.ask('/facts', {
      body: JSON.stringify({ facts }),
      timeoutMs: facts.some(({ type }) => type === 'call.forgotten') ? DELETION_MS : FACTS_MS,
    });
    if (status !== 200) throw new Error(`The other process answered ${status}.`);
    const { undeleted = [], outranked = [] } = JSON.parse(body) as FactsTaken;
    for (const each of outranked) this.#parts.desk.learn(each);
    return undeleted;
  }
}
