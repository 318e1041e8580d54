// What must hold for a call whose server was killed: from what the caller heard, what the records say and what the tools left behind.
import { openingsOf } from './conversation.mjs';

/** The caller may hear this much silence more than the restart took. */
const SILENCE_MS = 2000;
/** How long before a kill something must have happened so that nobody may have lost it, and how long behind it nobody can know of it. */
const SETTLED_MS = 1000;
/** The same of what a caller has said: it is recognized first. */
const RECOGNIZED_MS = 1500;
/** A sentence whose last sound is that fresh may be one that nobody knows was heard. What a realtime model says has a mark every second. */
const FRESH_MS = 300;
const FRESH_OF_MODEL_MS = 1300;
const MS_PER_CHARACTER = 60;
/** Two processes note the same moment that differently. */
const TOLERANCE_MS = 50;
/** A recognizer says this often what it has used: so much is lost with its process. */
const USAGE_STEP_S = 10;
/** Shares of what was used that must at least be on the record: both sides measure, each in its way. */
const LEAST_SHARE = 0.85;

/**
 * Times are milliseconds since the first stream of the call began, unless a name says otherwise.
 * @typedef {import('../../../src/testing/index.js').HeardWord} HeardWord
 * @typedef {import('../../../src/testing/index.js').Span} Span
 * @typedef {import('../../../src/index.js').CallRecord} CallRecord
 * @typedef {{ atMs: number, restartMs: number }} Kill
 * @typedef {{ tool: string, marker: string, key: string, atMs: number }} Effect
 * @typedef {{
 *   plan: import('./conversation.mjs').CallPlan,
 *   kills: readonly Kill[],
 *   rangMs: number, endMs: number,
 *   answeredMs: number | null,
 *   heard: readonly HeardWord[], said: readonly HeardWord[],
 *   agentSpeech: readonly Span[], callerSpeech: readonly Span[],
 *   streams: readonly (Span & { end?: string })[],
 *   transferredMs: number | null, hungUpMs: number | null,
 *   effects: readonly Effect[],
 *   records: readonly CallRecord[],
 *   starts: number, ends: number,
 *   seen: { cost: number, inputTokens: number } | null,
 *   violations: readonly string[],
 * }} Evidence
 * `seen`: what the record had come to before the last kill. `transferredMs`, `hungUpMs`: when the carrier was told so.
 */

/**
 * What the call was doing as the caller experienced it.
 * @param {Evidence} evidence @param {number} atMs
 */
export function momentAt(evidence, atMs) {
  const { plan, answeredMs, heard, agentSpeech, callerSpeech, effects, transferredMs, streams } = evidence;
  const knownMs = plan.callee === undefined ? UNKNOWN_MS : 0;
  if (answeredMs === null || atMs < answeredMs + knownMs)
    return plan.callee === undefined ? 'ringing' : 'dialling';
  if (transferredMs !== null && atMs >= transferredMs) return 'transfer';
  if (!streams.some(({ startMs, endMs }) => startMs <= atMs && endMs >= atMs - TOLERANCE_MS))
    return 'without a stream';
  if (plan.isMachine === true) return 'voicemail';
  if (effects.some((effect) => effect.atMs <= atMs && atMs < effect.atMs + TOOL_MS)) return 'tool';
  const goodbyes = plan.asks.filter(({ verb }) => verb === 'goodbye').map(({ marker }) => `${marker}a`);
  if (heard.some(({ text, startMs }) => startMs <= atMs && goodbyes.includes(text))) return 'goodbye';
  const covers = (/** @type {Span} */ { startMs, endMs }) => startMs <= atMs && atMs < endMs;
  if (callerSpeech.some(covers)) return 'caller speaks';
  const lastAsk = callerSpeech.findLast(({ endMs }) => endMs <= atMs);
  if (agentSpeech.some(covers)) return lastAsk === undefined ? 'greeting' : 'agent speaks';
  const answered = agentSpeech.some(({ startMs }) => startMs >= (lastAsk?.endMs ?? 0) && startMs <= atMs);
  if (lastAsk !== undefined && !answered)
    return atMs - lastAsk.endMs < ENDPOINTING_MS ? 'endpointing' : 'thinking';
  return agentSpeech.length === 0 || (agentSpeech[0]?.startMs ?? 0) > atMs ? 'greeting' : 'listening';
}

/** A caller whose stream is younger may be known to nobody. */
const UNKNOWN_MS = 100;

