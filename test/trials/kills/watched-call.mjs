// One call of the kill trial, as a carrier and the tools saw it.
import { testing } from '../world.mjs';

const RATE_HZ = 8000;
/** Sound that is read in one go: whoever else is on the line waits for no longer. */
const READ_SAMPLES = RATE_HZ / 4;

/** @typedef {import('./judge.mjs').Evidence} Evidence */
/** @typedef {{ at: number, backAt: number }} SeenKill By `Date.now()`, as all times here. */

/** The line and the beginning of what was heard on it: both simulated carriers have them, each in its place. @param {any} leg @returns {{ line: any, firstStreamMs: number | undefined }} */
const insideOf = (leg) => ({ line: leg.line, firstStreamMs: leg.record?.firstStreamMs ?? leg.firstStreamMs });

/** Who calls. @param {any} leg @returns {{ from: string, to: string }} */
export const partiesOf = (leg) => leg.facts ?? leg;

export class WatchedCall {
  /** @type {import('../../../src/testing/index.js').SimulatedLeg | undefined} */
  leg;
  /** The carrier had it. @type {number | undefined} */
  rangAt;
  /** @type {number | undefined} */
  answeredAt;
  /** @type {number | undefined} */
  endedAt;
  /** The carrier was told to hand the caller over. @type {number | undefined} */
  transferredAt;
  /** The carrier was told to hang up. @type {number | undefined} */
  hungUpAt;
  /** The server was told to make it. */
  isPlaced = false;
  hasStream = false;
  hasAsked = false;
  saysGoodbye = false;
  hasEffect = false;
  /** What went wrong in the trial itself. @type {string | undefined} */
  failure;
  #seenRequests = 0;

  /** @param {import('./conversation.mjs').CallPlan} plan @param {{ from: string, to: string }} parties */
  constructor(plan, parties) {
    this.plan = plan;
    this.parties = parties;
  }

  /** To be called every few milliseconds. @param {import('../../../src/testing/index.js').CarrierSimulator} simulator @param {ReadonlySet<object>} others legs that belong to other calls @param {readonly import('./effects.mjs').SeenEffect[]} effects */
  look(simulator, others, effects) {
    this.leg ??= this.#find(simulator, others);
    const leg = /** @type {any} */ (this.leg);
    if (leg === undefined) return;
    this.rangAt ??= Date.now();
    if (leg.isAnswered) this.answeredAt ??= Date.now();
    if (leg.isOver) this.endedAt ??= Date.now();
    const { line, firstStreamMs } = insideOf(leg);
    this.hasStream ||= firstStreamMs !== undefined;
    const spoken = /** @type {readonly import('../../../src/testing/index.js').Span[]} */ (line.speech);
    const asked = spoken.filter(({ endMs }) => endMs <= line.nowMs).length;
    this.hasAsked ||= asked > 0;
    this.saysGoodbye ||= asked > 1;
    const markers = this.plan.asks.map(({ marker }) => marker);
    this.hasEffect ||= effects.some(({ marker }) => markers.includes(marker));
    for (; this.#seenRequests < simulator.requests.length; this.#seenRequests += 1) {
      const request = simulator.requests[this.#seenRequests];
      if (request === undefined || !decodeURIComponent(request.path).includes(leg.carrierCallId)) continue;
      if (request.purpose === 'transfer') this.transferredAt ??= Date.now();
      if (request.purpose === 'hang-up') this.hungUpAt ??= Date.now();
    }
  }

  /** @param {import('../../../src/testing/index.js').CarrierSimulator} simulator @param {ReadonlySet<object>} others */
  #find(simulator, others) {
    const { from, to } = this.parties;
    const found = simulator.legs.find((leg) => {
      const parties = partiesOf(leg);
      return parties.from === from && parties.to === to && !others.has(leg);
    });
    this.#seenRequests = simulator.requests.length;
    if (found !== undefined) insideOf(found).line.keepAudio();
    return found;
  }

  /**
   * What judges need to know of a call that is over.
   * @param {{
   *   kills: readonly SeenKill[], effects: readonly import('./effects.mjs').SeenEffect[], seen: Evidence['seen'],
   *   records: Evidence['records'], starts: number, ends: number,
   * }} known
   * @returns {Promise<Evidence>}
   */
  async evidence({ kills, effects, ...known }) {
    const { plan, leg, answeredAt = null, endedAt = Date.now() } = this;
    const reports = leg?.reports ?? [];
    const beganAt = reports[0]?.startedAt ?? answeredAt ?? endedAt;
    const since = (/** @type {number} */ at) => at - beganAt;
    const { line, firstStreamMs } = insideOf(leg ?? {});
    const { person, agent } = line?.render(firstStreamMs ?? line.nowMs) ?? {
      person: new Int16Array(),
      agent: new Int16Array(),
    };
    const markers = plan.asks.map(({ marker }) => marker);
    const rangMs = since(this.rangAt ?? endedAt);
    return {
      ...known,
      plan,
      kills: kills
        .map(({ at, backAt }) => ({ atMs: since(at), restartMs: backAt - at }))
        .filter(({ atMs, restartMs }) => atMs + restartMs > rangMs && atMs < since(endedAt)),
      rangMs,
      endMs: since(endedAt),
      answeredMs: answeredAt === null ? null : since(answeredAt),
      heard: await readWords(agent),
      said: await readWords(person),
      agentSpeech: testing.findSpeech(agent, { sampleRateHz: RATE_HZ }),
      callerSpeech: testing.findSpeech(person, { sampleRateHz: RATE_HZ }),
      streams: reports.map(({ startedAt, durationMs, end }) => ({
        end: `${end?.by} ${end?.how} ${end?.closeCode ?? ''} ${end?.reason ?? ''}`.trim(),
        startMs: since(startedAt),
        endMs: since(startedAt) + (durationMs ?? 0),
      })),
      transferredMs: this.transferredAt === undefined ? null : since(this.transferredAt),
      hungUpMs: this.hungUpAt === undefined ? null : since(this.hungUpAt),
      effects: effects
        .filter(({ marker }) => markers.includes(marker))
        .map(({ at, ...effect }) => ({ ...effect, atMs: since(at) })),
      violations: leg?.violations ?? [],
    };
  }
}

/** Reads tones in pieces, between which others get their turn. @param {Int16Array} audio */
async function readWords(audio) {
  /** @type {import('../../../src/testing/index.js').HeardWord[]} */
  const words = [];
  const reader = new testing.ToneReader({ sampleRateHz: RATE_HZ, onWord: (word) => words.push(word) });
  for (let at = 0; at < audio.length; at += READ_SAMPLES) {
    reader.push(audio.subarray(at, at + READ_SAMPLES));
    await new Promise((resolve) => setImmediate(resolve));
  }
  reader.flush();
  return words;
}
