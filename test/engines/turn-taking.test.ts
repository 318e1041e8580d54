import { describe, expect, it, vi } from 'vitest';
import { CallRig, FakeRecogniser, MS_PER_CHAR, type RigOptions } from './call-rig.js';

vi.mock('../../src/engines/voice-activity.js', () => ({
  createVoiceActivity: () => ({ isVoiced: (frame: Int16Array) => frame[0] !== 0, close() {} }),
}));

const LONG = 'We are open from eight to six. On Saturday we close at noon. Come whenever you like.';
const REST = 'On Saturday we close at noon. Come whenever you like.';
const playing = (text: string) => text.length * MS_PER_CHAR + 100;

/** A rig whose agent has been answering for `ms`. */
async function answering(ms: number, options: RigOptions = {}): Promise<CallRig> {
  const rig = await new CallRig(options).start();
  rig.model.answer(LONG);
  await rig.says('When?');
  await rig.quiet(ms - 300);
  return rig;
}

/** A model that keeps its caller waiting. */
function thinking(rig: CallRig, ms: number, text: string): void {
  rig.model.answers.push(async function* () {
    await new Promise<void>((resolve) => rig.clock.after(ms, resolve));
    yield { type: 'text', delta: text };
  });
}

describe('a recogniser that ends turns itself', () => {
  const ears = () => new FakeRecogniser({ ownsTurnTaking: true });

  it('decides, whatever the silence', async () => {
    const rig = await new CallRig({ ears: ears() }).start();
    rig.model.answer('Yes.');
    await rig.voiced(400);
    rig.ears.events.final('Are you open?');
    await rig.quiet(2000);
    expect(rig.model.requests).toHaveLength(0);
    rig.ears.events.turnEnded?.();
    await rig.quiet(20);
    expect(rig.model.requests[0]?.messages).toEqual([{ role: 'user', content: 'Are you open?' }]);
    expect(rig.turns).toHaveLength(0);
    await rig.quiet(500);
    expect(rig.turns[0]?.latency.endpointingMs).toBe(2000);
  });

  it('is not waited for without end', async () => {
    const rig = await new CallRig({ ears: ears() }).start();
    rig.model.answer('Yes.');
    await rig.voiced(400);
    rig.ears.events.final('Are you open?');
    await rig.quiet(3020);
    expect(rig.model.requests).toHaveLength(1);
    rig.ears.events.turnEnded?.();
    await rig.quiet(2000);
    expect(rig.model.requests).toHaveLength(1);
  });

  it('may say so without any sound, and for nothing', async () => {
    const rig = await new CallRig({ ears: ears() }).start();
    rig.model.answer('Yes.');
    rig.ears.events.turnEnded?.();
    rig.ears.events.final('');
    rig.ears.events.turnEnded?.();
    await rig.quiet(100);
    expect(rig.model.requests).toHaveLength(0);
    rig.ears.events.final('Hello?');
    rig.ears.events.turnEnded?.();
    await rig.quiet(100);
    expect(rig.model.requests).toHaveLength(1);
  });

  it('does not decide where it does not say that it does', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('Yes.');
    await rig.voiced(400);
    rig.ears.events.partial('are you');
    rig.ears.events.turnEnded?.();
    await rig.quiet(200);
    expect(rig.model.requests).toHaveLength(0);
  });
});