/** How long a tool of the trial runs, and how long the caller's silence is weighed. */
export const TOOL_MS = 1200;
const ENDPOINTING_MS = 500;

/** The longest stretch in which neither side is heard. @param {readonly Span[]} speech @param {Span} between */
function longestSilence(speech, { startMs, endMs }) {
  let quietSinceMs = startMs;
  let longestMs = 0;
  for (const span of speech.toSorted((a, b) => a.startMs - b.startMs)) {
    if (span.endMs <= quietSinceMs) continue;
    if (span.startMs >= endMs) break;
    longestMs = Math.max(longestMs, span.startMs - quietSinceMs);
    quietSinceMs = span.endMs;
  }
  return Math.max(longestMs, endMs - quietSinceMs);
}

/**
 * What the caller heard of a kill: the longest silence until the agent was heard again or the call was over, how much of it the restart does not
 * explain, and how long the agent was away. Whoever answers later hears nothing of it before that.
 * @param {Evidence} evidence @param {Kill} kill
 */
export function gapOf({ agentSpeech, callerSpeech, answeredMs, endMs }, { atMs, restartMs }) {
  const fromMs = Math.max(atMs, answeredMs ?? endMs);
  // What was on its way to the ear when the process died is no sign of life.
  const backMs = agentSpeech.find(({ startMs }) => startMs > atMs + 100)?.startMs ?? null;
  const untilMs = Math.max(fromMs, Math.min(backMs ?? endMs, endMs));
  const speech = [...agentSpeech, ...callerSpeech];
  const silentMs = Math.round(longestSilence(speech, { startMs: fromMs, endMs: untilMs }));
  return {
    silentMs,
    beyondMs: silentMs - Math.round(Math.max(0, atMs + restartMs - fromMs)),
    awayMs: backMs === null ? null : Math.round(backMs - fromMs),
  };
}

/**
 * Whether the agent is to be heard behind a kill: not by who is handed over, or hears the carrier's voice. Who answers while nobody is there is
 * told of once more, when the carrier likes.
 * @param {Evidence} evidence @param {Kill} kill
 */
export function expectsAgent(evidence, { atMs, restartMs }) {
  const moment = momentAt(evidence, atMs);
  if (moment === 'dialling') return evidence.answeredMs !== null && evidence.answeredMs > atMs + restartMs;
  return !['ringing', 'transfer', 'without a stream'].includes(moment);
}

/** @param {Evidence} evidence @returns {string[]} */
function silences(evidence) {
  return evidence.kills.flatMap((kill) => {
    if (!expectsAgent(evidence, kill)) return [];
    // The next kill begins a count of its own.
    const next = evidence.kills.find(({ atMs }) => atMs > kill.atMs);
    const { silentMs, beyondMs } = gapOf(
      { ...evidence, endMs: Math.min(evidence.endMs, next?.atMs ?? evidence.endMs) },
      kill,
    );
    return beyondMs <= SILENCE_MS
      ? []
      : [
          `${(silentMs / 1000).toFixed(1)} s of silence, the restart took ${(kill.restartMs / 1000).toFixed(1)} s`,
        ];
  });
}

/** Sentences that were said again although no kill had cut them. @param {Evidence} evidence @returns {string[]} */
function repetitions({ plan, heard, kills, records }) {
  const freshMs = records[0]?.mode === 'realtime' ? FRESH_OF_MODEL_MS : FRESH_MS;
  const openings = openingsOf(plan);
  const begun = heard.filter(({ text }) => openings.has(plain(text)));
  return [...openings].flatMap(([opening, characters]) => {
    const times = begun.filter(({ text }) => plain(text) === opening);
    const unexplained = times.slice(1).filter((_, index) => {
      const last = times[index];
      if (last === undefined) return false;
      const endMs = last.startMs + characters * MS_PER_CHARACTER + freshMs;
      return !kills.some(({ atMs }) => atMs >= last.startMs - FRESH_MS && atMs <= endMs);
    });
    return unexplained.length === 0 ? [] : [`"${opening} …" was said ${times.length} times`];
  });
}

/** @param {string} text */
const plain = (text) => text.toLowerCase().replace(/[^a-z0-9]/g, '');

