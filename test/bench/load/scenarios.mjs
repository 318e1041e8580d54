// What is measured beside what.

/** @typedef {import('./carrier.mjs').CarrierFigures} Figures */
/** @typedef {import('./carrier.mjs').CarrierPlan} CarrierPlan */
/** @typedef {'ours' | 'baseline'} Side */

/**
 * `per`: the frames that the costs are shared among. `back`: frames that come back for each that is sent. `callers`: those whom an agent
 * talks to are silent, or they would interrupt it.
 * @typedef {{ name: string, calls: number, agent: 'realtime' | 'listener' | 'talker', baseline: 'relay' | 'sink' | 'speaker', callers: CarrierPlan['callers'], per: 'sent' | 'framesBack', back: 0 | 1, goal?: number }} Scenario
 * @typedef {Record<Side, Figures>} Round
 */

/** @satisfies {Pick<Scenario, 'agent' | 'baseline' | 'callers' | 'per' | 'back'>} */
const REALTIME = /** @type {const} */ ({
  agent: 'realtime',
  baseline: 'relay',
  callers: 'tones',
  per: 'sent',
  back: 1,
});

export const SCENARIOS = /** @satisfies {Record<string, Scenario>} */ ({
  few: { ...REALTIME, name: 'realtime, G.711 both ways, 50 calls', calls: 50, goal: 1.2 },
  many: { ...REALTIME, name: 'realtime, G.711 both ways, 200 calls', calls: 200, goal: 1.2 },
  most: { ...REALTIME, name: 'realtime, G.711 both ways, 400 calls', calls: 400 },
  listener: {
    ...{ name: 'pipeline, the caller’s frames, 200 calls', calls: 200, goal: 1.25 },
    ...{ agent: 'listener', baseline: 'sink', callers: 'tones', per: 'sent', back: 0 },
  },
  talker: {
    ...{ name: 'pipeline, the agent’s speech, 100 calls', calls: 100, goal: 1.2 },
    ...{ agent: 'talker', baseline: 'speaker', callers: 'silence', per: 'framesBack', back: 1 },
  },
});
/** @typedef {keyof typeof SCENARIOS} ScenarioKey */

/** @param {Figures} figures @param {Scenario} scenario */
export const microsecondsOf = (figures, { per }) => (figures.cpuMs * 1000) / figures[per];
/** @param {Figures} figures @param {Scenario} scenario */
export const readsOf = (figures, { per }) => (figures.reads * 1000) / figures[per];