describe('what the recogniser tells', () => {
  it('ends the wait at once when nothing is open', async () => {
    const rig = await answering(1500);
    await rig.voiced(500);
    expect(rig.turns).toHaveLength(1);
    rig.ears.onFinish = () => rig.ears.events.final('');
    await rig.quiet(520);
    expect(rig.voice.spoken.filter((text) => text.startsWith('On Saturday'))).toHaveLength(2);
    await rig.quiet(playing(LONG));
    expect(rig.turns[1]).toMatchObject({ userText: '', agentText: REST });
  });

  it('opens a barge-in that is dismissed when nothing follows', async () => {
    const rig = await answering(1500);
    rig.ears.events.speechStarted?.(1500);
    await rig.quiet(playing(LONG));
    expect(rig.player.clears).toBe(0);
    expect(rig.turns).toMatchObject([{ agentText: LONG }]);
  });

  it('may come in any order, twice, empty and late', async () => {
    const rig = await new CallRig({}).start();
    const { events } = rig.ears;
    rig.model.answer('Certainly, at six.');
    events.final('');
    events.partial('   ');
    events.turnEnded?.();
    events.speechStarted?.(-5);
    events.usage?.({ seconds: Number.NaN });
    await rig.voiced(300);
    events.final('A table');
    events.partial('');
    events.final('');
    events.partial('for two');
    events.final('for two.');
    await rig.quiet(600);
    events.partial('for two');
    events.final('for two.');
    await rig.quiet(100);
    expect(rig.model.requests[0]?.messages).toEqual([{ role: 'user', content: 'A table for two.' }]);
    expect(rig.ended).toEqual([]);
  });
});

describe('echo and care', () => {
  it.each([
    ['the agent’s words', 'open from eight to', 0],
    ['nearly the agent’s words', 'open fron eight to', 0],
    ['other words', 'no I meant Sunday', 1],
    ['a stop word', 'stop', 1],
  ])('hears %s over the agent', async (_, text, clears) => {
    const rig = await answering(1400);
    rig.ears.events.partial(text);
    await rig.quiet(20);
    expect(rig.player.clears).toBe(clears);
    if (clears === 0) expect(rig.transcript.filter(({ role }) => role === 'user')).toHaveLength(1);
  });

  it('takes an answer in the agent’s own words when it comes after them', async () => {
    const rig = await new CallRig({ firstMessage: 'Would you like red wine or white wine?' }).start();
    rig.model.answer('A good choice.');
    await rig.quiet(playing('Would you like red wine or white wine?') + 400);
    await rig.says('red wine or white wine');
    expect(rig.model.requests).toHaveLength(1);
  });

  it('goes on after an echo that was loud enough to interrupt', async () => {
    const rig = await answering(1500);
    await rig.voiced(500);
    expect(rig.player.clears).toBe(1);
    rig.ears.onFinish = () => rig.ears.events.final('eight to six on Saturday');
    await rig.quiet(600 + playing(LONG));
    expect(rig.model.requests).toHaveLength(1);
    expect(rig.turns.at(-1)).toMatchObject({ userText: '', agentText: REST });
    expect(rig.transcript.filter(({ role }) => role === 'user')).toHaveLength(1);
  });

  it('knows a long echo whose sound came and went', async () => {
    const rig = await answering(300);
    const heard = LONG.split(' ');
    // Told a word at a time, as recognisers do; the sound is only noticed now and then.
    for (let count = 1; count <= 14; count += 1) {
      await rig.quiet((heard[count - 1] ?? '').length * MS_PER_CHAR + MS_PER_CHAR);
      if (count % 6 === 0) await rig.voiced(80, 120);
      rig.ears.events.partial(heard.slice(0, count).join(' '));
    }
    expect(rig.player.clears).toBe(0);
  });

  it('does not stop for a sound that may be an echo by its level, but for words in it', async () => {
    // The voice of the rig is at 1000.
    const rig = await answering(1400);
    await rig.voiced(1500, 120);
    expect(rig.player.clears).toBe(0);
    rig.ears.events.partial('no I meant Sunday');
    expect(rig.player.clears).toBe(1);
    const deaf = await answering(1400, { turnTaking: { echoGuard: false } });
    await deaf.voiced(1500, 120);
    expect(deaf.player.clears).toBe(1);
  });

  it.each([
    ['half of the agent’s words', 'open for ate to', 0],
    ['one of two of them', 'from aid', 0],
    ['fewer of them', 'often form ate to', 1],
    ['none of them', 'I meant Sunday', 1],
    ['a stop word among them', 'from eight wait', 1],
  ])('at the level of an echo takes %s for a misheard one, or does not', async (_, text, clears) => {
    const rig = await answering(1400);
    await rig.voiced(300, 120);
    rig.ears.events.partial(text);
    expect(rig.player.clears).toBe(clears);
  });

  it('takes what only the recogniser hears for as quiet as an echo', async () => {
    const rig = await answering(1400);
    rig.ears.events.partial('open for ate to');
    expect(rig.player.clears).toBe(0);
  });

  it('does not take a loud caller for one, who uses some of the agent’s words', async () => {
    const rig = await answering(1400);
    await rig.voiced(300);
    rig.ears.events.partial('open for ate to');
    expect(rig.player.clears).toBe(1);
  });

  it('is not misled by a click, and not by how loud the caller was before', async () => {
    const clicked = await answering(1400);
    await clicked.voiced(100, 120);
    await clicked.voiced(20);
    await clicked.voiced(200, 120);
    clicked.ears.events.partial('open for ate to');
    expect(clicked.player.clears).toBe(0);
    const earlier = await answering(1000);
    await earlier.voiced(100);
    await earlier.quiet(1500);
    await earlier.voiced(300, 120);
    earlier.ears.events.partial('six one Saturday');
    expect(earlier.player.clears).toBe(0);
  });

  it('answers a quiet caller who takes up words of the agent after it', async () => {
    const question = 'Would you like red wine or white wine?';
    const rig = await new CallRig({ firstMessage: question }).start();
    rig.model.answer('A good choice.');
    await rig.quiet(playing(question) + 100);
    await rig.voiced(400, 120);
    rig.ears.events.final('the white wine please');
    await rig.quiet(600);
    expect(rig.model.requests).toHaveLength(1);
  });

  it('listens to the echo where it is told to', async () => {
    const rig = await answering(1400, { turnTaking: { echoGuard: false } });
    rig.ears.events.partial('open from eight to');
    expect(rig.player.clears).toBe(1);
  });

  it.each([
    ['at the start of a call', { turnTaking: { carefulMs: 3000 } }, 1200],
    ['in the first second of an answer', {}, 320],
    ['in the last second of an answer', {}, LONG.length * MS_PER_CHAR - 900],
  ])('needs more than half a second of voice %s', async (_, options, ms) => {
    const rig = await answering(ms, options);
    await rig.voiced(600);
    await rig.quiet(20);
    expect(rig.player.clears).toBe(0);
  });

  it.each([
    ['yeah okay right', 0],
    ['yeah what', 0],
    ['yeah what about Sunday', 1],
    ['wait', 1],
  ])('weighs the words in the first second: %s', async (text, clears) => {
    const rig = await answering(400);
    rig.ears.events.partial(text);
    expect(rig.player.clears).toBe(clears);
  });

  it('lets a greeting finish that must be heard, and answers afterwards', async () => {
    const rig = await new CallRig({
      firstMessage: LONG,
      turnTaking: { interruptibleGreeting: false },
    }).start();
    rig.model.answer('Yes, I am.').answer('At six.');
    await rig.quiet(1500);
    await rig.says('Stop. Are you a machine?');
    expect(rig.player.clears).toBe(0);
    await rig.quiet(playing(LONG));
    expect(rig.turns[1]).toMatchObject({ userText: 'Stop. Are you a machine?' });
    await rig.says('stop');
    await rig.quiet(1000);
    expect(rig.model.requests).toHaveLength(2);
  });
});

