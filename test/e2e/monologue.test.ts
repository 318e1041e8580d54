// A caller who does not stop talking: server, carrier and vendors share one clock, which nobody has to wait for.
import { describe, expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { CallerStep } from '../../src/testing/index.js';
import { wordsIn } from '../support/heard-truth.js';
import { isDeep } from '../support/depth.js';
import { runScript } from '../support/scripted-call.js';

// The caller speaks first.
const agent = { firstMessage: undefined };
const STORY = 'There was a baker who had seven sons, and each of them had seven ovens.';
const LISTENS: CallerStep = { type: 'wait-for-agent', quietMs: 700 };

// Minutes of a call are seconds of work.
const VIRTUAL_TIME = { timeout: 90_000 };

describe.concurrent.each(isDeep ? SIMULATED_CARRIERS : SIMULATED_CARRIERS.slice(0, 1))(
  '%s',
  VIRTUAL_TIME,
  (id) => {
    it('monologue: a turn of more than a minute ends at the next short pause', async () => {
      const script: CallerStep[] = [
        { type: 'monologue', text: STORY, durationMs: 61_000 },
        { type: 'interrupt', afterMs: 0 },
        LISTENS,
        { type: 'hang-up' },
      ];
      const replies = [{ text: 'I see.' }];
      const call = { maxDurationMs: 150_000 };
      await runScript(id, { script, replies, call, agent }, ({ report, userTexts, agentTexts }) => {
        expect(agentTexts).toEqual(['I see.']);
        expect(userTexts).toHaveLength(1);
        const told = wordsIn(userTexts[0] ?? '');
        expect(told.length).toBeGreaterThan(180);
        expect(told.slice(0, 15)).toEqual(wordsIn(STORY));
        // After any other sentence the agent waits for 300 ms, and thinks.
        const spokeUntil = report.callerSpeech.at(-1)?.endMs ?? 0;
        const answeredAt = report.agentSpeech.at(-1)?.startMs ?? 0;
        expect(answeredAt).toBeGreaterThan(spokeUntil);
      });
    });
  },
);

describe.concurrent.each(isDeep ? SIMULATED_CARRIERS : SIMULATED_CARRIERS.slice(1))(
  '%s',
  VIRTUAL_TIME,
  (id) => {
    it('monologue: after a minute and a half the agent has its say, and nothing of what was said is lost', async () => {
      const script: CallerStep[] = [
        { type: 'monologue', text: STORY, durationMs: 95_000 },
        LISTENS,
        { type: 'hang-up' },
      ];
      const call = { maxDurationMs: 180_000 };
      const replies = [{ text: 'Let me say something.' }, { text: 'I see.' }, { text: 'I see.' }];
      await runScript(id, { script, replies, call, agent }, ({ userTexts, mind, said }) => {
        expect(mind.exchanges.length).toBeGreaterThanOrEqual(1);
        const told = wordsIn(userTexts.join(' '));
        const spoken = said.flatMap(({ text }) => wordsIn(text));
        // Where the turn is ended in the middle of a word, that word may be in two pieces.
        expect(Math.abs(told.length - spoken.length)).toBeLessThanOrEqual(2);
        expect([told.slice(0, 270), told.slice(-10)]).toEqual([spoken.slice(0, 270), spoken.slice(-10)]);
        expect(told.length).toBeGreaterThan(280);
      });
    });
  },
);
