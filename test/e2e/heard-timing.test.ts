// A voice that halts at its commas is interrupted, on both carriers: what the transcript and the model's history say that the caller
// has heard is what the carrier's recording holds. `runScript` compares them word by word.
import { describe, expect, it } from 'vitest';
import type { CallerStep } from '../../src/testing/index.js';
import { wordsIn } from '../support/heard-truth.js';
import { playedOn } from '../support/rotated.js';
import { runScript } from '../support/scripted-call.js';

// Half of the time is pauses, and they are all at the beginning: by share of the text the cut would be words off.
const UNEVEN =
  'Rye, oats, wheat, spelt, corn and everything else that grows on the fields around here is in it.';
const PAUSE_MS = 900;
const LISTENS: CallerStep = { type: 'wait-for-agent', quietMs: 700 };

// Calls in real time.
const REAL_TIME = { timeout: 90_000 };

describe.concurrent.each(playedOn('carrier-a'))('a voice, on %s', REAL_TIME, (id) => {
  it.each([2600, 4300, 6000])(
    'that halts is heard to the word where it was cut, after %i ms',
    async (afterMs) => {
      const script: CallerStep[] = [
        { type: 'interrupt', afterMs },
        { type: 'say', text: 'Stop please, I only have a question.' },
        LISTENS,
        { type: 'hang-up' },
      ];
      const replies = [{ text: 'Of course.' }];
      const voice = { pauseMs: PAUSE_MS };
      await runScript(
        id,
        { script, replies, voice, agent: { firstMessage: UNEVEN } },
        ({ record, heard, mind }) => {
          const [cut] = record.turns;
          expect(cut?.interrupted).toBe(true);
          expect(`${cut?.agentText} ${cut?.agentTextUnheard}`).toBe(UNEVEN);
          expect(wordsIn(cut?.agentText ?? '').length).toBeGreaterThan(1);
          expect(mind.exchanges[0]?.body.messages[1]).toEqual({ role: 'assistant', content: cut?.agentText });
          expect(heard.length).toBeGreaterThan(2);
        },
      );
    },
  );

  it('that is even and tells no times is cut by share of the text', async () => {
    const script: CallerStep[] = [
      { type: 'interrupt', afterMs: 3500 },
      { type: 'say', text: 'Stop please, I only have a question.' },
      LISTENS,
      { type: 'hang-up' },
    ];
    const replies = [{ text: 'Of course.' }];
    const voice = { withoutAlignment: true };
    await runScript(id, { script, replies, voice, agent: { firstMessage: UNEVEN } }, ({ record }) => {
      const [cut] = record.turns;
      expect(cut?.interrupted).toBe(true);
      expect(`${cut?.agentText} ${cut?.agentTextUnheard}`).toBe(UNEVEN);
      expect(wordsIn(cut?.agentText ?? '').length).toBeGreaterThan(5);
    });
  });
});
