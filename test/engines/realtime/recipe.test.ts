import { describe, expect, it } from 'vitest';
import { createRealtimeRecipe } from '../../../src/engines/realtime/recipe.js';
import { FakeRealtimeModel, MS_PER_CHAR, RealtimeRig } from '../realtime-rig.js';

const FRAME = new Int16Array(320).fill(100);

describe('an answer', () => {
  it('is heard, and becomes a turn when all of it was', async () => {
    const rig = new RealtimeRig().start();
    rig.model.hears('Good morning.');
    await rig.wait(100);
    rig.model.answers('Good day to you.');
    await rig.wait(500);
    expect(rig.turns).toEqual([]);
    await rig.wait(1000);
    expect(rig.heardMs).toBe(16 * MS_PER_CHAR);
    expect(rig.turns).toMatchObject([
      { index: 0, userText: 'Good morning.', agentText: 'Good day to you.', interrupted: false },
    ]);
    expect(rig.transcript).toMatchObject([
      { role: 'user', text: 'Good morning.', turnIndex: 0, final: true },
      { role: 'agent', text: 'Good day to you.', turnIndex: 0, final: true },
    ]);
  });

  it('knows the ends of its latency, and nothing between', async () => {
    const rig = new RealtimeRig().start();
    await rig.wait(1000);
    rig.model.hears('Good morning.');
    await rig.wait(300);
    rig.model.answers('Good day.');
    await rig.wait(2000);
    const [turn] = rig.turns;
    expect(turn?.latency).toEqual({
      endpointingMs: null,
      sttMs: null,
      llmFirstTokenMs: null,
      sentenceMs: null,
      ttsFirstByteMs: null,
      sendMs: null,
      totalMs: 800,
      heardMs: 830,
    });
  });

  it('waits for the words of the caller that come after it, three seconds at most', async () => {
    const rig = new RealtimeRig().start();
    const early = rig.model.hears();
    rig.model.answers('One.');
    await rig.wait(1000);
    expect(rig.turns).toEqual([]);
    rig.model.events.userText({ itemId: early, text: 'First', final: true });
    expect(rig.turns).toMatchObject([{ userText: 'First', agentText: 'One.' }]);

    const never = rig.model.hears();
    rig.model.answers('Two.');
    await rig.wait(3500);
    expect(rig.turns[1]).toMatchObject({ userText: '', agentText: 'Two.' });
    rig.model.events.userText({ itemId: never, text: 'Second', final: true });
    expect(rig.turns).toHaveLength(2);
    expect(rig.transcript.map(({ text }) => text)).toEqual(['First', 'One.', 'Second', 'Two.']);
  });

  it('has the words of the caller as they are when no more come, and none at the end where none came', async () => {
    const rig = new RealtimeRig().start();
    rig.model.events.userText({ itemId: rig.model.hears(), text: 'Which', final: false });
    rig.model.answers('One.');
    await rig.wait(4500);
    expect(rig.transcript).toMatchObject([{ text: 'Which', final: true }, { text: 'One.' }]);
    rig.model.hears();
    rig.model.answers('Two.');
    await rig.wait(4500);
    rig.model.hears();
    rig.engine.close();
    expect(rig.transcript.map(({ text, final }) => [text, final])).toEqual([
      ['Which', true],
      ['One.', true],
      ['Two.', true],
    ]);
  });

  it('grows in the transcript as it is heard', async () => {
    const rig = new RealtimeRig().start();
    rig.model.answers('One two three four five six seven eight nine ten eleven twelve.');
    await rig.wait(1500);
    const [entry] = rig.transcript;
    expect(entry).toMatchObject({ role: 'agent', final: false });
    expect(entry?.text).toMatch(/^One two/);
    expect(entry?.text).not.toContain('ten');
  });

  it('is over although its marks are lost', async () => {
    const rig = new RealtimeRig().start();
    rig.player.sendMark = () => {};
    rig.model.answers('Good day.');
    await rig.wait(3000);
    expect(rig.turns).toMatchObject([{ agentText: 'Good day.' }]);
  });
});

