// From some moment of a whole call on nothing can be had of a vendor any more, or of several. Where a voice is gone with others, the apology
// comes from the voice that is left, and from the carrier when none is.
import { expect } from 'vitest';
import { PHASES } from '../../support/call-moments.js';
import { checkCell, checkLine, nameOf } from '../../support/troubled-call-checks.js';
import {
  cells,
  describeOverCarriers,
  GONE,
  REALTIME_PARTS,
  REQUEST_PARTS,
  SOCKET_PARTS,
  wantedCellEnd,
} from '../../support/troubled-call-groups.js';
import { GREETING } from '../../support/troubled-call-vendors.js';
import type { PlayedCell, TroubledCell } from '../../support/troubled-calls.js';
import { APOLOGY } from '../../support/trouble-checks.js';

/** The vendors that are gone, of a call whose voice has another one behind it. */
const NEXT_VOICE_LEFT = 'llm and tts';
const NO_VOICE_LEFT = ['tts and next tts', 'llm and tts and next tts'];

/** By the goodbye the model has said all that it had to say, and so may its voice have. */
const BEFORE_GOODBYE = PHASES.filter((phase) => phase !== 'goodbye');

const LOST_VOICES = cells([NEXT_VOICE_LEFT, ...NO_VOICE_LEFT], [GONE], BEFORE_GOODBYE).map(
  (cell): TroubledCell => ({ ...cell, fallbacks: ['tts'] }),
);

describeOverCarriers(
  'a vendor is gone for good',
  [...cells([...SOCKET_PARTS, ...REQUEST_PARTS, ...REALTIME_PARTS], [GONE], PHASES), ...LOST_VOICES],
  (played) => {
    const { fallbacks, trouble } = played.cell;
    if (fallbacks === undefined || trouble === undefined) checkCell(played, wantedCellEnd(played.cell));
    else checkApology(played);
  },
);

function checkApology(played: PlayedCell): void {
  const { cell, record, leg } = played;
  const told = nameOf(cell);
  checkLine(played);
  const { endReason, error, turns, incidents, provider } = record;
  expect.soft({ endReason, code: error?.code }, told).toEqual({
    endReason: 'provider-failed',
    code: 'PROVIDER_FAILED',
  });
  const hasVoice = cell.part === NEXT_VOICE_LEFT;
  expect.soft(leg.spoken, told).toEqual(hasVoice ? [] : [expect.stringMatching(APOLOGY)]);
  if (!hasVoice) return;
  expect.soft(turns.at(-1)?.agentText, told).toMatch(APOLOGY);
  expect.soft(provider.tts, told).toBe('cartesia/sonic-3.5');
  expect
    .soft(
      incidents.map(({ code }) => code),
      told,
    )
    .toContain('provider-replaced');
  if (cell.phase === 'start') expect.soft(turns[0]?.agentText, told).toBe(GREETING);
}
