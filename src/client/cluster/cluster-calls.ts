// The calls of a cluster, seen from one node: passes on what is for the node that has one, and brings a call here whose stream has come, or whose node
// has died.
import type { Clock } from '../../base/clock.js';
import { RequestError } from '../../base/errors.js';
import { describeError, type Logger } from '../../base/log.js';
import { pause, within } from '../../base/pause.js';
import type { CallDirectory, OwnStanding } from '../../calls/call-directory.js';
import type { ChosenAgent } from '../../calls/choice/call-choice.js';
import { termAfter } from '../../calls/facts/fact-stamp.js';
import type { CallAnswer, WebhookRequest } from '../../carriers/carrier.js';
import {
  BROKER_MS,
  type CallOwner,
  type Coordinator,
  LEASE_MS,
  type Patience,
} from '../../cluster/coordinator.js';
import type { CallEvent } from '../../contract/call-event.js';
import type { CallRecord } from '../../contract/call-record.js';
import { termOf } from '../../events/reduce.js';
import type { Neighbor, PlacedStream, WebhookSubject } from '../../server/neighbor.js';
import type { PhoneServer } from '../../server/server.js';
import type { CallStore } from '../../stores/call-store.js';
import type { ComingAbout } from '../handover/handover.js';
import type { GivenCall } from '../handover/predecessor.js';
import { carryOut, type OtherProcess } from '../handover/remote-controls.js';
import { CallFinder, GONE_MS, type OwnPlace, PROBE_MS } from './call-finder.js';
import type { ClusterFacts } from './cluster-facts.js';
import { departureOf } from './departure.js';
import { GONE_PROBE_MS, type InheritedCall } from './orphaned-calls.js';
import { type CallPlace, type Claimed, reachableNodes, type RequestHandlers } from './requests.js';

/** What a process that stood still gives the others to say which of its calls they have. */
const STALL_ASK_MS = 2000;
/** What a webhook may wait for who has its call: an application may take its time to choose an agent. */
const WEBHOOK_MS = 15_000;
/** A stream waits no longer for its call. */
const CLAIM_MS = 2000;
/** An answer with which a call was given may have been lost: after this, its new node is asked. */
const CONFIRM_MS = 1500;
/** One that counts as alive and does not answer is asked for so long. */
const SILENCE_MS = LEASE_MS;
/** Nodes that one webhook or stream asks, each of which has lost the call to the next. */
const MAX_ASKED = 3;
/** Where a call went is remembered for so long. */
const MOVED_MS = 60_000;
/** As long as a call may be without a server, its end waits at a node that reaches nobody. */
const CUT_OFF_MS = 60_000;
const ASK_AGAIN_MS = 1000;
/** What the broker has for telling what happened, before a call is taken over. */
const CATCH_UP_MS = 2000;
/** What a webhook or a stream waits for the broker in all, while a call is taken over: without its state the call would have to end, and a caller rather waits. */
const TAKE_OVER_MS = 2000;
/** Of that, what is left for the state in any case. */
const STATE_MS = 1000;
const LOOK_MS = 50;
/** Terms that follow on one in which nodes may go on with a call without the broker. */
const TERMS_APART = 997;
const SILENT = 'it does not answer';
const WAITING = 'another server may have the call, and has yet to say so: this one waits';
/** Late reports of a call find its last node for so long. */
const ENDED_MS = 60 * 60_000;

export interface ClusterCallsParts {
  readonly nodeId: string;
  readonly desk: CallDirectory;
  readonly facts: ClusterFacts;
  readonly clock: Clock;
  readonly logger: Logger;
  store(): CallStore;
  /** What was stated here of a call that is this node's holds, in this term. */
  outbid(callId: string, term: number): void;
  /** Takes a call up that another node has given. Rejects where it cannot be had. */
  takeUp(callId: string, call: GivenCall, about: ComingAbout): Promise<void>;
  /** Goes on with calls whose nodes are gone, or states their ends. */
  inherit(calls: ReadonlyMap<string, InheritedCall>, about: ComingAbout): Promise<void>;
  /** Who was chosen for a call, by what another node says of that. */
  chosen(agent: string | undefined, texts: ChosenAgent['texts']): ChosenAgent | undefined;
}

