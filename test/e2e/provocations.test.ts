// What telephone lines and people do to an agent, on both carriers: each is a step of a caller's script or a condition of the line.
import { describe, expect, it } from 'vitest';
import type { CallerStep } from '../../src/testing/index.js';
import { wordsIn } from '../support/heard-truth.js';
import { playedOn } from '../support/rotated.js';
import { runScript } from '../support/scripted-call.js';

const GREETING = 'Hello, this is the bakery.';
const LONG =
  'We have bread, rolls, cakes and tarts. Then there are cookies of seven kinds. ' +
  'Our coffee comes from a small roastery around the corner.';
const LISTENS: CallerStep = { type: 'wait-for-agent', quietMs: 700 };
const HANGS_UP: CallerStep = { type: 'hang-up' };
const ASKS: readonly CallerStep[] = [
  LISTENS,
  { type: 'say', text: 'Do you have rye bread?' },
  LISTENS,
  HANGS_UP,
];
const REPLIES = [{ text: 'Yes we do.' }];

// Calls in real time.
const REAL_TIME = { timeout: 90_000 };

describe.concurrent.each(playedOn('carrier-b'))('%s', REAL_TIME, (id) => {
  it('a barge-in at a given millisecond of what is played', async () => {
    const script: CallerStep[] = [
      { type: 'interrupt', afterMs: 5230 },
      { type: 'say', text: 'Wait a moment please.' },
      LISTENS,
      HANGS_UP,
    ];
    await runScript(id, { script, agent: { firstMessage: LONG } }, ({ report, record }) => {
      const [began, spokeAt] = [report.agentSpeech[0]?.startMs ?? 0, report.callerSpeech[0]?.startMs ?? 0];
      expect(Math.abs(spokeAt - began - 5230)).toBeLessThanOrEqual(40);
      // It is known as an interruption within half a second of voice, and little is heard after that.
      const heardMs = `${record.turns[0]?.agentText} `.length * 60;
      expect(heardMs).toBeGreaterThan(5230 - 600);
      expect(heardMs).toBeLessThan(5230 + 1500);
    });
  });

  it('bursts of noise: nobody is interrupted, and the question is understood', async () => {
    const line = { noise: { levelDbfs: -26, burstMs: 400, everyMs: 1300 } };
    const agent = { firstMessage: LONG };
    await runScript(id, { script: ASKS, replies: REPLIES, agent, call: { line } }, (call) => {
      expect(call.report.clears).toEqual([]);
      expect(call.agentTexts).toEqual([LONG, 'Yes we do.']);
      expect(call.userTexts.flatMap(wordsIn)).toEqual(['do', 'you', 'have', 'rye', 'bread']);
    });
  });

  it('an echo of the agent, 20 dB lower and 120 ms later: it does not answer itself', async () => {
    const line = { echo: { levelDb: -20, delayMs: 120 } };
    const agent = { firstMessage: LONG };
    await runScript(id, { script: ASKS, replies: REPLIES, agent, call: { line } }, (call) => {
      // The line did bring it back.
      expect(call.said.map(({ text }) => text)).toContain('roastery');
      expect(call.report.clears).toEqual([]);
      expect(call.agentTexts).toEqual([LONG, 'Yes we do.']);
      expect(call.userTexts.flatMap(wordsIn)).toEqual(['do', 'you', 'have', 'rye', 'bread']);
    });
  });

  const hesitates = (durationMs: number): CallerStep[] => [
    LISTENS,
    { type: 'say', text: 'I would like a cake with' },
    { type: 'pause', durationMs },
    { type: 'say', text: 'cherries and cream.' },
    LISTENS,
    HANGS_UP,
  ];

  it('a short pause behind an open end is waited for', async () => {
    const replies = [{ text: 'With cherries, noted.' }];
    await runScript(id, { script: hesitates(900), replies }, ({ userTexts, agentTexts }) => {
      expect(userTexts).toEqual(['i would like a cake with cherries and cream.']);
      expect(agentTexts).toEqual([GREETING, 'With cherries, noted.']);
    });
  });

  it('a pause of three seconds inside a sentence is answered, and what follows is heard all the same', async () => {
    const replies = [{ text: 'With what?' }, { text: 'With cherries, noted.' }];
    await runScript(id, { script: hesitates(3000), replies }, ({ userTexts, agentTexts }) => {
      expect(userTexts).toEqual(['i would like a cake with', 'cherries and cream.']);
      expect(agentTexts).toEqual([GREETING, 'With what?', 'With cherries, noted.']);
    });
  });

  it('a pause of three seconds inside a sentence is waited for when the agent is told to', async () => {
    const agent = { turnTaking: { silenceAfterOpenEndMs: 4500, maxSilenceMs: 5000 } };
    const replies = [{ text: 'With cherries, noted.' }];
    await runScript(id, { script: hesitates(3000), replies, agent }, ({ userTexts }) => {
      expect(userTexts).toEqual(['i would like a cake with cherries and cream.']);
    });
  });

  it('keys over speech: both are one turn', async () => {
    const text = 'I want to talk about my order.';
    const script: CallerStep[] = [
      LISTENS,
      { type: 'say', text, press: { digits: '42#', afterMs: 500 } },
      LISTENS,
      HANGS_UP,
    ];
    const replies = [{ text: 'Order forty two.' }];
    await runScript(id, { script, replies }, ({ record, userTexts, agentTexts }) => {
      expect(userTexts).toEqual(['i want to talk about my order. The caller pressed 4 2 #']);
      expect(agentTexts).toEqual([GREETING, 'Order forty two.']);
      const keys = record.transcript.filter(({ role }) => role === 'system').map(({ text: key }) => key);
      expect(keys).toEqual(['Key 4', 'Key 2', 'Key #']);
    });
  });

  it('frames in bunches of 200 ms: every word is understood', async () => {
    const call = { line: { bunchMs: 200 } };
    await runScript(id, { script: ASKS, replies: REPLIES, call }, ({ report, userTexts, agentTexts }) => {
      expect(report.clears).toEqual([]);
      expect(userTexts).toEqual(['do you have rye bread?']);
      expect(agentTexts).toEqual([GREETING, 'Yes we do.']);
    });
  });

  it('a tenth of the frames lost, the rest in bunches: the conversation goes on', async () => {
    const call = { line: { loss: 0.1, bunchMs: 200 } };
    const options = { script: ASKS, replies: REPLIES, call, ears: 'local' } as const;
    await runScript(id, options, ({ record, userTexts, agentTexts }) => {
      expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
      expect(userTexts).toEqual(['Do you have rye bread?']);
      expect(agentTexts).toEqual([GREETING, 'Yes we do.']);
    });
  });

  it('a hang-up during a tool call: the tool is told, and nobody is asked again', async () => {
    const [started, ended] = [new AbortController(), new AbortController()];
    const tool = {
      name: 'look_up',
      description: 'Looks something up.',
      execute: (_: unknown, { signal }: { signal: AbortSignal }) =>
        new Promise<string>((resolve) => {
          signal.addEventListener('abort', () => {
            ended.abort();
            resolve('too late');
          });
          started.abort();
        }),
    };
    const script: CallerStep[] = [
      LISTENS,
      { type: 'say', text: 'What does a tart cost?' },
      { type: 'wait-until', signal: started.signal },
      { type: 'pause', durationMs: 300 },
      HANGS_UP,
    ];
    const replies = [{ toolCalls: [{ name: 'look_up', arguments: '{}' }] }];
    await runScript(id, { script, replies, agent: { tools: [tool] } }, ({ record, mind }) => {
      expect([started.signal.aborted, ended.signal.aborted]).toEqual([true, true]);
      expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
      expect(record.turns.at(-1)?.toolCalls).toMatchObject([{ name: 'look_up', error: expect.any(String) }]);
      expect(mind.exchanges).toHaveLength(1);
    });
  });
});

// A forgotten line: nobody but the agent's own voice, at levels above and below what counts as an echo or as sound at all.
describe.concurrent('an echo and a silent caller', REAL_TIME, () => {
  const LEVELS_AND_DELAYS = [-10, -20, -30].flatMap((levelDb) =>
    [120, 250].map((delayMs) => ({ levelDb, delayMs })),
  );

  it.each(LEVELS_AND_DELAYS)(
    '$levelDb dB after $delayMs ms: the call ends, everything said once',
    async (echo) => {
      const agent = {
        firstMessage: GREETING,
        idle: { afterSeconds: 3, prompts: ['Are you there?'], goodbye: 'Goodbye then.' },
      };
      const script: CallerStep[] = [LISTENS, { type: 'pause', durationMs: 25_000 }];
      await runScript('carrier-a', { script, agent, call: { line: { echo } } }, (call) => {
        // The line did bring it back.
        expect(call.said.map(({ text }) => text)).toContain('bakery.');
        expect(call.report.clears).toEqual([]);
        expect(call.agentTexts).toEqual([GREETING, 'Are you there?', 'Goodbye then.']);
        expect(call.userTexts).toEqual([]);
        expect(call.record.endReason).toBe('idle');
      });
    },
  );
});
