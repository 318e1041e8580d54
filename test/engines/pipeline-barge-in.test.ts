import { describe, expect, it, vi } from 'vitest';
import { ANSWER, GREETING } from './answering-rig.js';
import { CallRig, MS_PER_CHAR, playing } from './call-rig.js';

vi.mock('../../src/engines/voice-activity.js', () => ({
  createVoiceActivity: () => ({ isVoiced: (frame: Int16Array) => frame[0] !== 0, close() {} }),
}));

describe('barge-in', () => {
  it('stops the agent in one tick and keeps only the words that were heard', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer(ANSWER).answer('All right, tell me then.');
    await rig.says('When?');
    await rig.quiet(1000);
    await rig.voiced(500);
    expect(rig.player.clears).toBe(1);
    expect(rig.player.aheadMs).toBe(0);
    expect(rig.model.requests[0]?.signal.aborted).toBe(true);
    const [turn] = rig.turns;
    expect(turn?.interrupted).toBe(true);
    expect(ANSWER.startsWith(turn?.agentText ?? 'nothing')).toBe(true);
    expect(`${turn?.agentText} ${turn?.agentTextUnheard}`).toBe(ANSWER);
    // What was heard at 50 ms a character, cut at a word.
    const heardChars = rig.heardMs / MS_PER_CHAR;
    expect(turn?.agentText.length).toBeLessThanOrEqual(heardChars + 1);
    expect(turn?.agentText.length).toBeGreaterThan(heardChars - 10);
    expect(rig.transcript.at(-1)).toMatchObject({ text: turn?.agentText, final: true, interrupted: true });

    const heard = rig.heardMs;
    rig.ears.events.final('One question.');
    await rig.quiet(600);
    expect(rig.model.requests[1]?.messages).toEqual([
      { role: 'user', content: 'When?' },
      { role: 'assistant', content: turn?.agentText },
      { role: 'user', content: 'One question.' },
    ]);
    await rig.quiet(4000);
    // Nothing but the new answer was heard after the cut.
    expect(rig.heardMs - heard).toBeCloseTo('All right, tell me then.'.length * MS_PER_CHAR, -2);
  });

  it.each([
    ['two words', 'what about', 1],
    ['a stop word', 'stop', 1],
    ['a sign of listening', 'mm-hm', 0],
    ['agreement', 'okay', 0],
  ])('decides by the words: %s', async (_, text, clears) => {
    const rig = await new CallRig({ firstMessage: ANSWER }).start();
    await rig.quiet(500);
    await rig.voiced(200);
    rig.ears.events.partial(text);
    await rig.quiet(20);
    expect(rig.player.clears).toBe(clears);
  });

  it('goes on speaking over a mumble and a backchannel, which are no turns', async () => {
    const rig = await new CallRig({ firstMessage: ANSWER }).start();
    await rig.quiet(500);
    await rig.voiced(200);
    await rig.quiet(800);
    await rig.voiced(200);
    rig.ears.events.final('yeah');
    await rig.quiet(playing(ANSWER));
    expect(rig.player.clears).toBe(0);
    expect(rig.turns).toHaveLength(1);
    expect(rig.turns[0]).toMatchObject({ agentText: ANSWER, interrupted: false });
    expect(rig.model.requests).toHaveLength(0);
  });

  it('goes on with the sentence that was cut, when the sound that cut it off had no words', async () => {
    const rig = await new CallRig({ firstMessage: ANSWER }).start();
    await rig.quiet(900);
    await rig.voiced(600);
    expect(rig.turns).toHaveLength(1);
    await rig.quiet(2600 + playing(ANSWER));
    expect(rig.turns).toHaveLength(2);
    expect(rig.turns[0]?.agentText).toBe('We are open from eight to');
    expect(rig.turns[1]).toMatchObject({ agentText: ANSWER, interrupted: false });
  });

  it('merges what is said before the answer sounds, and leaves no trace of that answer', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answers.push(async function* () {
      await new Promise(() => {});
      yield { type: 'text', delta: 'never' };
    });
    rig.model.answer('Two tables, certainly.');
    await rig.says('A table for two.');
    await rig.voiced(300);
    expect(rig.model.requests[0]?.signal.aborted).toBe(true);
    rig.ears.events.final('No, two tables.');
    await rig.quiet(3000);
    expect(rig.model.requests[1]?.messages).toEqual([
      { role: 'user', content: 'A table for two. No, two tables.' },
    ]);
    expect(rig.turns).toHaveLength(1);
    expect(rig.turns[0]).toMatchObject({
      userText: 'A table for two. No, two tables.',
      agentText: 'Two tables, certainly.',
    });
    expect(rig.transcript.map((entry) => [entry.role, entry.turnIndex])).toEqual([
      ['user', 0],
      ['user', 0],
      ['agent', 0],
    ]);
  });

  it('ignores everything that comes late from a stage that was stopped', async () => {
    const rig = await new CallRig({}).start();
    let late: (() => void) | undefined;
    rig.model.answers.push(async function* () {
      yield { type: 'text', delta: 'This is the first sentence. ' };
      await new Promise<void>((resolve) => {
        late = resolve;
      });
      yield { type: 'text', delta: 'This is the late sentence.' };
      yield { type: 'end-call' };
    });
    rig.model.answer('Fresh answer to you.');
    await rig.says('Go.');
    await rig.quiet(400);
    await rig.voiced(500);
    late?.();
    await rig.quiet(20);
    rig.ears.events.final('Something else.');
    await rig.quiet(3000);
    expect(rig.voice.spoken).toEqual(['This is the first sentence.', 'Fresh answer to you.']);
    expect(rig.ended).toEqual([]);
  });

  it('lets the agent finish where it may not be interrupted, and answers afterwards', async () => {
    const rig = await new CallRig({ firstMessage: GREETING, interruptible: false }).start();
    rig.model.answer('You said something.');
    await rig.quiet(300);
    await rig.says('Please be quiet now.', 600);
    expect(rig.player.clears).toBe(0);
    await rig.quiet(playing(GREETING) + 2000);
    expect(rig.turns[0]).toMatchObject({ agentText: GREETING, interrupted: false });
    expect(rig.turns[1]).toMatchObject({
      userText: 'Please be quiet now.',
      agentText: 'You said something.',
    });
  });
});