/** A call that is not here any more. */
interface Moved {
  readonly to: string;
  /** As it was given; undefined for one that was only invited. */
  readonly claimed: Claimed;
  /** The other node has shown that it has it. */
  isConfirmed: boolean;
}

export class ClusterCalls implements Neighbor, OtherProcess {
  readonly takesNew = false;
  readonly #parts: ClusterCallsParts;
  readonly #coordinator: Coordinator;
  readonly #finder: CallFinder;
  readonly #server: Pick<PhoneServer, 'answerWebhook'>;
  /** Calls that this node has said to be its own, and in which term. */
  readonly #claimed = new Map<string, number>();
  /** Calls that are on their way here, by our ID and the carrier's. */
  readonly #coming = new Map<string, Promise<unknown>>();
  /** Those of them whose stream has come here, by our ID. */
  readonly #arriving = new Set<string>();
  /** Those of them that are this node's by now, by our ID. */
  readonly #won = new Set<string>();
  readonly #moved = new Map<string, Moved>();

  constructor(
    parts: ClusterCallsParts,
    coordinator: Coordinator,
    server: Pick<PhoneServer, 'answerWebhook'>,
  ) {
    this.#parts = parts;
    this.#coordinator = coordinator;
    this.#finder = new CallFinder(parts, coordinator);
    this.#server = server;
  }

