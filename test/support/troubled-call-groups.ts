// Groups of whole calls over each carrier, side by side on one phone server: in one nothing happens, in each of the others one vendor gets
// into trouble in one phase.
import { describe } from 'vitest';
import type { SimulatedCarrier } from '../../src/contract/call-record.js';
import { type Callee, openToneVoice } from '../../src/testing/index.js';
import type { Phase } from './call-moments.js';
import { startCarrierPhone } from './carrier-phone.js';
import { eachPlayed } from './played-together.js';
import { type Aspect, rotated } from './rotated.js';
import { type CellEnd, nameOf } from './troubled-call-checks.js';
import { stageOf } from './troubled-call-stages.js';
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
import { DROPS, OUTAGES, type VendorTrouble } from './vendor-troubles.js';

export const CUT = troubleCalled('cut');
export const CLOSED = troubleCalled('closed with 1011');
export const FROZEN = troubleCalled('frozen');
export const GONE = troubleCalled('503 at the handshake');

export const OPENAI = 'openai/gpt-realtime-2.1-mini';
export const GEMINI = 'google/gemini-3.8-live';
export const ELEVENLABS = 'elevenlabs/agents';
export const REALTIME_PARTS: readonly TroubledPart[] = [OPENAI, GEMINI, ELEVENLABS];
/** The pipeline's vendors over sockets, and those that are asked by requests. */
export const SOCKET_PARTS: readonly TroubledPart[] = ['stt', 'tts', 'assemblyai', 'cartesia', 'aura'];
export const REQUEST_PARTS: readonly TroubledPart[] = ['http-stt', 'llm', 'anthropic', 'speech'];

export const CARRIERS: readonly SimulatedCarrier[] = ['carrier-a', 'carrier-b'];

/** Calls of one server. The more there are, the more often its time stands still for one of them. */
const GROUP = 12;
const MAX_STREAMS = 60;

/** A recognizer, a voice or a realtime model comes back. A model's answer is asked for once more if nothing of it came, and there is time. */
function endOfDrop({ part, phase, trouble }: TroubledCell): CellEnd {
  if (stageOf(part) !== 'llm') return 'goes on';
  return phase === 'thinking' && trouble !== FROZEN ? 'goes on' : 'apology';
}

/** In the goodbye nobody has to be heard any more. Of what is said all may be there already. */
function endOfOutage({ part, phase }: TroubledCell): CellEnd {
  if (phase !== 'goodbye') return 'apology';
  return stageOf(part) === 'stt' ? 'goes on' : 'either';
}

export function wantedCellEnd(cell: TroubledCell): CellEnd {
  if (cell.trouble === undefined) return 'goes on';
  return cell.trouble === GONE ? endOfOutage(cell) : endOfDrop(cell);
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

/** A call over one of the carriers. */
export interface CarrierCell {
  readonly id: SimulatedCarrier;
  readonly cell: TroubledCell;
}

/**
 * Everybody gets into trouble, and in every phase somebody does; each trouble and each stage occur on both carriers, and each stage has each of its
 * ends. Every stage in every phase is a matter of calls without a carrier.
 */
export const CARRIER_ASPECTS: readonly Aspect<CarrierCell>[] = [
  ({ cell: { part } }) => part,
  ({ cell: { phase } }) => phase,
  ({ id }) => id,
  ({ cell: { trouble }, id }) => `${trouble?.name}, ${id}`,
  ({ cell: { part }, id }) => `${stageOf(part)}, ${id}`,
  ({ cell }) => `${stageOf(cell.part)}, ${wantedCellEnd(cell)}`,
];

export function overBothCarriers(all: readonly TroubledCell[]): CarrierCell[] {
  return CARRIERS.flatMap((id) => all.map((cell) => ({ id, cell })));
}

/** Plays the calls over both carriers, beside such in which nothing happens, and has a test for each. */
export function describeOverCarriers(
  title: string,
  all: readonly TroubledCell[],
  check: (played: PlayedCell) => void,
): void {
  const chosen = rotated(overBothCarriers(all), CARRIER_ASPECTS);
  describe.each(CARRIERS)(`%s: ${title}`, (id) => {
    const groups = inGroups(chosen.filter((call) => call.id === id).map(({ cell }) => cell));
    const playAll = async () => {
      const played: PlayedCell[] = [];
      for (const group of groups) played.push(...(await playGroup(id, group)));
      return played;
    };
    eachPlayed(groups.flat(), nameOf, playAll, check);
  });
}

/** Each of them begins with one in which nothing happens. */
function inGroups(all: readonly TroubledCell[]): TroubledCell[][] {
  const count = Math.ceil(all.length / GROUP);
  return Array.from({ length: count }, (_, group) => {
    const calls = all.filter((_, index) => index % count === group);
    return [...calls.slice(0, 1).map((cell) => ({ ...cell, trouble: undefined })), ...calls];
  });
}

/** Plays the calls side by side on one server. */
async function playGroup(id: SimulatedCarrier, group: readonly TroubledCell[]): Promise<PlayedCell[]> {
  const calls = group.map((cell, index) => ({ cell, index, cues: createCues() }));
  const callees = Object.fromEntries(
    calls.map((call): [string, Callee] => [numberOf(call.index), personOf(call)]),
  );
  await using phone = await startCarrierPhone(
    id,
    {},
    { serve: { maxStreamsPerIp: MAX_STREAMS }, simulator: { openVoice: openToneVoice, callees } },
  );
  const active = new ActiveCalls(phone);
  return await Promise.all(calls.map((call) => playCell(phone, active, call)));
}
