// Whole calls over a carrier, side by side on one server, in each of which one vendor gets into trouble at a moment of its own.
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { Callee, CallerStep, CallReport, SimulatedLeg } from '../../src/testing/index.js';
import { MOMENTS, type Phase } from './call-moments.js';
import { type CarrierPhone, eventually, OWN_NUMBER } from './carrier-phone.js';
import {
  type CallVendors,
  FAREWELL,
  openVendors,
  questionOf,
  type TroubledPart,
} from './troubled-call-vendors.js';
import type { PipelineStage } from './troubled-call-stages.js';
import type { VendorTrouble } from './vendor-troubles.js';

/** One call of a group; without `trouble` nothing happens to it. */
export interface TroubledCell {
  readonly part: TroubledPart;
  readonly phase: Phase;
  readonly trouble: VendorTrouble | undefined;
  /** Stages of the pipeline that have a second vendor. @default none */
  readonly fallbacks?: readonly PipelineStage[];
}

/** A call as both sides have it. */
export interface PlayedCell {
  readonly cell: TroubledCell;
  readonly word: string;
  readonly record: CallRecord;
  readonly leg: SimulatedLeg;
  readonly report: CallReport | undefined;
  readonly violations: readonly string[];
}

/** How far into the caller's question their trouble begins. */
const INTO_QUESTION_MS = 900;
/** An agent that was quiet for so long has finished. */
const QUIET_MS = 600;
const LONGEST_MOMENT_MS = 40_000;
const LOOK_EVERY_MS = 80;

/** A word that no other call of the group has. */
export function wordOf(index: number): string {
  const letters = 'abcdefghijklmnoprstuvwz';
  const letter = (at: number) => letters.charAt(at % letters.length);
  return `${letter(index * 5 + 3)}o${letter(index)}a${letter(Math.floor(index / letters.length) * 7 + 11)}e`;
}

export function numberOf(index: number): string {
  return `+150055502${String(index).padStart(2, '0')}`;
}

/** What the person of one call waits for before they speak; a test fires it. */
export interface Cues {
  readonly greeted: AbortController;
  readonly answered: AbortController;
}

export function createCues(): Cues {
  return { greeted: new AbortController(), answered: new AbortController() };
}

/** What the person says. They are patient: a filler, or an answer that breaks off, is not over for them. */
export function scriptOf(word: string, { phase }: TroubledCell, { greeted, answered }: Cues): CallerStep[] {
  const hush: CallerStep[] = [{ type: 'wait-for-agent', quietMs: QUIET_MS }];
  return [
    { type: 'wait-until', signal: greeted.signal, timeoutMs: LONGEST_MOMENT_MS },
    // Their trouble is timed by when they begin.
    ...(phase === 'listening' ? [] : hush),
    { type: 'say', text: questionOf(word) },
    { type: 'wait-until', signal: answered.signal, timeoutMs: LONGEST_MOMENT_MS },
    ...hush,
    { type: 'say', text: FAREWELL },
    { type: 'pause', durationMs: 20_000 },
  ];
}

type Follower = (record: CallRecord) => void;

/** Looks at all the active calls at once, however many are followed. */
export class ActiveCalls {
  readonly #phone: CarrierPhone;
  readonly #followers = new Map<string, Follower>();
  #isLooking = false;

  constructor(phone: CarrierPhone) {
    this.#phone = phone;
  }

