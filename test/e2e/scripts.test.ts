// What callers do, on both carriers: whole calls over emulated vendors, in which the carrier's recording of what was played, the
// transcript and the history of the language model must tell the same.
import { describe, expect, it } from 'vitest';
import { type CallerStep, makeSpeechTones } from '../../src/testing/index.js';
import { wordsIn } from '../support/heard-truth.js';
import { playedOn } from '../support/rotated.js';
import { runScript } from '../support/scripted-call.js';

const GREETING = 'Hello, this is the bakery.';
const LONG =
  'We have bread, rolls, cakes and tarts. Then there are cookies of seven kinds. ' +
  'Our coffee comes from a small roastery around the corner. And we are open every day of the week.';
const OTHER = '+15005550030';
const LISTENS: CallerStep = { type: 'wait-for-agent', quietMs: 700 };
const HANGS_UP: CallerStep = { type: 'hang-up' };

// Calls in real time.
const REAL_TIME = { timeout: 90_000 };

describe.concurrent.each(playedOn('carrier-a'))('%s', REAL_TIME, (id) => {
  it.each(['deepgram', 'local'] as const)(
    'talk: two questions, two answers, understood by %s',
    async (ears) => {
      const replies = [{ text: 'Three loaves. Anything else?' }, { text: 'Then goodbye for now.' }];
      const script: CallerStep[] = [
        LISTENS,
        { type: 'say', text: 'Three loaves of bread, please.' },
        LISTENS,
        { type: 'say', text: 'No, thank you.' },
        LISTENS,
        HANGS_UP,
      ];
      await runScript(id, { script, replies, ears }, ({ report, record, userTexts, agentTexts, mind }) => {
        expect(report).toMatchObject({ ok: true, clears: [], protocolErrors: [] });
        expect(record).toMatchObject({ endReason: 'caller-hangup', error: null, carrier: id });
        expect(agentTexts).toEqual([GREETING, replies[0]?.text, replies[1]?.text]);
        expect(userTexts.map(wordsIn)).toEqual([
          ['three', 'loaves', 'of', 'bread', 'please'],
          ['no', 'thank', 'you'],
        ]);
        expect(
          mind.exchanges
            .at(-1)
            ?.body.messages.map(({ role }) => role)
            .join(' '),
        ).toBe('developer assistant user assistant user');
      });
    },
  );

  it('interrupt: the caller stops the agent, which knows what was not heard', async () => {
    const script: CallerStep[] = [
      { type: 'interrupt', afterMs: 4500 },
      { type: 'say', text: 'Stop please, I only have a question.' },
      LISTENS,
      HANGS_UP,
    ];
    const replies = [{ text: 'Of course, what is it?' }];
    await runScript(id, { script, replies, agent: { firstMessage: LONG } }, ({ report, record, mind }) => {
      expect(report.ok).toBe(true);
      expect(report.clears.length).toBeGreaterThanOrEqual(1);
      const [cut, answer] = record.turns;
      expect(cut?.interrupted).toBe(true);
      expect(`${cut?.agentText} ${cut?.agentTextUnheard}`).toBe(LONG);
      expect(answer).toMatchObject({ agentText: replies[0]?.text, interrupted: false });
      expect(answer?.userText.startsWith('stop please, i only')).toBe(true);
      expect(mind.exchanges.at(-1)?.body.messages[1]).toEqual({ role: 'assistant', content: cut?.agentText });
    });
  });

  it('be interrupted: the agent answers too soon, and the caller goes on', async () => {
    const first = 'Which kind of bread would you like to have from us today?';
    const script: CallerStep[] = [
      LISTENS,
      { type: 'say', text: 'I would like to order bread' },
      { type: 'interrupt', afterMs: 300 },
      { type: 'say', text: 'two loaves of rye for tomorrow morning.' },
      LISTENS,
      HANGS_UP,
    ];
    const replies = [{ text: first }, { text: 'Two loaves of rye, noted.' }];
    await runScript(id, { script, replies }, ({ record, agentTexts, userTexts }) => {
      expect(userTexts).toEqual(['i would like to order bread', 'two loaves of rye for tomorrow morning.']);
      const [, cut, answer] = record.turns;
      expect(cut?.interrupted).toBe(true);
      expect(`${cut?.agentText} ${cut?.agentTextUnheard}`.trim()).toBe(first);
      expect(answer).toMatchObject({ interrupted: false });
      expect(agentTexts.at(-1)).toBe(replies[1]?.text);
    });
  });

  it('be interrupted before a word was heard: both halves are one question', async () => {
    const script: CallerStep[] = [
      LISTENS,
      { type: 'say', text: 'I would like to order bread' },
      { type: 'pause', durationMs: 1000 },
      { type: 'say', text: 'two loaves of rye.' },
      LISTENS,
      HANGS_UP,
    ];
    const replies = [{ text: 'Which kind?', firstTokenMs: 3000 }, { text: 'Two loaves of rye, noted.' }];
    await runScript(id, { script, replies }, ({ userTexts, agentTexts, mind }) => {
      expect(userTexts).toEqual(['i would like to order bread two loaves of rye.']);
      expect(agentTexts).toEqual([GREETING, replies[1]?.text]);
      expect(mind.exchanges.map(({ aborted }) => aborted)).toEqual([true, false]);
      expect(mind.exchanges.at(-1)?.body.messages.at(-1)?.content).toBe(userTexts[0]);
    });
  });

  it('backchannel: a listener is not taken for an interrupter', async () => {
    const script: CallerStep[] = [
      LISTENS,
      { type: 'say', text: 'What do you have?' },
      { type: 'interrupt', afterMs: 2500 },
      { type: 'say', text: 'Mm-hm.' },
      { type: 'interrupt', afterMs: 2000 },
      { type: 'say', text: 'Okay.' },
      LISTENS,
      { type: 'say', text: 'Then I take a tart.' },
      LISTENS,
      HANGS_UP,
    ];
    const replies = [{ text: LONG }, { text: 'One tart for you.' }];
    await runScript(id, { script, replies }, ({ report, record, agentTexts, userTexts, said }) => {
      expect(said.map(({ text }) => text)).toContain('mm-hm.');
      expect(report.clears).toEqual([]);
      expect(record.turns.map(({ interrupted }) => interrupted)).toEqual([false, false, false]);
      expect(agentTexts).toEqual([GREETING, LONG, replies[1]?.text]);
      expect(userTexts).toEqual(['what do you have?', 'then i take a tart.']);
    });
  });

  it('noise: a sound without words does not stop the agent before the caller has said a word', async () => {
    const cough: CallerStep = { type: 'play', samples: makeSpeechTones(1000), sampleRateHz: 8000 };
    const script: CallerStep[] = [
      { type: 'interrupt', afterMs: 4500 },
      cough,
      { type: 'wait-for-agent', quietMs: 3500 },
      HANGS_UP,
    ];
    await runScript(id, { script, agent: { firstMessage: LONG } }, ({ report, record, mind }) => {
      expect(report.clears).toEqual([]);
      expect(record.turns).toMatchObject([{ agentText: LONG, interrupted: false }]);
      expect(mind.exchanges).toEqual([]);
    });
  });

  it('false interruption: a sound as loud as the caller stops the agent, which goes on with the sentence that was cut', async () => {
    const samples = makeSpeechTones(1000).map((sample) => Math.max(-32_768, Math.min(32_767, 4 * sample)));
    const cough: CallerStep = { type: 'play', samples, sampleRateHz: 8000 };
    const script: CallerStep[] = [
      LISTENS,
      { type: 'say', text: 'What does a tart cost?' },
      { type: 'interrupt', afterMs: 4500 },
      cough,
      { type: 'wait-for-agent', quietMs: 3500 },
      HANGS_UP,
    ];
    await runScript(id, { script, replies: [{ text: LONG }] }, ({ report, record, mind }) => {
      expect(report.clears.length).toBeGreaterThanOrEqual(1);
      const [cut, rest] = record.turns.slice(-2);
      expect(cut?.interrupted).toBe(true);
      expect(rest).toMatchObject({ userText: '', interrupted: false });
      expect(LONG.endsWith(rest?.agentText ?? 'nothing')).toBe(true);
      // The sentence that was cut is said from its beginning: nothing of the text is missing.
      expect((cut?.agentText ?? '').length + (rest?.agentText ?? '').length).toBeGreaterThan(LONG.length);
      expect(mind.exchanges).toHaveLength(1);
    });
  });

  it('tool: the answer is made of its result, and the history keeps both', async () => {
    const toolCalls = [{ id: 'call_1', name: 'look_up', arguments: '{"what":"tart"}' }];
    const replies = [
      { text: 'One moment please.', toolCalls },
      { text: 'A tart costs nine dollars.' },
      { text: 'You are welcome.' },
    ];
    const asked: unknown[] = [];
    const tool = {
      name: 'look_up',
      description: 'Looks up a price.',
      execute: async (args: unknown) => {
        asked.push(args);
        return { price: 'nine dollars' };
      },
    };
    const script: CallerStep[] = [
      LISTENS,
      { type: 'say', text: 'What does a tart cost?' },
      LISTENS,
      { type: 'say', text: 'Thank you very much.' },
      LISTENS,
      HANGS_UP,
    ];
    await runScript(id, { script, replies, agent: { tools: [tool] } }, ({ record, agentTexts, mind }) => {
      expect(asked).toEqual([{ what: 'tart' }]);
      expect(agentTexts).toEqual([
        GREETING,
        'One moment please. A tart costs nine dollars.',
        'You are welcome.',
      ]);
      expect(record.turns[1]?.toolCalls).toMatchObject([{ name: 'look_up', error: null }]);
      const messages = mind.exchanges.at(-1)?.body.messages ?? [];
      expect(messages.map(({ role }) => role).join(' ')).toBe(
        'developer assistant user assistant tool assistant user',
      );
      expect(messages[4]?.content).toContain('nine dollars');
    });
  });

  it('transfer: the announcement is heard, then the caller is with somebody else', async () => {
    const toolCalls = [{ name: 'transfer_call', arguments: '{"to":"sales"}' }];
    const replies = [{ text: 'I connect you with sales now.', toolCalls }];
    const script: CallerStep[] = [
      LISTENS,
      { type: 'say', text: 'Let me talk to sales.' },
      { type: 'pause', durationMs: 30_000 },
    ];
    const callee = [{ type: 'pause', durationMs: 700 } as const, HANGS_UP];
    const call = { transferTo: { type: 'human', ringMs: 300, script: callee } } as const;
    const agent = { transferTargets: { sales: OTHER } };
    await runScript(id, { script, replies, agent, call }, ({ record, agentTexts }) => {
      expect(record).toMatchObject({
        endReason: 'transferred',
        transfer: { to: OTHER, result: 'connected' },
      });
      expect(agentTexts).toEqual([GREETING, 'I connect you with sales now.']);
      expect(record.turns.at(-1)?.interrupted).toBe(false);
    });
  });

  it('keys: they stop the agent and are answered as one', async () => {
    const script: CallerStep[] = [
      { type: 'interrupt', afterMs: 2500 },
      { type: 'press', digits: '12#' },
      LISTENS,
      HANGS_UP,
    ];
    const replies = [{ text: 'You have chosen twelve.' }];
    await runScript(
      id,
      { script, replies, agent: { firstMessage: LONG } },
      ({ record, userTexts, report }) => {
        expect(report.clears.length).toBeGreaterThanOrEqual(1);
        expect(record.turns.map(({ interrupted }) => interrupted)).toEqual([true, false]);
        expect(userTexts).toEqual(['The caller pressed 1 2 #']);
        const keys = record.transcript.filter(({ role }) => role === 'system').map(({ text }) => text);
        expect(keys).toEqual(['Key 1', 'Key 2', 'Key #']);
        expect(record.turns[1]?.agentText).toBe('You have chosen twelve.');
      },
    );
  });

  it('silence: asked twice, then let go', async () => {
    const idle = { afterSeconds: 3, prompts: ['Are you there?', 'Hello?'], goodbye: 'Goodbye then.' };
    const script: CallerStep[] = [{ type: 'pause', durationMs: 60_000 }];
    await runScript(id, { script, agent: { idle } }, ({ record, report, agentTexts, mind }) => {
      expect(record).toMatchObject({ endReason: 'idle', error: null });
      expect(report.end).toMatchObject({ by: expect.stringMatching(/agent|server/) });
      expect(agentTexts).toEqual([GREETING, 'Are you there?', 'Hello?', 'Goodbye then.']);
      expect(mind.exchanges).toEqual([]);
    });
  });
});