describe('the greeting', () => {
  it('is said word for word before anybody has spoken', async () => {
    const rig = new RealtimeRig({ firstMessage: 'Hello!', systemPrompt: 'You bake.' });
    rig.engine.start();
    expect(rig.model.asked).toEqual(['say Hello!']);
    expect(rig.model.context).toMatchObject({ instructions: 'You bake.', interruptible: true });
    rig.model.ready();
    rig.model.answers('Hello!');
    await rig.wait(1000);
    expect(rig.turns).toMatchObject([{ userText: '', agentText: 'Hello!' }]);
    expect(rig.turns[0]?.latency.totalMs).toBeNull();
  });

  it('is finished whatever the caller says, where that is wanted, and then answered', async () => {
    const rig = new RealtimeRig({ firstMessage: 'Hello!', turnTaking: { interruptibleGreeting: false } });
    rig.start();
    expect(rig.model.context.interruptible).toBe(false);
    rig.model.answers('Hello!');
    rig.model.events.speechStarted();
    rig.model.events.speechEnded({ itemId: 'u1', agoMs: 0 });
    rig.model.events.userText({ itemId: 'u1', text: 'Hi.', final: true });
    await rig.wait(200);
    expect(rig.model.asked).toEqual(['say Hello!']);
    await rig.wait(500);
    expect(rig.model.asked).toEqual(['say Hello!', 'interruptible true', 'respond']);
    rig.model.answers('How are you?');
    await rig.wait(1000);
    expect(rig.turns.map(({ userText }) => userText)).toEqual(['', 'Hi.']);
  });

  it('is not asked to answer what it answers by itself', async () => {
    const rig = new RealtimeRig({ firstMessage: 'Hello!', turnTaking: { interruptibleGreeting: false } });
    rig.start();
    rig.model.answers('Hello!');
    rig.model.events.speechEnded({ itemId: 'u1', agoMs: 0 });
    rig.model.answers('How are you?');
    await rig.wait(3000);
    expect(rig.model.asked).toEqual(['say Hello!', 'interruptible true']);
  });
});

describe('what the caller says', () => {
  it('is kept until the model is ready, from the first frame on', () => {
    const rig = new RealtimeRig();
    rig.engine.start();
    for (let frame = 0; frame < 50; frame += 1) rig.engine.pushAudio(FRAME);
    expect(rig.model.audioBytes).toBe(0);
    rig.model.ready();
    expect(rig.model.audioBytes).toBe(50 * 640);
    rig.engine.pushAudio(FRAME);
    expect(rig.model.audioBytes).toBe(51 * 640);
  });

  it('goes through as it is where the line carries what the model takes', () => {
    const rig = new RealtimeRig().start();
    rig.engine.pushEncoded?.(new Uint8Array(640), { encoding: 'pcm', sampleRateHz: 16_000 });
    rig.engine.pushAudio(FRAME);
    expect(rig.model.audioBytes).toBe(640);
    rig.engine.pushEncoded?.(new Uint8Array(160), { encoding: 'mulaw', sampleRateHz: 8000 });
    rig.engine.pushAudio(FRAME);
    expect(rig.model.audioBytes).toBe(1280);
  });
});

describe('an interruption', () => {
  const LONG = 'One two three four five six seven eight nine ten.';

  it('clears the carrier and cuts the memory of the model in the same tick', async () => {
    const rig = new RealtimeRig().start();
    rig.model.answers(LONG);
    await rig.wait(1000);
    rig.model.events.speechStarted();
    expect(rig.player.clears).toBe(0);
    rig.model.events.interrupted();
    expect(rig.player.clears).toBe(1);
    // The mark of the first frame came back 10 ms late: so late is the ear.
    expect(rig.model.asked).toEqual(['truncate item-r1 990']);
    const [turn] = rig.turns;
    expect(turn).toMatchObject({ interrupted: true, agentText: 'One two three four' });
    expect(`${turn?.agentText} ${turn?.agentTextUnheard}`).toBe(LONG);
    await rig.wait(1000);
    expect(rig.heardMs).toBe(1000);
  });

  it('lets nothing be heard that comes late', async () => {
    const rig = new RealtimeRig().start();
    const response = rig.model.begins('One two three.');
    await rig.wait(200);
    rig.model.events.interrupted();
    rig.model.says(response, 'four five six');
    rig.model.ends(response);
    await rig.wait(1000);
    expect(rig.heardMs).toBe(200);
    rig.engine.close();
    expect(rig.turns).toMatchObject([{ agentText: '', agentTextUnheard: 'One two three.' }]);
  });

  it('of a greeting that nobody has heard leaves one turn with the answer to what the caller said', async () => {
    const rig = new RealtimeRig({ firstMessage: 'Hello!' }).start();
    rig.model.hears('Which cakes?');
    rig.model.answers('Apple.');
    await rig.wait(1000);
    rig.engine.close();
    expect(rig.turns).toMatchObject([{ index: 0, userText: 'Which cakes?', agentText: 'Apple.' }]);
  });

  it('of an answer that nobody has heard leaves one turn with all that was said', async () => {
    const rig = new RealtimeRig().start();
    rig.model.hears('I would like');
    rig.model.begins('Yes');
    expect(rig.model.hears('a loaf of bread.')).toBe('u2');
    expect(rig.model.asked).toEqual(['truncate item-r1 0']);
    rig.model.answers('With pleasure.');
    await rig.wait(2000);
    expect(rig.turns).toMatchObject([
      {
        index: 0,
        userText: 'I would like a loaf of bread.',
        agentText: 'With pleasure.',
        agentTextUnheard: 'Yes',
      },
    ]);
  });

  it('does nothing to an answer that was heard', async () => {
    const rig = new RealtimeRig().start();
    rig.model.answers('One.');
    await rig.wait(1000);
    rig.model.events.interrupted();
    expect(rig.player.clears).toBe(0);
    expect(rig.model.asked).toEqual([]);
  });
});

