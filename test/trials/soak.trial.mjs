// Soak: well-behaved calls come and go for a long time, and nothing wears out: every call is whole, and what a server holds stays level.
import { toTable } from '../bench/table.mjs';
import { createDice, openWorld, pause, Verdict } from './world.mjs';

const MINUTES = 10;
const CALLS = 16;
/** How often everybody hangs up, so that what is held between calls can be seen. */
const ROUNDS = 4;
const SETTLE_MS = 30_000;
/** Records that a server keeps: while there are fewer, each ended call adds one. */
const KEPT_RECORDS = 500;
/** What a kept record of such a short call may take, and what may be left of a call beyond them, with room for what V8 has not freed. */
const RECORD_BYTES = 32_000;
const LEFT_BYTES = 3000;
/** What fills up once: the last facts, for pages that come back, above all. */
const FILLING_BYTES = 1e6;

/** @typedef {import('./world.mjs').World} World */
/** @typedef {{ ended: number, heapBytes: number, rssBytes: number, held: number }} Sample */

/** One call after the other until the round is over. @param {import('./world.mjs').Exchange} exchange @param {import('./world.mjs').Dice} dice @param {number} until @param {string[]} broken */
async function keepCalling({ phone, simulator }, dice, until, broken) {
  let calls = 0;
  while (Date.now() < until) {
    const word = dice.word();
    const waits = /** @type {const} */ ({ type: 'wait-for-agent', quietMs: 400, timeoutMs: 20_000 });
    const says = /** @type {const} */ ({ type: 'say', text: `${word}.` });
    const hangsUp = /** @type {const} */ ({ type: 'hang-up' });
    const script = [waits, says, waits, hangsUp];
    const report = await simulator.call({ script, maxDurationMs: 60_000 });
    calls += 1;
    if (!report.ok)
      broken.push(
        `${phone.name}: ${report.answer.reason ?? report.protocolErrors[0]?.sentence ?? report.end?.by ?? 'no end'}`,
      );
    else if (report.notes.length > 0) broken.push(`${phone.name}: ${report.notes[0]}`);
  }
  return calls;
}

/** @param {World} world @param {number} endedBefore */
async function settled({ exchanges }, endedBefore) {
  const until = Date.now() + SETTLE_MS;
  for (const { phone, simulator } of exchanges) {
    while (Date.now() < until) {
      const { calls } = await phone.get('/active');
      if (calls.length === 0 && simulator.legs.every(({ isOver }) => isOver)) break;
      await pause(200);
    }
  }
  // Idle connections to vendors are closed, and what was put off is done.
  await pause(endedBefore === 0 ? 0 : 6000);
}

/** @param {number} bytes */
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

/** @param {{ seed: number, minutes?: number, seconds?: number, calls?: number }} options */
export async function run({ seed, minutes = MINUTES, seconds = minutes * 60, calls = CALLS }) {
  const verdict = new Verdict();
  const world = await openWorld([
    { carrier: 'carrier-a', mode: 'pipeline' },
    { carrier: 'carrier-b', mode: 'realtime' },
  ]);
  const { exchanges } = world;
  try {
    console.log(`${calls} calls at a time for ${seconds} s …`);
    /** @type {string[]} */
    const broken = [];
    /** By server. @type {Sample[][]} */
    const samples = exchanges.map(() => []);
    const ended = exchanges.map(() => 0);
    for (let round = 0; round < ROUNDS; round += 1) {
      const until = Date.now() + (seconds * 1000) / ROUNDS;
      const counts = await Promise.all(
        Array.from({ length: calls }, (_, index) => {
          const exchange = exchanges[index % exchanges.length];
          if (exchange === undefined) throw new Error('no server');
          return keepCalling(exchange, createDice(seed + round * 1000 + index), until, broken);
        }),
      );
      for (const [index, count] of counts.entries())
        ended[index % exchanges.length] = (ended[index % exchanges.length] ?? 0) + count;
      await settled(world, round + 1);
      for (const [index, { phone }] of exchanges.entries()) {
        const { heapBytes, rssBytes, held } = await phone.ask({ type: 'figures' });
        samples[index]?.push({ ended: ended[index] ?? 0, heapBytes, rssBytes, held });
        console.log(
          `  ${phone.name}: ${ended[index]} calls, heap ${megabytes(heapBytes)} MB, ${held} resources`,
        );
      }
    }
    const records = await Promise.all(exchanges.map(({ phone }) => phone.records()));
    verdict.check(
      'no process ended',
      exchanges.flatMap(({ phone }) => phone.crashes),
    );
    verdict.check('every call was answered, in order, and heard its agent', broken);
    verdict.check(
      'every record says that the caller hung up, and has an answered turn',
      records.flat().flatMap(({ callId, endReason, turns }) => {
        const isAnswered = turns.some(({ userText, agentText }) => userText !== '' && agentText !== '');
        return endReason === 'caller-hangup' && isAnswered
          ? []
          : [`${callId}: ${endReason}, ${turns.length} turns`];
      }),
    );
    verdict.check(
      'onCallEnd was told once of each',
      exchanges.flatMap(({ phone }, index) =>
        phone.ended.size === ended[index] && [...phone.ended.values()].every((times) => times === 1)
          ? []
          : [`${phone.name}: ${phone.ended.size} of ${ended[index]}`],
      ),
    );
    verdict.check(
      'what is left of an ended call is its record, and nothing beyond those that are kept',
      exchanges.flatMap(({ phone }, index) => {
        const [from, to] = [samples[index]?.[0], samples[index]?.at(-1)];
        if (from === undefined || to === undefined || to.ended <= from.ended)
          return [`${phone.name}: not measured`];
        const kept = Math.max(0, Math.min(to.ended, KEPT_RECORDS) - from.ended);
        const allowed = FILLING_BYTES + kept * RECORD_BYTES + (to.ended - from.ended - kept) * LEFT_BYTES;
        const grown = to.heapBytes - from.heapBytes;
        return grown <= allowed
          ? []
          : [
              `${phone.name}: ${megabytes(grown)} MB more after ${to.ended - from.ended} calls, allowed ${megabytes(allowed)}`,
            ];
      }),
    );
    verdict.check(
      'handles between calls do not pile up',
      exchanges.flatMap(({ phone }, index) => {
        const [from, to] = [samples[index]?.[0], samples[index]?.at(-1)];
        return to !== undefined && from !== undefined && to.held <= from.held + 10
          ? []
          : [`${phone.name}: ${from?.held} at first, ${to?.held} at last`];
      }),
    );
    console.log(
      toTable(
        ['server', 'calls', 'heap, MB', 'RSS, MB', 'resources'],
        exchanges.flatMap(({ phone }, index) =>
          (samples[index] ?? []).map(({ ended: count, heapBytes, rssBytes, held }) => [
            phone.name,
            String(count),
            megabytes(heapBytes),
            megabytes(rssBytes),
            String(held),
          ]),
        ),
        { numbersFrom: 1 },
      ),
    );
    const gone = await Promise.all(exchanges.map(({ phone }) => phone.leave(5000)));
    verdict.check(
      'after disconnect() the process ends by itself',
      gone.filter((isGone) => !isGone),
    );
  } finally {
    await world.close();
  }
  return verdict;
}
