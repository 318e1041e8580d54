// Whole calls over a carrier, side by side on one server, in each of which one vendor drops its connection once, at a moment of its own.
// Every call has its own words, so that what belongs to another one is seen.
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { CallReport } from '../../src/testing/index.js';
import { MOMENTS, type Phase } from './call-moments.js';
import { type CarrierPhone, eventually } from './carrier-phone.js';

/** One call of the group; without `drop` nothing happens to it. */
export interface DroppedCall {
  /** A word that no other call has. */
  readonly word: string;
  readonly phase: Phase;
  /** Breaks the connection that was the `index`th to be opened. */
  readonly drop?: ((index: number) => void) | undefined;
  /** Connections that the vendor has been asked for so far. */
  readonly opened: () => number;
}

export interface PlayedCall {
  readonly call: DroppedCall;
  readonly report: CallReport;
  readonly record: CallRecord;
}

export const questionOf = (word: string): string => `Tell me about ${word} please.`;
export const answerTo = (word: string): string => `We have plenty of ${word} today and tomorrow.`;
export const FAREWELL = 'That is all.';
export const GREETING = 'Hello, this is the bakery.';
export const GOODBYE = 'Thank you and goodbye.';

/** The word of the caller whose texts these are. */
export function wordIn(texts: readonly string[]): string {
  return /Tell me about (\w+)/.exec(texts.join(' '))?.[1] ?? 'nothing';
}

/** How long the caller waits behind the greeting before they speak, and how far into what they say they are then interrupted. */
const INTO_QUESTION_MS = 1800;

/** Whose early connections drop come last: until then the others' are counted in the order of their calls. */
export const isEarly = (phase: Phase): boolean => phase === 'start' || phase === 'greeting';

export async function playDrops(phone: CarrierPhone, calls: readonly DroppedCall[]): Promise<PlayedCall[]> {
  const played: Promise<PlayedCall>[] = [];
  const inOrder = [
    ...calls.filter(({ phase }) => !isEarly(phase)),
    ...calls.filter(({ phase }) => isEarly(phase)),
  ];
  for (const [number, call] of inOrder.entries()) {
    const index = call.opened();
    const from = `+150055501${String(number).padStart(2, '0')}`;
    const playing = play(phone, call, from);
    await eventually('the connection of a call', () => (call.opened() > index ? true : undefined));
    const dropping = drop(phone, call, { from, index });
    const both = Promise.all([playing, dropping]).then(([result]) => result);
    // It is looked at in the end.
    both.catch(() => {});
    played.push(both);
    if (call.drop === undefined || !isEarly(call.phase)) continue;
    await dropping;
    // The one in its place is not to be counted as that of the next call.
    await eventually('another connection', () => (call.opened() > index + 1 ? true : undefined));
  }
  return Promise.all(played);
}

async function play(phone: CarrierPhone, call: DroppedCall, from: string): Promise<PlayedCall> {
  const report = await phone.simulator.call({
    from,
    script: [
      { type: 'wait-for-agent' },
      { type: 'say', text: questionOf(call.word) },
      { type: 'wait-for-agent' },
      { type: 'say', text: FAREWELL },
      { type: 'pause', durationMs: 20_000 },
    ],
    maxDurationMs: 60_000,
  });
  return { call, report, record: await phone.record(report.carrierCallId) };
}

/** Waits for the moment of the call, and drops its connection. */
async function drop(
  phone: CarrierPhone,
  { drop: breakIt, phase }: DroppedCall,
  { from, index }: { from: string; index: number },
): Promise<void> {
  if (breakIt === undefined) return;
  if (phase !== 'start') {
    await eventually(
      `the moment of a call: ${phase}`,
      async () => {
        const calls = await phone.server.calls.active();
        const record = calls.find(({ caller }) => caller === from);
        return record !== undefined && MOMENTS[phase](record) ? true : undefined;
      },
      30_000,
    );
    if (phase === 'listening') await pause(systemClock, INTO_QUESTION_MS);
  }
  breakIt(index);
}
