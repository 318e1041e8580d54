// Outages: servers of a cluster and their broker fail in all ways that are named, while callers talk; on both carriers, each with a cluster of its own, beside each
// other. What must hold of a cluster is checked meanwhile and at the end.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_CALLS, TrialCluster, UNLIKE_OTHERS } from './outages/cluster.mjs';
import { badEnds, badOrder, badRecords, longestOverlaps, missing, silenceOf } from './outages/judge.mjs';
import { BROKER_BACK_MS, CUT_OFF, deal, KILLED, NAMES, STANDS_STILL, Schedule } from './outages/troubles.mjs';
import { freeCores } from './machine.mjs';
import { OWN_NUMBER, UNKNOWN_FACT } from './numbers.mjs';
import { createDice, pause, Verdict } from './world.mjs';

/** What the simulated carrier says of a command for a call that it has told to be over. */
const LATE_COMMAND = 'a command long after call.hangup';
const MINUTES = 2;
const CARRIERS = /** @type {const} */ (['carrier-a', 'carrier-b']);
/** A cluster lives for no longer. */
const LONGEST_ROUND_S = 150;
/** Of a round, for calls to end and for servers to agree. */
const CALM_S = 22;
/** Callers talk by then. */
const BEFORE_MS = 4000;
const LONGEST_CALL_MS = 24_000;
const SETTLE_MS = 25_000;
/** A place that nobody renews is older than this after a while; see the limits of a cluster. */
const UNRENEWED_MS = 6500;
const PLACE_MS = 15_000;
const RENEWED_MS = 9000;
const LOOK_MS = 20;
const RING_EVERY_MS = /** @type {const} */ ([700, 2500]);
/** Two clusters, their callers and their carriers want as much. With fewer free cores there are fewer servers, and fewer callers. */
const CORES = 3;
const FEWEST_SERVERS = 3;
const SELDOM_MS = /** @type {const} */ ([1800, 4500]);
const ASK_EVERY_MS = /** @type {const} */ ([2000, 5000]);
const COUNT_EVERY_MS = 100;
/** Of a call that is over for its server, the stream is open for less. */
const ENDING_MS = 2500;
/** Two servers may be heard on one call for so long. */
const OVERLAP_MS = 500;
/** A hang-up is done within a second. What takes so much longer is no matter of a busy machine. */
const HANG_UP_MS = 1000;
const LATE_HANG_UP_MS = 3000;
/** Holes in what the agent says that are longer are heard. */
const HOLE_MS = 120;
/** Whoever spoke hears something within this, whatever died. */
const SILENCE_MS = 20_000;
/** A caller hears nothing for so long where a server dies, or its connections break. */
const DEAD_MS = 3000;
/** And where one goes silent without closing them. */
const SILENT_MS = 9000;
const TOO_MANY_STREAMS = 'Too many streams from this address';
/** Before and behind a hole, the machine may have been short of time. */
const AROUND_MS = 500;
const SHORT_OF_TIME_MS = 60;
const LINES = 12;
/** A server that the machine gives no time for so long, or the network between them, does not answer the others as long as they wait for it. */
const UNANSWERED_MS = 250;
/** While the broker is away as well, it is then as one that is cut off from all of them, or dies: a cluster is not safe from that yet, see `docs/cluster.md`. */
const AROUND_STALL_MS = 2000;
/** Of a server that is cut off, an answer may be lost that it has just given: the next server is asked, and turns the caller away as well. */
const ANSWER_LOST_MS = 1000;
/** Where more was beside a machine without time, a trial says less of calls than it seems to. */
const MOST_EXCUSED = 1 / 3;

/** @typedef {import('./outages/cluster.mjs').ClusterNode} ClusterNode */
/** @typedef {import('./world.mjs').Dice} Dice */
/** @typedef {import('../../src/testing/index.js').CallReport} CallReport */
/** @typedef {{ at: number, what: 'hangup' | 'transfer', callId: string, by: ClusterNode, owner: ClusterNode | undefined, status: number | string, tookMs: number | undefined }} Asked */

