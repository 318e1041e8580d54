// What must hold of facts, records and sounds of a cluster, whatever happened to it.

/** @typedef {import('../../../src/index.js').CallEvent} CallEvent */
/** @typedef {import('../../../src/index.js').CallRecord} CallRecord */
/** @typedef {{ name: string, joinedAt: number, facts: readonly CallEvent[], shown: readonly CallEvent[], isThere: boolean, records: ReadonlyMap<string, CallRecord> }} SeenNode `shown`: facts in the order in which its dashboard told them. */
/** @typedef {{ readonly callId: string, readonly port: number, readonly sentAt: readonly number[] }} Carried */
/** @typedef {import('../../../src/testing/index.js').Span} Span */

/** Pieces of audio with less between them are one sound. */
const PIECE_MS = 100;
/** What is on its way to the ear as a server dies is no sign of life. */
const ON_ITS_WAY_MS = 300;
/** A server that died may have said something of the last moment to nobody. */
const LAST_MOMENT_MS = 2000;

/** @param {{ term: number, seq: number }} one @param {{ term: number, seq: number }} other */
const compare = (one, other) => one.term - other.term || one.seq - other.seq;

/** @template T @param {readonly T[]} list @param {(each: T) => string} keyOf */
function groupBy(list, keyOf) {
  /** @type {Map<string, T[]>} */
  const groups = new Map();
  for (const each of list) {
    const key = keyOf(each);
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return groups;
}

/** Ends that were stated for each call: exactly one. @param {readonly SeenNode[]} nodes @returns {string[]} */
export function badEnds(nodes) {
  const facts = nodes.flatMap(({ name, facts: own }) => own.map((fact) => ({ name, fact })));
  return [...groupBy(facts, ({ fact }) => fact.callId)].flatMap(([callId, all]) => {
    const ends = all.filter(({ fact }) => fact.type === 'call.ended');
    if (ends.length === 1) return [];
    const told = ends.map(({ name, fact }) => `${name} in term ${fact.term}`).join(', ');
    return [`${callId} has ${ends.length} ends: ${told || 'none'}`];
  });
}

/**
 * What a dashboard told twice, or in another order. A snapshot tells the rest.
 * @param {readonly SeenNode[]} nodes @returns {string[]}
 */
export function badOrder(nodes) {
  return nodes.flatMap(({ name, shown }) =>
    [...groupBy(shown, ({ callId }) => callId)].flatMap(([callId, facts]) => {
      const wrong = facts.find((fact, index) => index > 0 && compare(fact, facts[index - 1] ?? fact) <= 0);
      if (wrong === undefined) return [];
      return [`${name} told ${wrong.type} (${wrong.term}, ${wrong.seq}) of ${callId} twice, or too late`];
    }),
  );
}

/**
 * What was stated, and a dashboard did not tell. What the server did not know that took the call over is no fact; what one said in the moment in which it died
 * may be lost; and who joined later than the log was lost does not know what was before.
 * @param {readonly SeenNode[]} nodes @param {{ goneAt: (name: string) => number | undefined }} about @returns {string[]}
 */
export function missing(nodes, { goneAt }) {
  const stated = nodes.flatMap(({ name, facts }) => facts.map((fact) => ({ name, fact })));
  const calls = groupBy(stated, ({ fact }) => fact.callId);
  return nodes
    .filter(({ isThere }) => isThere)
    .flatMap(({ name, joinedAt, shown }) => {
      const told = new Set(shown.map((fact) => `${fact.callId} ${fact.term} ${fact.seq}`));
      return [...calls].flatMap(([callId, all]) => {
        if (all.some(({ fact }) => fact.at <= joinedAt)) return [];
        const lost = all.find(({ name: by, fact }) => {
          const { term, at, seq } = fact;
          if (told.has(`${callId} ${term} ${seq}`)) return false;
          if (at > (goneAt(by) ?? Number.POSITIVE_INFINITY) - LAST_MOMENT_MS) return false;
          // Another server went on with the call from before it.
          return !all.some((other) => other.fact.term > term && other.fact.seq <= seq);
        });
        if (lost === undefined) return [];
        const { type, term, seq } = lost.fact;
        const own = shown.filter((fact) => fact.callId === callId);
        const rest = own.map((fact) => `${fact.term}.${fact.seq}`).join(' ') || 'nothing';
        return [
          `${name} did not tell ${type} (${term}.${seq}) of ${callId}, which ${lost.name} stated, but ${rest}`,
        ];
      });
    });
}

/**
 * Records of a call that the servers do not agree on, or that are not over. `knows`: whether a server can know of it.
 * @param {readonly SeenNode[]} nodes @param {{ carrierCallIds: readonly string[], knows: (node: SeenNode, record: CallRecord) => boolean }} about @returns {string[]}
 */
export function badRecords(nodes, { carrierCallIds, knows }) {
  const there = nodes.filter(({ isThere }) => isThere);
  return carrierCallIds.flatMap((carrierCallId) => {
    const found = there.map((node) => ({
      node,
      records: [...node.records.values()].filter((record) => record.carrierCallId === carrierCallId),
    }));
    const first = found.find(({ records }) => records.length > 0)?.records[0];
    if (first === undefined) return [];
    return found.flatMap(({ node, records }) => {
      const [record, other] = records;
      if (record === undefined)
        return knows(node, first) ? [`${node.name} has no record of ${first.callId}`] : [];
      if (other !== undefined) return [`${node.name} has ${records.length} records of ${carrierCallId}`];
      if (record.status !== 'completed') return [`${node.name} has ${record.callId} as ${record.status}`];
      const differs = Object.keys({ ...first, ...record }).filter(
        (key) => textOf(first, key) !== textOf(record, key),
      );
      if (differs.length === 0 || !knows(node, first)) return [];
      return [`${node.name} has another record of ${record.callId}: ${differs.join(', ')} differ`];
    });
  });
}

/** @param {CallRecord} record @param {string} key */
const textOf = (record, key) =>
  JSON.stringify(/** @type {Record<string, unknown>} */ (/** @type {unknown} */ (record))[key]);

/** Stretches in which audio came. @param {readonly number[]} sentAt */
function sounds(sentAt) {
  /** @type {{ from: number, to: number }[]} */
  const spans = [];
  for (const at of sentAt) {
    const last = spans.at(-1);
    if (last !== undefined && at - last.to <= PIECE_MS) last.to = at;
    else spans.push({ from: at, to: at });
  }
  return spans;
}

/** The longest time in which two servers sent audio on one call, by call. @param {readonly Carried[]} streams */
export function longestOverlaps(streams) {
  /** @type {Map<string, number>} */
  const longest = new Map();
  for (const [callId, all] of groupBy(streams, (stream) => stream.callId)) {
    const spans = all.map(({ sentAt }) => sounds(sentAt));
    for (const [index, own] of spans.entries())
      for (const other of spans.slice(index + 1))
        for (const one of own)
          for (const two of other) {
            const ms = Math.min(one.to, two.to) - Math.max(one.from, two.from);
            if (ms > (longest.get(callId) ?? 0)) longest.set(callId, ms);
          }
  }
  return longest;
}

/**
 * The longest time in which neither side was heard, from when a server died or went silent until the agent was heard again, or the call was over. Times are
 * milliseconds since the first stream of the call began.
 * @param {{ agentSpeech: readonly Span[], callerSpeech: readonly Span[], endMs: number }} heard @param {number} atMs
 */
export function silenceOf({ agentSpeech, callerSpeech, endMs }, atMs) {
  const back = agentSpeech.find(({ startMs }) => startMs > atMs + ON_ITS_WAY_MS)?.startMs ?? endMs;
  const untilMs = Math.max(atMs, Math.min(back, endMs));
  let quietSinceMs = atMs;
  let longestMs = 0;
  for (const span of [...agentSpeech, ...callerSpeech].toSorted((a, b) => a.startMs - b.startMs)) {
    if (span.endMs <= quietSinceMs) continue;
    if (span.startMs >= untilMs) break;
    longestMs = Math.max(longestMs, span.startMs - quietSinceMs);
    quietSinceMs = span.endMs;
  }
  return { untilMs, silentMs: Math.round(Math.max(longestMs, untilMs - quietSinceMs)) };
}
