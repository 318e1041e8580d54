// Chaos: calls over both carriers and both voice modes while all named faults happen at random, and what must hold whatever happens.
import { FAULTS } from './faults.mjs';
import { createDice, openWorld, pause, Verdict } from './world.mjs';

const CALLS = 50;
const SECONDS = 75;
/** How long a fault lasts that lasts. */
const FAULT_MS = 2500;
const SETTLE_MS = 75_000;
const HEALTH_EVERY_MS = 500;
/** After this a health check has failed: longer than any stall that is ordered. */
const HEALTH_TIMEOUT_MS = 8000;
/** A process that has disconnected ends by itself within this. */
const LEAVE_MS = 5000;
/** Whatever a caller does and whatever breaks, they are off the line by then. */
const LONGEST_CALL_MS = 60_000;

/** Whoever spoke hears something within this: three times what is promised, on a machine that is stalled on purpose. */
const LONGEST_SILENCE_MS = 15_000;

/** @typedef {import('./world.mjs').World} World */
/** @typedef {import('./world.mjs').Dice} Dice */
/** @typedef {import('../../src/testing/index.js').CallerStep} CallerStep */

/** What a caller does: always with a word that nobody else says. @param {Dice} dice @param {string} word @returns {CallerStep[]} */
function createScript(dice, word) {
  const waits = /** @type {const} */ ({ type: 'wait-for-agent', quietMs: 600, timeoutMs: 8000 });
  const says = /** @type {const} */ ({ type: 'say', text: `I am ${word}.` });
  /** @type {CallerStep[][]} */
  const parts = [
    [waits, says],
    [{ type: 'interrupt', afterMs: 400, timeoutMs: 8000 }, says],
    [waits, { type: 'press', digits: '42#' }],
    [{ type: 'noise', durationMs: 800 }],
    [waits, { type: 'say', text: `I said ${word} and then I went on talking about ${word} for a while.` }],
  ];
  const script = Array.from({ length: dice.between(2, 4) }, () => dice.pick(parts)).flat();
  const ends = dice.pick(/** @type {const} */ (['well', 'hangs up', 'breaks off']));
  if (ends !== 'well') script.push({ type: 'hang-up', abrupt: ends === 'breaks off' });
  return [...script];
}

/** Begins one call. @param {World} world @param {Dice} dice @param {{ words: Map<string, string>, odd: string[] }} log */
async function ring({ exchanges }, dice, log) {
  const { phone, simulator } = dice.pick(exchanges);
  const word = dice.word();
  const line = dice.pick([{}, { loss: 0.03 }, { bunchMs: 200 }, { echo: { levelDb: -25, delayMs: 120 } }]);
  const isOutbound = dice.random() < 0.2;
  const script = createScript(dice, word);
  if (isOutbound) {
    if (phone.isUp) await phone.ask({ type: 'call', to: '+15005550040' }).catch(() => {});
    return;
  }
  try {
    const report = await simulator.call({ script, line, maxDurationMs: LONGEST_CALL_MS });
    log.words.set(report.carrierCallId, word);
  } catch (error) {
    log.odd.push(`a caller of ${phone.name} failed: ${String(error)}`);
  }
}

/** Plays a fault now and then until `until`. @param {World} world @param {Dice} dice @param {number} until */
async function playFaults(world, dice, until) {
  /** @type {Map<string, number>} */
  const played = new Map();
  const names = Object.keys(FAULTS);
  // Each once in a random order, then any.
  const order = names.map((name) => ({ name, at: dice.random() })).toSorted((a, b) => a.at - b.at);
  const everyMs = Math.max(200, (until - Date.now()) / (names.length * 2));
  for (let count = 0; Date.now() < until; count += 1) {
    const name = order[count]?.name ?? dice.pick(names);
    const mend = FAULTS[name]?.(world, dice);
    played.set(name, (played.get(name) ?? 0) + 1);
    if (mend !== undefined) setTimeout(mend, FAULT_MS).unref();
    await pause(dice.between(everyMs / 2, everyMs * 1.5));
  }
  await pause(FAULT_MS);
  return played;
}