/** When this process had no time, by `Date.now()`. */
class StallLog {
  /** @type {{ at: number, ms: number }[]} */
  #stalls = [];
  #lastAt = performance.now();
  #timer = setInterval(() => {
    const now = performance.now();
    const ms = now - this.#lastAt - LOOK_MS;
    if (ms > LOOK_MS) this.#stalls.push({ at: Date.now(), ms });
    this.#lastAt = now;
  }, LOOK_MS);

  /** The longest of a time. @param {number} from @param {number} to */
  between(from, to) {
    return Math.max(
      0,
      ...this.#stalls.filter(({ at, ms }) => at >= from && at - ms <= to).map(({ ms }) => ms),
    );
  }

  /** When they were as long. @param {number} leastMs */
  of(leastMs) {
    return this.#stalls.filter(({ ms }) => ms >= leastMs).map(({ at }) => at);
  }

  /** Of a time, all of them. @param {number} from @param {number} to */
  sum(from, to) {
    return this.#stalls.filter(({ at }) => at >= from && at <= to).reduce((all, { ms }) => all + ms, 0);
  }

  close() {
    clearInterval(this.#timer);
  }
}

/** One cluster, and what was seen of it. */
class Round {
  /** @type {CallReport[]} */
  reports = [];
  /** @type {string[]} */
  odd = [];
  /** @type {Asked[]} */
  asked = [];
  /** More calls than there may be: how many, at which time. @type {string[]} */
  tooMany = [];
  isPlayed = false;
  /** @type {Set<Promise<void>>} */
  #calls = new Set();

  /** @param {TrialCluster} cluster @param {Schedule} schedule @param {StallLog} stalls */
  constructor(cluster, schedule, stalls) {
    this.cluster = cluster;
    this.schedule = schedule;
    this.stalls = stalls;
    this.beganAt = Date.now();
  }

  /** As it is told. @param {number} at */
  since(at) {
    return `${((at - this.beganAt) / 1000).toFixed(1)} s`;
  }

  /** Callers call until all was played. @param {Dice} dice @param {{ until: number, everyMs: readonly [number, number] }} plan `until`: when that is, if all goes well. */
  async ring(dice, { until, everyMs }) {
    while (!this.isPlayed) {
      const call = this.#call(dice, until).finally(() => this.#calls.delete(call));
      this.#calls.add(call);
      await pause(dice.between(...everyMs));
    }
    await Promise.all(this.#calls);
  }

  /** @param {Dice} dice @param {number} until */
  async #call(dice, until) {
    const waits = /** @type {const} */ ({ type: 'wait-for-agent', quietMs: 600, timeoutMs: 14_000 });
    const says = () => /** @type {const} */ ({ type: 'say', text: `I am ${dice.word()}.` });
    const script = Array.from({ length: dice.between(1, 3) }, () => [waits, says()]).flat();
    const abrupt = dice.random() < 0.2;
    const from = `+1500555${String(dice.between(1000, 9999))}`;
    const maxDurationMs = Math.max(4000, Math.min(LONGEST_CALL_MS, until + 8000 - Date.now()));
    try {
      const call = { from, to: OWN_NUMBER, maxDurationMs };
      const report = await this.cluster.simulator.call({
        ...call,
        script: [...script, waits, { type: 'hang-up', abrupt }],
      });
      this.reports.push(report);
    } catch (error) {
      this.odd.push(`a caller failed: ${String(error)}`);
    }
  }