  readonly handlers: Pick<RequestHandlers, 'webhook' | 'claim' | 'refused' | 'who-has' | 'command'> = {
    webhook: async (passed, { callId }) => {
      await this.settled([callId]);
      const { rawBody, host, ...webhook } = passed;
      const whole = { webhook: { ...webhook, rawBody: Buffer.from(rawBody, 'base64') }, host };
      const answer = await this.#server.answerWebhook(whole, (id) => this.#claimed.has(id));
      return answer === undefined ? this.#elsewhere(callId) : { type: 'answer', answer };
    },
    claim: async ({ number }, { callId, from }) => {
      // Two streams would wait for each other.
      if (!this.#arriving.has(callId)) await this.settled([callId]);
      return this.#give(callId, { number, to: from });
    },
    refused: async (call, { callId }) => {
      await this.#takeBack(callId, call);
      return {};
    },
    'who-has': async ({ callIds }) => {
      const places = await Promise.all(callIds.map((callId) => this.#placeOf(callId)));
      return { places: places.filter((place) => place !== undefined) };
    },
    command: async (command, { callId }) => {
      await this.settled([callId]);
      return carryOut(this.#parts.desk, callId, command);
    },
  };

  async settled(ids: readonly (string | null | undefined)[]): Promise<void> {
    await Promise.allSettled(ids.map((id) => (id == null ? undefined : this.#coming.get(id))));
  }

  async answer(webhook: WebhookRequest, about: WebhookSubject): ReturnType<Neighbor['answer']> {
    const { callId, carrierCallId, begins, asks, nextStream, host, since } = about;
    const by = since + BROKER_MS;
    const { rawBody, ...rest } = webhook;
    const ask = { ...rest, rawBody: Buffer.from(rawBody).toString('base64'), host };
    const request = { type: 'webhook', callId, ask } as const;
    try {
      const found = await this.#find(callId, { by, carrierCallId, isNew: begins });
      let owner = found ?? (begins ? await this.#claim(callId, 1, { by }) : undefined);
      for (let count = 0; count < MAX_ASKED; count += 1) {
        if (owner === undefined || owner.nodeId === this.#parts.nodeId) return undefined;
        const asked: CallOwner = owner;
        const answered = await this.#finder.ask(asked, { request, timeoutMs: WEBHOOK_MS, isPatient: !asks });
        if (answered?.type === 'answer') return answered.answer;
        if (answered === undefined) {
          const isAlone = async () => (await this.#finder.besides(callId, asked)).heard === 'none';
          // While nobody is reached, no report takes a call from those who may well have it: whoever gets its stream does.
          if ((!asks || nextStream !== undefined) && (await isAlone()))
            return nextStream === undefined
              ? undefined
              : this.#invite(callId, { carrierCallId, number: nextStream, host });
          owner = await this.#inherit(callId, asked, { isStreamThere: false });
        } else owner = begins ? await this.#claim(callId, asked.term + 1, { by }) : undefined;
      }
    } catch (error) {
      this.#parts.logger.warn({ callId, ...describeError(error) }, 'another node did not answer a webhook');
    }
    return undefined;
  }

  async place(callId: string, stream: PlacedStream): Promise<'here' | 'there'> {
    const { desk } = this.#parts;
    if (desk.isLive(callId) || desk.isInvited(callId)) return 'here';
    this.#arriving.add(callId);
    try {
      return await this.#once([callId, stream.carrierCallId], () => this.#place(callId, stream));
    } finally {
      this.#arriving.delete(callId);
    }
  }

  async command(...asked: Parameters<OtherProcess['command']>) {
    await this.settled([asked[0]]);
    const answer = await this.#finder.command(...asked);
    // It may be on its way here.
    if (answer.status === 404) await this.settled([asked[0]]);
    return answer;
  }

  /** As in `CallFinder`. */
  whoHas(...asked: Parameters<CallFinder['whoHas']>): ReturnType<CallFinder['whoHas']> {
    return this.#finder.whoHas(...asked);
  }

  /** True while nobody is known to have a call that was given to another node, or is on its way here. */
  get isMoving(): boolean {
    return this.#coming.size > 0 || [...this.#moved.values()].some(({ isConfirmed }) => !isConfirmed);
  }

  /** A fact of a call that is up here was stated. */
  had(callId: string): void {
    const standing = this.#parts.desk.standing(callId);
    if (standing === undefined || (this.#claimed.get(callId) ?? 0) >= standing.term) return;
    void this.#claim(callId, standing.term).then((owner) => {
      if (owner.nodeId !== this.#parts.nodeId) this.outranked(callId, owner);
    });
  }

  /** Its end was stated here. */
  ended(callId: string): void {
    this.#claimed.delete(callId);
    this.#coordinator.release(callId, ENDED_MS).catch(() => {});
  }

  /** Another node states facts of the call. */
  heard(callId: string, nodeId: string): void {
    const moved = this.#moved.get(callId);
    if (moved?.to === nodeId) moved.isConfirmed = true;
  }

  /** Another node has a call that this one has claimed. Of two in the same term, who has the stream goes on. */
  outranked(callId: string, owner: CallOwner): void {
    const { desk, logger } = this.#parts;
    this.#claimed.delete(callId);
    this.heard(callId, owner.nodeId);
    const standing = desk.standing(callId);
    if (standing === undefined) {
      if (desk.giveInvited(callId) !== undefined) logger.info({ callId }, 'another node has the call');
    } else if (standing.term === owner.term && standing.hasStream) {
      // The fact that says so has it claimed. Where both have a stream, and do this, the lower ID has the higher term.
      const { nodeId, outbid } = this.#parts;
      outbid(callId, owner.term + (nodeId < owner.nodeId ? 2 : 1));
    } else if (owner.term >= standing.term) void this.#yieldTo(owner, callId);
  }

  /** Lets a call go to the node that has claimed it, unless that node has no more of it than a claim. Never rejects. */
  async #yieldTo(owner: CallOwner, callId: string): Promise<void> {
    const { desk } = this.#parts;
    const places = await this.#finder.placesAt(owner.nodeId, [callId], { timeoutMs: PROBE_MS });
    const standing = desk.standing(callId);
    if (standing === undefined || owner.term < standing.term) return;
    const isSame = owner.term === standing.term;
    const hasIt =
      places?.some(({ state, hasStream }) => {
        // The newest stream that the carrier has opened wins.
        if (standing.hasStream) return hasStream === true || state === 'arriving';
        // In the same term, it has only been invited there: whoever waits for a stream there waits in vain.
        return !isSame || state !== 'expected';
      }) ?? true;
    if (hasIt) this.#leave(callId, owner);
    else this.#parts.outbid(callId, owner.term + 1);
  }

  /** What the carrier does about a call that nobody can be asked about; undefined for one that is not known here. */
  async #invite(
    callId: string,
    next: { carrierCallId: string; number: number; host: string },
  ): Promise<CallAnswer | undefined> {
    const record = await this.#parts.store().get(callId);
    return record?.carrierCallId === next.carrierCallId
      ? this.#parts.desk.inviteAgain(record, next)
      : undefined;
  }

  /** The call is another node's. */
  #leave(callId: string, { nodeId, term }: CallOwner): void {
    const { desk, facts } = this.#parts;
    const had = this.#standing(callId)?.term ?? 0;
    desk.learn({ callId, nodeId, term: Math.max(term, had + 1), type: 'call.status' });
    facts.leave(callId);
  }

  /** Of a call that is up here, or was told to open a stream. */
  #standing(callId: string): Omit<OwnStanding, 'hasStream'> | undefined {
    const { desk } = this.#parts;
    if (desk.isInvited(callId)) return { term: this.#claimed.get(callId) ?? 1, isPending: false };
    return desk.standing(callId);
  }

  /** As in `CallEnvironment`. */
  claimedTerm(callId: string): number | undefined {
    return this.#claimed.get(callId);
  }

  /** True while another node may have taken a call, and this one not have heard it: also right after it was cut off. */
  get mayHaveTaken(): boolean {
    const { isThere, leasedUntil, hasHeardAll } = this.#coordinator;
    const isInTouch = isThere && leasedUntil > this.#parts.clock.now() && hasHeardAll;
    return !isInTouch && this.#coordinator.nodes().length > 1;
  }

  /**
   * To be waited for before a call ends that another node may have: it is let go then. While one of them cannot be asked, that one may go on with it: waits, as long as
   * a call may be without a server. Never rejects.
   */
  async othersAsked(callId: string): Promise<void> {
    const owner = await this.#askOthers(callId, () => this.#standing(callId));
    if (owner !== undefined) this.#leave(callId, owner);
  }

  /** As in `OtherProcesses`. */
  async haveTaken(callId: string, term: number): Promise<boolean> {
    const owner = await this.#askOthers(callId, () => ({ term, isClosing: true }));
    if (owner !== undefined) this.#parts.facts.leave(callId);
    return owner !== undefined;
  }

  /** Who else has a call that is as `standing` here; undefined for nobody, as far as that can be known, and once it is not here. */
  async #askOthers(callId: string, standing: () => OwnPlace | undefined): Promise<CallOwner | undefined> {
    const { clock, logger } = this.#parts;
    const until = clock.now() + CUT_OFF_MS;
    for (let isWaiting = false; ; isWaiting = true) {
      const asked = standing();
      if (asked === undefined) return undefined;
      const { owner, heard } = await this.#finder.besides(callId, asked);
      if (owner !== undefined && standing()?.term === asked.term) return owner;
      if (heard === 'all' || clock.now() >= until) return undefined;
      if (!isWaiting) logger.warn({ callId, heard }, WAITING);
      await pause(clock, ASK_AGAIN_MS);
    }
  }

  /** This process stood still: lets every call go at once, and goes on with those that no other node has. */
  letGoAll(): void {
    const given = new Map<string, { readonly call: GivenCall; readonly term: number }>();
    for (const callId of this.#parts.desk.liveCallIds()) {
      const letGo = this.#letGo(callId);
      if (letGo !== undefined) given.set(callId, { call: letGo.given, term: letGo.term });
    }
    const asking = this.#finder.whoHas([...given.keys()], {
      timeoutMs: STALL_ASK_MS,
      isPatient: true,
    });
    // What it was about to take over is another node's by now, or is looked for anew.
    for (const callId of this.#claimed.keys())
      if (this.#standing(callId) === undefined) this.#claimed.delete(callId);
    for (const [callId, { call, term }] of given)
      void this.#once([callId], async () => {
        const others = (await asking).find(([, places]) => places.some((place) => place.callId === callId));
        await this.#caughtUp();
        // One that has taken the call, and is gone by now, has left it to a third.
        const named = await this.#coordinator.ownerOf(callId, { isUnhurried: true }).catch(() => undefined);
        const owners = [named, await this.#finder.known(callId)];
        const isOthers = owners.some(
          (owner) => owner !== undefined && owner.nodeId !== this.#parts.nodeId && owner.term > term,
        );
        if (others !== undefined || isOthers) {
          this.#parts.logger.warn({ callId }, 'another process has the call: it is let go');
          return;
        }
        await this.#goOn(callId, call, this.#ownTerm(term + 1));
      });
  }

  /** Claims that nothing came of: their calls ring nowhere any more. */
  tidy(): void {
    const { desk } = this.#parts;
    for (const callId of this.#claimed.keys()) {
      if (desk.isLive(callId) || desk.isInvited(callId) || desk.isChoosing(callId)) continue;
      if (this.#coming.has(callId)) continue;
      this.#claimed.delete(callId);
      this.#coordinator.release(callId, desk.hasEnded(callId) ? ENDED_MS : 0).catch(() => {});
    }
  }

  /** Takes over the calls of these records, where their nodes are gone, or have them no more. `isAlive`: that was asked. Never rejects. */
  async takeOver(
    records: readonly CallRecord[],
    { isAlive }: { isAlive?: (nodeId: string) => Promise<boolean> | undefined } = {},
  ): Promise<void> {
    const taking = this.#takeOver(records, isAlive);
    // Whoever asks for one of them waits until it is here: the broker may be slow to say whose it is.
    await Promise.all(records.map(({ callId }) => this.#once([callId], () => taking)));
  }

  async #takeOver(
    records: readonly CallRecord[],
    isAlive?: (nodeId: string) => Promise<boolean> | undefined,
  ): Promise<void> {
    const { desk, inherit, logger } = this.#parts;
    const alive = new Map<string, Promise<boolean>>();
    const won = new Map<string, InheritedCall>();
    await Promise.all(
      records.map(async (record) => {
        const { callId, nodeId } = record;
        await this.settled([callId]);
        const probed = alive.get(nodeId) ?? isAlive?.(nodeId) ?? this.#finder.isAlive(nodeId, GONE_PROBE_MS);
        alive.set(nodeId, probed);
        if ((await probed) || desk.isLive(callId)) return;
        const owner = { nodeId, term: termOf(record) };
        const lost = await this.#win(callId, owner, {}).catch(() => undefined);
        if (lost !== undefined && !('nodeId' in lost)) won.set(callId, lost);
      }),
    );
    // Of one that is over, only its price or its hang-up is still asked for.
    const up = records.filter(({ callId, status }) => won.has(callId) && status !== 'completed');
    for (const nodeId of new Set(up.map((record) => record.nodeId))) {
      const calls = up.filter((record) => record.nodeId === nodeId).length;
      const departure = departureOf(this.#coordinator, nodeId, SILENT);
      logger.warn({ calls, ...departure }, 'a server is gone: this one takes over calls of it');
    }
    if (won.size > 0) await inherit(won, { isStreamThere: false });
  }

  get #by(): number {
    return this.#parts.clock.now() + BROKER_MS;
  }

  /** As `CallFinder.find`. Where this node has just given a call away, the broker may still name it. */
  async #find(...[callId, about]: Parameters<CallFinder['find']>): Promise<CallOwner | undefined> {
    const owner = await this.#finder.find(callId, about);
    const moved = this.#moved.get(callId);
    if (owner?.nodeId !== this.#parts.nodeId || moved === undefined) return owner;
    return { nodeId: moved.to, term: owner.term + 1 };
  }

  async #place(callId: string, { carrierCallId, number = 1 }: PlacedStream): Promise<'here'> {
    const { desk, nodeId } = this.#parts;
    const owner = await this.#find(callId, { by: this.#by, carrierCallId });
    if (desk.isOver(callId)) throw new RequestError('REQUEST_CONFLICT', 'The call is over.');
    if (owner === undefined || owner.nodeId === nodeId) {
      if (owner === undefined && number === 1) void this.#claim(callId, 1);
      return 'here';
    }
    const request = { type: 'claim', callId, ask: { number } } as const;
    let asked: CallOwner | undefined = owner;
    for (let count = 0; asked !== undefined && count < MAX_ASKED; count += 1) {
      const claimed = await this.#finder.ask(asked, { request, timeoutMs: CLAIM_MS });
      if (claimed !== undefined) {
        await this.#take(callId, claimed, { owner: asked, number });
        return 'here';
      }
      asked = await this.#inherit(callId, asked, { isStreamThere: true });
    }
    return 'here';
  }

  /** What the node before gives, for the stream that has come. @throws RequestError for a stream that is not to be taken */
  async #take(
    callId: string,
    claimed: Claimed,
    { owner, number }: { owner: CallOwner; number: number },
  ): Promise<void> {
    const { desk, facts, chosen, takeUp } = this.#parts;
    switch (claimed.type) {
      case 'over':
        throw new RequestError('REQUEST_CONFLICT', 'The call is over.');
      case 'refused':
        throw new RequestError('REQUEST_CONFLICT', 'The call already has a stream.');
      case 'elsewhere':
        // Its first stream is enough to begin with.
        if (number === 1) void this.#claim(callId, owner.term + 1);
        return;
      case 'invited': {
        const term = Math.max(claimed.term, owner.term) + 1;
        void this.#claim(callId, term);
        desk.takeInvited(claimed.call, { chosen: chosen(claimed.agent, claimed.texts), term });
        return;
      }
      case 'given': {
        const { state, facts: told, unheard } = claimed;
        const term = Math.max(claimed.term, owner.term) + 1;
        void this.#claim(callId, term);
        for (const fact of told) facts.take(fact);
        facts.tellFor(...unheard);
        facts.adopt(callId, told);
        try {
          await takeUp(callId, { state, facts: told }, { isStreamThere: true, term });
        } catch (cause) {
          facts.leave(callId);
          this.#claimed.delete(callId);
          // The call shall be somebody's.
          const request = { type: 'refused', callId, ask: { state, facts: told } } as const;
          await this.#finder.ask(owner, { request, timeoutMs: CLAIM_MS }).catch(() => {});
          throw cause;
        }
        return;
      }
    }
  }

  #give(callId: string, { number, to }: { number: number | undefined; to: string }): Claimed {
    const { desk } = this.#parts;
    const moved = this.#moved.get(callId);
    // The answer may have been lost.
    if (moved !== undefined) return moved.to === to ? moved.claimed : this.#elsewhere(callId);
    if (desk.hasEnded(callId)) return { type: 'over' };
    const term = this.#claimed.get(callId) ?? 1;
    const invited = desk.giveInvited(callId);
    if (invited !== undefined) {
      const { prepared: _, chosen, ...call } = invited;
      const agent = chosen?.recipe.agentName;
      const claimed = { type: 'invited', term, call, agent, texts: chosen?.texts } as const;
      this.#moves(callId, { to, claimed, isConfirmed: true });
      return claimed;
    }
    if (desk.standing(callId) === undefined) return this.#elsewhere(callId);
    const letGo = desk.expectsStream(callId, number) ? this.#letGo(callId) : undefined;
    if (letGo === undefined) return { type: 'refused' };
    const claimed = { type: 'given', term: letGo.term, unheard: letGo.unheard, ...letGo.given } as const;
    this.#moves(callId, { to, claimed, isConfirmed: false });
    void this.#confirm(callId);
    return claimed;
  }

  /** Undefined for a call that is not up here. Never throws. */
  #letGo(
    callId: string,
  ):
    | { readonly given: GivenCall; readonly unheard: readonly CallEvent[]; readonly term: number }
    | undefined {
    const { desk, facts, logger } = this.#parts;
    const term = desk.standing(callId)?.term;
    try {
      const letGo = desk.letGo(callId);
      if (letGo === undefined || term === undefined) return undefined;
      const given = { state: letGo.text, facts: facts.logOf(callId) };
      const unheard = facts.unheard(callId);
      facts.leave(callId);
      this.#claimed.delete(callId);
      return { given, unheard, term };
    } catch (error) {
      logger.error({ callId, ...describeError(error) }, 'the call could not be given away');
      return undefined;
    }
  }

  #moves(callId: string, moved: Moved): void {
    this.#claimed.delete(callId);
    this.#moved.set(callId, moved);
    this.#parts.clock.after(MOVED_MS, () => {
      if (this.#moved.get(callId) === moved) this.#moved.delete(callId);
    });
  }

  /** A call that was given shall be somebody's. */
  async #confirm(callId: string, until = this.#parts.clock.now() + GONE_MS): Promise<void> {
    const { clock } = this.#parts;
    const moved = this.#moved.get(callId);
    await pause(clock, CONFIRM_MS);
    if (moved === undefined || this.#moved.get(callId) !== moved || moved.isConfirmed) return;
    // It may have given the call on by now.
    const had = await this.#finder.whoHas([callId], { timeoutMs: SILENCE_MS, isPatient: true });
    if (had.some(([, places]) => places.length > 0)) moved.isConfirmed = true;
    if (moved.isConfirmed || moved.claimed.type !== 'given') return;
    // Who is cut off from all of them cannot tell.
    const isCutOff = had.length === 0 && reachableNodes(this.#coordinator).length > 0;
    if (isCutOff && clock.now() < until) {
      void this.#confirm(callId, until);
      return;
    }
    this.#parts.logger.warn({ callId }, 'the node that was given a call does not have it: it goes on here');
    await this.#takeBack(callId, moved.claimed);
  }

  async #takeBack(callId: string, { state, facts }: GivenCall): Promise<void> {
    const moved = this.#moved.get(callId);
    if (moved?.claimed.type !== 'given') return;
    this.#moved.delete(callId);
    // The node that it was given to may have stated something in the term that follows.
    const term = moved.claimed.term + 2;
    await this.#once([callId], () => this.#goOn(callId, { state, facts }, term));
  }

  /** With a call that this node has let go. Never rejects. */
  async #goOn(callId: string, call: GivenCall, term: number): Promise<void> {
    const { takeUp, facts, logger } = this.#parts;
    facts.adopt(callId, call.facts);
    try {
      await takeUp(callId, call, { isStreamThere: false, term });
    } catch (error) {
      facts.leave(callId);
      logger.error({ callId, ...describeError(error) }, 'the call could not be taken up again');
    }
  }

  #elsewhere(callId: string): { readonly type: 'elsewhere'; readonly nodeId?: string | undefined } {
    return { type: 'elsewhere', nodeId: this.#moved.get(callId)?.to };
  }

  async #placeOf(callId: string): Promise<CallPlace | undefined> {
    const { desk } = this.#parts;
    const standing = desk.standing(callId);
    const term = standing?.term ?? this.#claimed.get(callId);
    if (standing !== undefined || this.#won.has(callId))
      return { callId, state: 'live', term: term ?? 1, hasStream: standing?.hasStream === true };
    if (this.#arriving.has(callId)) return { callId, state: 'arriving', term: term ?? 1 };
    if (this.#coming.has(callId) || desk.isInvited(callId) || desk.isChoosing(callId))
      return { callId, state: 'expected', term: term ?? 1 };
    const closing = desk.closingTerm(callId);
    if (closing !== undefined) return { callId, state: 'closing', term: closing };
    if (!desk.hasEnded(callId)) return undefined;
    return { callId, state: 'ended', term: (await this.#finder.known(callId))?.term ?? 1 };
  }

  /** Says that the call is this node's. Resolves to who has it. Never rejects: a broker that is away is told later. */
  async #claim(callId: string, term: number, patience?: Patience): Promise<CallOwner> {
    const { nodeId } = this.#parts;
    this.#claimed.set(callId, term);
    // It may have been here before.
    this.#moved.delete(callId);
    const owner = await this.#coordinator.claim(callId, term, patience).catch(() => ({ nodeId, term }));
    if (owner.nodeId !== nodeId && this.#claimed.get(callId) === term) this.#claimed.delete(callId);
    return owner;
  }

  /** The node of the call is gone: it is this one's, unless another one was faster. Resolves to that; undefined where the call is here. */
  async #inherit(
    callId: string,
    owner: CallOwner,
    about: { isStreamThere: boolean },
  ): Promise<CallOwner | undefined> {
    const { desk, inherit, clock, logger } = this.#parts;
    const take = async () => {
      const begun = clock.now();
      await this.#caughtUp();
      const by = Math.max(begun + TAKE_OVER_MS, clock.now() + STATE_MS);
      for (let tries = 0; tries < MAX_ASKED && !desk.isLive(callId) && !desk.isOver(callId); tries += 1) {
        const won = await this.#win(callId, owner, { ...about, by });
        if ('nodeId' in won) return won;
        this.#won.add(callId);
        try {
          if (!desk.isLive(callId)) {
            const departure = departureOf(this.#coordinator, owner.nodeId, SILENT);
            logger.warn(
              { callId, ...departure },
              'the server of a call is gone: this one takes the call over',
            );
            await inherit(new Map([[callId, won]]), about);
          }
        } finally {
          this.#won.delete(callId);
        }
        // A process that stood still meanwhile may have lost it again.
        if (this.#claimed.get(callId) === won.term) break;
      }
      return undefined;
    };
    return about.isStreamThere ? take() : this.#once([callId], take);
  }

  /** A process that stood still may have calls for up that are over. Resolves in time also where a broker is slow to tell. */
  async #caughtUp(): Promise<void> {
    const { clock } = this.#parts;
    const until = clock.now() + CATCH_UP_MS;
    while (this.#coordinator.isReached && !this.#coordinator.hasHeardAll && clock.now() < until)
      await pause(clock, LOOK_MS);
  }

  /** What is known of a call that is this node's now, or the other node that has won it. Where the stream is, the call is. */
  async #win(
    callId: string,
    owner: CallOwner,
    {
      isStreamThere = false,
      by,
    }: { isStreamThere?: boolean /** On the clock. @default nobody waits */; by?: number },
  ): Promise<InheritedCall | CallOwner> {
    const { nodeId, store } = this.#parts;
    const isUnhurried = by === undefined;
    const record = await store()
      .get(callId)
      .catch(() => undefined);
    const now = await this.#coordinator
      .ownerOf(callId, { isUnhurried })
      .catch(() => this.#finder.rivalFor(callId, isStreamThere));
    const isOthers = now !== undefined && ![owner.nodeId, nodeId].includes(now.nodeId);
    if (isOthers && (await this.#finder.isAlive(now.nodeId))) return now;
    const known = Math.max(
      owner.term + 1,
      (now?.term ?? 0) + 1,
      record === undefined ? 1 : termAfter(record, nodeId),
    );
    const term = this.#ownTerm(known);
    // At the same time: a slow broker is waited for once. Who had the call keeps no state of it any more.
    const asked = this.#until(by, this.#coordinator.stateOf(callId));
    const winner = await this.#claim(callId, term, { isUnhurried });
    if (winner.nodeId !== nodeId) return winner;
    // Without a state it would end here: a broker that is only slow says whether another node has it.
    const sure =
      isStreamThere || isUnhurried
        ? winner
        : this.#until(by, this.#claim(callId, term, { isUnhurried: true }));
    const [state, owned = winner] = await Promise.all([asked, sure]);
    return owned.nodeId === nodeId ? { term, state } : owned;
  }

  /** Without the broker, others may go on with the call as well: each states facts in a term of its own, this one or a higher one. */
  #ownTerm(term: number): number {
    if (this.#coordinator.isThere) return term;
    const { nodeId } = this.#parts;
    return term + 1 + Buffer.from(nodeId).reduce((sum, byte) => (31 * sum + byte) % TERMS_APART, 0);
  }

  /** Undefined for what is not answered by then, and for what fails. */
  async #until<T>(by: number | undefined, asked: Promise<T>): Promise<T | undefined> {
    const { clock } = this.#parts;
    let answer: T | undefined;
    const answered = asked.then(
      (given) => {
        answer = given;
      },
      () => {},
    );
    await (by === undefined ? answered : within(clock, by - clock.now(), answered));
    return answer;
  }

  /** Whoever asks for one of these meanwhile waits. */
  #once<T>(ids: readonly (string | null)[], task: () => Promise<T>): Promise<T> {
    const known = ids.filter((id) => id !== null);
    const before = known.map((id) => this.#coming.get(id));
    const coming = Promise.allSettled(before).then(task);
    for (const id of known) this.#coming.set(id, coming);
    const clear = () => {
      for (const id of known) if (this.#coming.get(id) === coming) this.#coming.delete(id);
    };
    coming.then(clear, clear);
    return coming;
  }
}
