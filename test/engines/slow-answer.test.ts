import { describe, expect, it } from 'vitest';
import { CallRig } from './call-rig.js';

/** A model that keeps its caller waiting. */
function thinking(rig: CallRig, ms: number, text: string): void {
  rig.model.answers.push(async function* () {
    await new Promise<void>((resolve) => rig.clock.after(ms, resolve));
    yield { type: 'text', delta: text };
  });
}

/** A model that writes word by word. */
function writing(rig: CallRig, wordMs: number, text: string): void {
  rig.model.answers.push(async function* () {
    for (const delta of text.match(/\s*\S+/g) ?? []) {
      await new Promise<void>((resolve) => rig.clock.after(wordMs, resolve));
      yield { type: 'text', delta };
    }
  });
}

describe('an answer that is slow to be written', () => {
  const ANSWER = 'We are open from eight until six';

  it('is begun with the words that there are when the caller has waited long enough', async () => {
    const rig = await new CallRig().start();
    writing(rig, 1200, ANSWER);
    await rig.says('When are you open?');
    await rig.quiet(3000);
    expect(rig.voice.spoken).toEqual([]);
    await rig.quiet(700);
    expect(rig.voice.spoken).toEqual(['We are']);
    await rig.quiet(9000);
    expect(rig.turns.map(({ agentText }) => agentText)).toEqual([ANSWER]);
    expect(rig.ended).toEqual([]);
  });

  it('is begun with a few words where they come no faster than they are spoken', async () => {
    const rig = await new CallRig().start();
    writing(rig, 400, ANSWER);
    await rig.says('When are you open?');
    await rig.quiet(1900);
    expect(rig.heardMs).toBeGreaterThan(0);
    await rig.quiet(6000);
    expect(rig.turns.map(({ agentText }) => agentText)).toEqual([ANSWER]);
  });

  it('fails where guardrails want to see whole sentences', async () => {
    const rig = await new CallRig({ guardrails: [() => true] }).start();
    writing(rig, 1200, ANSWER);
    await rig.says('When are you open?');
    await rig.quiet(9000);
    expect(rig.turns.map(({ agentText }) => agentText)).toEqual([expect.stringMatching(/^I am sorry/)]);
  });

  it('fails where it is not written at all, with how long the caller had waited before', async () => {
    const rig = await new CallRig().start();
    thinking(rig, 20_000, ANSWER);
    await rig.voiced(400);
    for (const text of ['When', 'When are', 'When are you']) {
      rig.ears.events.partial(text);
      await rig.quiet(900);
    }
    rig.ears.events.final('When are you open?');
    await rig.quiet(9000);
    const message =
      'language model did not answer within 1.6 s (the caller had waited 2.7 s before it was asked)';
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { message } }]);
  });
});

describe('an answer that is slow to come', () => {
  const turnTaking = { fillers: ['One moment.', 'Let me see.'] };

  it('is preceded by one filler, which the model is not told of', async () => {
    const rig = await new CallRig({ turnTaking }).start();
    thinking(rig, 3000, 'We are open until six.');
    rig.model.answer('Bye.');
    await rig.says('When do you close?');
    await rig.quiet(580);
    expect(rig.heardMs).toBe(0);
    await rig.quiet(100);
    expect(rig.heardMs).toBeGreaterThan(0);
    await rig.quiet(6000);
    expect(rig.transcript.map(({ id, role, text, turnIndex }) => [id, role, text, turnIndex])).toEqual([
      ['user-1', 'user', 'When do you close?', 0],
      ['filler-0', 'agent', 'One moment.', 0],
      ['agent-0', 'agent', 'We are open until six.', 0],
    ]);
    expect(rig.turns[0]).toMatchObject({ agentText: 'We are open until six.' });
    // Due 1200 ms after the caller's last sound, on a line of 20 ms frames.
    expect(rig.turns[0]?.fillerMs).toBeGreaterThanOrEqual(1200);
    expect(rig.turns[0]?.fillerMs).toBeLessThanOrEqual(1240);
    await rig.says('Thank you.');
    expect(rig.model.requests[1]?.messages[1]).toEqual({
      role: 'assistant',
      content: 'We are open until six.',
    });
  });

  it('needs none when it is there in time', async () => {
    const rig = await new CallRig({ turnTaking }).start();
    thinking(rig, 700, 'We are open until six.');
    await rig.says('When do you close?');
    await rig.quiet(4000);
    expect(rig.transcript.map(({ id }) => id)).toEqual(['user-1', 'agent-0']);
    expect(rig.turns[0]?.fillerMs).toBeNull();
  });

  it('comes behind a filler that is not over, and is measured where it begins', async () => {
    const rig = await new CallRig({
      turnTaking: { ...turnTaking, fillers: ['One moment, please, I am looking.'] },
    }).start();
    thinking(rig, 1000, 'Six.');
    await rig.says('When do you close?');
    await rig.quiet(5000);
    const { latency } = rig.turns[0] ?? {};
    expect(latency?.totalMs).toBeGreaterThan(2000);
    expect((latency?.heardMs ?? 0) - (latency?.totalMs ?? 0)).toBeLessThan(500);
  });

  it('keeps of a filler that was cut off what was heard', async () => {
    const rig = await new CallRig({ turnTaking }).start();
    thinking(rig, 5000, 'Six.');
    rig.model.answer('Yes.');
    await rig.says('When do you close?');
    await rig.quiet(750);
    rig.ears.events.partial('I mean on Sunday');
    expect(rig.player.clears).toBe(1);
    rig.ears.events.final('I mean on Sunday.');
    await rig.quiet(2500);
    const filler = rig.transcript.find(({ id }) => id === 'filler-0');
    expect(filler).toMatchObject({ text: 'One', interrupted: true });
    expect(rig.model.requests[1]?.messages.at(-1)?.content).toBe('When do you close? I mean on Sunday.');
    // It was said in this turn, though for an answer that was dropped.
    await rig.quiet(3000);
    expect(rig.turns[0]).toMatchObject({ agentText: 'Yes.', fillerMs: expect.any(Number) });
  });

  it('does without when the voice refuses the filler', async () => {
    const rig = new CallRig({ turnTaking });
    rig.voice.failOn = 'moment';
    await rig.start();
    thinking(rig, 2000, 'Six.');
    await rig.says('When do you close?');
    await rig.quiet(4000);
    expect(rig.turns[0]).toMatchObject({ agentText: 'Six.' });
    expect(rig.ended).toEqual([]);
  });
});