  /** Somebody hangs up and transfers calls at any server until all was played. @param {Dice} dice */
  async ask(dice) {
    /** @type {Promise<void>[]} */
    const asking = [];
    while (!this.isPlayed) {
      await pause(dice.between(...ASK_EVERY_MS));
      const by = dice.pick(this.cluster.ready.filter((node) => node.isUntouched(Date.now())));
      const what = dice.pick(/** @type {const} */ (['hangup', 'hangup', 'transfer']));
      const choice = dice.random();
      if (by !== undefined) asking.push(this.#askAt(by, what, choice));
    }
    await Promise.all(asking);
  }

  /** @param {ClusterNode} by @param {Asked['what']} what @param {number} choice */
  async #askAt(by, what, choice) {
    const up = [...this.cluster.balancer.open];
    const callId = up[Math.floor(choice * up.length)];
    if (callId === undefined) return;
    const { port } = this.cluster.balancer.lastOf(callId) ?? {};
    const owner = this.cluster.nodes.find((node) => node.front.port === port);
    const at = Date.now();
    const own = /** @type {Asked} */ ({ at, what, callId, by, owner, status: 0, tookMs: undefined });
    this.asked.push(own);
    const isOver = () => !this.cluster.balancer.open.has(callId);
    void (async () => {
      while (!isOver() && Date.now() < at + LATE_HANG_UP_MS * 3) await pause(LOOK_MS);
      if (isOver()) own.tookMs = Date.now() - at;
    })();
    const body = what === 'transfer' ? { to: '+15005550030' } : {};
    own.status = await by
      .post(`/calls/${encodeURIComponent(callId)}/${what}`, body)
      .catch((error) => String(error));
  }

  /** Counts calls until then. @param {AbortSignal} signal */
  async count(signal) {
    let most = MAX_CALLS;
    let since = Number.POSITIVE_INFINITY;
    while (!signal.aborted) {
      const now = Date.now();
      const { open } = this.cluster.balancer;
      const up = open.size;
      const isExact =
        this.schedule.isBrokerThere(now) &&
        this.cluster.nodes.every(({ awayAt }) => awayAt < now - BROKER_BACK_MS);
      // None is ended that was taken while the broker was away.
      most = isExact ? Math.max(MAX_CALLS, Math.min(most, up)) : MAX_CALLS + this.cluster.living.length;
      since = up > most ? Math.min(since, now) : Number.POSITIVE_INFINITY;
      if (now - since > ENDING_MS) {
        const ids = [...open].join(', ');
        this.tooMany.push(`${up} calls from ${this.since(since)} on, where ${most} may be up: ${ids}`);
        since = Number.POSITIVE_INFINITY;
      }
      await pause(COUNT_EVERY_MS);
    }
  }

  /** Resolves when no call is up anywhere, as every server says. */
  async settle() {
    const until = Date.now() + SETTLE_MS;
    while (Date.now() < until) {
      const ups = await Promise.all(
        this.cluster.living.map((node) =>
          node.get('/active').then(
            ({ calls }) => calls.length,
            () => 1,
          ),
        ),
      );
      if (ups.every((count) => count === 0) && this.cluster.simulator.legs.every(({ isOver }) => isOver))
        break;
      await pause(250);
    }
    await pause(UNRENEWED_MS);
  }
}

/** Places that somebody renews though no call is up. @param {TrialCluster} cluster */
async function heldPlaces({ broker }) {
  const [seconds] = await broker.ask('TIME');
  const now = Number(seconds) * 1000;
  const keys = await broker.ask('KEYS', '*:places');
  /** @type {string[]} */
  const held = [];
  for (const key of keys) {
    const least = now + PLACE_MS - RENEWED_MS + 2000;
    held.push(...(await broker.ask('ZRANGEBYSCORE', key, String(least), '+inf')));
  }
  return held;
}

/**
 * What callers heard of servers that died, or went silent. `lateMs`: what the machine did not give to those who take part.
 * @param {Round} round @returns {{ ms: number, boundMs: number, lateMs: number, told: string }[]}
 */
