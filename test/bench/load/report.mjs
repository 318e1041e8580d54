// What the rounds say: the result beside its goals, the figures behind it, and whether they can be trusted.
import { median } from './proc.mjs';
import { microsecondsOf, readsOf, SCENARIOS } from './scenarios.mjs';

/** @typedef {import('./scenarios.mjs').Figures} Figures */
/** @typedef {import('./scenarios.mjs').Scenario} Scenario */
/** @typedef {import('./scenarios.mjs').ScenarioKey} ScenarioKey */
/** @typedef {import('./scenarios.mjs').Round} Round */

const GOALS = { growth: 1.1, kbPerCall: 150, idleMb: 65, importMs: 150, laterMs: 1 };

/**
 * Beyond these a row says little. A server that gets no processor reads several frames at once, which makes each cheaper: the two sides
 * must read about alike.
 */
const FIT = { lagP99Ms: 5, queuedShare: 0.2, othersShare: 0.1, readsApart: 0.1, missingShare: 0.02 };

/** Why a row is not to be trusted. @param {Scenario} scenario @param {readonly Round[]} rounds */
export function doubtsOf(scenario, rounds) {
  /** @type {string[]} */
  const doubts = [];
  const percent = (/** @type {number} */ share) => `${(share * 100).toFixed(0)} %`;
  for (const side of /** @type {const} */ (['ours', 'baseline'])) {
    const of = (/** @type {(figures: Figures) => number} */ read) =>
      median(rounds.map((round) => read(round[side])));
    const say = (/** @type {boolean} */ isSo, /** @type {string} */ reason) => {
      if (isSo) doubts.push(`${side === 'ours' ? 'ours' : scenario.baseline}: ${reason}`);
    };
    const lagMs = of(({ lagP99Ms }) => lagP99Ms);
    const queued = of(({ queuedShare }) => queuedShare);
    const others = of(({ othersShare }) => othersShare);
    const back = of(({ framesBack, sent }) => framesBack / sent);
    const [refused, lost, clears] = [
      of((each) => each.refused),
      of((each) => each.lost),
      of((each) => each.clears),
    ];
    say(lagMs > FIT.lagP99Ms, `the load generator was ${lagMs.toFixed(1)} ms late`);
    say(queued > FIT.queuedShare, `runnable without a core for ${percent(queued)} of the time`);
    say(others > FIT.othersShare, `others had ${percent(others)} of the machine`);
    say(refused + lost > 0, `${refused} calls were refused, ${lost} lost`);
    say(clears > 0, `speech was broken off ${clears} times`);
    say(Math.abs(back - scenario.back) > FIT.missingShare, `${percent(back)} of the frames came back`);
  }
  const apart = median(
    rounds.map(({ ours, baseline }) => readsOf(ours, scenario) / readsOf(baseline, scenario)),
  );
  if (Math.abs(apart - 1) > FIT.readsApart) doubts.push(`ours reads ${apart.toFixed(2)} times as often`);
  return doubts;
}

export const RESULT_HEAD = ['', 'ours', 'baseline', 'ratio', 'goal'];
export const PROOF_HEAD = [
  ...['', 'CPU a frame, µs', 'reads per 1000 frames', 'runnable without a core, %', 'generator late, p99 ms'],
  ...['generator busy, %', 'others on the machine, %', 'frames back, %', 'there and back, p50 ms'],
];

