// When a process is killed: at a moment that is waited for, because it is short or rare, or at any.

/**
 * @typedef {import('./watched-call.mjs').WatchedCall} WatchedCall
 * @typedef {{ needs?: string, within: readonly [from: number, to: number], hasCome(calls: readonly WatchedCall[]): boolean }} Moment
 * `needs`: the kind of call that has such a moment. `within`: milliseconds after it.
 */

/** @param {string} kind @param {(call: WatchedCall) => boolean} isSo @returns {Pick<Moment, 'needs' | 'hasCome'>} */
const some = (kind, isSo) => ({
  needs: kind,
  hasCome: (calls) => calls.some((call) => call.plan.kind === kind && isSo(call)),
});

/** @type {Readonly<Record<string, Moment>>} */
export const MOMENTS = {
  any: { within: [0, 14_000], hasCome: () => true },
  'in the greeting': { within: [100, 3500], hasCome: (calls) => calls.some(({ hasStream }) => hasStream) },
  'behind a question': { ...some('talk', (call) => call.hasAsked), within: [0, 900] },
  'in an answer': { ...some('talk', (call) => call.hasAsked), within: [1200, 6000] },
  'in a tool': { ...some('tools', (call) => call.hasEffect), within: [50, 1000] },
  'in a transfer': { ...some('transfer', (call) => call.transferredAt !== undefined), within: [0, 1500] },
  'in a goodbye': { ...some('goodbye', (call) => call.hasAsked && call.saysGoodbye), within: [100, 2500] },
  'while it rings': { ...some('outbound', (call) => call.leg !== undefined), within: [0, 2500] },
  'as it is dialled': { ...some('outbound', (call) => call.isPlaced), within: [0, 150] },
  'at a machine': { ...some('voicemail', (call) => call.answeredAt !== undefined), within: [200, 9000] },
};