describe('keys', () => {
  it('interrupt, and are told to the model as text', async () => {
    const rig = new RealtimeRig().start();
    rig.model.answers('Press one for bread, and two for cake, please.');
    await rig.wait(1000);
    rig.engine.pushDtmf('1');
    expect(rig.player.clears).toBe(1);
    rig.engine.pushDtmf('#');
    expect(rig.model.asked.slice(-2)).toEqual(['user: The caller pressed 1 #', 'respond']);
    rig.model.answers('Bread.');
    await rig.wait(1000);
    expect(rig.turns[1]).toMatchObject({ userText: 'The caller pressed 1 #', agentText: 'Bread.' });
  });
});

describe('a caller who says nothing', () => {
  const idle = { afterMs: 5000, prompts: ['Are you there?'], goodbye: 'Goodbye.' };

  it('is asked, and let go', async () => {
    const rig = new RealtimeRig({ idle }).start();
    await rig.wait(5000);
    expect(rig.model.asked).toEqual(['say Are you there?']);
    rig.model.answers('Are you there?');
    await rig.wait(6000);
    expect(rig.model.asked.at(-1)).toBe('say Goodbye.');
    rig.model.answers('Goodbye.');
    await rig.wait(1000);
    expect(rig.ended).toMatchObject([{ reason: 'idle' }]);
  });
});

describe('close', () => {
  it('states the turn that it cuts off, and leaves no timer', async () => {
    const rig = new RealtimeRig().start();
    rig.model.hears('Hello?');
    rig.model.answers('One two three four five six.');
    await rig.wait(500);
    rig.engine.close();
    rig.engine.close();
    rig.pacer.close();
    expect(rig.model.isClosed).toBe(true);
    expect(rig.turns).toMatchObject([{ interrupted: true, agentText: 'One two' }]);
    const { length } = rig.facts;
    rig.model.answers('More.');
    rig.engine.pushAudio(FRAME);
    await rig.wait(1000);
    expect(rig.facts).toHaveLength(length);
    expect(rig.clock.pending).toBe(0);
  });

  it('counts what was used until then', () => {
    const rig = new RealtimeRig().start();
    rig.model.events.usage({
      kind: 'response',
      inputTextTokens: 100,
      cachedTextTokens: 60,
      inputAudioTokens: 40,
      cachedAudioTokens: 10,
      outputTextTokens: 5,
      outputAudioTokens: 20,
    });
    rig.model.events.usage({
      kind: 'transcription',
      model: 'm',
      seconds: 3,
      inputTokens: 0,
      outputTokens: 0,
    });
    rig.engine.close();
    expect(rig.facts.filter(({ type }) => type === 'usage.measured')).toEqual([
      {
        type: 'usage.measured',
        stage: 'llm',
        turnIndex: null,
        isGuess: false,
        quantities: {
          inputTokens: 40,
          cachedInputTokens: 60,
          outputTokens: 5,
          audioInputTokens: 30,
          cachedAudioInputTokens: 10,
          audioOutputTokens: 20,
        },
      },
      {
        type: 'usage.measured',
        stage: 'stt',
        turnIndex: null,
        isGuess: false,
        quantities: { audioSeconds: 3 },
      },
    ]);
  });

  it('says who charges for the model, and for the text of the caller', () => {
    const price = { audioInputPerMillionTokens: 10 };
    const model = (fields: object) => Object.assign(new FakeRealtimeModel(), { name: 'x/y', ...fields });
    const transcription = { name: 'x/writer', price: { perAudioMinute: 0.01 } };
    expect(createRealtimeRecipe({ model: model({ price, transcription }) }).payees).toEqual({
      llm: { name: 'x/y', price },
      stt: transcription,
    });
    expect(createRealtimeRecipe({ model: model({}) }).payees).toEqual({
      llm: { name: 'x/y', price: undefined },
    });
  });
});