/** @param {Record<ScenarioKey, Round[]>} rounds @param {readonly import('./measure.mjs').Start[]} starts @param {ReadonlySet<ScenarioKey>} doubtful */
export function toResultRows(rounds, starts, doubtful) {
  const ratios = (/** @type {ScenarioKey} */ key) =>
    rounds[key].map(
      ({ ours, baseline }) => microsecondsOf(ours, SCENARIOS[key]) / microsecondsOf(baseline, SCENARIOS[key]),
    );
  const sides = (/** @type {ScenarioKey} */ key, /** @type {(figures: Figures) => number} */ read) => [
    median(rounds[key].map(({ ours }) => read(ours))),
    median(rounds[key].map(({ baseline }) => read(baseline))),
  ];
  const named = (/** @type {string} */ name, /** @type {ScenarioKey[]} */ ...keys) =>
    keys.some((key) => doubtful.has(key)) ? `${name} (?)` : name;
  const fixed = (/** @type {number | undefined} */ value, digits = 1) =>
    (value ?? Number.NaN).toFixed(digits);
  const keys = /** @type {ScenarioKey[]} */ (Object.keys(SCENARIOS));
  const rows = keys.map((key) => {
    /** @type {Scenario} */
    const scenario = SCENARIOS[key];
    const [ours, baseline] = sides(key, (figures) => microsecondsOf(figures, scenario));
    const goal = scenario.goal === undefined ? '' : `≤ ${scenario.goal} × ${scenario.baseline}`;
    return [
      named(`${scenario.name}: CPU a frame, µs`, key),
      ...[fixed(ours), fixed(baseline), fixed(median(ratios(key)), 2), goal],
    ];
  });
  const [few, most] = [ratios('few'), ratios('most')];
  const growth = median(most.map((ratio, round) => ratio / (few[round] ?? Number.NaN)));
  rows.push([
    named('growth: the ratio at 400 calls (ours) to that at 50 (baseline)', 'few', 'most'),
    ...[fixed(median(most), 2), fixed(median(few), 2), fixed(growth, 2), `≤ ${GOALS.growth}`],
  ]);
  const [oursLate, relayLate] = sides('many', ({ roundTripP99Ms }) => roundTripP99Ms);
  const later = median(
    rounds.many.map(({ ours, baseline }) => ours.roundTripP99Ms - baseline.roundTripP99Ms),
  );
  rows.push([
    named('realtime, 200 calls: a frame there and back, p99 ms', 'many'),
    ...[fixed(oursLate, 2), fixed(relayLate, 2)],
    ...[`${later < 0 ? '−' : '+'} ${fixed(Math.abs(later), 2)} ms`, `≤ relay + ${GOALS.laterMs} ms`],
  ]);
  const [oursKb = 0, relayKb = 0] = sides('many', ({ kbPerCall }) => kbPerCall);
  rows.push([
    named('realtime, 200 calls: memory a call, kB', 'many'),
    ...[fixed(oursKb, 0), fixed(relayKb, 0), fixed(oursKb / relayKb, 2), `≤ ${GOALS.kbPerCall} kB`],
  ]);
  const of = (/** @type {'idleMb' | 'bareMb' | 'importMs' | 'nodeMs'} */ name) =>
    median(starts.map((start) => start[name]));
  for (const [name, ours, bare, goal] of /** @type {const} */ ([
    [
      'a server that nobody calls: memory, MB (baseline: Node alone)',
      'idleMb',
      'bareMb',
      `≤ ${GOALS.idleMb} MB`,
    ],
    [
      'import of offhook: CPU, ms (baseline: start of Node alone)',
      ...['importMs', 'nodeMs', `≤ ${GOALS.importMs} ms`],
    ],
  ]))
    rows.push([name, fixed(of(ours), 0), fixed(of(bare), 0), fixed(of(ours) / of(bare), 2), goal]);
  return rows;
}

/** @param {Scenario} scenario @param {readonly Round[]} rounds */
export function toProofRows(scenario, rounds) {
  return /** @type {const} */ (['ours', 'baseline']).map((side) => {
    const of = (/** @type {(figures: Figures) => number} */ read, digits = 0) => {
      const value = median(rounds.map((round) => read(round[side])));
      return Number.isNaN(value) ? '' : value.toFixed(digits);
    };
    return [
      `${scenario.name}: ${side === 'ours' ? 'ours' : scenario.baseline}`,
      of((figures) => microsecondsOf(figures, scenario), 1),
      of((figures) => readsOf(figures, scenario)),
      of(({ queuedShare }) => queuedShare * 100, 1),
      of(({ lagP99Ms }) => lagP99Ms, 2),
      of(({ carrierShare }) => carrierShare * 100),
      of(({ othersShare }) => othersShare * 100, 1),
      of(({ framesBack, sent }) => (framesBack / sent) * 100, 1),
      of(({ roundTripP50Ms }) => roundTripP50Ms ?? Number.NaN, 2),
    ];
  });
}
