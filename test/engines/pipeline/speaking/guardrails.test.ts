import { describe, expect, it, vi } from 'vitest';
import type { Guardrail } from '../../../../src/engines/pipeline/speaking/guardrails.js';
import { RecordedLogger } from '../../../support/recorded-logger.js';
import { A_CALL } from '../../a-call.js';
import { CallRig } from '../../call-rig.js';

const ANSWER = 'We are open from eight to six. On Saturday we close at noon.';
const [FIRST = '', SECOND = ''] = ANSWER.split(/(?<=six\.) /);

/** What is said of the answer with these guardrails. */
async function spoken(...guardrails: Guardrail[]): Promise<CallRig> {
  const rig = await new CallRig({ guardrails }).start();
  rig.model.answer(ANSWER);
  await rig.says('When are you open?');
  await rig.quiet(8000);
  return rig;
}

describe('guardrails', () => {
  it('see every sentence before it is spoken, with the call', async () => {
    const guardrail = vi.fn<Guardrail>(() => true);
    const rig = await spoken(guardrail);
    const call = { ...A_CALL, callId: 'call-1', agent: null, variables: {} };
    expect(guardrail.mock.calls).toEqual([
      [FIRST, call],
      [SECOND, call],
    ]);
    expect(rig.turns).toMatchObject([{ agentText: ANSWER }]);
  });

  it('see the greeting, too', async () => {
    const rig = await new CallRig({ guardrails: [() => false], firstMessage: 'Hello there.' }).start();
    await rig.quiet(1000);
    expect(rig.voice.spoken).toEqual([]);
  });

  it.each<[string, Guardrail, string]>([
    ['drop a sentence', (sentence) => !sentence.includes('six'), SECOND],
    ['drop one after a while', async (sentence) => !sentence.includes('six'), SECOND],
    [
      'say something else in its place',
      (sentence) => (sentence === FIRST ? 'I cannot say that. Ask me something else.' : true),
      `I cannot say that. Ask me something else. ${SECOND}`,
    ],
    ['say nothing in its place', (sentence) => (sentence === FIRST ? '' : true), SECOND],
  ])('can %s', async (_, guardrail, text) => {
    const rig = await spoken(guardrail);
    expect(rig.voice.spoken.join(' ')).toBe(text);
    expect(rig.turns).toMatchObject([{ agentText: text }]);
  });

  it('see a whole sentence, however slowly it comes, and nobody hurries with its first clause', async () => {
    const seen: string[] = [];
    const said =
      'Of course we are open on every day of the week but Sunday, as our baker has always done, and gladly.';
    const rig: CallRig = new CallRig({
      guardrails: [
        (sentence) => {
          seen.push(sentence);
          return true;
        },
      ],
    });
    await rig.start();
    rig.model.answers.push(async function* () {
      for (const delta of said.split(/(?<=,)/)) {
        yield { type: 'text', delta };
        await new Promise<void>((done) => void rig.clock.after(400, done));
      }
    });
    await rig.says('Are you open?');
    await rig.quiet(8000);
    expect(seen).toEqual([said]);
    expect(rig.turns).toMatchObject([{ agentText: said }]);
  });

  it('see short sentences by themselves, and the voice gets what passes in one piece', async () => {
    const guardrail = vi.fn<Guardrail>((sentence) => !sentence.includes('secret recipe'));
    const rig = await new CallRig({ guardrails: [guardrail] }).start();
    rig.model.answer('We open at eight. The secret recipe is butter. Come by. Do!');
    await rig.says('When do you open?');
    await rig.quiet(5000);
    expect(guardrail.mock.calls.map(([sentence]) => sentence)).toEqual([
      'We open at eight.',
      'The secret recipe is butter.',
      'Come by.',
      'Do!',
    ]);
    expect(rig.voice.spoken).toEqual(['We open at eight. Come by.', 'Do!']);
    expect(rig.turns).toMatchObject([
      {
        agentText: 'We open at eight. Come by. Do!',
        agentTextUnheard: 'The secret recipe is butter.',
        interrupted: false,
      },
    ]);
  });

  it('keep the order when the first of them is looked at for long', async () => {
    const rig: CallRig = new CallRig({
      guardrails: [
        async (sentence) => {
          if (sentence === FIRST) await new Promise<void>((done) => void rig.clock.after(500, done));
          return true;
        },
      ],
    });
    await rig.start();
    rig.model.answer(ANSWER);
    await rig.says('When are you open?');
    await rig.quiet(8000);
    expect(rig.voice.spoken).toEqual([FIRST, SECOND]);
  });

  it('are asked in order, each with what the one before made of it', async () => {
    const rig = await spoken(
      (sentence) => sentence.replace('six', 'five'),
      (sentence) => !sentence.includes('six'),
    );
    expect(rig.turns[0]?.agentText).toBe(ANSWER.replace('six', 'five'));
  });

  it.each<[string, Guardrail]>([
    [
      'throws',
      () => {
        throw new Error('mine');
      },
    ],
    ['rejects', () => Promise.reject(new Error('mine'))],
    ['gives nothing', () => undefined as unknown as boolean],
    ['does not answer', () => new Promise(() => {})],
  ])('are on the safe side when one %s: nothing is spoken, and the call goes on', async (_, guardrail) => {
    const rig = await spoken(guardrail);
    expect(rig.voice.spoken).toEqual([]);
    expect(rig.turns).toMatchObject([{ agentText: '' }]);
    expect(rig.ended).toEqual([]);
  });

  it('tell the log where one threw, and at level debug what', async () => {
    const logger = new RecordedLogger();
    const guardrail = () => {
      throw new Error('about the secret recipe');
    };
    const rig = await new CallRig({ guardrails: [guardrail], logger, firstMessage: 'Hello there.' }).start();
    await rig.quiet(1000);
    const at = expect.arrayContaining([expect.stringContaining('guardrails.test.ts')]);
    expect(logger.lines).toMatchObject([
      { level: 'warn', fields: { callId: 'call-1', error: 'Error', at } },
      { level: 'debug', fields: { thrown: expect.stringContaining('about the secret recipe') } },
    ]);
    expect(JSON.stringify(logger.lines[0])).not.toContain('recipe');
  });

  it('hold nothing up when the caller goes on, or hangs up', async () => {
    const rig = await new CallRig({ guardrails: [() => new Promise(() => {})] }).start();
    rig.model.answer(ANSWER).answer(ANSWER);
    await rig.says('When are you open?');
    await rig.says('Hello?', 700);
    expect(rig.model.requests).toHaveLength(2);
    rig.engine.close();
    await rig.clock.advanceAsync(0);
    expect(rig.clock.pending).toBe(0);
  });

  it.each<[string, Guardrail, string]>([
    ['let through', () => true, 'One moment.'],
    ['drop', (text) => text !== 'One moment.', ''],
    ['put into other words', (text) => (text === 'One moment.' ? 'Just a second.' : true), 'Just a second.'],
    ['drop when they do not answer', () => new Promise(() => {}), ''],
  ])('see a filler in the moment in which it is due, and can %s it', async (_, guardrail, text) => {
    const guardrails = [vi.fn(guardrail)];
    const rig = await new CallRig({ guardrails, turnTaking: { fillers: ['One moment.'] } }).start();
    rig.model.answers.push(async function* () {
      await new Promise<void>((done) => void rig.clock.after(4000, done));
      yield { type: 'text', delta: 'Six.' };
    });
    await rig.says('When do you close?');
    await rig.quiet(500);
    expect(guardrails[0]).not.toHaveBeenCalled();
    await rig.quiet(2500);
    expect(guardrails[0]).toHaveBeenCalledTimes(1);
    const heard = rig.transcript.filter(({ id }) => id.startsWith('filler')).map((entry) => entry.text);
    expect(heard).toEqual(text === '' ? [] : [text]);
    expect(rig.heardMs > 0).toBe(text !== '');
    expect(rig.voice.spoken).not.toContain('');
  });

  it('see each sentence of a filler', async () => {
    const rig = await new CallRig({
      guardrails: [(text) => text !== 'I am looking.'],
      turnTaking: { fillers: ['One moment. I am looking. Please wait.'] },
    }).start();
    rig.model.answers.push(async function* () {
      await new Promise<void>((done) => void rig.clock.after(6000, done));
      yield { type: 'text', delta: 'Six.' };
    });
    await rig.says('When do you close?');
    await rig.quiet(4000);
    const heard = rig.transcript.filter(({ id }) => id.startsWith('filler')).map((entry) => entry.text);
    expect(heard).toEqual(['One moment. Please wait.']);
  });

  it('that think too long about a filler do not have it said over the answer', async () => {
    const rig: CallRig = new CallRig({
      turnTaking: { fillers: ['One moment.'] },
      guardrails: [
        async (text) => {
          if (text === 'One moment.') await new Promise<void>((done) => void rig.clock.after(900, done));
          return true;
        },
      ],
    });
    await rig.start();
    rig.model.answers.push(async function* () {
      await new Promise<void>((done) => void rig.clock.after(1200, done));
      yield { type: 'text', delta: 'We close at six.' };
    });
    await rig.says('When do you close?');
    await rig.quiet(4000);
    expect(rig.transcript.map(({ id }) => id)).toEqual(['user-1', 'agent-0']);
    expect(rig.heardMs).toBeLessThan(1000);
  });

  it.each([
    ['in the middle of an answer', ['We are open from eight to six. ', new Error('broken')]],
    ['instead of one', [new Error('broken')]],
  ])('see the apology %s', async (_, answer) => {
    const guardrail = vi.fn<Guardrail>((text) =>
      text.includes('sorry') ? 'Please call the desk.' : !text.includes('again later'),
    );
    const rig = await new CallRig({ guardrails: [guardrail] }).start();
    rig.model.answer(...answer);
    await rig.says('When are you open?');
    await rig.quiet(8000);
    expect(guardrail.mock.calls.slice(-2).map(([text]) => text)).toEqual([
      'I am sorry, something went wrong.',
      'Please call again later.',
    ]);
    expect(rig.voice.spoken.at(-1)).toBe('Please call the desk.');
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    expect(rig.turns[0]?.agentText).toMatch(/Please call the desk\.$/);
  });

  it('that drop the apology end the call without one', async () => {
    const rig = await new CallRig({ guardrails: [(text) => !/sorry|again later/.test(text)] }).start();
    rig.model.answer('We are open from eight to six. ', new Error('broken'));
    await rig.says('When are you open?');
    await rig.quiet(4000);
    expect(rig.voice.spoken).toEqual([FIRST]);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
  });
});
