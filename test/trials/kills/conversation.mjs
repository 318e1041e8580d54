// What is said in the calls of the kill trial, by callers and by the model. Each sentence begins with a word that no other has, so that one that is
// said twice is found in the recording.

/**
 * @typedef {import('../../../src/testing/index.js').CallerStep} CallerStep
 * @typedef {import('../../../src/testing/index.js').Callee} Callee
 * @typedef {import('../../../src/index.js').EndReason} EndReason
 * @typedef {{ role: 'user' | 'assistant' | 'tool', text: string }} Said
 * @typedef {{ text: string, toolCalls?: { name: string, arguments: string }[] }} Answer
 * @typedef {{ verb: string, marker: string }} Ask what a caller says: `verb marker.`
 * @typedef {{
 *   kind: string, asks: readonly Ask[], ends: readonly EndReason[],
 *   script?: readonly CallerStep[], callee?: Callee, isMachine?: boolean,
 * }} CallPlan
 */

export const GREETING = 'Greetings from the bakery. Anything can be asked.';
export const VOICEMAIL = 'Parcels are ready for you. Collect them on Tuesday please.';
const ASK = /\b(tell|book|check|reception|goodbye) ([a-z]{8})\b/;

/** @param {Ask} ask @returns {string[]} */
function sentencesOf({ verb, marker }) {
  if (verb === 'tell')
    return [`${marker}a comes first.`, `${marker}b is in the middle.`, `${marker}c ends it.`];
  if (verb === 'book' || verb === 'check') return [`${marker}a takes a moment.`];
  if (verb === 'reception') return [`${marker}a is who you get now.`];
  return [`${marker}a and goodbye to you.`];
}

/** @param {Ask} ask */
function toolOf({ verb, marker }) {
  if (verb === 'book' || verb === 'check') return { name: verb, arguments: JSON.stringify({ marker }) };
  if (verb === 'reception') return { name: 'transfer_call', arguments: '{"to":"reception"}' };
  return verb === 'goodbye' ? { name: 'end_call', arguments: '{}' } : undefined;
}

/** What the model says next: it answers the last thing that it was asked, and goes on where it was cut off. @param {readonly Said[]} history @returns {Answer} */
export function answer(history) {
  const at = history.findLastIndex(({ role, text }) => role === 'user' && ASK.test(text.toLowerCase()));
  const later = history.slice(at + 1);
  const [, verb = '', marker = ''] = ASK.exec(history[at]?.text.toLowerCase() ?? '') ?? [];
  if (verb === '' || later.some(({ role }) => role === 'user')) return { text: 'What was that again?' };
  const result = later.findLast(({ role }) => role === 'tool');
  const said = later.map(({ text }) => text).join(' ');
  if (result !== undefined) {
    const isDone = result.text.includes('all done');
    return { text: `${marker}d ${isDone ? 'is done for you' : 'is not certain'}.` };
  }
  const rest = sentencesOf({ verb, marker }).filter((sentence) => !said.includes(sentence));
  const tool = toolOf({ verb, marker });
  const text = rest.length === 0 && tool === undefined ? 'Please go on.' : rest.join(' ');
  return tool === undefined ? { text } : { text, toolCalls: [tool] };
}

/** Which words the sentences begin with that the agent may say in a call, and how long each lasts. @param {CallPlan} plan @returns {Map<string, number>} */
export function openingsOf({ asks, isMachine }) {
  const sentences = [
    ...GREETING.split(/(?<=\.) /),
    ...(isMachine === true ? VOICEMAIL.split(/(?<=\.) /) : []),
    ...asks.flatMap((ask) => [...sentencesOf(ask), `${ask.marker}d is not certain.`]),
  ];
  return new Map(sentences.map((sentence) => [firstWord(sentence), sentence.length]));
}

/** @param {string} sentence */
const firstWord = (sentence) => sentence.split(' ')[0]?.toLowerCase() ?? '';

const LISTENS = /** @type {const} */ ({ type: 'wait-for-agent', quietMs: 900, timeoutMs: 9000 });

/** @param {Ask} ask @returns {CallerStep[]} */
const says = ({ verb, marker }) => [LISTENS, { type: 'say', text: `${verb} ${marker}.` }];

/** @param {import('../world.mjs').Dice} dice @param {readonly string[]} verbs @returns {Ask[]} */
const asksOf = (dice, verbs) => verbs.map((verb) => ({ verb, marker: dice.word() }));

/** The calls that are made, by kind. @type {Record<string, (dice: import('../world.mjs').Dice) => CallPlan>} */
export const CALLS = {
  talk(dice) {
    const asks = asksOf(dice, ['tell', 'tell', 'tell']);
    const script = [...asks.flatMap(says), LISTENS, /** @type {const} */ ({ type: 'hang-up' })];
    return { kind: 'talk', asks, script, ends: ['caller-hangup'] };
  },
  tools(dice) {
    const asks = asksOf(dice, ['book', 'check', 'tell']);
    const script = [...asks.flatMap(says), LISTENS, /** @type {const} */ ({ type: 'hang-up' })];
    return { kind: 'tools', asks, script, ends: ['caller-hangup'] };
  },
  goodbye(dice) {
    // Who was not heard says it again.
    const asks = asksOf(dice, ['tell', ...Array(6).fill('goodbye')]);
    return { kind: 'goodbye', asks, script: [...asks.flatMap(says), LISTENS], ends: ['agent-hangup'] };
  },
  transfer(dice) {
    const asks = asksOf(dice, ['tell', ...Array(6).fill('reception')]);
    return { kind: 'transfer', asks, script: [...asks.flatMap(says), LISTENS], ends: ['transferred'] };
  },
  outbound(dice) {
    const asks = asksOf(dice, ['tell', 'tell']);
    const script = [...asks.flatMap(says), LISTENS, /** @type {const} */ ({ type: 'hang-up' })];
    return {
      kind: 'outbound',
      asks,
      ends: ['caller-hangup'],
      callee: { type: 'human', ringMs: 3500, script },
    };
  },
  voicemail() {
    return {
      kind: 'voicemail',
      asks: [],
      ends: ['agent-hangup'],
      isMachine: true,
      callee: { type: 'machine', ringMs: 1500, greetingMs: 3500, silenceMs: 9000 },
    };
  },
};
