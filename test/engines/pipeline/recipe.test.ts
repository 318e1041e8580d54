import { describe, expect, it, vi } from 'vitest';
import { createPipelineRecipe } from '../../../src/engines/pipeline/recipe.js';
import { FakeClock } from '../../support/fake-clock.js';
import { ANSWER, GREETING } from '../answering-rig.js';
import { CallRig, FakeRecognizer, FakeVoice, MS_PER_CHAR, playing } from '../call-rig.js';

describe('a turn', () => {
  it('greets, listens, answers, and states the facts in order', async () => {
    const rig = await new CallRig({ firstMessage: GREETING, systemPrompt: 'Be kind.' }).start();
    await rig.quiet(playing(GREETING));
    rig.model.answer('We are open', ' from eight', ' to six.');
    await rig.voiced(300);
    rig.ears.events.partial('When are');
    await rig.voiced(300);
    rig.ears.events.final('When are you open?');
    await rig.quiet(3000);

    const told = rig.facts.map((fact) => (fact.type === 'phase.changed' ? fact.phase : fact.type));
    expect(told).toEqual([
      'turn.started',
      'thinking',
      'speaking',
      'transcript.segment',
      'transcript.segment',
      'turn.completed',
      'listening',
      'hearing',
      'transcript.segment',
      'transcript.segment',
      'turn.started',
      'thinking',
      'speaking',
      'transcript.segment',
      'transcript.segment',
      'turn.completed',
      'listening',
    ]);
    expect(
      rig.transcript.map(({ role, text, final, turnIndex }) => ({ role, text, final, turnIndex })),
    ).toEqual([
      { role: 'agent', text: GREETING, final: true, turnIndex: 0 },
      { role: 'user', text: 'When are you open?', final: true, turnIndex: 1 },
      { role: 'agent', text: 'We are open from eight to six.', final: true, turnIndex: 1 },
    ]);
    expect(rig.model.requests[0]?.messages).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'assistant', content: GREETING },
      { role: 'user', content: 'When are you open?' },
    ]);
    expect(rig.turns[1]).toMatchObject({
      index: 1,
      userText: 'When are you open?',
      agentText: 'We are open from eight to six.',
      agentTextUnheard: '',
      interrupted: false,
      cost: null,
    });
    expect(rig.ended).toEqual([]);
  });

  it('measures contiguous stages from the end of speech', async () => {
    const rig = await new CallRig({}).start();
    const { clock } = rig;
    rig.model.answers.push(async function* () {
      await new Promise<void>((resolve) => clock.after(150, resolve));
      yield { type: 'text', delta: 'We are open from' };
      await new Promise<void>((resolve) => clock.after(70, resolve));
      yield { type: 'text', delta: ' eight to six. ' };
    });
    await rig.voiced(400);
    rig.ears.events.partial('When are you open');
    rig.ears.onFinish = () => void clock.after(90, () => rig.ears.events.final('When are you open?'));
    await rig.quiet(4000);
    const latency = rig.turns[0]?.latency;
    expect(latency).toEqual({
      endpointingMs: 500,
      sttMs: 90,
      llmFirstTokenMs: 150,
      sentenceMs: 70,
      ttsFirstByteMs: 0,
      sendMs: 0,
      totalMs: 810,
      heardMs: 840,
    });
  });

  it('knows no latency of a greeting', async () => {
    const rig = await new CallRig({ firstMessage: GREETING }).start();
    await rig.quiet(playing(GREETING));
    expect(new Set(Object.values(rig.turns[0]?.latency ?? { none: 1 }))).toEqual(new Set([null]));
  });

  it('synthesizes one sentence ahead of the ear and no more', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer(ANSWER);
    await rig.says('When?');
    expect(rig.voice.spoken).toEqual(['We are open from eight to six.', 'On Saturday we close at noon.']);
    await rig.quiet(30 * MS_PER_CHAR);
    expect(rig.voice.spoken).toHaveLength(3);
    expect(rig.transcript.at(-1)).toMatchObject({
      text: 'We are open from eight to six. On Saturday we close at noon.',
      final: false,
    });
    await rig.quiet(playing(ANSWER));
    expect(rig.turns[0]).toMatchObject({ agentText: ANSWER, agentTextUnheard: '' });
    expect(rig.heardMs).toBeGreaterThanOrEqual(ANSWER.replaceAll('. ', '.').length * MS_PER_CHAR);
  });

  it('takes an open piece of text when the recognizer does not finish it, once', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('It is noon now, as you know.');
    await rig.voiced(400);
    rig.ears.events.partial('what time is it');
    await rig.quiet(1600);
    expect(rig.turns).toHaveLength(0);
    expect(rig.model.requests).toHaveLength(1);
    rig.ears.events.final('What time is it?');
    await rig.quiet(3000);
    expect(rig.model.requests).toHaveLength(1);
    expect(rig.transcript[0]).toMatchObject({ text: 'What time is it?', final: true });
  });

  it('ends the call after the goodbye was heard', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('Thank you. Goodbye!', { type: 'end-call' });
    await rig.says('Bye.');
    expect(rig.ended).toEqual([]);
    await rig.quiet(2000);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup', failure: undefined }]);
    expect(rig.turns[0]?.agentText).toBe('Thank you. Goodbye!');
  });

  it('goes on without marks, by the playback clock', async () => {
    const rig = await new CallRig({ firstMessage: GREETING }).start();
    vi.spyOn(rig.pacer, 'markEchoed').mockReturnValue(false);
    await rig.quiet(playing(GREETING) + 2000);
    expect(rig.turns[0]?.agentText).toBe(GREETING);
  });
});

