// Groups of whole calls over a carrier, side by side on one phone server: in one nothing happens, in each of the others one vendor gets
// into trouble in one phase.
import { describe, it } from 'vitest';
import type { CarrierId } from '../../src/index.js';
import { type Callee, openToneVoice } from '../../src/testing/index.js';
import { startCarrierPhone } from './carrier-phone.js';
import { type CellEnd, checkCell } from './troubled-call-checks.js';
import type { TroubledPart } from './troubled-call-vendors.js';
import {
  ActiveCalls,
  createCues,
  numberOf,
  type PlayedCell,
  personOf,
  playCell,
  type TroubledCell,
} from './troubled-calls.js';
import { PHASES, type Phase } from './vendor-call.js';
import { DROPS, OUTAGES, type VendorTrouble } from './vendor-troubles.js';

export const CUT = troubleCalled('cut');
export const CLOSED = troubleCalled('closed with 1011');
export const FROZEN = troubleCalled('frozen');
export const GONE = troubleCalled('503 at the handshake');

const OPENAI = 'openai/gpt-realtime-2.1-mini';
const GEMINI = 'google/gemini-3.8-live';
const ELEVENLABS = 'elevenlabs/agents';
export const REALTIME_PARTS: readonly TroubledPart[] = [OPENAI, GEMINI, ELEVENLABS];

/** Calls in real time: a shared machine that stands still makes waits that nobody can mend. */
export const REAL_TIME = { retry: 2, timeout: 120_000 };
/** More would be late on a small machine. */
const MAX_STREAMS = 60;

export type Wanted = (cell: TroubledCell) => CellEnd;

/** A recogniser, a voice or a realtime model comes back. */
export const goesOn: Wanted = () => 'goes on';

/** A model's answer that has not begun is asked for once more, unless too much time has passed; of one that has begun the rest is not. */
export const modelEnd: Wanted = ({ phase, trouble }) =>
  phase === 'thinking' && trouble !== FROZEN ? 'goes on' : 'sorry';

/** In the goodbye nobody has to be heard any more. Of what is said all may be there already. */
export const ended: Wanted = ({ part, phase }) => {
  if (phase !== 'goodbye') return 'sorry';
  return part === 'stt' ? 'goes on' : 'either';
};

/** Connections of the pipeline's vendors drop, and others can be had. */
export function describePipelineDrops(id: CarrierId): void {
  describe(`${id}: a vendor of the pipeline drops in each phase of a call`, REAL_TIME, () => {
    const works: readonly Phase[] = ['thinking', 'speaking', 'goodbye'];
    const parts: readonly TroubledPart[] = ['stt', 'tts'];
    it.each([
      ['closed or cut', CLOSED, [CUT, CLOSED]],
      ['frozen', FROZEN, [FROZEN]],
    ])('%s', async (_, socket, requests) => {
      const model = cells(['llm'], requests, works);
      await playGroup(id, [
        ...cells(parts, [socket], PHASES).map((cell) => ({ cell, wanted: goesOn })),
        ...model.map((cell) => ({ cell, wanted: modelEnd })),
        ...cells(['http-stt'], requests, ['thinking']).map((cell) => ({ cell, wanted: goesOn })),
      ]);
    });
  });
}

/** The same with realtime models. */
export function describeRealtimeDrops(id: CarrierId): void {
  describe(`${id}: a realtime model drops in each phase of a call`, REAL_TIME, () => {
    it.each([
      ['cut', [GEMINI, ELEVENLABS], CUT],
      ['closed with 1011', [OPENAI, GEMINI, ELEVENLABS], CLOSED],
      ['frozen', [OPENAI, GEMINI, ELEVENLABS], FROZEN],
    ])('%s', async (_, vendors, trouble) => {
      const group = cells(vendors, [trouble], PHASES);
      await playGroup(
        id,
        group.map((cell) => ({ cell, wanted: goesOn })),
      );
    });
  });
}

/** From some moment of a call on nothing can be had of a vendor any more. */
export function describeOutages(id: CarrierId): void {
  describe(`${id}: a vendor is gone for good from each phase of a call on`, REAL_TIME, () => {
    it('pipeline', async () => {
      const group = cells(['stt', 'http-stt', 'llm', 'tts'], [GONE], PHASES);
      await playGroup(
        id,
        group.map((cell) => ({ cell, wanted: ended })),
      );
    });

    it('realtime', async () => {
      const group = cells([OPENAI, GEMINI, ELEVENLABS], [GONE], PHASES);
      await playGroup(
        id,
        group.map((cell) => ({ cell, wanted: ended })),
      );
    });
  });
}

function troubleCalled(name: string): VendorTrouble {
  const found = [...DROPS, ...OUTAGES].find((trouble) => trouble.name === name);
  if (found === undefined) throw new Error(`there is no trouble ${name}`);
  return found;
}

export function cells(
  parts: readonly TroubledPart[],
  troubles: readonly VendorTrouble[],
  phases: readonly Phase[],
): TroubledCell[] {
  return parts.flatMap((part) =>
    troubles.flatMap((trouble) => phases.map((phase) => ({ part, trouble, phase }))),
  );
}

/** A call of a group, and how it should end or what should hold for it. */
type GroupedCell =
  | { readonly cell: TroubledCell; readonly wanted: Wanted }
  | { readonly cell: TroubledCell; readonly check: (played: PlayedCell) => void };

/** Plays the calls beside one in which nothing happens, and looks at each of them. */
export async function playGroup(id: CarrierId, group: readonly GroupedCell[]): Promise<void> {
  const [first] = group;
  if (first === undefined) throw new Error('there is no call in the group');
  const well: GroupedCell = { cell: { ...first.cell, trouble: undefined }, wanted: goesOn };
  const calls = [well, ...group].map((each, index) => ({ ...each, index, cues: createCues() }));
  const callees = Object.fromEntries(
    calls.map((call): [string, Callee] => [numberOf(call.index), personOf(call)]),
  );
  await using phone = await startCarrierPhone(
    id,
    {},
    { serve: { maxStreamsPerIp: MAX_STREAMS }, simulator: { openVoice: openToneVoice, callees } },
  );
  const active = new ActiveCalls(phone);
  const played = await Promise.all(calls.map((call) => playCell(phone, active, call)));
  for (const [index, each] of calls.entries()) {
    const call = played[index];
    if (call === undefined) continue;
    if ('check' in each) each.check(call);
    else checkCell(call, each.wanted(call.cell));
  }
}
