// Kills: servers die in the middle of scripted calls, are started again on what they had stored, and every call goes on. Deploys: the next server
// takes over in the middle of them.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toTable } from '../bench/table.mjs';
import { answer, CALLS } from './kills/conversation.mjs';
import { openEffects } from './kills/effects.mjs';
import { expectsAgent, gapOf, isUnknown, judgeFacts, LAWS, momentAt } from './kills/judge.mjs';
import { MOMENTS } from './kills/moments.mjs';
import { WatchedCall } from './kills/watched-call.mjs';
import { OWN_NUMBER } from './numbers.mjs';
import { createDice, openWorld, pause, SERVERS, Verdict } from './world.mjs';

const COUNT = 20;
const CALLS_OF_A_ROUND = 3;
const LOOK_MS = 20;
const SEE_MS = 200;
/** Whatever a kill waits for has come by then, or does not come. */
const MOMENT_MS = 25_000;
const LONGEST_CALL_MS = 60_000;
const SETTLE_MS = 10_000;
const LEAVE_MS = 8000;
/** `onCallEnd` is called once the end is stored, which a disk may take a second for. */
const TOLD_MS = 2000;
/** A server is away for so long, and for the moment in which it opens what it had stored. */
const ABSENCE_MS = /** @type {const} */ ([100, 900]);
/** What is promised for carrier A is promised for restarts of at most this. */
const LONGEST_RESTART_MS = 2000;
/** Carriers and vendors live in this process: what they hear and say is not judged where it stood still for longer, around a kill. */
const STALL_MS = 350;
/** A vendor that stands still for longer may be given up, whoever is killed. */
const LONG_STALL_MS = 1500;
const SETTLED_MS = 2000;
const LEAST_JUDGED = 0.5;
/** Every so many kills there is another one, this long after a stream is up again. */
const AGAIN_EVERY = 5;
const AGAIN_AFTER_MS = 1000;
/** A server gives its calls away in 30 s, and ends. */
const DEPLOY_MS = 40_000;
/** "About a second" for all retries of carrier A. */
const RETRY_PAUSE_MS = 180;
const OUTBOUND = { outbound: '+15005550041', voicemail: '+15005550042' };

/** @typedef {import('./world.mjs').Exchange} Exchange */
/** @typedef {import('./world.mjs').Dice} Dice */
/** @typedef {import('./kills/conversation.mjs').CallPlan} CallPlan */
/** @typedef {import('./kills/watched-call.mjs').SeenKill} SeenKill */
/** @typedef {import('./kills/judge.mjs').Evidence} Evidence */
/** @typedef {{ where: string, moment: string, evidence: Evidence, isJudged: boolean }} Outcome */
/** @typedef {{ left: number, outcomes: Outcome[], odd: string[], effects: Awaited<ReturnType<typeof openEffects>>, stalls: StallLog, outbound: Record<string, CallPlan>, isDeploy: boolean }} Trial */

