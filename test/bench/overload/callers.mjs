// The callers of a load, and what they heard: who was taken, and how long the agent's speech was torn.
import { setMaxListeners } from 'node:events';
import { GREETING } from '../../trials/numbers.mjs';
import { pause } from '../../trials/world.mjs';

/** What every agent answers, for some six seconds. */
export const ANSWER =
  'We have bread, rolls, cakes and tarts today. Then there are cookies of seven kinds and good coffee.';

/** The emulated voices speak at this pace. An answer of which less was heard before the caller spoke again was torn for longer than callers wait. */
const MS_PER_CHARACTER = 60;
const WHOLE_SHARE = 0.8;

/** A caller who is told that the line is busy tries again after so long, at random. */
const REDIAL_MS = { from: 1500, to: 2500 };
/** Too short to be a call. */
const SHORTEST_CALL_MS = 3000;
/** Longer than most holes, so that a caller talks when the agent has finished. */
const QUIET_MS = 1200;

const WAITS = /** @type {const} */ ({ type: 'wait-for-agent', quietMs: QUIET_MS, timeoutMs: 20_000 });
const SAYS = /** @type {const} */ ({ type: 'say', text: 'And now?' });
const SCRIPT = Array.from({ length: 60 }, () => [WAITS, SAYS]).flat();

/** @typedef {import('../../../src/testing/index.js').CallReport} CallReport */
/** @typedef {import('../../../src/testing/index.js').CarrierSimulator} CarrierSimulator */
/** @typedef {{ at: number, intoMs: number, durationMs: number }} Gap `at` in epoch milliseconds, `intoMs` since the first sound of the answer */
/** @typedef {{ from: number, to: number, gaps: Gap[], waitMs: number }} Heard one call that was taken */

/** Everybody who calls one server. */
export class Crowd {
  /** Calls that were taken and are over. @type {Heard[]} */
  heard = [];
  refused = 0;
  /** What became of calls that were neither taken nor told that the line is busy. @type {string[]} */
  odd = [];
  #simulator;
  #dice;
  #hangUp = new AbortController();

  /** @param {CarrierSimulator} simulator @param {import('../../trials/world.mjs').Dice} dice */
  constructor(simulator, dice) {
    this.#simulator = simulator;
    this.#dice = dice;
    setMaxListeners(0, this.#hangUp.signal);
  }

  /** Everybody hangs up at once. */
  hangUp() {
    this.#hangUp.abort();
  }

  /** One who calls from `after` until `until`, again after each call and each refusal. @param {{ afterMs: number, until: number, callMs: { from: number, to: number } }} when */
  async keepCalling({ afterMs, until, callMs }) {
    await this.#rest(afterMs);
    while (!this.#hangUp.signal.aborted && Date.now() + SHORTEST_CALL_MS < until) {
      const maxDurationMs = Math.min(until - Date.now(), this.#dice.between(callMs.from, callMs.to));
      const { signal } = this.#hangUp;
      const report = await this.#simulator.call({ script: SCRIPT, maxDurationMs, signal });
      const { outcome, reason } = report.answer;
      if (outcome === 'answered') this.heard.push(toHeard(report));
      else if (outcome === 'busy') {
        this.refused += 1;
        await this.#rest(this.#dice.between(REDIAL_MS.from, REDIAL_MS.to));
      } else if (!signal.aborted) this.odd.push(reason ?? outcome);
    }
  }

  /** Calls that were up at a time. @param {number} at */
  upAt(at) {
    return this.heard.filter(({ from, to }) => from <= at && at < to).length;
  }

  /** The most that were up at once. */
  get mostAtOnce() {
    return Math.max(0, ...this.heard.map(({ from }) => this.upAt(from)));
  }

  /** @param {number} ms */
  async #rest(ms) {
    const { signal } = this.#hangUp;
    const gone = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    if (!signal.aborted) await Promise.race([pause(ms), gone]);
  }
}

/** @param {CallReport} report @returns {Heard} */
function toHeard(report) {
  const from = report.startedAt + (report.answer.answeredAfterMs ?? 0);
  const gaps = findGaps(report).map(({ atMs, durationMs }) => {
    const asked = report.turns.findLast(
      ({ agentStartMs }) => (agentStartMs ?? Number.POSITIVE_INFINITY) <= atMs,
    );
    const begunMs = asked?.agentStartMs ?? report.firstAudioAfterMs ?? atMs;
    return { at: from + atMs, intoMs: atMs - begunMs, durationMs };
  });
  const waitMs = Math.max(0, ...report.turns.map(({ responseMs }) => responseMs ?? 0));
  return { from, to: from + (report.durationMs ?? 0), gaps, waitMs };
}

/** @typedef {{ atMs: number, durationMs: number }} Hole */

/**
 * Where the carrier had nothing to play although the agent had not finished. The emulated voice makes no pauses, so every hole between
 * two sounds of the agent is one, unless the caller spoke in between. Holes of up to a second the report knows to the sample; what is
 * longer it takes for the end of an answer.
 * @param {CallReport} report @returns {Hole[]}
 */
function findGaps({ gaps, pauses, agentSpeech, callerSpeech, durationMs }) {
  const silences = agentSpeech.slice(1).map(({ startMs }, index) => {
    const atMs = agentSpeech[index]?.endMs ?? 0;
    return { atMs, durationMs: startMs - atMs };
  });
  const holes = [...gaps, ...pauses, ...silences].filter(
    (hole) => !callerSpeech.some(({ startMs, endMs }) => startMs < endOf(hole) && endMs > hole.atMs),
  );
  const torn = callerSpeech.flatMap(({ startMs }, index) => {
    const fromMs = callerSpeech[index - 1]?.endMs ?? 0;
    const heard = agentSpeech.filter((span) => span.startMs < startMs && span.endMs > fromMs);
    const heardMs = heard.reduce(
      (sum, span) => sum + Math.min(span.endMs, startMs) - Math.max(span.startMs, fromMs),
      0,
    );
    const wholeMs = (index === 0 ? GREETING : ANSWER).length * MS_PER_CHARACTER;
    if (heardMs >= WHOLE_SHARE * wholeMs) return [];
    const atMs = heard.at(-1)?.endMs ?? fromMs;
    const goesOnMs = agentSpeech.find((span) => span.startMs > atMs)?.startMs ?? durationMs ?? atMs;
    return [{ atMs, durationMs: goesOnMs - atMs }];
  });
  return [...holes, ...torn].toSorted((a, b) => a.atMs - b.atMs);
}

/** @param {Hole} hole */
const endOf = ({ atMs, durationMs }) => atMs + durationMs;
