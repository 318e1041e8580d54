// Connections of the pipeline's vendors drop in whole calls, and others can be had.
import { PHASES, type Phase } from '../../support/call-moments.js';
import { checkCell } from '../../support/troubled-call-checks.js';
import {
  CLOSED,
  CUT,
  cells,
  describeOverCarriers,
  FROZEN,
  SOCKET_PARTS,
  wantedCellEnd,
} from '../../support/troubled-call-groups.js';

/** Phases in which a vendor that is asked anew each time has something to break. */
const ASKED: Readonly<Record<string, readonly Phase[]>> = {
  'http-stt': ['thinking'],
  llm: ['thinking', 'speaking', 'goodbye'],
  anthropic: ['thinking', 'speaking', 'goodbye'],
  speech: ['greeting', 'speaking', 'goodbye'],
};

describeOverCarriers(
  'a vendor of the pipeline drops',
  [
    ...cells(SOCKET_PARTS, [CLOSED, FROZEN], PHASES),
    ...Object.entries(ASKED).flatMap(([part, phases]) => cells([part], [CUT, FROZEN], phases)),
    ...['http-stt', 'llm'].flatMap((part) => cells([part], [CLOSED], ASKED[part] ?? [])),
  ],
  (played) => checkCell(played, wantedCellEnd(played.cell)),
);