/** When this process stood still, and for how long. */
class StallLog {
  /** @type {{ at: number, ms: number }[]} */
  #stalls = [];
  #lastAt = Date.now();
  #timer = setInterval(() => {
    const at = Date.now();
    const ms = at - this.#lastAt - LOOK_MS;
    if (ms > LOOK_MS) this.#stalls.push({ at, ms });
    this.#lastAt = at;
  }, LOOK_MS);

  /** The longest of a time. @param {number} from @param {number} to */
  between(from, to) {
    return Math.max(0, ...this.#stalls.filter(({ at }) => at >= from && at <= to).map(({ ms }) => ms));
  }

  close() {
    clearInterval(this.#timer);
  }
}

/** Waits until something is so, or the time is over. @param {() => boolean | Promise<boolean>} isSo @param {number} withinMs */
async function passUntil(isSo, withinMs) {
  const until = Date.now() + withinMs;
  while (Date.now() < until) {
    if (await isSo()) return true;
    await pause(LOOK_MS);
  }
  return false;
}

/** The kinds of calls of a round: the one whose moment is waited for, and any others. @param {Dice} dice @param {string | undefined} needed */
function pickKinds(dice, needed) {
  const kinds = Object.keys(CALLS);
  const first = needed ?? dice.pick(kinds);
  const others = kinds.filter((kind) => kind !== first && (kind === 'talk' || dice.random() < 0.5));
  return [first, ...others].slice(0, CALLS_OF_A_ROUND);
}

/** Makes one call, and resolves when its leg is over. @param {Exchange} exchange @param {WatchedCall} call @param {Trial} trial */
async function ring({ phone, simulator }, call, trial) {
  const { plan, parties } = call;
  try {
    if (plan.callee === undefined) {
      await simulator.call({ ...parties, script: plan.script ?? [], maxDurationMs: LONGEST_CALL_MS });
      return;
    }
    call.isPlaced = true;
    // Whoever asked for a call does not learn what became of it where the server died: the carrier knows.
    phone.ask({ type: 'call', to: parties.to, isMachine: plan.isMachine === true }).catch(() => {});
    await passUntil(() => call.leg !== undefined, 5000);
    await passUntil(() => call.leg?.isOver !== false, LONGEST_CALL_MS);
  } catch (error) {
    trial.odd.push(`${phone.name}: a ${plan.kind} failed: ${String(error)}`);
  }
}

/** What the records of the calls that are up have come to. @param {Exchange} exchange @returns {Promise<Map<string, NonNullable<Evidence['seen']>>>} */
async function seeFigures({ phone }) {
  const { calls } = await phone.get('/active');
  return new Map(
    calls.map((/** @type {import('../../src/index.js').CallRecord} */ { carrierCallId, cost, usage }) => [
      carrierCallId,
      { cost: cost.total, inputTokens: usage?.llmInputTokens ?? 0 },
    ]),
  );
}

/** Kills the server, or has the next one take over, when the moment has come. @param {Exchange} exchange @param {readonly WatchedCall[]} calls @param {{ moment: string, dice: Dice, isTwice: boolean, isDeploy: boolean }} how */
async function killAt({ phone, simulator }, calls, { moment, dice, isTwice, isDeploy }) {
  const { hasCome, within } = /** @type {import('./kills/moments.mjs').Moment} */ (MOMENTS[moment]);
  const afterMs = dice.between(...within);
  const absences = [dice.between(...ABSENCE_MS), dice.between(...ABSENCE_MS)];
  // What is loaded while calls are taken up is time that these do not have.
  await phone.prepare(isTwice ? 2 : 1);
  await passUntil(() => hasCome(calls), MOMENT_MS);
  await pause(afterMs);
  /** @type {SeenKill[]} */
  const kills = [];
  for (const absentMs of absences.slice(0, isTwice ? 2 : 1)) {
    if (kills.length > 0) {
      const streams = () => simulator.legs.filter(({ isOver }) => !isOver).some(hasOpenStream);
      await passUntil(streams, 3000);
      await pause(AGAIN_AFTER_MS);
    }
    if (isDeploy) {
      await phone.deploy(DEPLOY_MS);
      continue;
    }
    await phone.kill(absentMs);
    const absence = phone.absences.at(-1);
    if (absence !== undefined) kills.push({ at: absence.from, backAt: absence.to });
  }
  return kills;
}

/** Whether a stream is open on it now. @param {any} leg */
const hasOpenStream = (leg) => (leg.streams?.current ?? leg.stream) !== undefined;

/** Some calls, and one kill or two. @param {Exchange} exchange @param {Dice} dice @param {Trial} trial @param {{ round: number, kills: number }} order */
async function playRound(exchange, dice, trial, { round, kills: wanted }) {
  const { phone, simulator } = exchange;
  const moment = dice.pick(Object.keys(MOMENTS));
  const kinds = pickKinds(dice, MOMENTS[moment]?.needs);
  const calls = kinds.map((kind, index) => {
    const to = OUTBOUND[/** @type {keyof typeof OUTBOUND} */ (kind)];
    const plan = trial.outbound[kind] ?? CALLS[kind]?.(dice);
    if (plan === undefined) throw new Error(`no call of the kind ${kind}`);
    const caller = `+1500556${String(round % 100).padStart(2, '0')}${String(index).padStart(2, '0')}`;
    return new WatchedCall(
      plan,
      to === undefined ? { from: caller, to: OWN_NUMBER } : { from: OWN_NUMBER, to },
    );
  });
  const earlier = new Set(simulator.legs);
  const over = new AbortController();
  const looking = (async () => {
    while (!over.signal.aborted) {
      for (const call of calls) call.look(simulator, earlier, trial.effects.seen);
      await pause(LOOK_MS);
    }
  })();
  /** @type {Map<string, NonNullable<Evidence['seen']>>} */
  const figures = new Map();
  let isKilled = false;
  const seeing = (async () => {
    while (!isKilled && !over.signal.aborted) {
      const now = await seeFigures(exchange).catch(() => new Map());
      if (!isKilled) for (const [id, seen] of now) figures.set(id, seen);
      await pause(SEE_MS);
    }
  })();
  const ringing = calls.map(async (call) => {
    await pause(dice.between(0, 2500));
    await ring(exchange, call, trial);
  });
  const kills = await killAt(exchange, calls, {
    moment,
    dice,
    isTwice: wanted > 1,
    isDeploy: trial.isDeploy,
  }).finally(() => {
    isKilled = true;
  });
  await Promise.all(ringing);
  await passUntil(async () => {
    const { calls: up } = await phone.get('/active').catch(() => ({ calls: [null] }));
    return up.length === 0 && calls.every(({ leg }) => leg?.isOver !== false);
  }, SETTLE_MS);
  over.abort();
  await Promise.all([looking, seeing]);
  const { calls: known } = await phone.get('/calls?limit=100');
  for (const call of calls) {
    if (call.leg === undefined) {
      if (kills.length === 0) trial.odd.push(`${phone.name}: a ${call.plan.kind} never came to the carrier`);
      continue;
    }
    const { carrierCallId } = call.leg;
    const ids = known.filter((/** @type {any} */ record) => record.carrierCallId === carrierCallId);
    const records = await Promise.all(
      ids.map((/** @type {any} */ { callId }) => phone.get(`/calls/${callId}`)),
    );
    const [record] = records;
    await passUntil(() => records.every(({ callId }) => phone.ended.has(callId)), TOLD_MS);
    const hits = trial.isDeploy ? movesOf(record) : kills;
    const evidence = await call.evidence({
      kills: hits,
      effects: trial.effects.seen,
      seen: figures.get(carrierCallId) ?? null,
      records,
      starts: phone.started.get(record?.callId) ?? 0,
      ends: phone.ended.get(record?.callId) ?? 0,
    });
    if (isUnknown(evidence, { tellsOnce: simulator.carrier === 'carrier-a' })) continue;
    const { rangAt = 0, endedAt = Date.now() } = call;
    const isDisturbed =
      trial.stalls.between(rangAt, endedAt) > LONG_STALL_MS ||
      hits.some(({ at, backAt }) => trial.stalls.between(at - SETTLED_MS, backAt + SETTLED_MS) > STALL_MS);
    const isLate =
      simulator.carrier === 'carrier-a' && kills.some(({ at, backAt }) => backAt - at > LONGEST_RESTART_MS);
    if (!call.leg.isOver)
      trial.odd.push(`${phone.name}: round ${round}, a ${call.plan.kind} is up at the carrier`);
    trial.outcomes.push({
      where: `${phone.name}, round ${round}`,
      moment,
      evidence,
      isJudged: !isLate && !isDisturbed,
    });
  }
  return trial.isDeploy ? wanted : kills.length;
}

/** When a call went from one server to the next. @param {import('../../src/index.js').CallRecord | undefined} record @returns {SeenKill[]} */
function movesOf(record) {
  const moves = record?.incidents.filter(({ code }) => code === 'process-replaced') ?? [];
  return moves.map(({ at, durationMs }) => ({ at: at - (durationMs ?? 0), backAt: at }));
}

/** Rounds until enough kills were made. @param {Exchange} exchange @param {Dice} dice @param {Trial} trial */
async function playRounds(exchange, dice, trial) {
  for (let round = 1; trial.left > 0; round += 1) {
    const kills = Math.min(trial.left, round % AGAIN_EVERY === 0 ? 2 : 1);
    trial.left -= kills;
    const made = await playRound(exchange, dice, trial, { round, kills });
    if (made < kills)
      trial.odd.push(`${exchange.phone.name}: round ${round} had ${made} kills in place of ${kills}`);
  }
}

/** @param {Outcome} outcome */
function describe({ where, moment, evidence }) {
  const { plan, kills, records } = evidence;
  const moments = kills.map(({ atMs }) => `${momentAt(evidence, atMs)} at ${(atMs / 1000).toFixed(1)} s`);
  return `${where}, killed ${moment}: ${plan.kind} ${records[0]?.callId ?? ''} (${moments.join(', then ') || 'not hit'})`;
}

/** @param {readonly number[]} values @param {number} share */
function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return value === undefined ? '-' : String(value);
}