/** What was asked in one piece, with somebody there to hear it, is answered. @param {Evidence} evidence @returns {string[]} */
function unanswered({ plan, heard, said, callerSpeech, kills, endMs, streams, transferredMs }) {
  // A busy machine makes holes: one word is read as two then.
  const agentSaid = heard.map(({ text }) => plain(text)).join('');
  return plan.asks.flatMap((ask) => {
    const marker = said.find(({ text }) => plain(text) === ask.marker);
    if (marker === undefined || endMs - marker.endMs < PATIENCE_MS || transferredMs !== null) return [];
    // Whoever asks while nobody listens, or is not known to have asked when the process dies, is not answered. Nor is who speaks into the answer.
    const isLost = kills.some(({ atMs }) => {
      const backMs = streams.find(({ startMs }) => startMs > atMs)?.startMs ?? endMs;
      const isUnheard = marker.endMs > atMs - RECOGNIZED_MS && marker.startMs < backMs + SETTLED_MS;
      const speaksAgain = (/** @type {Span} */ { startMs, endMs: untilMs }) =>
        startMs > marker.endMs && untilMs > atMs && startMs < backMs + SETTLED_MS;
      return isUnheard || callerSpeech.some(speaksAgain);
    });
    if (isLost || agentSaid.includes(ask.marker.slice(0, READABLE))) return [];
    return [`"${ask.verb} ${ask.marker}" was not answered`];
  });
}

/** So much of a word is read where a busy machine has made a hole in it. */
const READABLE = 5;
/** Who leaves sooner after a question has not waited for an answer. */
const PATIENCE_MS = 6000;

/** @param {Effect} effect */
const nameOf = ({ tool, marker }) => `${tool} ${marker}`;

/** @param {Evidence} evidence @returns {string[]} */
function toolsRunAgain({ effects, records }) {
  const again = [...new Set(effects.map(nameOf))].flatMap((what) => {
    const runs = effects.filter((effect) => nameOf(effect) === what);
    if (runs.length === 1) return [];
    const keys = new Set(runs.map(({ key }) => key));
    if (what.startsWith('check ') && keys.size === 1) return [];
    return [`"${what}" ran ${runs.length} times, under ${keys.size} keys`];
  });
  const known = records.flatMap(({ turns }) => turns.flatMap(({ toolCalls }) => toolCalls));
  const missing = ['book', 'check'].flatMap((tool) => {
    const ran = new Set(effects.filter((effect) => effect.tool === tool).map(({ key }) => key)).size;
    const told = known.filter(({ name }) => name === tool).length;
    return told >= ran ? [] : [`"${tool}" ran ${ran} times, the record has ${told}`];
  });
  return [...again, ...missing];
}

/** @param {Evidence} evidence @returns {string[]} */
function badFigures({ plan, kills, records, seen, streams, heard }) {
  const [record] = records;
  if (record === undefined || record.usage === null) return [];
  const { usage, cost, mode, durationMs } = record;
  const heardSeconds = streams.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0) / 1000;
  const characters = heard.reduce((sum, { text }) => sum + text.length, 0);
  const isPipeline = mode === 'pipeline';
  const lostSeconds = kills.length * USAGE_STEP_S;
  // Nobody listens to a machine's words.
  const hears = isPipeline && plan.isMachine !== true;
  /** @type {[string, number, number][]} */
  const figures = [
    ['cost', cost.total, seen?.cost ?? 0],
    ['input tokens', usage.llmInputTokens, seen?.inputTokens ?? 0],
    ['seconds of the line', usage.telephonySeconds, Math.floor((durationMs ?? 0) / 1000)],
    ['seconds recognized', usage.sttSeconds, hears ? heardSeconds * LEAST_SHARE - 2 - lostSeconds : 0],
    ['characters spoken', usage.ttsCharacters, isPipeline ? characters * LEAST_SHARE : 0],
  ];
  return figures
    .filter(([, is, least]) => is < least - 1e-9)
    .map(([name, is, least]) => `${name}: ${round(is)}, no less than ${round(least)} were used`);
}

/** @param {number} value */
const round = (value) => Math.round(value * 1e6) / 1e6;

/** So long callers listen before they hang up, at least. */
const LISTENS_MS = 800;
/** Carrier A itself ends no call so soon after its server has died. */
const HELD_MS = 2500;

