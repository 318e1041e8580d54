// A server process that is called by twice as many as it can serve: what those hear who were taken. How many it can serve is found out
// first, on a server that refuses nobody.
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { pause, Verdict } from '../trials/world.mjs';
import { AUDIBLE_MS, openScene, SLOW } from './overload/scene.mjs';
import { toTable } from './table.mjs';

/** @typedef {import('../trials/world.mjs').ServerPlan} ServerPlan */
/** @typedef {import('./overload/machine.mjs').MachineFigures} MachineFigures */

/** @type {readonly ServerPlan[]} */
const SERVERS = [
  { carrier: 'carrier-a', mode: 'pipeline' },
  { carrier: 'carrier-b', mode: 'realtime' },
];

/** Callers who come until the server is full: so many at first, then so many times as many in a second, and at most. */
const FIRST_CALLERS = 8;
const FIRST_MS = 1500;
const GROWTH = 1.14;
const MOST_CALLERS = 160;
const ENDLESS_MS = 60_000;
/** A loop that answers later than the pacer's lead has torn speech. */
const FULL_MS = 450;
/** What has begun to tear goes on so long, to be heard. */
const TORN_MS = 3000;

/** Twice as many as fit come within this, and go on calling. */
const RAMP_MS = 10_000;
const HOLD_MS = 8000;
/** Calls are short, so that there are always new ones. */
const CALL_MS = { from: 8000, to: 18_000 };
const RECOVERY_MS = 10_000;

/** A gap that one caller alone has heard is not yet a full server. */
const ALONE = 1;

/** Beyond these the callers or others on the machine may have been at fault. */
const FIT = { busyShare: 0.85, longestStallMs: 300, queuedShare: 0.2 };

/** When the caller of this number comes, in milliseconds. @param {number} index */
function comesAfterMs(index) {
  if (index < FIRST_CALLERS) return (index * FIRST_MS) / FIRST_CALLERS;
  return FIRST_MS + (1000 * Math.log((index + 1) / FIRST_CALLERS)) / Math.log(GROWTH);
}

/** Lets ever more callers in until their agents' speech is torn. `fits`: those that were up before. @param {ServerPlan} plan */
async function findWhatFits(plan) {
  const scene = await openScene({ ...plan, isBlind: true });
  try {
    const { crowd, door, machine } = scene;
    const until = Date.now() + ENDLESS_MS;
    const callMs = { from: ENDLESS_MS, to: ENDLESS_MS };
    const calling = Array.from({ length: MOST_CALLERS }, (_, index) =>
      crowd.keepCalling({ afterMs: comesAfterMs(index), until, callMs }),
    );
    const isFull = await door.until(
      ([last, before]) => last.tookMs > FULL_MS && (before?.tookMs ?? 0) > FULL_MS,
      comesAfterMs(MOST_CALLERS),
    );
    await pause(TORN_MS);
    const figures = machine.read();
    crowd.hangUp();
    await Promise.all(calling);
    const gaps = scene.gaps();
    const firstGaps = gaps.own
      .map(([first]) => first?.at ?? Number.POSITIVE_INFINITY)
      .toSorted((a, b) => a - b);
    const tornAt = firstGaps[ALONE] ?? Number.POSITIVE_INFINITY;
    const fits = Number.isFinite(tornAt) ? crowd.upAt(tornAt) : crowd.mostAtOnce;
    return { isFull, fits, callers: crowd.heard.length, crowd, gaps, figures };
  } finally {
    await scene.close();
  }
}

/** @param {ServerPlan} plan @param {number} callers */
async function offer(plan, callers) {
  const scene = await openScene(plan);
  try {
    const { phone, crowd, door, machine, place } = scene;
    const begunAt = Date.now();
    const until = begunAt + RAMP_MS + HOLD_MS;
    const calling = Array.from({ length: callers }, (_, index) =>
      crowd.keepCalling({ afterMs: (index * RAMP_MS) / callers, until, callMs: CALL_MS }),
    );
    await pause(until - Date.now());
    const figures = machine.read();
    await Promise.all(calling);
    await door.until(([{ at, status }]) => at > until && status === 200, RECOVERY_MS);
    await door.end();
    const { lines } = await phone.ask({ type: 'figures' });
    const { answers } = door;
    return { begunAt, callers, crowd, gaps: scene.gaps(), figures, place, answers, lines };
  } finally {
    await scene.close();
  }
}