describe('keys', () => {
  it('interrupt the agent and are a turn of their own', async () => {
    const rig = await answering(1500);
    rig.model.answer('You chose twelve.');
    rig.engine.pushDtmf('1');
    expect(rig.player.clears).toBe(1);
    await rig.quiet(1000);
    rig.engine.pushDtmf('2');
    await rig.quiet(1480);
    expect(rig.model.requests).toHaveLength(1);
    await rig.quiet(40);
    expect(rig.model.requests[1]?.messages.at(-1)).toEqual({
      role: 'user',
      content: 'The caller pressed 1 2',
    });
    await rig.quiet(2000);
    expect(rig.turns[1]).toMatchObject({
      userText: 'The caller pressed 1 2',
      agentText: 'You chose twelve.',
      latency: { totalMs: null },
    });
  });

  it('are complete with #', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('Thank you.');
    for (const key of '42#') rig.engine.pushDtmf(key);
    await rig.quiet(20);
    expect(rig.model.requests[0]?.messages).toEqual([{ role: 'user', content: 'The caller pressed 4 2 #' }]);
  });

  it('wait for the end of an answer where they do not interrupt', async () => {
    const rig = await answering(1500, { turnTaking: { keysInterrupt: false } });
    rig.model.answer('You chose one.');
    rig.engine.pushDtmf('1');
    await rig.quiet(playing(LONG));
    expect(rig.player.clears).toBe(0);
    expect(rig.turns[0]).toMatchObject({ agentText: LONG, interrupted: false });
    expect(rig.model.requests[1]?.messages.at(-1)?.content).toBe('The caller pressed 1');
  });

  it('that are pressed while words are spoken make one turn with them', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('Yes.');
    await rig.voiced(300);
    rig.engine.pushDtmf('5');
    rig.ears.events.final('My code is');
    await rig.quiet(1300);
    expect(rig.model.requests).toHaveLength(0);
    await rig.quiet(500);
    expect(rig.model.requests.map(({ messages }) => messages)).toEqual([
      [{ role: 'user', content: 'My code is The caller pressed 5' }],
    ]);
  });

  it('leave nothing behind', async () => {
    const rig = await answering(1500);
    rig.engine.pushDtmf('5');
    rig.engine.close();
    rig.pacer.close();
    rig.engine.pushDtmf('6');
    await rig.clock.advanceAsync(10_000);
    expect(rig.clock.pending).toBe(0);
    expect(rig.model.requests).toHaveLength(1);
  });
});

