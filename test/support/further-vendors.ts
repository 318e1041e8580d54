// Whole calls with the other vendors that stages can be made of: whatever a call meets with the first of them, it meets with these.
import { describe, it } from 'vitest';
import type { CarrierId } from '../../src/contract/call-record.js';
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

const SOCKETS = ['assemblyai', 'cartesia', 'aura'];

/** Their connections drop, and others can be had. */
function drops(): TroubledCell[] {
  return [
    ...cells(SOCKETS, [CLOSED, FROZEN], PHASES),
    ...Object.entries(ASKED).flatMap(([name, phases]) => cells([name], [CUT, FROZEN], phases)),
  ];
}

function dropEnd(cell: TroubledCell): CellEnd {
  return stageOf(cell.part) === 'llm' ? modelEnd(cell) : goesOn(cell);
}

export function describeFurtherVendors(id: CarrierId): void {
  describe(`${id}: another vendor drops, or is gone for good, in each phase of a call`, REAL_TIME, () => {
    it('drops', () =>
      playGroup(
        id,
        drops().map((cell) => ({ cell, wanted: dropEnd })),
      ));

    it('is gone', () =>
      playGroup(
        id,
        cells([...SOCKETS, ...Object.keys(ASKED)], [GONE], PHASES).map((cell) => ({ cell, wanted: ended })),
      ));
  });
}
