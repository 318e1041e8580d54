// A realtime model that takes a call over: its time for an answer runs while the caller waits for one.
import { describe, expect, it } from 'vitest';
import { calledTool } from '../../../src/conversation/tools.js';
import { begun } from '../../../src/conversation/state.js';
import { NO_TURNS, type Turns } from '../../../src/conversation/turns.js';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import { FakeStages, FallbackRig, GONE } from '../fallback-rig.js';
import { ToolRun } from '../../../src/engines/tools/tool-run.js';
import { FakeRealtimeModel, RealtimeRig } from '../realtime-rig.js';

const CALL = { type: 'tool-call', id: 'a', name: 'look_up', arguments: {}, argumentsText: '{}' } as const;

describe('a realtime model that takes a call over', () => {
  it.each([1000, 4000])('has time for its answer to a tool that runs %i ms more', async (moreMs) => {
    const [first, second] = [new FakeStages(), new FakeRealtimeModel()];
    let finish = (_: string) => {};
    const execute = () =>
      new Promise<string>((resolve) => {
        finish = resolve;
      });
    const tools = createAgentTools([
      { name: 'look_up', description: 'Looks it up.', timeoutSeconds: 60, execute },
    ]);
    const rig = await new FallbackRig({ modes: [first, second], tools }).start();
    first.model.answer(CALL, { type: 'end', reason: 'tool-calls' });
    await rig.says(first, 'And the rye?');
    await rig.quiet(300);
    first.ears.events.failed(GONE);
    await rig.quiet(100);
    second.ready();
    await rig.quiet(moreMs);
    finish('at noon');
    await rig.quiet(200);
    expect(second.asked).toContain('respond');
    expect(rig.ended).toEqual([]);
  });

  it('answers what the caller asked since a tool was called without waiting for it', async () => {
    const [first, second] = [new FakeStages(), new FakeRealtimeModel()];
    let finish = (_: string) => {};
    const execute = () => new Promise<string>((resolve) => (finish = resolve));
    const tools = createAgentTools([{ name: 'look_up', description: 'Looks it up.', execute }]);
    const rig = await new FallbackRig({ modes: [first, second], tools }).start();
    first.model.answer(CALL, { type: 'end', reason: 'tool-calls' });
    await rig.says(first, 'And the rye?');
    first.model.answers.push(async function* () {
      await new Promise(() => {});
    });
    await rig.says(first, 'When do you close?');
    first.ears.events.failed(GONE);
    await rig.quiet(100);
    second.ready();
    await rig.quiet(100);
    expect(second.asked).toEqual(['respond']);
    second.answers('At six.');
    await rig.quiet(1000);
    finish('at noon');
    await rig.quiet(100);
    expect(second.asked.slice(-2)).toEqual(['results a=at noon', 'respond']);
  });

  it('says a goodbye that is owed, whatever tool still runs', async () => {
    const model = new FakeRealtimeModel();
    const tools = createAgentTools([
      { name: 'look_up', description: 'Looks it up.', execute: () => new Promise(() => {}) },
    ]);
    const at = { now: 0, wall: 0 };
    const turns: Turns = {
      ...NO_TURNS,
      history: [{ role: 'tools', text: '', tools: ['tool-1'] }],
      tools: { 'tool-1': calledTool(CALL, { turnIndex: 0, endsCall: false, at }) },
      nextIndex: 1,
    };
    const owed = { kind: 'goodbye', text: 'Goodbye.', reason: 'agent-hangup' } as const;
    const takeover = {
      state: { ...begun({ hasGreeting: false }), turns, owed },
      tools: { runs: new Map([['tool-1', new ToolRun(CALL)]]), close() {} },
    };
    new RealtimeRig({ model, tools, takeover }).start();
    expect(model.asked).toEqual(['say Goodbye.']);
  });

  it('has time for its answer behind a hold that began before it was ready', async () => {
    const [first, second] = [new FakeRealtimeModel(), new FakeRealtimeModel()];
    const rig = await new FallbackRig({ modes: [first, second] }).start();
    first.ready();
    first.hears('And the rye?');
    first.events.failed(GONE);
    await rig.quiet(100);
    rig.engine.hold();
    await rig.wait(100);
    second.ready();
    await rig.wait(20_000);
    rig.engine.resume('continue');
    await rig.quiet(500);
    expect(rig.ended).toEqual([]);
  });
});