/** What the server said of itself. @param {Awaited<ReturnType<typeof offer>>} offered */
function readDoor({ begunAt, answers, lines }) {
  const isClosed = answers.map(({ status }) => status === 503);
  const count = (/** @type {string} */ begin) =>
    lines.reduce(
      (/** @type {number} */ sum, /** @type {[string, number]} */ [sentence, times]) =>
        sum + (sentence.startsWith(begin) ? times : 0),
      0,
    );
  return {
    closedShare: isClosed.filter(Boolean).length / answers.length,
    /** Times that it was seen to close. */
    periods: isClosed.filter((closed, index) => closed && isClosed[index - 1] !== true).length,
    closedAfterMs: (answers[isClosed.indexOf(true)]?.at ?? Number.NaN) - begunAt,
    openedAfterMs: (answers[isClosed.lastIndexOf(true) + 1]?.at ?? Number.NaN) - begunAt,
    isOpenAtLast: answers.at(-1)?.status === 200,
    metricWasSet: answers.some(({ status, overloaded }) => status === 503 && overloaded === 1),
    metricAtLast: answers.at(-1)?.overloaded,
    closings: count('overloaded: '),
    openings: count('no longer overloaded: '),
  };
}

/** @param {string} name @param {Awaited<ReturnType<typeof offer>>} offered @param {ReturnType<typeof readDoor>} door @param {Verdict} verdict */
function judge(name, { begunAt, crowd, gaps }, door, verdict) {
  verdict.check(
    `${name}: nobody who was taken heard a gap`,
    gaps.own
      .flat()
      .map(
        ({ at, intoMs, durationMs }) =>
          `a gap of ${Math.round(durationMs)} ms, ${Math.round(intoMs)} ms into an answer, ${seconds(at - begunAt)} s into the load`,
      ),
  );
  verdict.check(
    `${name}: some are taken, the others are told that the line is busy`,
    crowd.refused > 0 && crowd.heard.length > 0 ? crowd.odd : ['nobody was refused', ...crowd.odd],
  );
  verdict.check(
    `${name}: /ready says 503 meanwhile, and 200 afterwards`,
    door.periods > 0 && door.isOpenAtLast ? [] : [`${door.periods} times 503, 200: ${door.isOpenAtLast}`],
  );
  verdict.check(
    `${name}: the metric says the same`,
    door.metricWasSet && door.metricAtLast === 0 ? [] : [`${door.metricWasSet}, then ${door.metricAtLast}`],
  );
  verdict.check(
    `${name}: one line in the log each time`,
    door.closings === door.openings && door.closings >= door.periods
      ? []
      : [`${door.closings} and ${door.openings} lines for ${door.periods}`],
  );
}

/** Why a run says nothing about the server. @param {MachineFigures} figures */
function whyUnfit({ busyShare, longestStallMs, queuedShare }) {
  const percent = (/** @type {number} */ share) => `${Math.round(share * 100)} %`;
  const reasons = [];
  if (busyShare > FIT.busyShare) reasons.push(`the callers’ process was ${percent(busyShare)} busy`);
  if (longestStallMs > FIT.longestStallMs)
    reasons.push(`the callers’ process stood still for ${Math.round(longestStallMs)} ms`);
  if (queuedShare > FIT.queuedShare)
    reasons.push(`the server waited for its processor for ${percent(queuedShare)} of the time`);
  return reasons;
}

/** @param {readonly number[]} values */
const most = (values) => Math.round(Math.max(0, ...values));
/** @param {number} ms */
const seconds = (ms) => (ms / 1000).toFixed(1);

/** @param {Pick<Awaited<ReturnType<typeof offer>>, 'callers' | 'crowd' | 'gaps'>} played */
function toHeardCells({ callers, crowd, gaps: { own, ofOthers } }) {
  return [
    callers,
    crowd.heard.length,
    crowd.mostAtOnce,
    crowd.refused,
    most(own.flat().map(({ durationMs }) => durationMs)),
    own.filter((gaps) => gaps.length > 0).length,
    ofOthers,
    most(crowd.heard.map(({ waitMs }) => waitMs)),
  ].map(String);
}

