import { describe, expect, it } from 'vitest';
import { createAgentTools } from '../../src/engines/tools/agent-tool.js';
import { RealtimeRig } from './realtime-rig.js';

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
        toolCalls: [{ name: 'look_up', error: null }],
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
