// Whole calls with the other vendors that stages can be made of: whatever a call meets with the first of them, it meets with these.
import { describe, it } from 'vitest';
import { CARRIER_IDS, type CarrierId } from '../../src/contract/call-record.js';
import type { CellEnd } from './troubled-call-checks.js';
import {
  cells,
  CLOSED,
  CUT,
  ended,
  FROZEN,
  GONE,
  goesOn,
  modelEnd,
  playGroup,
  REAL_TIME,
} from './troubled-call-groups.js';
import { stageOf } from './troubled-call-stages.js';
import type { TroubledCell } from './troubled-calls.js';
import { PHASES, type Phase } from './vendor-call.js';

/** Phases in which a vendor that is asked anew each time has something to break. */
const ASKED: Readonly<Record<string, readonly Phase[]>> = {
  anthropic: ['thinking', 'speaking', 'goodbye'],
  speech: ['greeting', 'speaking', 'goodbye'],
};

function allCells(): TroubledCell[] {
  const sockets = ['assemblyai', 'cartesia', 'aura'];
  const requests = Object.entries(ASKED);
  return [
    ...cells(sockets, [CLOSED, FROZEN], PHASES),
    ...requests.flatMap(([name, phases]) => cells([name], [CUT, FROZEN], phases)),
    ...cells([...sockets, ...Object.keys(ASKED)], [GONE], PHASES),
  ];
}

function wanted(cell: TroubledCell): CellEnd {
  if (cell.trouble === GONE) return ended(cell);
  return stageOf(cell.part) === 'llm' ? modelEnd(cell) : goesOn(cell);
}

/** Every second of these calls comes over one carrier, the others over the other one. */
export function describeFurtherVendors(id: CarrierId): void {
  describe(`${id}: another vendor drops, or is gone for good, in each phase of a call`, REAL_TIME, () => {
    it('pipeline', async () => {
      const turn = CARRIER_IDS.indexOf(id);
      const group = allCells().filter((_, index) => index % CARRIER_IDS.length === turn);
      await playGroup(
        id,
        group.map((cell) => ({ cell, wanted })),
      );
    });
  });
}