/** Asks each server for its health until `signal`. @param {World} world @param {AbortSignal} signal */
async function watchHealth({ exchanges }, signal) {
  /** @type {string[]} */
  const unhealthy = [];
  await Promise.all(
    exchanges.map(async ({ phone }) => {
      while (!signal.aborted) {
        const kills = phone.absences.length;
        const wasUp = phone.isUp;
        const isWell =
          !wasUp ||
          (await fetch(`${phone.url}/health`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) })
            .then(({ status }) => status === 200)
            .catch(() => false));
        if (!isWell && phone.isUp && phone.absences.length === kills)
          unhealthy.push(`${phone.name} gave no sign of health`);
        await pause(HEALTH_EVERY_MS);
      }
    }),
  );
  return unhealthy;
}

/** Waits until nobody is on any line. @param {World} world */
async function settle({ exchanges }) {
  const until = Date.now() + SETTLE_MS;
  while (Date.now() < until) {
    const states = await Promise.all(
      exchanges.map(async ({ phone, simulator }) => {
        const { calls } = await phone.get('/active').catch(() => ({ calls: [null] }));
        return calls.length === 0 && simulator.legs.every(({ isOver }) => isOver);
      }),
    );
    if (states.every(Boolean)) return;
    await pause(500);
  }
}

/** @param {World} world @param {{ words: Map<string, string>, odd: string[] }} log @param {readonly string[]} unhealthy @param {Verdict} verdict */
async function judge(world, log, unhealthy, verdict) {
  const { exchanges } = world;
  const records = await Promise.all(exchanges.map(({ phone }) => phone.records()));
  const each = exchanges.map((exchange, index) => ({ ...exchange, records: records[index] ?? [] }));
  const allWords = [...log.words.values()];

  verdict.check(
    'no process ended that was not killed',
    exchanges.flatMap(({ phone }) => phone.crashes),
  );
  verdict.check('every server that is up answers', unhealthy);
  verdict.check('every caller was rung and reported', log.odd);
  verdict.check(
    'no leg is left up at a carrier',
    each.flatMap(({ phone, simulator }) =>
      simulator.legs
        .filter(({ isOver }) => !isOver)
        .map(({ carrierCallId }) => `${phone.name}: ${carrierCallId}`),
    ),
  );
  verdict.check(
    'every record has an end, a reason and a duration that is no less than nothing',
    each.flatMap(({ phone, records: own }) =>
      own
        .filter(
          ({ status, endedAt, endReason, durationMs }) =>
            status !== 'completed' || endedAt === null || endReason === null || (durationMs ?? 0) < 0,
        )
        .map(({ callId, status, endReason }) => `${phone.name}: ${callId} is ${status}, ${endReason}`),
    ),
  );
  verdict.check(
    'a leg has one record',
    each.flatMap(({ phone, simulator, records: own }) =>
      simulator.legs.flatMap(({ carrierCallId, reports }) => {
        const found = own.filter((record) => record.carrierCallId === carrierCallId).length;
        // Of a call that was up for a moment when its process was killed nothing may be left.
        const least =
          reports.some(({ answer }) => answer.outcome === 'answered') && phone.absences.length === 0 ? 1 : 0;
        return found <= 1 && found >= least ? [] : [`${phone.name}: ${carrierCallId} has ${found}`];
      }),
    ),
  );
  verdict.check(
    'onCallEnd is told once of a call, and of each that no kill came between',
    each.flatMap(({ phone, records: own }) =>
      own.flatMap(({ callId, startedAt, endedAt }) => {
        const told = phone.ended.get(callId) ?? 0;
        const wasKilled = phone.absences.some(
          ({ from, to }) => startedAt <= to && (endedAt ?? to) >= from - 2000,
        );
        return told === 1 || (told === 0 && wasKilled)
          ? []
          : [`${phone.name}: ${callId} was told ${told} times`];
      }),
    ),
  );
  verdict.check(
    "nobody's words are in another call's transcript",
    each.flatMap(({ phone, records: own }) =>
      own.flatMap(({ callId, carrierCallId, transcript }) => {
        const ownWord = log.words.get(carrierCallId ?? '');
        const texts = transcript.map(({ text }) => text.toLowerCase()).join(' ');
        return allWords
          .filter((word) => word !== ownWord && texts.includes(word))
          .map((word) => `${phone.name}: ${callId} has ${word}`);
      }),
    ),
  );
  verdict.check(
    `nobody who spoke waited in silence for ${LONGEST_SILENCE_MS / 1000} s`,
    each.flatMap(({ phone, simulator }) =>
      simulator.legs.flatMap(({ carrierCallId, reports }) =>
        reports.flatMap(({ durationMs, turns }) =>
          turns
            .map(({ callerEndMs, agentStartMs }) => (agentStartMs ?? durationMs ?? 0) - callerEndMs)
            .filter((silentMs) => silentMs > LONGEST_SILENCE_MS)
            .map((silentMs) => `${phone.name}: ${carrierCallId} for ${(silentMs / 1000).toFixed(1)} s`),
        ),
      ),
    ),
  );
  const sums = await Promise.all(exchanges.map(({ phone }) => phone.get('/aggregates')));
  verdict.check(
    'totals are the sums of the records',
    each.flatMap(({ phone, records: own }, index) => {
      const { totalCost, totalCalls } = sums[index];
      const cost = own.reduce((sum, record) => sum + record.cost.total, 0);
      return Math.abs(cost - totalCost) < 1e-5 && own.length === totalCalls
        ? []
        : [`${phone.name}: ${totalCalls} calls for ${totalCost}, records say ${own.length} for ${cost}`];
    }),
  );
  const gone = await Promise.all(exchanges.map(({ phone }) => phone.leave(LEAVE_MS)));
  verdict.check(
    'after disconnect() the process ends by itself',
    exchanges.filter((_, index) => gone[index] === false).map(({ phone }) => phone.name),
  );
  return each.flatMap(({ records: own }) => own);
}