describe('close', () => {
  const moments: readonly (readonly [string, (rig: CallRig) => Promise<void>])[] = [
    ['before start', async () => {}],
    [
      'in the greeting',
      async (rig) => {
        await rig.start();
        await rig.quiet(300);
      },
    ],
    [
      'while the caller speaks',
      async (rig) => {
        await rig.start();
        await rig.quiet(playing(GREETING));
        await rig.voiced(200);
        rig.ears.events.partial('I wou');
      },
    ],
    [
      'while the recognizer is waited for',
      async (rig) => {
        await rig.start();
        await rig.quiet(playing(GREETING));
        await rig.voiced(200);
        rig.ears.events.partial('I would');
        await rig.quiet(600);
      },
    ],
    [
      'while the agent thinks',
      async (rig) => {
        await rig.start();
        rig.model.answers.push(async function* () {
          await new Promise(() => {});
        });
        await rig.quiet(playing(GREETING));
        await rig.says('Hello?');
      },
    ],
    [
      'while the agent answers',
      async (rig) => {
        await rig.start();
        rig.model.answer(ANSWER);
        await rig.quiet(playing(GREETING));
        await rig.says('Hello?');
        await rig.quiet(700);
      },
    ],
  ];

  it.each(moments)('%s completes the open turn and leaves nothing behind', async (_, reach) => {
    const rig = new CallRig({ firstMessage: GREETING });
    await reach(rig);
    rig.engine.close();
    rig.engine.close();
    const facts = rig.facts.length;
    const started = rig.facts.filter((fact) => fact.type === 'turn.started').length;
    expect(rig.turns).toHaveLength(started);
    expect(rig.transcript.every((entry) => entry.final)).toBe(true);
    if (started > 0) expect([rig.ears.closed, rig.voice.closed]).toEqual([true, true]);
    await rig.quiet(200);
    rig.ears.events?.final('late');
    rig.pacer.close();
    await rig.clock.advanceAsync(40_000);
    expect(rig.facts).toHaveLength(facts);
    expect(rig.ended).toEqual([]);
    expect(rig.clock.pending).toBe(0);
  });

  it('keeps of a cut-off answer what was heard', async () => {
    const rig = await new CallRig({ firstMessage: ANSWER }).start();
    await rig.quiet(1000);
    rig.engine.close();
    expect(rig.turns[0]?.interrupted).toBe(true);
    expect(rig.turns[0]?.agentText).toBe('We are open from');
  });
});

it('keeps two calls apart that share one recipe’s providers', async () => {
  const clock = new FakeClock();
  const one = await new CallRig({ clock, callId: 'one', voice: new FakeVoice(1111) }).start();
  const two = await new CallRig({ clock, callId: 'two', voice: new FakeVoice(2222) }).start();
  one.model.answer('This is the first call.');
  two.model.answer('This is the second call, which is longer.');
  await one.voiced(300);
  await two.voiced(300);
  one.ears.events.final('First?');
  two.ears.events.final('Second?');
  await one.quiet(600);
  await two.quiet(600);
  await two.quiet(5000);
  expect(one.turns).toMatchObject([{ userText: 'First?', agentText: 'This is the first call.' }]);
  expect(two.turns).toMatchObject([
    { userText: 'Second?', agentText: 'This is the second call, which is longer.' },
  ]);
  const samplesOf = (rig: CallRig) => new Set(new Int16Array(Uint8Array.from(rig.player.heard()).buffer));
  // 0 is the silence that a last frame is filled up with.
  expect(samplesOf(one)).toEqual(new Set([1111, 0]));
  expect(samplesOf(two)).toEqual(new Set([2222, 0]));
});

it('answers through onMessage in the place of a model', async () => {
  const onMessage = vi.fn(async () => 'I heard you well.');
  const rig = await new CallRig({ onMessage }).start();
  await rig.says('Do you hear me?');
  await rig.quiet(2000);
  expect(onMessage).toHaveBeenCalledWith({
    callId: 'call-1',
    text: 'Do you hear me?',
    caller: '+15550100',
    callee: '+15550111',
    direction: 'inbound',
    agent: null,
    variables: {},
    history: [],
    signal: expect.any(AbortSignal),
  });
  expect(rig.turns[0]?.agentText).toBe('I heard you well.');
  expect(rig.model.requests).toHaveLength(0);
});

it('refuses a recipe with nobody to answer', () => {
  const stt = new FakeRecognizer();
  expect(() => createPipelineRecipe({ stt, tts: new FakeVoice() })).toThrow(/llm.*onMessage/);
});
