// Whole calls that cannot go on and have lost a voice, too: the sorry comes from the voice that is left, and from the carrier when none is.
import { describe, expect, it } from 'vitest';
import type { CarrierId } from '../../src/index.js';
import { checkLine, nameOf } from './troubled-call-checks.js';
import { cells, GONE, playGroup, REAL_TIME } from './troubled-call-groups.js';
import { GREETING } from './troubled-call-vendors.js';
import type { PlayedCell } from './troubled-calls.js';
import { APOLOGY } from './vendor-scene.js';
import { PHASES } from './vendor-call.js';

/** The vendors that are gone, of a call whose voice has another one behind it. */
const NEXT_VOICE_LEFT = 'llm and tts';
const NO_VOICE_LEFT = ['tts and next tts', 'llm and tts and next tts'];

/** By the goodbye the model has said all that it had to say, and so may its voice have. */
const BEFORE_GOODBYE = PHASES.filter((phase) => phase !== 'goodbye');

export function describeLostVoices(id: CarrierId): void {
  describe(`${id}: a voice is gone for good, and more`, REAL_TIME, () => {
    it('says sorry with the voice that is left, else with the carrier', async () => {
      const group = cells([NEXT_VOICE_LEFT, ...NO_VOICE_LEFT], [GONE], BEFORE_GOODBYE);
      await playGroup(
        id,
        group.map((cell) => ({ cell: { ...cell, fallbacks: ['tts'] }, check: checkSorry })),
      );
    });
  });
}

function checkSorry(played: PlayedCell): void {
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