/** @param {readonly Outcome[]} outcomes */
function tabulate(outcomes) {
  /** @type {Map<string, { hit: number, well: number, silent: number[], away: number[] }>} */
  const rows = new Map();
  for (const { evidence } of outcomes) {
    const isWell = Object.values(LAWS).every((law) => law(evidence).length === 0);
    for (const kill of evidence.kills) {
      const name = momentAt(evidence, kill.atMs);
      const row = rows.get(name) ?? { hit: 0, well: 0, silent: [], away: [] };
      rows.set(name, row);
      const { beyondMs, awayMs } = gapOf(evidence, kill);
      row.hit += 1;
      if (isWell) row.well += 1;
      if (expectsAgent(evidence, kill)) row.silent.push(beyondMs);
      if (awayMs !== null) row.away.push(awayMs);
    }
  }
  return toTable(
    [
      'killed while',
      'calls',
      'went on',
      'silence beyond the restart, p50',
      'max',
      'agent away, p50',
      'max (ms)',
    ],
    [...rows]
      .toSorted(([, a], [, b]) => b.hit - a.hit)
      .map(([name, { hit, well, silent, away }]) => [
        name,
        String(hit),
        String(well),
        percentile(silent, 0.5),
        percentile(silent, 1),
        percentile(away, 0.5),
        percentile(away, 1),
      ]),
  );
}