describe('a silent caller', () => {
  const idle = { afterMs: 10_000, prompts: ['Are you there?', 'Hello?'], goodbye: 'Goodbye then.' };

  it('is asked, asked again, and let go', async () => {
    const rig = await new CallRig({ firstMessage: 'Hi.', idle }).start();
    await rig.quiet(10_100);
    expect(rig.voice.spoken).toEqual(['Hi.']);
    await rig.quiet(5000);
    expect(rig.voice.spoken).toEqual(['Hi.', 'Are you there?']);
    await rig.quiet(11_000);
    expect(rig.voice.spoken.at(-1)).toBe('Hello?');
    expect(rig.ended).toEqual([]);
    await rig.quiet(11_500);
    expect(rig.turns.map(({ agentText }) => agentText)).toEqual([
      'Hi.',
      'Are you there?',
      'Hello?',
      'Goodbye then.',
    ]);
    expect(rig.ended).toMatchObject([{ reason: 'idle', failure: undefined }]);
  });

  it('counts from the end of playback, and afresh after a word', async () => {
    const rig = await new CallRig({ firstMessage: LONG, idle }).start();
    rig.model.answer('At six.');
    await rig.quiet(playing(LONG) + 9500);
    expect(rig.voice.spoken).not.toContain('Are you there?');
    await rig.quiet(1500);
    expect(rig.voice.spoken.at(-1)).toBe('Are you there?');
    await rig.says('When do you close?');
    await rig.quiet(11_000);
    expect(rig.voice.spoken.slice(-2)).toEqual(['At six.', 'Are you there?']);
  });

  it('is not asked while the agent thinks, and not on hold', async () => {
    const rig = await new CallRig({ idle }).start();
    rig.engine.hold();
    await rig.quiet(30_000);
    expect(rig.voice.spoken).toEqual([]);
    rig.engine.resume('listen');
    await rig.quiet(10_500);
    expect(rig.voice.spoken).toEqual(['Are you there?']);
  });

  it('is asked in spite of a sound that never ends and has no words', async () => {
    const rig = await new CallRig({ idle }).start();
    await rig.voiced(21_000);
    expect(rig.voice.spoken).toContain('Are you there?');
  });

  it('may still interrupt the goodbye', async () => {
    const rig = await new CallRig({ idle: { ...idle, prompts: [], goodbye: LONG } }).start();
    rig.model.answer('I thought so.');
    await rig.quiet(11_500);
    await rig.says('Wait, I am here.');
    await rig.quiet(3000);
    expect(rig.ended).toEqual([]);
    expect(rig.turns.at(-1)).toMatchObject({ agentText: 'I thought so.' });
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

it('warms the model up again when the caller speaks after a long pause', async () => {
  const rig = await new CallRig({}).start();
  expect(rig.model.warmUps).toBe(1);
  await rig.voiced(100);
  expect(rig.model.warmUps).toBe(1);
  await rig.quiet(31_000);
  await rig.voiced(100);
  expect(rig.model.warmUps).toBe(2);
});

it('begins with a short clause when no sentence ends', async () => {
  const rig = await new CallRig({}).start();
  rig.model.answers.push(async function* () {
    yield { type: 'text', delta: 'Of course we are open, and you' };
    await new Promise<void>((resolve) => rig.clock.after(2000, resolve));
    yield { type: 'text', delta: ' may come whenever you like.' };
  });
  await rig.says('Open?');
  expect(rig.voice.spoken).toEqual(['Of course we are open,']);
  await rig.quiet(5000);
  expect(rig.turns[0]?.agentText).toBe('Of course we are open, and you may come whenever you like.');
});

describe('usage', () => {
  const used = (rig: CallRig) => rig.facts.flatMap((fact) => (fact.type === 'usage.measured' ? [fact] : []));
  const usage = { inputTokens: 100, cachedTokens: 40, outputTokens: 7 };

  it('is stated when it is told, with the turn that it is of', async () => {
    const rig = await new CallRig({ firstMessage: 'Hi.' }).start();
    rig.voice.events?.usage?.({ characters: 3 });
    await rig.quiet(1000);
    rig.model.answer('At six.', { type: 'usage', usage });
    rig.ears.events.usage?.({ seconds: 5 });
    await rig.says('When?');
    rig.voice.events?.usage?.({ characters: 7 });
    await rig.quiet(1500);
    rig.ears.events.usage?.({ seconds: 2.5 });
    rig.engine.close();
    const tokens = { inputTokens: 60, cachedInputTokens: 40, outputTokens: 7 };
    expect(used(rig)).toMatchObject([
      { stage: 'tts', turnIndex: 0, quantities: { characters: 3 }, isGuess: false },
      { stage: 'stt', turnIndex: 1, quantities: { audioSeconds: 5 } },
      { stage: 'llm', turnIndex: 1, quantities: tokens },
      { stage: 'tts', turnIndex: 1, quantities: { characters: 7 } },
      // Of a turn that never comes.
      { stage: 'stt', turnIndex: 2, quantities: { audioSeconds: 2.5 } },
    ]);
  });

  it('counts the tokens of an answer that was interrupted, also when they are told after the call', async () => {
    for (const end of ['interrupt', 'close'] as const) {
      const rig = await new CallRig({}).start();
      rig.model.answers.push(async function* ({ signal }) {
        yield { type: 'text', delta: `${LONG} ` };
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        yield { type: 'text', delta: 'Late words.' };
        yield { type: 'usage', usage: { ...usage, estimated: true } };
        yield { type: 'end', reason: 'interrupted' };
      });
      await rig.says('When?');
      await rig.quiet(1000);
      if (end === 'interrupt') await rig.voiced(500);
      rig.engine.close();
      await rig.clock.advanceAsync(10);
      const quantities = { inputTokens: 60, outputTokens: 7 };
      expect(used(rig).at(-1)).toMatchObject({ turnIndex: 0, quantities, isGuess: true });
      expect(rig.voice.spoken.join(' ')).not.toContain('Late words');
    }
  });
});

it('does not speak what comes late while the next answer is spoken', async () => {
  const rig = await answering(1500);
  rig.model.answer('The second answer, which is another one.');
  await rig.voiced(500);
  rig.ears.events.final('And on Sunday?');
  await rig.quiet(6000);
  expect(rig.turns.map(({ agentText }) => agentText).at(-1)).toBe('The second answer, which is another one.');
  const heard = rig.turns.reduce((sum, { agentText }) => sum + agentText.length * MS_PER_CHAR, 0);
  expect(Math.abs(rig.heardMs - heard)).toBeLessThan(700);
});