function silencesOf(round) {
  const { cluster, schedule, stalls, reports } = round;
  const facts = cluster.nodes.flatMap((node) => node.facts);
  const legs = new Map(cluster.simulator.legs.map((leg) => [leg.carrierCallId, leg]));
  const idOf = new Map(
    facts.flatMap((fact) =>
      'carrierCallId' in fact && fact.carrierCallId !== null ? [[fact.carrierCallId, fact.callId]] : [],
    ),
  );
  return schedule.played.flatMap(({ name, node, from, manner }) => {
    if (node === undefined || ![KILLED, CUT_OFF, ...STANDS_STILL].includes(name)) return [];
    const isAbrupt = name === KILLED || (name === CUT_OFF && manner === 'refused');
    const boundMs = isAbrupt ? DEAD_MS : SILENT_MS;
    const others = cluster.living.filter((each) => each !== node);
    return reports.flatMap(({ carrierCallId, agentSpeech, callerSpeech, durationMs }) => {
      const callId = idOf.get(carrierCallId) ?? '';
      const all = cluster.balancer.streams.filter((each) => each.callId === callId);
      const stream = all.findLast(({ openedAt }) => openedAt <= from);
      const originAt = legs.get(carrierCallId)?.reports[0]?.startedAt;
      if (stream?.port !== node.front.port || stream.closedAt < from || originAt === undefined) return [];
      // Who has no stream any more is on the line until the call is over.
      const isGoneOn = all.some(({ openedAt }) => openedAt > from);
      const over = facts.find(
        (fact) =>
          fact.callId === callId && fact.at > from && /^(?:call\.ended|transfer\.updated)$/.test(fact.type),
      );
      const streamEndMs = durationMs ?? 0;
      const overMs = (over?.at ?? Number.POSITIVE_INFINITY) - originAt;
      const endMs = isGoneOn || !isAbrupt ? Math.min(streamEndMs, overMs) : overMs;
      const { silentMs: ms, untilMs } = silenceOf({ agentSpeech, callerSpeech, endMs }, from - originAt);
      const until = originAt + untilMs;
      const lateMs = stalls.sum(from, until) + Math.max(0, ...others.map((each) => each.lateMs(from, until)));
      const told = `${callId} at ${round.since(from)}: ${ms} ms, as ${name} (${node.name}); the machine was late by ${Math.round(lateMs)} ms`;
      return [{ ms, boundMs, lateMs, told }];
    });
  });
}

/**
 * Calls that were up while the machine gave no time to a server and the broker was away.
 * @param {Round} round @returns {Set<string>}
 */
function besideStalls({ cluster, stalls }) {
  const away = cluster.nodes.flatMap((node) => node.away);
  const short = [
    ...stalls.of(UNANSWERED_MS),
    ...cluster.nodes.flatMap((node) =>
      node
        .stallsOf(UNANSWERED_MS)
        // It stood still because it was to.
        .filter((at) => node.touched.every(({ from, to }) => at < from || at > to + AROUND_MS)),
    ),
  ].filter((at) => away.some((awayAt) => Math.abs(awayAt - at) < AROUND_STALL_MS));
  /** @type {Map<string, { from: number, to: number }>} */
  const calls = new Map();
  for (const { callId, at } of cluster.nodes.flatMap((node) => node.facts)) {
    const { from, to } = calls.get(callId) ?? { from: at, to: at };
    calls.set(callId, { from: Math.min(from, at), to: Math.max(to, at) });
  }
  const isBeside = (/** @type {{ from: number, to: number }} */ { from, to }) =>
    short.some((at) => at > from - AROUND_STALL_MS && at < to + AROUND_STALL_MS);
  return new Set([...calls].filter(([, span]) => isBeside(span)).map(([callId]) => callId));
}

/** Calls that a server turned away as it was cut off. @param {Round} round @returns {Set<string>} */
function turnedAwayUnheard({ schedule }) {
  const found = schedule.played
    .filter(({ name }) => name === CUT_OFF)
    .flatMap(({ node, from }) =>
      (node?.facts ?? []).filter(
        (fact) =>
          fact.type === 'call.ended' &&
          fact.endReason === 'over-capacity' &&
          fact.at > from &&
          fact.at < from + ANSWER_LOST_MS,
      ),
    );
  return new Set(found.map(({ callId }) => callId));
}