/** The facts that a server has stored. It is to be gone. @param {string} folder */
async function readFacts(folder) {
  const { DiskStore } = await import(new URL('../../dist/stores/index.js', import.meta.url).href);
  const store = await DiskStore.open({ folder: join(folder, 'server') });
  try {
    const { calls } = await store.list({ limit: 500 });
    return await Promise.all(
      calls.map(async (/** @type {{ callId: string }} */ { callId }) => ({
        callId,
        facts: (await store.events(callId)) ?? [],
      })),
    );
  } finally {
    await store.close();
  }
}

/** @param {import('./world.mjs').World} world @param {Trial} trial @param {{ verdict: Verdict, seed: number }} to */
async function judgeAll({ folder, exchanges, vendors }, trial, { verdict, seed }) {
  const judged = trial.outcomes.filter(({ isJudged }) => isJudged);
  const broken = judged.filter(({ evidence }) => Object.values(LAWS).some((law) => law(evidence).length > 0));
  if (broken.length > 0) {
    const path = join(tmpdir(), `offhook-kills-${seed}.json`);
    writeFileSync(path, JSON.stringify(broken, null, 1));
    console.log(`calls that did not go on as they should: ${path}`);
  }
  for (const [sentence, law] of Object.entries(LAWS)) {
    const breaches = judged.flatMap((outcome) =>
      law(outcome.evidence).map((found) => `${describe(outcome)}: ${found}`),
    );
    verdict.check(sentence, breaches);
  }
  verdict.check('every caller was rung, and every kill was made', trial.odd);
  verdict.check(
    'no process ended that was not killed',
    exchanges.flatMap(({ phone }) => phone.crashes),
  );
  verdict.check(
    'no vendor has anything to complain about',
    Object.values(vendors).flatMap(({ violations }) => violations),
  );
  verdict.check(
    'most calls can be judged: no long restart, no carrier or vendor that stood still',
    trial.outcomes.length === 0 || judged.length < trial.outcomes.length * LEAST_JUDGED
      ? [`${judged.length} of ${trial.outcomes.length}`]
      : [],
  );
  await Promise.all(exchanges.map(({ phone }) => phone.leave(LEAVE_MS)));
  const folders = exchanges.map(({ phone }) => join(folder, phone.name));
  verdict.check(
    'no state of a call is left behind',
    folders.flatMap((dataDir) => {
      const live = join(dataDir, 'live');
      const files = existsSync(live) ? readdirSync(live).filter((file) => file.endsWith('.json')) : [];
      return files.map((file) => `${dataDir}: ${file}`);
    }),
  );
  const stored = await Promise.all(folders.map(readFacts));
  verdict.check(
    'a call has one beginning and one end, and no fact is missing',
    stored.flat().flatMap(({ callId, facts }) => judgeFacts(facts).map((found) => `${callId}: ${found}`)),
  );
}

