import { describe, expect, it } from 'vitest';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import { FakeRealtimeModel, RealtimeRig } from '../realtime-rig.js';

describe('tools', () => {
  const tools = (execute: () => unknown) =>
    createAgentTools([{ name: 'look_up', description: 'Looks it up.', execute }]);

  it('give their results, and the answer goes on', async () => {
    const rig = new RealtimeRig({ tools: tools(async () => ({ price: 10 })) }).start();
    rig.model.hears('How much?');
    rig.model.answers('One moment.', [{ id: 'c1', name: 'look_up' }]);
    await rig.wait(0);
    expect(rig.model.asked).toEqual(['results c1={"price":10}', 'respond']);
    rig.model.answers('Ten dollars.');
    await rig.wait(3000);
    expect(rig.turns).toMatchObject([
      {
        userText: 'How much?',
        agentText: 'One moment. Ten dollars.',
        toolCalls: [
          {
            id: 'tool-1',
            name: 'look_up',
            arguments: { text: '{}' },
            result: { text: '{"price":10}' },
            error: null,
          },
        ],
      },
    ]);
  });

  it('are all answered together, also those that fail', async () => {
    const rig = new RealtimeRig({ tools: tools(() => Promise.reject(new Error('secret'))) }).start();
    rig.model.answers('', [
      { id: 'c1', name: 'look_up' },
      { id: 'c2', name: 'nothing' },
    ]);
    await rig.wait(0);
    expect(rig.model.asked).toEqual([
      'results c1={"error":"The tool failed."} c2={"error":"There is no tool of that name."}',
      'respond',
    ]);
  });

  it('of a response that was stopped are not run, and the model is told so', async () => {
    let runs = 0;
    const execute = () => {
      runs += 1;
    };
    const rig = new RealtimeRig({ tools: tools(execute) }).start();
    const response = rig.model.begins('One moment.');
    rig.model.events.interrupted();
    rig.model.ends(response, [{ id: 'c1', name: 'look_up' }]);
    await rig.wait(0);
    expect(runs).toBe(0);
    expect(rig.model.asked.at(-1)).toMatch(/^results c1=.*caller spoke/);
  });

  it('end the call when the goodbye was heard', async () => {
    const rig = new RealtimeRig().start();
    rig.model.answers('Goodbye.', [{ id: 'c1', name: 'end_call' }]);
    await rig.wait(300);
    expect(rig.ended).toEqual([]);
    await rig.wait(500);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup', failure: undefined }]);
    expect(rig.turns).toMatchObject([{ agentText: 'Goodbye.', toolCalls: [{ name: 'end_call' }] }]);
  });

  it('do not end the call when the caller has more to say', async () => {
    const rig = new RealtimeRig().start();
    rig.model.answers('Goodbye.', [{ id: 'c1', name: 'end_call' }]);
    await rig.wait(200);
    rig.model.events.speechStarted();
    rig.model.events.interrupted();
    await rig.wait(2000);
    expect(rig.ended).toEqual([]);
    expect(rig.model.asked.at(-1)).toContain('The call goes on.');
  });

  it('do not end the call behind a goodbye to a silent caller who has said something over it, and say so', async () => {
    const idle = { afterMs: 1000, prompts: [], goodbye: 'I hang up now.' };
    const rig = new RealtimeRig({ idle, interruptible: false }).start();
    await rig.wait(1500);
    expect(rig.model.asked.at(-1)).toBe('say I hang up now.');
    rig.model.answers('I hang up now.', [{ id: 'c1', name: 'end_call' }]);
    await rig.wait(100);
    rig.model.events.speechStarted();
    rig.model.events.speechEnded({ itemId: 'u1', agoMs: 0 });
    await rig.wait(2000);
    expect(rig.ended).toEqual([]);
    expect(rig.model.asked.find((order) => order.startsWith('results c1='))).toContain('The call goes on.');
    expect(rig.model.asked.at(-1)).toBe('respond');
  });

  it('hand the caller over when all was heard, and a caller who comes back is told why', async () => {
    const rig = new RealtimeRig({ transferTargets: { sales: '+15550199' } }).start();
    let settle: (outcome: 'busy') => void = () => {};
    rig.transfer = () =>
      new Promise((resolve) => {
        settle = resolve;
      });
    rig.model.answers('I connect you.', [{ id: 'c1', name: 'transfer_call', args: { to: 'sales' } }]);
    await rig.wait(300);
    expect(rig.orders).toEqual([]);
    await rig.wait(1000);
    expect(rig.orders).toEqual(['transfer +15550199']);
    rig.engine.hold();
    expect(rig.turns).toMatchObject([{ agentText: 'I connect you.', interrupted: false }]);
    settle('busy');
    await rig.wait(0);
    expect(rig.model.asked.at(-1)).toContain('busy');
    rig.engine.resume('listen');
    expect(rig.model.asked.at(-1)).toBe('respond');
  });
});

