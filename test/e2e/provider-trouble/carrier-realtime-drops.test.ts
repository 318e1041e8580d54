// Connections of realtime models drop in whole calls, and others can be had.
import { PHASES } from '../../support/call-moments.js';
import { checkCell } from '../../support/troubled-call-checks.js';
import {
  CLOSED,
  CUT,
  cells,
  describeOverCarriers,
  ELEVENLABS,
  FROZEN,
  GEMINI,
  REALTIME_PARTS,
  wantedCellEnd,
} from '../../support/troubled-call-groups.js';

describeOverCarriers(
  'a realtime model drops',
  [...cells([GEMINI, ELEVENLABS], [CUT], PHASES), ...cells(REALTIME_PARTS, [CLOSED, FROZEN], PHASES)],
  (played) => checkCell(played, wantedCellEnd(played.cell)),
);
