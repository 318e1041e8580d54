import { describe, expect, it } from 'vitest';
import { CallRig, END_CALL, MS_PER_CHAR, playing } from './call-rig.js';

const ANSWER = 'We are open from eight to six. On Saturday we close at noon.';
const FIRST = 'We are open from eight to six.';

/** A rig whose agent is in the middle of its answer. */
async function speakingRig(): Promise<CallRig> {
  const rig = await new CallRig({}).start();
  rig.model.answer(ANSWER);
  await rig.says('When are you open?');
  await rig.quiet((FIRST.length / 2) * MS_PER_CHAR);
  return rig;
}

describe('a hold', () => {
  it('silences the agent in the same tick and counts the rest as not heard', async () => {
    const rig = await speakingRig();
    const heardMs = rig.heardMs;
    rig.engine.hold();
    expect(rig.player.clears).toBe(1);
    expect(rig.turns).toMatchObject([{ interrupted: true, userText: 'When are you open?' }]);
    const { agentText, agentTextUnheard } = rig.turns[0] ?? { agentText: '', agentTextUnheard: '' };
    expect(agentText.length).toBeGreaterThan(0);
    expect(`${agentText} ${agentTextUnheard}`.replace(/\s+/g, ' ')).toBe(ANSWER);
    await rig.quiet(5000);
    expect(rig.heardMs).toBeCloseTo(heardMs, 0);
  });

  it('hears nothing until it is over', async () => {
    const rig = await speakingRig();
    rig.engine.hold();
    await rig.voiced(600);
    await rig.quiet(3000);
    expect(rig.model.requests).toHaveLength(1);
    rig.engine.resume('listen');
    rig.model.answer('Yes.');
    await rig.says('Are you there?');
    expect(rig.model.requests).toHaveLength(2);
  });

  it('that ends with news has them told, not what it cut off, and what the caller said before is answered behind them', async () => {
    const rig = await speakingRig();
    rig.engine.hold();
    await rig.quiet(1000);
    rig.engine.resume({ news: 'The line is busy.' });
    await rig.quiet(3000);
    expect(rig.turns.at(-1)).toMatchObject({
      userText: '',
      agentText: 'The line is busy.',
      interrupted: false,
    });
    expect(rig.model.requests).toHaveLength(1);
    rig.model.answer('Yes.');
    await rig.says('Can you try once more?');
    expect(JSON.stringify(rig.model.requests.at(-1))).toContain('The line is busy.');
  });

  it('goes on with what it cut off, as a turn of its own', async () => {
    const rig = await speakingRig();
    rig.engine.hold();
    await rig.quiet(1000);
    rig.engine.resume('continue');
    await rig.quiet(ANSWER.length * MS_PER_CHAR);
    const [cut, rest] = rig.turns;
    expect(rest).toMatchObject({ userText: '', agentText: cut?.agentTextUnheard, interrupted: false });
    expect(rig.model.requests).toHaveLength(1);
  });

  it.each([0, 1000])('keeps a greeting that it came upon at its first word, for %i ms', async (heldMs) => {
    const rig = new CallRig({ firstMessage: ANSWER });
    rig.engine.start();
    rig.engine.hold();
    if (heldMs > 0) await rig.quiet(heldMs);
    expect(rig.pacer.pushedMs).toBe(0);
    rig.engine.resume('continue');
    await rig.quiet(ANSWER.length * MS_PER_CHAR + 500);
    expect(rig.turns.at(-1)).toMatchObject({ agentText: ANSWER, interrupted: false });
    expect(rig.voice.spoken.join(' ')).toBe(ANSWER);
  });

  it.each([0, 500])('leaves a greeting as uninterruptible as it was, after %i ms of it', async (heardMs) => {
    const rig = new CallRig({ firstMessage: ANSWER, turnTaking: { interruptibleGreeting: false } });
    rig.engine.start();
    if (heardMs > 0) await rig.quiet(heardMs);
    rig.engine.hold();
    rig.engine.resume('continue');
    rig.model.answer('Yes.');
    await rig.quiet(500);
    await rig.says('Can I ask you something?');
    await rig.quiet(playing(ANSWER));
    const said = rig.turns.map(({ agentText }) => agentText);
    expect([said.slice(0, -1).filter(Boolean).join(' '), said.at(-1)]).toEqual([ANSWER, 'Yes.']);
  });

  it('lets a call end with the goodbye to a silent caller that it cut off', async () => {
    const idle = { afterMs: 1000, prompts: [], goodbye: ANSWER };
    const rig = await new CallRig({ idle }).start();
    await rig.quiet(2000);
    rig.engine.hold();
    await rig.quiet(1000);
    rig.engine.resume('continue');
    await rig.quiet(playing(ANSWER));
    expect(rig.turns.map(({ agentText }) => agentText).join(' ')).toBe(ANSWER);
    expect(rig.ended).toMatchObject([{ reason: 'idle' }]);
  });

  it.each([
    ['in the middle of it', 1000, 2],
    ['when all of it was heard', ANSWER.length * MS_PER_CHAR - 340, 1],
  ])('lets a call end with the goodbye that it cut off %s', async (_, heardMs, turns) => {
    const rig = await new CallRig({}).start();
    rig.model.answer(ANSWER, END_CALL);
    await rig.says('That is all.');
    await rig.quiet(heardMs);
    expect(rig.ended).toEqual([]);
    rig.engine.hold();
    rig.engine.resume('continue');
    await rig.quiet(playing(ANSWER));
    expect(rig.turns).toHaveLength(turns);
    expect(rig.turns.map(({ agentText }) => agentText).join(' ')).toBe(ANSWER);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup' }]);
  });

  it('lets a caller who comes back in a goodbye object to it', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer(ANSWER, END_CALL).answer('At noon.');
    await rig.says('That is all.');
    rig.engine.hold();
    rig.engine.resume('continue');
    await rig.quiet(300);
    await rig.says('Wait, when do you close?');
    await rig.quiet(playing(ANSWER));
    expect(rig.turns.at(-1)).toMatchObject({ userText: 'Wait, when do you close?', agentText: 'At noon.' });
    expect(rig.ended).toEqual([]);
  });

  it('leaves it unsaid when the agent is to listen', async () => {
    const rig = await speakingRig();
    rig.engine.hold();
    rig.engine.resume('listen');
    await rig.quiet(ANSWER.length * MS_PER_CHAR);
    expect(rig.turns).toHaveLength(1);
  });

  it.each([
    ['continue', 2, 'Six.'],
    ['listen', 1, ''],
  ] as const)('over a question that has no answer yet, then %s', async (how, requests, agentText) => {
    const rig = await new CallRig({}).start();
    rig.model.answers.push(async function* () {
      await new Promise(() => {});
      yield { type: 'text', delta: 'never' };
    });
    rig.model.answer('Six.');
    await rig.says('When do you close?');
    rig.engine.hold();
    expect(rig.turns).toEqual([]);
    rig.engine.resume(how);
    await rig.quiet(1500);
    expect(rig.model.requests).toHaveLength(requests);
    expect(rig.model.requests.at(-1)?.messages).toEqual([{ role: 'user', content: 'When do you close?' }]);
    expect(rig.turns).toMatchObject([{ userText: 'When do you close?', agentText }]);
  });

  it('answers words that were recognized in the middle of it when it is over', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('At noon.');
    await rig.voiced(400);
    rig.ears.events.partial('when do');
    rig.engine.hold();
    rig.ears.events.final('When do you close?');
    await rig.quiet(3000);
    expect(rig.model.requests).toEqual([]);
    rig.engine.resume('continue');
    await rig.quiet(2000);
    expect(rig.turns).toMatchObject([{ userText: 'When do you close?', agentText: 'At noon.' }]);
  });

  it('says of a failure in the middle of it that the caller was told nothing', async () => {
    const rig = await speakingRig();
    rig.engine.hold();
    rig.ears.events.failed(new Error('gone'));
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { untold: true } }]);
  });

  it('cuts an apology off, and ends the call with it', async () => {
    const rig = await new CallRig({}).start();
    rig.ears.events.failed(new Error('gone'));
    await rig.clock.advanceAsync(500);
    expect(rig.ended).toEqual([]);
    rig.engine.hold();
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { untold: true } }]);
    await rig.quiet(10_000);
    expect(rig.ended).toHaveLength(1);
  });

  it('may be asked for twice and ended twice, and not ended without one', async () => {
    const rig = await speakingRig();
    rig.engine.resume('continue');
    expect(rig.turns).toEqual([]);
    rig.engine.hold();
    rig.engine.hold();
    expect(rig.turns).toHaveLength(1);
    rig.engine.resume('continue');
    rig.engine.resume('continue');
    await rig.quiet(ANSWER.length * MS_PER_CHAR);
    expect(rig.turns).toHaveLength(2);
    rig.engine.close();
    rig.engine.hold();
    rig.engine.resume('continue');
    expect(rig.clock.pending).toBe(0);
  });
});
