import { describe, expect, it, vi } from 'vitest';
import type { LanguageModelEvent } from '../../src/providers/language-model.js';
import { createPipelineRecipe } from '../../src/engines/pipeline-engine.js';
import { FakeClock } from '../support/fake-clock.js';
import { CallRig, FakeRecogniser, FakeVoice, MS_PER_CHAR } from './call-rig.js';

vi.mock('../../src/engines/voice-activity.js', () => ({
  createVoiceActivity: () => ({ isVoiced: (frame: Int16Array) => frame[0] !== 0, close() {} }),
}));

const GREETING = 'Hello, this is the front desk.';
const ANSWER = 'We are open from eight to six. On Saturday we close at noon. Come whenever you like.';

/** Lets a text play to its end. */
const playing = (text: string) => text.length * MS_PER_CHAR + 100;

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

    expect(rig.facts.map((fact) => fact.type)).toEqual([
      'turn.started',
      'transcript.segment',
      'transcript.segment',
      'turn.completed',
      'transcript.segment',
      'transcript.segment',
      'turn.started',
      'transcript.segment',
      'transcript.segment',
      'turn.completed',
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

  it('synthesises one sentence ahead of the ear and no more', async () => {
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

  it('records a turn without an answer when the model says nothing', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('  ').answer('Yes.');
    await rig.says('Hm?');
    expect(rig.turns[0]).toMatchObject({ userText: 'Hm?', agentText: '' });
    await rig.says('Hello?');
    expect(rig.model.requests[1]?.messages).toEqual([{ role: 'user', content: 'Hm? Hello?' }]);
  });

  it('takes an open piece of text when the recogniser does not finish it, once', async () => {
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

describe('failures', () => {
  it('apologises when the model fails, and then ends the call', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('One moment please, I am looking. ', new Error('https://vendor/?key=secret'));
    await rig.says('When?');
    await rig.quiet(6000);
    expect(rig.voice.spoken.at(-1)).toMatch(/sorry/);
    expect(rig.ended).toMatchObject([
      {
        reason: 'provider-failed',
        failure: { code: 'PROVIDER_FAILED', message: 'The language model failed.' },
      },
    ]);
    expect(rig.turns[0]?.agentText).toMatch(/^One moment please, I am looking\..*sorry/);
  });

  it('ends the call when the voice fails', async () => {
    const rig = new CallRig({ firstMessage: GREETING });
    rig.voice.failOn = 'Hello';
    await rig.start();
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    expect(rig.turns).toHaveLength(1);
  });

  it.each([
    ['says nothing', 0],
    ['falls silent after a word', 1],
  ])('gives up on a model that %s', async (_, words) => {
    const rig = await new CallRig({}).start();
    rig.model.answers.push(async function* () {
      if (words > 0) yield { type: 'text', delta: 'Well ' };
      await new Promise(() => {});
    });
    await rig.says('When?');
    await rig.quiet(12_000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { code: 'PROVIDER_FAILED' } }]);
  });

  it('stops a model that never ends', async () => {
    const rig = await new CallRig({}).start();
    let given = 0;
    rig.model.answers.push(async function* (): AsyncGenerator<LanguageModelEvent> {
      for (;;) {
        given += 1;
        yield { type: 'text', delta: 'And another sentence for you. ' };
      }
    });
    await rig.says('Talk.');
    await rig.quiet(1000);
    expect(given).toBeLessThan(1000);
    expect(rig.voice.spoken.length).toBeLessThan(5);
  });

  it('survives a voice that hangs, when interrupted', async () => {
    const rig = await new CallRig({ firstMessage: ANSWER }).start();
    rig.voice.hangs = true;
    rig.model.answer('Yes, of course.');
    await rig.quiet(400);
    await rig.voiced(600);
    rig.voice.hangs = false;
    rig.ears.events.final('Are you there?');
    await rig.quiet(3000);
    expect(rig.turns.at(-1)).toMatchObject({ agentText: 'Yes, of course.' });
  });

  it('apologises when the recogniser fails', async () => {
    const rig = await new CallRig({}).start();
    rig.ears.events.failed(new Error('gone'));
    await rig.clock.advanceAsync(6000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    expect(rig.voice.spoken.join(' ')).toBe(rig.turns[0]?.agentText);
  });

  it('apologises behind the words it is saying, when the recogniser fails in the middle of them', async () => {
    const rig = await new CallRig({ firstMessage: ANSWER }).start();
    await rig.quiet(200);
    rig.ears.events.failed(new Error('gone'));
    await rig.quiet(8000);
    expect(rig.voice.spoken.at(-1)).toMatch(/sorry/);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
  });

  it.each<[string, () => AsyncIterable<Int16Array>]>([
    [
      'bytes',
      async function* () {
        yield new Uint8Array(640) as unknown as Int16Array;
      },
    ],
    [
      'no end of audio',
      async function* () {
        for (;;) yield new Int16Array(160_000);
      },
    ],
    ['a promise that fails', (async () => Promise.reject(new Error('async'))) as never],
  ])('ends the call when the voice gives %s', async (_, synthesize) => {
    const voice = new FakeVoice();
    voice.open = () => ({ synthesize, close() {} }) as never;
    const rig = await new CallRig({ voice, firstMessage: 'Hello.' }).start();
    await rig.clock.advanceAsync(100);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { code: 'PROVIDER_FAILED' } }]);
    rig.engine.close();
  });

  it.each([
    ['opens', { open: () => Promise.reject(new Error('async')) }],
    [
      'listens',
      {
        open: () => ({
          pushAudio: () => Promise.reject(new Error('async')),
          finishUtterance() {},
          close: () => Promise.reject(new Error('async')),
        }),
      },
    ],
  ])('keeps the failure of a recogniser that %s asynchronously inside the call', async (_, methods) => {
    const ears = Object.assign(new FakeRecogniser(), methods);
    const rig = await new CallRig({ stt: ears as never }).start();
    await rig.quiet(6000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    rig.engine.close();
    await rig.clock.advanceAsync(0);
  });

  it('cuts an answer that is far too long, also when it comes in one piece', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('word '.repeat(100_000));
    await rig.says('Talk.');
    await rig.quiet(1000);
    rig.engine.close();
    const { agentText = '', agentTextUnheard = '' } = rig.turns[0] ?? {};
    expect(agentText.length + agentTextUnheard.length).toBeLessThan(8100);
  });

  it('ends a call whose recogniser cannot be opened', async () => {
    const ears = new FakeRecogniser();
    ears.open = () => {
      throw new Error('no key');
    };
    const rig = await new CallRig({ stt: ears }).start();
    await rig.clock.advanceAsync(6000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    rig.engine.pushAudio(new Int16Array(320));
    rig.engine.close();
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
      'while the recogniser is waited for',
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
    history: [],
    signal: expect.any(AbortSignal),
  });
  expect(rig.turns[0]?.agentText).toBe('I heard you well.');
  expect(rig.model.requests).toHaveLength(0);
});

it('refuses a recipe with nobody to answer', () => {
  const stt = new FakeRecogniser();
  expect(() => createPipelineRecipe({ stt, tts: new FakeVoice() })).toThrow(/llm.*onMessage/);
});