  /** Shows the record of the call with a person again and again until `leave`. */
  follow(number: string, follower: Follower): void {
    this.#followers.set(number, follower);
    if (!this.#isLooking) void this.#look();
  }

  leave(number: string): void {
    this.#followers.delete(number);
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    while (this.#followers.size > 0) {
      // The server may close behind the last call.
      const calls = await this.#phone.server.calls.active().catch(() => []);
      for (const call of calls)
        this.#followers.get(call.direction === 'inbound' ? call.caller : call.callee)?.(call);
      await pause(systemClock, LOOK_EVERY_MS);
    }
    this.#isLooking = false;
  }
}

export interface PlayedOptions {
  /** Of the call among those that are played together. */
  readonly index: number;
  readonly cell: TroubledCell;
  readonly cues: Cues;
}

/** Who takes an outbound call. */
export function personOf({ index, cell, cues }: PlayedOptions): Callee {
  return { type: 'human', ringMs: 200, script: scriptOf(wordOf(index), cell, cues) };
}

/** Has the phone call a person, and their call's vendor get into trouble when it is time. */
export async function playCell(
  phone: CarrierPhone,
  active: ActiveCalls,
  options: PlayedOptions,
): Promise<PlayedCell> {
  const { index, cell } = options;
  await using vendors = await openVendors(cell, wordOf(index));
  return await play({ phone, active, vendors, ...options }, async () => {
    const to = numberOf(index);
    const { ended } = await phone.phone.call({ to, agent: phone.phone.agent(vendors.agent) });
    return await ended;
  });
}

/** Whose call comes in. */
export interface InboundOptions extends PlayedOptions {
  readonly vendors: CallVendors;
}

/** The same with a person who calls the phone, whose agent works with these vendors. */
export function playInbound(
  phone: CarrierPhone,
  active: ActiveCalls,
  { vendors, ...options }: InboundOptions,
): Promise<PlayedCell> {
  const { index, cell, cues } = options;
  return play({ phone, active, vendors, ...options }, async () => {
    const script = scriptOf(wordOf(index), cell, cues);
    const { carrierCallId } = await phone.simulator.call({ from: numberOf(index), to: OWN_NUMBER, script });
    return await phone.record(carrierCallId);
  });
}

interface Played extends PlayedOptions {
  readonly phone: CarrierPhone;
  readonly active: ActiveCalls;
  readonly vendors: CallVendors;
}

/** `call` resolves when the call is over. */
async function play(
  { phone, active, vendors, index, cell, cues }: Played,
  call: () => Promise<CallRecord>,
): Promise<PlayedCell> {
  const { part, phase, trouble } = cell;
  const { troubled, emulators } = vendors;
  let isBegun = trouble === undefined;
  const begin = () => {
    if (!isBegun) for (const vendor of troubled) trouble?.begin(vendor);
    isBegun = true;
  };
  if (phase === 'start' && trouble?.isEarly === true) begin();
  const ending = call();
  // It is looked at in the end.
  ending.catch(() => {});
  if (phase === 'start' && !isBegun) {
    await eventually('a connection to the vendor', () =>
      troubled.some(({ requests }) => requests.length > 0) ? true : undefined,
    );
    begin();
  }
  const isTime = momentOf(phase, vendors);
  const number = numberOf(index);
  active.follow(number, (record) => {
    if (record.turns.length > 0) cues.greeted.abort();
    if (record.turns.length > 1) cues.answered.abort();
    if (isBegun || !isTime(record)) return;
    if (phase === 'listening') systemClock.after(INTO_QUESTION_MS, begin);
    else begin();
  });
  const record = await ending.finally(() => active.leave(number));
  if (!isBegun) throw new Error(`the call was over before its moment: ${part}, ${phase}`);
  const leg = await eventually('the end of the leg', () =>
    phone.simulator.legs.find(
      ({ carrierCallId, isOver }) => isOver && carrierCallId === record.carrierCallId,
    ),
  );
  const violations = [...leg.violations, ...emulators.flatMap((emulator) => emulator.violations)];
  return { cell, word: wordOf(index), record, leg, report: leg.reports.at(-1), violations };
}

/** What the record of a call shows when a phase has begun. */
function momentOf(phase: Phase, vendors: CallVendors): (record: CallRecord) => boolean {
  if (phase === 'start') return () => true;
  return phase === 'thinking' ? (record) => vendors.isThinking(record) : MOMENTS[phase];
}
