// What is under way while an engine is replaced: tools, transfers, holds.
import { describe, expect, it } from 'vitest';
import { PCM_16K } from '../../../src/audio/format.js';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import {
  askedWith,
  FakeStages,
  FallbackRig,
  GONE,
  modelThenStages,
  talkingToModel,
} from '../fallback-rig.js';
import { FakeRealtimeModel } from '../realtime-rig.js';

describe('tools that run while the model goes', () => {
  it('run once, and their results are used by who goes on', async () => {
    let runs = 0;
    let finish = (_: string) => {};
    const tools = createAgentTools([
      {
        name: 'look_up',
        description: 'Looks it up.',
        execute: () => {
          runs += 1;
          return new Promise((resolve) => {
            finish = resolve;
          });
        },
      },
    ]);
    const { first, second, rig } = await talkingToModel({ tools });
    second.model.answer('Ten dollars.');
    first.hears('What is it?');
    first.answers('One moment.', [{ id: 'c1', name: 'look_up' }]);
    await rig.wait(1000);
    first.events.failed(GONE);
    await rig.wait(500);
    expect(second.model.requests).toEqual([]);
    finish('10');
    await rig.wait(1500);
    expect(runs).toBe(1);
    expect(second.model.requests[0]?.messages.slice(3)).toEqual([
      { role: 'user', content: 'What is it?' },
      {
        role: 'assistant',
        content: 'One moment.',
        toolCalls: [{ id: 'c1', name: 'look_up', arguments: {}, argumentsText: '{}' }],
      },
      { role: 'tool', toolCallId: 'c1', content: '10' },
    ]);
    expect(rig.said.slice(1)).toEqual([
      ['What is it?', 'One moment.'],
      ['', 'Ten dollars.'],
    ]);
  });

  it('and that no answer waits for have their result told by who goes on, as soon as it is there', async () => {
    let finish = (_: string) => {};
    const execute = () => new Promise<string>((resolve) => (finish = resolve));
    const tools = createAgentTools([{ name: 'look_up', description: 'Looks it up.', execute }]);
    const { first, second, rig } = await talkingToModel({ tools });
    first.hears('What is it?');
    first.answers('', [{ id: 'c1', name: 'look_up' }]);
    await rig.wait(500);
    first.hears('When do you close?');
    first.answers('At six.');
    await rig.wait(2000);
    first.events.failed(GONE);
    await rig.wait(500);
    expect(second.model.requests).toEqual([]);
    second.model.answer('Ten dollars.');
    finish('10');
    await rig.wait(2000);
    expect(rig.said.at(-1)).toEqual(['', 'Ten dollars.']);
  });

  it('are given up with the call', async () => {
    const signals: AbortSignal[] = [];
    const tools = createAgentTools([
      {
        name: 'look_up',
        description: 'Looks it up.',
        execute: (_: unknown, { signal }: { signal: AbortSignal }) => {
          signals.push(signal);
          return new Promise(() => {});
        },
      },
    ]);
    const { first, rig } = await talkingToModel({ tools });
    first.hears('What is it?');
    first.answers('One moment.', [{ id: 'c1', name: 'look_up' }]);
    await rig.wait(1000);
    first.events.failed(GONE);
    await rig.wait(100);
    rig.engine.close();
    rig.pacer.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await rig.wait(60_000);
    expect(rig.clock.pending).toBe(0);
  });
});

