import { describe, expect, it } from 'vitest';
import { setPhrasesFor } from '../../../src/engines/languages/set-phrases.js';
import { askedWith, GONE, modelThenStages, talkingToModel } from '../fallback-rig.js';
import { GO_ON } from '../../../src/base/owed-words.js';
import type { SpeechToTextContext } from '../../../src/providers/speech-to-text.js';

const { call: APOLOGY } = setPhrasesFor(undefined).apologies;

describe('a call whose realtime model is gone for good', () => {
  it('is greeted by the pipeline when the model refuses at the start', async () => {
    const { first, second, rig } = modelThenStages({ firstMessage: 'Hello!' });
    await rig.start();
    first.events.failed(GONE);
    await rig.wait(1000);
    expect(second.voice.spoken).toEqual(['Hello!']);
    expect(rig.said).toEqual([['', 'Hello!']]);
    expect(rig.turns[0]?.index).toBe(0);
    expect(rig.ended).toEqual([]);
    expect(first.isClosed).toBe(true);
  });

  it('is greeted by the pipeline when the model is not ready within two seconds', async () => {
    const { second, rig } = modelThenStages({ firstMessage: 'Hello!' });
    await rig.start();
    await rig.wait(1999);
    expect(second.voice.spoken).toEqual([]);
    await rig.wait(1000);
    expect(second.voice.spoken).toEqual(['Hello!']);
    expect(rig.replacements).toMatchObject([{ gapMs: 2000 }]);
  });

  it('has no second greeting when the first one was heard', async () => {
    const { first, second, rig } = modelThenStages({ firstMessage: 'Hello!' });
    await rig.start();
    first.ready();
    first.answers('Hello!');
    await rig.wait(1000);
    first.events.failed(GONE);
    await rig.wait(1000);
    expect(second.voice.spoken).toEqual([]);
    second.model.answer('At noon.');
    await rig.says(second, 'Three loaves.');
    await rig.wait(1000);
    expect(askedWith(second)).toEqual(['assistant: Hello!', 'user: Three loaves.']);
    expect(second.model.requests.at(-1)?.messages[0]).toEqual({ role: 'system', content: 'You bake.' });
    expect(rig.said).toEqual([
      ['', 'Hello!'],
      ['Three loaves.', 'At noon.'],
    ]);
  });

  it('goes on from the half of a greeting that was heard', async () => {
    const { first, second, rig } = modelThenStages({ firstMessage: 'Hello, this is the bakery.' });
    await rig.start();
    first.ready();
    first.answers('Hello, this is the bakery.');
    await rig.wait(600);
    first.events.failed(GONE);
    await rig.wait(2000);
    expect(second.model.requests).toEqual([]);
    expect(rig.said).toEqual([
      ['', 'Hello, this'],
      ['', 'is the bakery.'],
    ]);
    expect(rig.turns[0]).toMatchObject({ interrupted: true, agentTextUnheard: 'is the bakery.' });
  });

  it('listens on, and knows what was said', async () => {
    const { first, second, rig } = await talkingToModel();
    first.events.failed(GONE);
    await rig.wait(100);
    expect(second.model.requests).toEqual([]);
    second.model.answer('Ten dollars.');
    await rig.says(second, 'What is it?');
    await rig.wait(1000);
    expect(askedWith(second)).toEqual(['user: Three loaves.', 'assistant: At noon.', 'user: What is it?']);
    expect(rig.turns.map(({ index }) => index)).toEqual([0, 1]);
    expect(rig.said[1]).toEqual(['What is it?', 'Ten dollars.']);
  });

  it('is answered what the model never answered, some three seconds after the question', async () => {
    const { first, second, rig } = await talkingToModel();
    second.model.answer('Ten dollars.');
    first.hears('What is it?');
    await rig.wait(2449);
    expect(second.model.requests).toEqual([]);
    await rig.wait(1500);
    expect(askedWith(second)).toEqual(['user: Three loaves.', 'assistant: At noon.', 'user: What is it?']);
    expect(rig.said).toEqual([
      ['Three loaves.', 'At noon.'],
      ['What is it?', ''],
      ['', 'Ten dollars.'],
    ]);
    expect(rig.replacements).toMatchObject([{ stage: 'engine', gapMs: 2450 }]);
  });

  it('goes on from what was heard of an answer, silent in the same tick', async () => {
    const { first, second, rig } = await talkingToModel();
    second.model.answer('With raisins.');
    first.hears('Which cakes are there?');
    first.answers('There are seven kinds of cakes, with nuts, with cream and with raisins.');
    await rig.wait(1000);
    first.events.failed(GONE);
    expect(rig.player.clears).toBe(1);
    await rig.wait(2000);
    expect(askedWith(second).slice(2)).toEqual([
      'user: Which cakes are there?',
      'assistant: There are seven',
    ]);
    expect(second.model.requests.at(-1)?.messages.at(-1)).toEqual({ role: 'system', content: GO_ON });
    expect(rig.said.slice(1)).toEqual([
      ['Which cakes are there?', 'There are seven'],
      ['', 'With raisins.'],
    ]);
  });

  it('keeps what the caller was saying, and hears it again', async () => {
    const { first, second, rig } = await talkingToModel();
    const pushed: number[] = [];
    const open = second.ears.open.bind(second.ears);
    second.ears.open = (context) => ({
      ...open(context),
      pushAudio: (frame) => void pushed.push(frame[0] ?? 0),
    });
    first.events.lost?.();
    await rig.quiet(500);
    await rig.voiced(1000);
    await rig.quiet(200);
    first.events.failed(GONE);
    await rig.wait(0);
    expect(pushed).toHaveLength(85);
    expect(pushed.filter((sample) => sample !== 0)).toHaveLength(50);
    second.model.answer('Ten dollars.');
    second.ears.events.final('What is it?');
    await rig.quiet(2000);
    expect(askedWith(second).at(-1)).toBe('user: What is it?');
    // Nothing has broken off that is to be gone on with.
    expect(second.model.requests.at(-1)?.messages.at(-1)?.role).toBe('user');
  });

  it('hears again what was said to a model that had gone silent, unnoticed', async () => {
    const { first, second, rig } = await talkingToModel();
    const pushed: number[] = [];
    const kept: unknown[] = [];
    const open = second.ears.open.bind(second.ears);
    second.ears.open = (context: SpeechToTextContext) => {
      kept.push(context.keptMs);
      return { ...open(context), pushAudio: (frame) => void pushed.push(frame[0] ?? 0) };
    };
    await rig.voiced(1000);
    await rig.quiet(500);
    first.events.failed(GONE);
    await rig.wait(0);
    // A recognizer keeps that much until it is connected.
    expect(kept).toEqual([5000]);
    expect(pushed).toHaveLength(75);
    expect(pushed.filter((sample) => sample !== 0)).toHaveLength(50);
  });

  it('hears nothing twice of which the words are there', async () => {
    const { first, second, rig } = await talkingToModel();
    let voiced = 0;
    const open = second.ears.open.bind(second.ears);
    second.ears.open = (context) => ({
      ...open(context),
      pushAudio(frame) {
        if (frame[0] !== 0) voiced += 1;
      },
    });
    second.model.answer('One dollar.');
    await rig.voiced(1000);
    await rig.quiet(500);
    first.hears('And the rye?');
    first.events.failed(GONE);
    await rig.wait(1000);
    expect(askedWith(second).at(-1)).toBe('user: And the rye?');
    expect(voiced).toBe(0);
  });

  it('is measured from when the caller had finished, also by an engine that was not there yet', async () => {
    const { first, second, rig } = await talkingToModel();
    second.model.answer('One dollar.');
    // The end of the turn lies in what is played to it.
    second.ears.onFinish = () => second.ears.events.final('And the rye?');
    await rig.voiced(400);
    await rig.quiet(2000);
    first.events.failed(GONE);
    await rig.wait(1000);
    const turn = rig.turns.at(-1);
    expect(turn).toMatchObject({ userText: 'And the rye?', agentText: 'One dollar.' });
    expect(turn?.latency.totalMs).toBeGreaterThanOrEqual(2000);
    expect(turn?.latency.totalMs).toBeLessThan(2500);
  });

  it('is heard, and its keys taken, between two engines', async () => {
    const { first, second, rig } = await talkingToModel();
    let frames = 0;
    const open = second.ears.open.bind(second.ears);
    second.ears.open = (context) => ({
      ...open(context),
      pushAudio() {
        frames += 1;
      },
    });
    second.model.answer('Seven.');
    first.events.failed(GONE);
    for (let count = 0; count < 3; count += 1) rig.engine.pushAudio(new Int16Array(320));
    rig.engine.pushDtmf('7');
    await rig.wait(0);
    expect(frames).toBe(3);
    await rig.wait(3000);
    expect(askedWith(second).at(-1)).toBe('user: The caller pressed 7');
  });

  it('hears a question again of which no words came', async () => {
    const { first, second, rig } = await talkingToModel();
    let frames = 0;
    const open = second.ears.open.bind(second.ears);
    second.ears.open = (context) => ({
      ...open(context),
      pushAudio() {
        frames += 1;
      },
    });
    first.events.speechStarted();
    await rig.voiced(800);
    first.events.interrupted();
    first.events.speechEnded({ itemId: 'u9', agoMs: 0 });
    await rig.quiet(4000);
    expect(frames).toBeGreaterThanOrEqual(240);
    expect(rig.transcript.filter(({ final }) => !final)).toEqual([]);
  });

  it('is given up when a lost connection is not back after two and a half seconds', async () => {
    const { first, second, rig } = await talkingToModel();
    first.events.lost?.();
    await rig.wait(2499);
    expect(rig.replacements).toEqual([]);
    await rig.wait(2);
    expect(rig.replacements).toMatchObject([{ gapMs: 2500 }]);
    expect(second.voice.spoken).toEqual([]);
  });

  it('says its sorry only when nobody is left', async () => {
    const { first, second, rig } = await talkingToModel();
    first.events.failed(GONE);
    await rig.wait(100);
    expect(rig.ended).toEqual([]);
    second.ears.events.failed(GONE);
    await rig.wait(6000);
    expect(second.voice.spoken.join(' ')).toBe(APOLOGY);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { message: 'It is gone.' } }]);
  });

  it('is told as what it is now', async () => {
    const { first, second, rig } = await talkingToModel();
    second.model.answer('Ten dollars.');
    expect(rig.engine.mode).toBe('realtime');
    first.hears('What is it?');
    await rig.wait(1000);
    first.events.failed(GONE);
    await rig.wait(100);
    expect(rig.engine.mode).toBe('pipeline');
    expect(rig.replacements).toEqual([
      {
        type: 'provider.replaced',
        stage: 'engine',
        from: 'fake-realtime',
        to: 'fake-stt + fake-llm + fake-tts',
        code: 'PROVIDER_FAILED',
        gapMs: 1000,
        mode: 'pipeline',
        provider: { engine: null, stt: 'fake-stt', llm: 'fake-llm', tts: 'fake-tts' },
      },
    ]);
  });

  it('has each engine paid for what it used, the first one also late', async () => {
    const { first, second, rig } = await talkingToModel();
    const tokens = {
      kind: 'response',
      inputTextTokens: 10,
      cachedTextTokens: 0,
      inputAudioTokens: 0,
      cachedAudioTokens: 0,
      outputTextTokens: 5,
      outputAudioTokens: 0,
    } as const;
    first.events.usage(tokens);
    first.events.failed(GONE);
    await rig.wait(100);
    second.model.answer('Ten.', {
      type: 'usage',
      usage: { inputTokens: 100, cachedTokens: 0, outputTokens: 3 },
    });
    await rig.says(second, 'What is it?');
    await rig.wait(1000);
    first.events.usage(tokens);
    const paid = rig.usages.map(({ stage, payee, quantities }) => [stage, payee?.name, quantities]);
    expect(paid).toEqual([
      ['llm', undefined, { inputTokens: 10, outputTokens: 5 }],
      ['llm', 'fake-llm', { inputTokens: 100, outputTokens: 3 }],
      ['llm', undefined, { inputTokens: 10, outputTokens: 5 }],
    ]);
  });

  it('keeps its marks and its transcript apart', async () => {
    const { first, second, rig } = await talkingToModel();
    first.events.failed(GONE);
    second.model.answer('Ten dollars.');
    await rig.wait(100);
    await rig.says(second, 'What is it?');
    rig.engine.markPlayed('reply-1-0');
    expect(rig.turns).toHaveLength(1);
    await rig.wait(1000);
    expect(rig.transcript.map(({ id, turnIndex, text }) => [id, turnIndex, text])).toEqual([
      ['user-u1', 0, 'Three loaves.'],
      ['agent-0', 0, 'At noon.'],
      ['user-1.2', 1, 'What is it?'],
      ['agent-1.2', 1, 'Ten dollars.'],
    ]);
  });
});