/** Whoever leaves while nobody is there is only found to be gone: the caller at the end of their script, or one who was hung up. @param {Evidence} evidence */
function hasLeftUnseen({ plan, kills, said, endMs, hungUpMs }) {
  const last = said.find(({ text }) => plain(text) === plan.asks.at(-1)?.marker);
  const isThrough =
    plan.ends.includes('caller-hangup') && last !== undefined && endMs - last.endMs >= LISTENS_MS;
  return kills.some(
    ({ atMs, restartMs }) =>
      endMs > atMs - FRESH_MS &&
      endMs < atMs + restartMs + SETTLED_MS &&
      ((isThrough && endMs < atMs + HELD_MS) || (hungUpMs !== null && hungUpMs < atMs + FRESH_MS)),
  );
}

/**
 * Callers who ring while nobody is there, or have only begun to be answered, are known to nobody, and nothing is promised to them. Nor to those who answer
 * a call of carrier A meanwhile, or are found to be a machine: it tells so once.
 * @param {Evidence} evidence @param {{ tellsOnce: boolean }} carrier
 */
export function isUnknown(evidence, { tellsOnce }) {
  const { plan, kills, answeredMs, records } = evidence;
  if (plan.callee === undefined) return kills.some(({ atMs }) => momentAt(evidence, atMs) === 'ringing');
  const isUntold = plan.isMachine === true && kills.length > 0 && records[0]?.amd === null;
  const answersMeanwhile = kills.some(
    ({ atMs, restartMs }) =>
      answeredMs !== null && answeredMs > atMs - FRESH_MS && answeredMs < atMs + restartMs + FRESH_MS,
  );
  return tellsOnce && (isUntold || answersMeanwhile);
}

/** @param {Evidence} evidence @returns {string[]} */
function badRecord(evidence) {
  const { plan, kills, records, starts, ends, endMs, answeredMs, transferredMs } = evidence;
  const [record, ...others] = records;
  if (record === undefined) return ['there is no record'];
  const breaches = others.length === 0 ? [] : [`there are ${records.length} records`];
  const { endReason, status, incidents } = record;
  const leftUnseen = hasLeftUnseen(evidence);
  if (status !== 'completed') breaches.push(`it is ${status}`);
  else if (
    endReason === null ||
    !(plan.ends.includes(endReason) || (leftUnseen && endReason === 'process-lost'))
  )
    breaches.push(`it ended as ${endReason}`);
  const during = kills.filter(
    ({ atMs, restartMs }) =>
      answeredMs !== null && atMs > answeredMs && atMs + restartMs < endMs - SETTLED_MS,
  );
  const replaced = incidents.filter(({ code }) => code === 'process-replaced').length;
  if (!leftUnseen && transferredMs === null && replaced < during.length)
    breaches.push(`${during.length} kills, ${replaced} incidents of a process that was replaced`);
  // A process tells of the start first, and then keeps that it has: one that dies in between leaves it to be told again.
  const unkept = kills.filter(({ atMs }) => atMs > -TOLERANCE_MS && atMs < FRESH_MS).length;
  const least = record.mode === null ? 0 : 1;
  if (starts < least || starts > 1 + unkept) breaches.push(`onCallStart was called ${starts} times`);
  if (ends === 0) breaches.push('onCallEnd was not called');
  return breaches;
}

/** What must hold, each as a sentence, with what is found against it. @type {Readonly<Record<string, (evidence: Evidence) => readonly string[]>>} */
export const LAWS = {
  'each call goes on to the end that its script has, in one record': badRecord,
  [`nobody hears more than ${SILENCE_MS / 1000} s of silence beyond the restart`]: silences,
  'nothing is said twice beyond the sentence that was cut': repetitions,
  'whatever was asked is answered': unanswered,
  'no tool runs twice, and the record has each': toolsRunAgain,
  'the record has the cost of both processes': badFigures,
  'nothing is done that the carrier refuses': ({ violations }) => violations,
};

/**
 * What the stored facts of a call must be: one beginning, one end, and none missing.
 * @param {readonly import('../../../src/index.js').CallEvent[]} facts @returns {string[]}
 */
export function judgeFacts(facts) {
  const count = (/** @type {string} */ type) => facts.filter((fact) => fact.type === type).length;
  const breaches = [];
  if (count('call.ended') !== 1) breaches.push(`call.ended was stated ${count('call.ended')} times`);
  if (count('call.started') > 1) breaches.push(`call.started was stated ${count('call.started')} times`);
  const isInOrder = facts.every((fact, index) => {
    const before = facts[index - 1];
    if (before === undefined || fact.term > before.term) return true;
    return fact.term === before.term && fact.seq > before.seq;
  });
  if (!isInOrder) breaches.push('the facts are out of order');
  return breaches;
}