const HEARD_HEAD = [
  ...['', 'callers', 'calls taken', 'at once', 'refused'],
  ...['longest gap, ms', 'calls with a gap', 'gaps of others', 'longest wait, ms'],
];
const DOOR_HEAD = ['', 'fit', 'first 503 after, s', 'last 503 after, s', 'share of 503', 'lines in the log'];
const MACHINE_HEAD = ['', 'callers busy', 'callers stood, ms', 'server queued'];

/** Prints the tables, and writes them to `folder`. @param {string} [folder] */
export async function run(folder = 'docs/bench') {
  const started = Date.now();
  const loadBefore = loadavg()[0] ?? 0;
  const verdict = new Verdict();
  /** @type {Record<'heard' | 'doors' | 'machines', string[][]>} */
  const rows = { heard: [], doors: [], machines: [] };
  /** @type {string[]} */
  const doubts = [];
  let place = '';
  for (const plan of SERVERS) {
    const name = `${plan.carrier === 'carrier-a' ? 'carrier A' : 'carrier B'}, ${plan.mode}`;
    console.log(`${name}: how many fit?`);
    const everybody = await findWhatFits(plan);
    const { fits, isFull } = everybody;
    console.log(`${name}: ${fits} fit. Twice as many call …`);
    const twice = await offer(plan, 2 * fits);
    const door = readDoor(twice);
    judge(name, twice, door, verdict);
    place = twice.place;
    if (!isFull) doubts.push(`${name}: ${MOST_CALLERS} callers did not fill the server.`);
    for (const [title, played] of /** @type {const} */ ([
      [`${name}: nobody is refused`, everybody],
      [`${name}: twice the load`, twice],
    ])) {
      const { busyShare, longestStallMs, queuedShare } = played.figures;
      rows.heard.push([title, ...toHeardCells(played)]);
      rows.machines.push([title, busyShare.toFixed(2), longestStallMs.toFixed(0), queuedShare.toFixed(2)]);
      doubts.push(...whyUnfit(played.figures).map((reason) => `${title}: ${reason}.`));
    }
    rows.doors.push([
      ...[name, String(fits), seconds(door.closedAfterMs), seconds(door.openedAfterMs)],
      ...[door.closedShare.toFixed(2), String(door.closings)],
    ]);
  }
  const texts = [
    toTable(HEARD_HEAD, rows.heard, { numbersFrom: 1 }),
    toTable(DOOR_HEAD, rows.doors, { numbersFrom: 1 }),
    toTable(MACHINE_HEAD, rows.machines, { numbersFrom: 1 }),
    doubts.length === 0
      ? 'Callers and machine were fit to judge.'
      : `Callers or machine were **not fit to judge**: ${doubts.join(' ')}`,
  ];
  console.log(`\n${texts.join('\n\n')}\n`);
  const head = [
    '# Bench of an overload',
    `Written by \`npm run bench -- overload\`: a server process, made slower than its callers by Node’s options \`${SLOW.join(' ')}\`, and in another process the simulated carriers with their callers and the vendors’ emulators. ${place} Load average before the run: ${loadBefore.toFixed(2)}. How many calls fit is particular to the machine.`,
    `First ever more callers come to a server that refuses nobody, until the agents’ speech is torn: as many **fit** as were up before two of them had heard a gap. Then twice as many come to a fresh server within ${RAMP_MS / 1000} s, by webhook and stream, and go on calling for another ${HOLD_MS / 1000} s: a call lasts ${CALL_MS.from / 1000} to ${CALL_MS.to / 1000} s, and whoever finds the line busy dials again after two seconds. Agents speak two thirds of the time.`,
    `A gap is a hole of ${AUDIBLE_MS} ms or more in the agent’s speech, where the carrier had nothing to play: the emulated voices make no pauses. A gap is of others when callers or vendors stood still for as long before it, or the server stood in the queue for its processor. A wait is from the end of the caller’s sound to the answer.`,
    `The second table is about \`/ready\`, which is asked all the time from the first dial of the crowd on: when it first and last said 503, the share of its answers that were 503, and how often the log told that the server was overloaded. The third is about who judges: the share of time that the callers’ process worked (fit up to ${FIT.busyShare}), its longest standstill (up to ${FIT.longestStallMs} ms), and the share of time that the server waited for its processor (up to ${FIT.queuedShare}).`,
  ];
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'overload.md'), `${[...head, ...texts].join('\n\n')}\n`);
  console.log(`${seconds(Date.now() - started)} s; tables: ${folder}`);
  if (verdict.failed > 0 && doubts.length === 0) process.exitCode = 1;
}