/** @param {Map<string, number>} counts */
function toLines(counts) {
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([name, count]) => `${count} x ${name}`);
}

/** @param {{ seed: number, calls?: number, seconds?: number }} options */
export async function run({ seed, calls = CALLS, seconds = SECONDS }) {
  const dice = createDice(seed);
  const world = await openWorld();
  const verdict = new Verdict();
  try {
    console.log(`${calls} calls and ${Object.keys(FAULTS).length} kinds of faults in ${seconds} s …`);
    const until = Date.now() + seconds * 1000;
    /** @type {{ words: Map<string, string>, odd: string[] }} */
    const log = { words: new Map(), odd: [] };
    const abort = new AbortController();
    const health = watchHealth(world, abort.signal);
    const faults = playFaults(world, createDice(seed + 1), until);
    /** @type {Promise<void>[]} */
    const callers = [];
    for (let count = 0; count < calls; count += 1) {
      callers.push(ring(world, dice, log));
      await pause((seconds * 1000 * 0.8) / calls);
    }
    const played = await faults;
    for (const { simulator } of world.exchanges) simulator.disturb({ restFailures: [], lostAnswers: [] });
    await Promise.all(callers);
    await settle(world);
    abort.abort();
    const records = await judge(world, log, await health, verdict);
    /** @type {Map<string, number>} */
    const reasons = new Map();
    for (const { endReason } of records)
      reasons.set(endReason ?? 'none', (reasons.get(endReason ?? 'none') ?? 0) + 1);
    console.log(`faults: ${toLines(played).join(', ')}`);
    console.log(`${records.length} calls ended: ${toLines(reasons).join(', ')}`);
  } finally {
    await world.close();
  }
  return verdict;
}