describe('a hold', () => {
  it('that the model fails in keeps the next one silent until its end', async () => {
    const { first, second, rig } = await talkingToModel();
    second.model.answer('With raisins.');
    first.hears('Which cakes?');
    first.answers('There are seven kinds of cakes, with nuts, with cream and with raisins.');
    await rig.wait(1000);
    rig.engine.hold();
    first.events.failed(GONE);
    await rig.wait(5000);
    expect(second.model.requests).toEqual([]);
    rig.engine.resume('continue');
    await rig.wait(1500);
    expect(rig.said.at(-1)).toEqual(['', 'With raisins.']);
    expect(rig.replacements).toMatchObject([{ gapMs: 0 }]);
  });

  it('that begins before the next one is heard keeps what is owed', async () => {
    const { first, second, rig } = await talkingToModel();
    second.model.answers.push(async function* () {
      await new Promise(() => {});
      yield { type: 'text', delta: 'never' };
    });
    second.model.answer('With raisins.');
    first.hears('Which cakes?');
    first.events.failed(GONE);
    await rig.wait(100);
    rig.engine.hold();
    rig.pacer.clear();
    await rig.wait(1000);
    rig.engine.resume('continue');
    await rig.wait(1500);
    expect(askedWith(second).at(-1)).toBe('user: Which cakes?');
    expect(rig.said.at(-1)).toEqual(['', 'With raisins.']);
  });

  async function resumedAsModelFails(how: 'listen' | 'continue') {
    const { first, second, rig } = await talkingToModel();
    second.model.answer('With raisins.');
    first.hears('Which cakes?');
    rig.engine.hold();
    await rig.wait(1000);
    first.events.failed(GONE);
    rig.engine.resume(how);
    await rig.wait(2000);
    return { second, rig };
  }

  it('ends in the tick in which the model fails, and the caller is listened to', async () => {
    const { second, rig } = await resumedAsModelFails('listen');
    expect(second.model.requests).toEqual([]);
    await rig.says(second, 'Are you there?');
    await rig.wait(1000);
    expect(rig.said.at(-1)).toEqual(['Are you there?', 'With raisins.']);
  });

  it('ends in the tick in which the model fails, and what it cut off goes on', async () => {
    const { second, rig } = await resumedAsModelFails('continue');
    expect(askedWith(second).at(-1)).toBe('user: Which cakes?');
    expect(rig.said.at(-1)).toEqual(['', 'With raisins.']);
  });

  it.each([0, 1000])('that begins as the model is asked for the greeting, for %i ms', async (heldMs) => {
    const { first, second, rig } = modelThenStages({ firstMessage: 'Hello!' });
    rig.engine.start();
    rig.engine.hold();
    await rig.wait(heldMs);
    first.events.failed(GONE);
    await rig.wait(heldMs);
    expect(second.voice.spoken).toEqual([]);
    rig.engine.resume('continue');
    await rig.wait(1000);
    expect(second.voice.spoken).toEqual(['Hello!']);
    expect(rig.said).toEqual([['', 'Hello!']]);
  });

  it('that the model fails in ends with news, which the next one tells', async () => {
    const { first, second, rig } = await talkingToModel();
    first.hears('Which cakes?');
    first.answers('There are seven kinds of cakes, with nuts, with cream and with raisins.');
    await rig.wait(1000);
    rig.engine.hold();
    first.events.failed(GONE);
    await rig.wait(1000);
    rig.engine.resume({ news: 'That number is busy.' });
    await rig.wait(1500);
    expect(second.voice.spoken).toEqual(['That number is busy.']);
    expect(second.model.requests).toEqual([]);
  });

  it('that the model fails in, as it begins to say why the caller is back, leaves that to the next one', async () => {
    const news = 'That number is busy.';
    const { first, second, rig } = await talkingToModel();
    rig.engine.hold();
    rig.engine.resume({ news });
    rig.engine.hold();
    first.events.failed(GONE);
    await rig.wait(1000);
    rig.engine.resume('continue');
    await rig.wait(1500);
    expect(second.voice.spoken).toEqual([news]);
    expect(second.model.requests).toEqual([]);
  });

  it('of a transfer that the model fails in: the caller who comes back is told why', async () => {
    const { first, second, rig } = await talkingToModel({ transferTargets: { boss: '+15550199' } });
    let result = (_: 'busy') => {};
    rig.transfer = () =>
      new Promise((resolve) => {
        result = resolve;
      });
    second.model.answer('The line is busy.');
    first.hears('Give me the boss.');
    first.answers('I connect you.', [{ id: 'c1', name: 'transfer_call', args: { to: 'boss' } }]);
    await rig.wait(1500);
    expect(rig.orders).toEqual(['transfer +15550199']);
    rig.engine.hold();
    first.events.failed(GONE);
    await rig.wait(20_000);
    rig.engine.resume('listen');
    result('busy');
    await rig.wait(2000);
    expect(askedWith(second).at(-1)).toMatch(/^tool: .*the line is busy/);
    expect(rig.said.at(-1)).toEqual(['', 'The line is busy.']);
    expect(rig.orders).toHaveLength(1);
  });
});