/** `deploys`: so many servers are followed by the next one in mid-call, and none is killed. @param {{ seed: number, count?: number, deploys?: number }} options */
export async function run({ seed, count = COUNT, deploys }) {
  const isDeploy = deploys !== undefined;
  const dice = createDice(seed);
  const effects = await openEffects();
  const outbound = Object.fromEntries(
    Object.keys(OUTBOUND).map((kind) => [kind, /** @type {CallPlan} */ (CALLS[kind]?.(dice))]),
  );
  const servers = SERVERS.map((plan) => ({ ...plan, isBlind: true }));
  const world = await openWorld(servers, {
    effects: effects.url,
    mind: {
      replies: ({ messages }) =>
        answer(
          messages.flatMap(({ role, content }) =>
            content === null ? [] : [{ role: /** @type {any} */ (role), text: content }],
          ),
        ),
    },
    model: {
      voice: 'tones',
      replies: ({ items }) =>
        answer(
          items.flatMap(({ kind, role, text }) =>
            kind === 'function_call'
              ? []
              : [{ role: /** @type {any} */ (kind === 'message' ? role : 'tool'), text }],
          ),
        ),
    },
    callees: Object.fromEntries(
      Object.entries(OUTBOUND).map(([kind, number]) => [number, outbound[kind]?.callee ?? { type: 'human' }]),
    ),
    disturbances: { retryPauseMs: RETRY_PAUSE_MS },
    isFronted: isDeploy,
  });
  const verdict = new Verdict();
  const stalls = new StallLog();
  /** @type {Trial} */
  const trial = { left: deploys ?? count, outcomes: [], odd: [], effects, stalls, outbound, isDeploy };
  const startedAt = Date.now();
  try {
    console.log(`${trial.left} ${isDeploy ? 'deploys' : 'kills'} of ${world.exchanges.length} servers …`);
    await Promise.all(
      world.exchanges.map((exchange, index) => playRounds(exchange, createDice(seed * 10 + index), trial)),
    );
    stalls.close();
    await judgeAll(world, trial, { verdict, seed });
    const restarts = world.exchanges.flatMap(({ phone }) => phone.absences.map(({ from, to }) => to - from));
    console.log(tabulate(trial.outcomes.filter(({ isJudged }) => isJudged)));
    const gaps = trial.outcomes.flatMap(({ evidence }) => evidence.kills.map(({ restartMs }) => restartMs));
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    if (isDeploy)
      console.log(
        `${world.exchanges.reduce((sum, { phone }) => sum + phone.deploys, 0)} deploys in ${seconds} s, ${gaps.length} calls moved, without a stream for ${percentile(gaps, 0.5)} ms (p50), ${percentile(gaps, 0.95)} ms (p95), ${percentile(gaps, 1)} ms (max)`,
      );
    else
      console.log(
        `${restarts.length} kills in ${seconds} s, restarts of ${percentile(restarts, 0.5)} ms (p50), ${percentile(restarts, 1)} ms (max); callers and vendors stood still for up to ${stalls.between(startedAt, Date.now())} ms`,
      );
  } finally {
    await world.close();
    effects.close();
  }
  return verdict;
}