/** A call whose caller has asked for something that a tool takes its time for, and what the tool then gives. */
async function askSlowTool(options: ConstructorParameters<typeof RealtimeRig>[0] = {}) {
  let give: (result: unknown) => void = () => {};
  const execute = () => new Promise((resolve) => (give = resolve));
  const tools = createAgentTools([{ name: 'look_up', description: 'Looks it up.', execute }]);
  const rig = new RealtimeRig({ tools, ...options }).start();
  rig.model.hears('How much?');
  rig.model.answers('', [{ id: 'c1', name: 'look_up' }]);
  await rig.wait(500);
  return { rig, give: (result: unknown) => give(result) };
}

describe('a caller who says something else while a tool runs', () => {
  it('is answered now, and the result follows', async () => {
    const { rig, give } = await askSlowTool();
    rig.model.hears('And when do you close?');
    expect(rig.model.asked.at(-1)).toMatch(/^results c1=.*not there yet/);
    rig.model.answers('At six.');
    await rig.wait(3000);
    expect(rig.turns.at(-1)).toMatchObject({
      userText: 'How much? And when do you close?',
      agentText: 'At six.',
    });
    give({ price: 10 });
    await rig.wait(0);
    expect(rig.model.asked.slice(-2)).toEqual(['results c1={"price":10}', 'respond']);
    expect(rig.ended).toEqual([]);
  });

  it('and then takes leave, is not told the result any more', async () => {
    const { rig, give } = await askSlowTool();
    rig.model.hears('Never mind, goodbye.');
    rig.model.answers('Goodbye.', [{ id: 'c2', name: 'end_call' }]);
    await rig.wait(100);
    give({ price: 10 });
    await rig.wait(0);
    expect(rig.model.asked).not.toContain('respond');
    await rig.wait(2000);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup' }]);
  });

  it('and then nothing more, is told the result behind the goodbye that it comes in', async () => {
    const idle = { afterMs: 2000, prompts: [], goodbye: 'I hang up now.' };
    const { rig, give } = await askSlowTool({ idle });
    rig.model.hears('When do you close?');
    rig.model.answers('At six.');
    await rig.wait(3500);
    expect(rig.model.asked.at(-1)).toBe('say I hang up now.');
    rig.model.answers('I hang up now.');
    await rig.wait(100);
    give({ price: 10 });
    await rig.wait(0);
    expect(rig.model.asked.at(-1)).toBe('results c1={"price":10}');
    await rig.wait(1000);
    expect(rig.model.asked.at(-1)).toBe('respond');
    rig.model.answers('Ten dollars.');
    await rig.wait(1000);
    expect(rig.ended).toEqual([]);
  });

  it('and more, has the model told once that it need not wait', async () => {
    const { rig } = await askSlowTool();
    rig.model.hears('Hello?');
    rig.model.hears('Hello?');
    expect(rig.model.asked.filter((each) => each.startsWith('results'))).toHaveLength(1);
  });

  it('is answered now also where they may not interrupt, and nothing is being said', async () => {
    const { rig } = await askSlowTool({ interruptible: false });
    rig.model.asked.length = 0;
    rig.model.events.speechStarted();
    rig.model.events.speechEnded({ itemId: 'u9', agoMs: 500 });
    expect(rig.model.asked).toEqual([expect.stringMatching(/^results c1=.*not there yet/), 'respond']);
  });

  it('by keys is answered now', async () => {
    const { rig } = await askSlowTool();
    rig.model.asked.length = 0;
    rig.engine.pushDtmf('5');
    rig.engine.pushDtmf('#');
    expect(rig.model.asked.at(-2)).toMatch(/^results c1=.*not there yet/);
    expect(rig.model.asked.at(-1)).toBe('respond');
  });
});