describe('what is said and pressed between two engines', () => {
  it('is followed by frames alone: the bytes of the line are ahead of them', async () => {
    const [first, second] = [new FakeRealtimeModel(), new FakeRealtimeModel()];
    const rig = new FallbackRig({ modes: [first, second] });
    await rig.start();
    first.ready();
    rig.engine.pushEncoded?.(new Uint8Array(640), PCM_16K);
    expect(first.audioBytes).toBe(640);
    await rig.voiced(200);
    first.events.failed(GONE);
    await rig.wait(0);
    second.ready();
    const replayed = second.audioBytes;
    rig.engine.pushEncoded?.(new Uint8Array(640), PCM_16K);
    expect(second.audioBytes).toBe(replayed);
    rig.engine.pushAudio(new Int16Array(320));
    expect(second.audioBytes - replayed).toBe(640);
  });

  it('reaches the third one when the second fails as it begins', async () => {
    const [first, second] = [new FakeStages(), new FakeStages()];
    const third = new FakeRealtimeModel();
    const rig = new FallbackRig({ modes: [first, second, third] });
    second.ears.open = () => {
      throw GONE;
    };
    await rig.start();
    await rig.voiced(400);
    first.ears.events.failed(GONE);
    rig.engine.pushDtmf('5');
    await rig.wait(0);
    third.ready();
    expect(third.audioBytes).toBeGreaterThanOrEqual(400 * 32);
    await rig.wait(5000);
    expect(third.asked.join()).toContain('5');
  });

  it('reaches the third one when the second is never there', async () => {
    const [first, second] = [new FakeRealtimeModel(), new FakeRealtimeModel()];
    const third = new FakeStages();
    const pushed: number[] = [];
    const open = third.ears.open.bind(third.ears);
    third.ears.open = (context) => ({
      ...open(context),
      pushAudio: (frame) => void pushed.push(frame[0] ?? 0),
    });
    const rig = new FallbackRig({ modes: [first, second, third] });
    await rig.start();
    first.ready();
    first.events.lost?.();
    await rig.voiced(600);
    first.events.failed(GONE);
    await rig.voiced(400);
    second.events.failed(GONE);
    await rig.wait(0);
    expect(pushed.filter((sample) => sample !== 0)).toHaveLength(50);
  });
});

describe('what the caller said before the model failed', () => {
  it('is heard by the third engine where the second one fails upon it', async () => {
    const first = new FakeRealtimeModel();
    const [second, third] = [new FakeStages(), new FakeStages()];
    const rig = new FallbackRig({ modes: [first, second, third] });
    let heard = 0;
    const hears = ({ ears }: FakeStages, pushAudio: (frame: Int16Array) => void) => {
      const open = ears.open.bind(ears);
      ears.open = (context) => ({ ...open(context), pushAudio });
    };
    hears(second, () => {
      throw GONE;
    });
    hears(third, (frame) => {
      if (frame[0] !== 0) heard += 1;
    });
    await rig.start();
    first.ready();
    first.hears('Three loaves.');
    first.answers('At noon.');
    await rig.quiet(1300);
    await rig.voiced(400);
    await rig.quiet(300);
    first.events.failed(GONE);
    await rig.quiet(200);
    expect(heard).toBe(20);
  });
});

it('whoever goes on while a tool runs says that it takes a moment', async () => {
  const tools = createAgentTools([
    { name: 'look_up', description: 'Looks it up.', execute: () => new Promise(() => {}) },
  ]);
  const { first, second, rig } = await talkingToModel({ tools, fillers: ['One moment.'] });
  first.hears('What is it?');
  first.answers('', [{ id: 'c1', name: 'look_up' }]);
  await rig.quiet(100);
  first.events.failed(GONE);
  await rig.quiet(2000);
  expect(second.voice.spoken).toEqual(['One moment.']);
  expect(rig.transcript.at(-1)).toMatchObject({ role: 'agent', text: 'One moment.' });
});

it('a voice mode that was given up is not tried again in the same call, however well it did before', async () => {
  const [first, second] = [new FakeRealtimeModel(), new FakeRealtimeModel()];
  const rig = await new FallbackRig({ modes: [first, second] }).start();
  first.ready();
  first.hears('Hello?');
  first.answers('Good morning to you.');
  await rig.wait(60_000);
  const { context } = first;
  first.events.failed(GONE);
  await rig.quiet(100);
  second.ready();
  second.hears('And now?');
  second.answers('It is noon.');
  await rig.wait(60_000);
  second.events.failed(GONE);
  await rig.quiet(100);
  expect(first.context).toBe(context);
  expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
});