/** @param {Round} round @param {{ title: string, hasMet: boolean }} about `hasMet`: servers may have died while the broker was away. @returns {Promise<Map<string, string[]>>} */
async function judge(round, { title, hasMet }) {
  const { cluster, schedule, stalls } = round;
  const seen = await Promise.all(
    cluster.nodes.map(async (node) => {
      const isThere = node.goneAt === undefined;
      const records = isThere ? await node.records() : new Map();
      const { name, joinedAt, facts, dashboard } = node;
      return { name, joinedAt, facts, shown: dashboard.facts, isThere, records };
    }),
  );
  const nodeOf = (/** @type {number | undefined} */ port) =>
    cluster.nodes.find((node) => node.front.port === port);
  const goneAt = (/** @type {string} */ name) => cluster.nodes.find((node) => node.name === name)?.goneAt;
  const legs = cluster.simulator.legs;
  const hadStream = legs
    .filter(({ reports }) => reports.length > 0)
    .map(({ carrierCallId }) => carrierCallId);
  const all = new Map(seen.flatMap(({ records }) => [...records]));
  const idOf = new Map([...all.values()].map(({ carrierCallId, callId }) => [carrierCallId, callId]));
  const stated = cluster.nodes.flatMap(({ facts }) => facts).toSorted((a, b) => a.at - b.at);
  /** On the clock of the trial. */
  const beganAt = new Map(stated.toReversed().map(({ callId, at }) => [callId, at]));
  /** A server that hears nothing of its carrier cannot know that a call of it is over. @param {string} carrierCallId */
  const wasWithCutOff = (carrierCallId) =>
    schedule.played.some(
      ({ name, node }) =>
        name === CUT_OFF && node?.facts.some(({ callId }) => callId === idOf.get(carrierCallId)),
    );
  /** @type {Map<string, string[]>} */
  const breaches = new Map();
  const check = (/** @type {string} */ sentence, /** @type {readonly string[]} */ found) =>
    void breaches.set(
      sentence,
      found.map((each) => `${title}: ${each}`),
    );
  const beside = besideStalls(round);
  const carrierIdsBeside = [...idOf].filter(([, callId]) => beside.has(callId)).map(([id]) => id);
  const idsBeside = [...beside, ...carrierIdsBeside, ...turnedAwayUnheard(round)];
  /** The same of calls, but for those of which nothing can be said. */
  const checkCalls = (/** @type {string} */ sentence, /** @type {readonly string[]} */ found) =>
    check(
      sentence,
      found.filter((each) => !idsBeside.some((id) => each.includes(id))),
    );
  const called = new Set(cluster.nodes.flatMap(({ facts }) => facts.map(({ callId }) => callId)));
  // No fault of the code: what is said of the others holds.
  if (beside.size > called.size * MOST_EXCUSED)
    console.log(
      `NOT JUDGED: ${beside.size} of ${called.size} calls (${title}). The machine gave a server no time while the broker was away. Play it again on one that is less busy.`,
    );

  check('no server ended that nobody had ended', cluster.crashes);
  check('every caller was rung and reported', round.odd);
  check(
    'no leg is left up at a carrier',
    legs.filter(({ isOver }) => !isOver).map(({ carrierCallId }) => carrierCallId),
  );
  checkCalls(
    'nothing is done that the carrier refuses',
    legs.flatMap(({ carrierCallId, violations }) =>
      violations
        .filter((violation) => !violation.endsWith(LATE_COMMAND) || !wasWithCutOff(carrierCallId))
        .map((violation) => `${carrierCallId}: ${violation}`),
    ),
  );
  checkCalls('each call has one end', badEnds(seen));
  checkCalls('every server shows the same single record of each call', [
    ...hadStream.filter((id) => !idOf.has(id)).map((id) => `nobody has a record of ${id}`),
    ...badRecords(seen, {
      carrierCallIds: hadStream,
      // What was lost before a server joined, and after the call had begun, it cannot know.
      knows: ({ joinedAt }, { callId }) =>
        !cluster.losses.some((at) => at > (beganAt.get(callId) ?? at) && at < joinedAt),
    }),
  ]);
  checkCalls(
    'onCallEnd is told once of a call, and of each whose server was not killed',
    [...all.keys()].flatMap((callId) => {
      const told = cluster.nodes.reduce((sum, { ended }) => sum + (ended.get(callId) ?? 0), 0);
      const end = cluster.nodes
        .flatMap(({ facts }) => facts)
        .find((fact) => fact.callId === callId && fact.type === 'call.ended');
      const diedThen = cluster.nodes.some(
        ({ goneAt: at }) => at !== undefined && end !== undefined && Math.abs(end.at - at) < 3000,
      );
      return told === 1 || (told === 0 && diedThen) ? [] : [`${callId} was told ${told} times`];
    }),
  );
  check(
    'no dashboard broke off',
    cluster.living.filter(({ dashboard }) => dashboard.hasBroken).map(({ name }) => name),
  );
  checkCalls('every dashboard tells each fact once, in order', badOrder(seen));
  checkCalls('every dashboard tells each fact', missing(seen, { goneAt }));
  check(
    `never two sources of sound on one call for ${OVERLAP_MS} ms`,
    [...longestOverlaps(cluster.balancer.streams)]
      .filter(([, ms]) => ms > OVERLAP_MS)
      .map(([callId, ms]) => `${callId} for ${ms} ms`),
  );
  check('limits hold', round.tooMany);
  check('no place is kept when its call is over', await heldPlaces(cluster));
  check(
    'no call that has a place wants another one for its stream',
    cluster.balancer.refused
      .filter(({ answer }) => answer.includes(TOO_MANY_STREAMS))
      .map(({ callId, at }) => `${callId} at ${round.since(at)}, during ${schedule.at(at).join(', ')}`),
  );

  const hangUps = round.asked.filter(
    ({ what, at, by, owner }) =>
      what === 'hangup' &&
      schedule.isBrokerThere(at) &&
      by.isUntouchedAround(at) &&
      owner?.isUntouchedAround(at) === true,
  );
  const late = hangUps.filter(({ tookMs = Number.POSITIVE_INFINITY }) => tookMs > HANG_UP_MS);
  check(
    'a hang-up that is asked at any server is done',
    late
      .filter(
        ({ at, by, owner, tookMs = Number.POSITIVE_INFINITY }) =>
          tookMs > LATE_HANG_UP_MS &&
          stalls.between(at, at + LATE_HANG_UP_MS) < HANG_UP_MS &&
          [by, owner].every((node) => (node?.lateMs(at, at + LATE_HANG_UP_MS) ?? 0) < HANG_UP_MS),
      )
      .map(
        ({ callId, at, by, owner, status, tookMs }) =>
          `${callId} of ${owner?.name}, asked at ${by.name} at ${round.since(at)}, answered ${status}, took ${tookMs ?? 'too many'} ms`,
      ),
  );

  /** @type {string[]} */
  const holes = [];
  let excused = 0;
  for (const { carrierCallId, reports } of legs) {
    const callId = idOf.get(carrierCallId) ?? '';
    for (const { startedAt, gaps } of reports)
      for (const { atMs, durationMs } of gaps) {
        if (durationMs <= HOLE_MS) continue;
        const [from, to] = [startedAt + atMs, startedAt + atMs + durationMs];
        const stream = cluster.balancer.streams.findLast(
          (each) => each.callId === callId && each.openedAt <= from,
        );
        const node = nodeOf(stream?.port);
        if (node === undefined || !node.isUntouchedAround(from)) continue;
        const around = /** @type {const} */ ([from - AROUND_MS, to + AROUND_MS]);
        const isShort =
          stalls.between(...around) > SHORT_OF_TIME_MS ||
          node.wasShortOfTime(...around) ||
          // Of many small ones, the hole is made as well.
          stalls.sum(...around) + node.lateMs(...around) > durationMs - HOLE_MS;
        if (isShort) excused += 1;
        else
          holes.push(
            `${callId} at ${round.since(from)}: ${durationMs} ms, of ${node.name}, during ${schedule.at(from).join(', ') || 'nothing'}`,
          );
      }
  }
  if (excused > 0)
    console.log(
      `NOT JUDGED: ${excused} holes (${title}). The machine gave a server, or this program, no time then. Play it again on one that is less busy.`,
    );
  check('trouble of the broker is never heard', holes);
  check(
    `nobody who spoke waited in silence for ${SILENCE_MS / 1000} s`,
    round.reports.flatMap(({ carrierCallId, durationMs, turns }) =>
      turns
        .map(({ callerEndMs, agentStartMs }) => (agentStartMs ?? durationMs ?? 0) - callerEndMs)
        .filter((ms) => ms > SILENCE_MS)
        .map((ms) => `${idOf.get(carrierCallId)} for ${(ms / 1000).toFixed(1)} s`),
    ),
  );

  const silences = hasMet ? [] : silencesOf(round);
  check(
    `no caller hears nothing for more than ${DEAD_MS / 1000} s where a server dies, and ${SILENT_MS / 1000} s where it goes silent`,
    silences.filter(({ ms, boundMs, lateMs }) => ms > boundMs + lateMs).map(({ told }) => told),
  );

  /** @type {Map<string, number>} */
  const reasons = new Map();
  for (const { endReason } of all.values())
    reasons.set(String(endReason), (reasons.get(String(endReason)) ?? 0) + 1);
  const took = hangUps.map(({ tookMs }) => tookMs ?? Number.POSITIVE_INFINITY).toSorted((a, b) => a - b);
  console.log(
    `${title}: ${cluster.nodes.length} servers, ${legs.length} callers, ${hadStream.length} of them answered; ends: ${[
      ...reasons,
    ]
      .map(([reason, count]) => `${count} ${reason}`)
      .join(', ')}`,
  );
  console.log(
    `  hang-ups while the broker lives: ${took.length}, median ${took[Math.floor(took.length / 2)] ?? '-'} ms, longest ${
      took.at(-1) ?? '-'
    } ms, ${late.length} above ${HANG_UP_MS} ms; beside a machine without time: ${beside.size} calls, ${excused} holes`,
  );
  for (const bound of [DEAD_MS, SILENT_MS]) {
    const heard = silences.filter(({ boundMs }) => boundMs === bound);
    const all = heard.map(({ ms }) => ms).toSorted((a, b) => a - b);
    const excusedToo = heard.filter(({ ms, boundMs, lateMs }) => ms > boundMs && ms <= boundMs + lateMs);
    console.log(
      `  silence where a server ${bound === DEAD_MS ? 'dies' : 'goes silent'}: ${all.length} calls, median ${
        all[Math.floor(all.length / 2)] ?? '-'
      } ms, longest ${all.at(-1) ?? '-'} ms; beside a machine without time: ${excusedToo.length}`,
    );
  }
  for (const { name, node, from, to } of schedule.played)
    console.log(
      `  ${round.since(from)}, for ${((to - from) / 1000).toFixed(1)} s: ${name}${node === undefined ? '' : ` (${node.name})`}`,
    );
  tellLines(round, [...breaches.values()].flat());
  return breaches;
}