describe('a caller who hears nothing while a tool runs', () => {
  const turnTaking = { fillers: ['One moment.', 'Let me see.'], fillerAfterMs: 1200 };

  it('hears a short phrase, and another one before they wonder whether anybody is there', async () => {
    const model = new FakeRealtimeModel();
    model.canFill = true;
    const { rig, give } = await askSlowTool({ turnTaking, model });
    await rig.wait(699);
    expect(rig.model.asked).toEqual([]);
    await rig.wait(1);
    expect(rig.model.asked).toEqual(['fill One moment.']);
    rig.model.answers('One moment.');
    // 550 ms of speech, and a silence behind it.
    await rig.wait(550 + 3499);
    expect(rig.model.asked).toHaveLength(1);
    await rig.wait(2);
    expect(rig.model.asked.at(-1)).toBe('fill Let me see.');
    give({ price: 10 });
    await rig.wait(0);
    rig.model.answers('Ten dollars.');
    const { length } = rig.model.asked;
    await rig.wait(10_000);
    expect(rig.model.asked).toHaveLength(length);
    expect(rig.turns).toMatchObject([{ agentText: 'One moment. Ten dollars.' }]);
  });

  it('hears the model’s own words where it must not be spoken through, and phrases from then on', async () => {
    const { rig } = await askSlowTool({ turnTaking });
    await rig.wait(700);
    expect(rig.model.asked).toEqual([expect.stringMatching(/^results c1=.*takes a moment/), 'respond']);
    await rig.wait(3500);
    expect(rig.model.asked.at(-1)).toBe('say Let me see.');
  });

  it('hears the result behind such a phrase, for which the model is asked again where it says nothing', async () => {
    const { rig, give } = await askSlowTool({ turnTaking });
    await rig.wait(700);
    rig.model.answers('That takes a moment.');
    await rig.wait(1500);
    give({ price: 10 });
    await rig.wait(0);
    rig.model.asked.length = 0;
    rig.model.answers('');
    expect(rig.model.asked).toEqual(['respond']);
    rig.model.answers('Ten dollars.');
    await rig.wait(2000);
    expect(rig.turns).toMatchObject([{ agentText: 'That takes a moment. Ten dollars.' }]);
  });

  it('hears nothing of it while they speak, while nobody listens, or behind the end of the call', async () => {
    for (const stop of [
      (rig: RealtimeRig) => rig.model.events.speechStarted(),
      (rig: RealtimeRig) => rig.engine.hold(),
      (rig: RealtimeRig) => rig.engine.close(),
    ]) {
      const { rig } = await askSlowTool({ turnTaking });
      stop(rig);
      rig.model.asked.length = 0;
      await rig.wait(5000);
      expect(rig.model.asked.filter((each) => /^(say|fill)/.test(each))).toEqual([]);
    }
  });

  it('hears one after they spoke, or were away, as one was due', async () => {
    const speaks = {
      begins: (rig: RealtimeRig) => rig.model.events.speechStarted(),
      ends: (rig: RealtimeRig) => rig.model.events.speechEnded({ itemId: 'u9', agoMs: 0 }),
    };
    const isAway = {
      begins: (rig: RealtimeRig) => rig.engine.hold(),
      ends: (rig: RealtimeRig) => rig.engine.resume('continue'),
    };
    for (const { begins, ends } of [speaks, isAway]) {
      const model = new FakeRealtimeModel();
      model.canFill = true;
      const { rig } = await askSlowTool({ turnTaking, model });
      begins(rig);
      await rig.wait(1000);
      ends(rig);
      model.answers('I am still looking.');
      await rig.wait(6000);
      expect(model.asked).toContain('fill One moment.');
    }
  });

  it('hears none where the agent has none', async () => {
    const { rig } = await askSlowTool();
    await rig.wait(5000);
    expect(rig.model.asked).toEqual([]);
  });
});