/** What servers logged of calls that something is wrong with. @param {Round} round @param {readonly string[]} breaches */
function tellLines({ cluster, beganAt }, breaches) {
  const broken = new Set(breaches.flatMap((breach) => breach.match(/\bc[\w-]{22}(?![\w-])/g) ?? []));
  for (const callId of [...broken].slice(0, 10)) {
    const lines = cluster.nodes.flatMap(({ name, lines: own, facts }) => [
      ...own
        .filter((line) => line.callId === callId)
        .map((line) => ({ at: line.at, text: `${name} logs: ${line.sentence}` })),
      ...facts
        .filter((fact) => fact.callId === callId && /^call\.|incident|hangup|cost/.test(fact.type))
        .map((fact) => ({ at: fact.at, text: `${name} states ${fact.type} (${fact.term}, ${fact.seq})` })),
    ]);
    console.log(`  ${callId}:`);
    for (const { at, text } of lines.toSorted((a, b) => a.at - b.at).slice(-LINES * 2))
      console.log(`    ${((at - beganAt) / 1000).toFixed(2)} s: ${text}`);
  }
}

/** @param {{ seed: number, minutes?: number, seconds?: number, together?: boolean }} options */
export async function run({ seed, minutes = MINUTES, seconds = minutes * 60, together = false }) {
  const count = Math.max(1, Math.ceil(seconds / LONGEST_ROUND_S));
  const folder = mkdtempSync(join(tmpdir(), 'offhook-trial-'));
  // Calls of a trial must not appear on a dashboard that happens to run.
  process.env.XDG_RUNTIME_DIR = folder;
  // Also where it is broken off: what it started ends with it.
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeFolder);
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.once(signal, () => process.exit(1));
  const cores = await freeCores();
  const isBusy = cores < CORES;
  console.log(
    `${cores.toFixed(1)} cores are free: ${isBusy ? `${FEWEST_SERVERS} servers in each cluster, and fewer callers` : 'as many servers and callers as the seed says'}`,
  );
  const verdict = new Verdict();
  const stalls = new StallLog();
  const dice = createDice(seed);
  /** @type {Map<string, string[]>} */
  const found = new Map();
  /** Troubles that were played. @type {Set<string>} */
  const seen = new Set();
  try {
    for (let index = 0; index < count; index += 1) {
      const queues = index === 0 ? deal(dice, CARRIERS.length) : [];
      const playing = CARRIERS.map((carrier, place) => {
        const own = { seed: seed * 1000 + index * CARRIERS.length + place, queue: queues[place] ?? [] };
        return playRound({ ...own, carrier, seconds: seconds / count, together });
      });
      for (const { breaches, troubles } of await Promise.all(playing)) {
        for (const name of troubles) seen.add(name);
        for (const [sentence, more] of breaches)
          found.set(sentence, [...(found.get(sentence) ?? []), ...more]);
      }
    }
  } finally {
    stalls.close();
  }
  for (const [sentence, breaches] of found) verdict.check(sentence, breaches);
  const listed = [...NAMES, ...Object.values(UNLIKE_OTHERS)];
  verdict.check(
    'every trouble was played',
    listed.filter((name) => !seen.has(name)).map((name) => `not played: ${name}`),
  );
  return verdict;

  /** @param {{ seed: number, carrier: typeof CARRIERS[number], seconds: number, queue: readonly string[], together: boolean }} plan */
  async function playRound({ seed: own, carrier, seconds: length, queue, together: canMeet }) {
    const begun = Date.now();
    const plan = createDice(own);
    const planned = plan.between(FEWEST_SERVERS, 5);
    const servers = isBusy ? FEWEST_SERVERS : planned;
    const cluster = await TrialCluster.open({ carrier, servers, isAhead: plan.random() < 0.5 });
    try {
      const schedule = new Schedule(cluster, { dice: createDice(own + 1), queue, canMeet });
      const round = new Round(cluster, schedule, stalls);
      const until = begun + (length - CALM_S) * 1000;
      const over = new AbortController();
      const counting = round.count(over.signal);
      const playing = pause(BEFORE_MS)
        .then(() => schedule.play(until))
        .finally(() => {
          round.isPlayed = true;
        });
      const everyMs = isBusy ? SELDOM_MS : RING_EVERY_MS;
      const ringing = round.ring(createDice(own + 2), { until, everyMs });
      await Promise.all([playing, ringing, round.ask(createDice(own + 3))]);
      await round.settle();
      over.abort();
      await counting;
      const about = { title: `${carrier}, cluster of ${servers}`, hasMet: canMeet };
      return { breaches: await judge(round, about), troubles: troublesOf(cluster, schedule) };
    } finally {
      await cluster.close();
    }
  }
}

/** Those that a cluster had. @param {TrialCluster} cluster @param {Schedule} schedule */
function troublesOf(cluster, schedule) {
  const unlike = cluster.nodes
    .filter(
      ({ unlike, facts }) =>
        unlike !== undefined &&
        facts.some(({ type }) => unlike !== UNLIKE_OTHERS.version || String(type) === UNKNOWN_FACT),
    )
    .map((node) => String(node.unlike));
  return [...schedule.played.map(({ name }) => name), ...unlike];
}
