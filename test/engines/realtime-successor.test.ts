// A realtime model that takes a call over: its time for an answer runs while the caller waits for one.
import { describe, expect, it, vi } from 'vitest';
import { createAgentTools } from '../../src/engines/tools/agent-tool.js';
import { FakeStages, FallbackRig, GONE } from './fallback-rig.js';
import { FakeRealtimeModel } from './realtime-rig.js';

vi.mock('../../src/engines/voice-activity.js', () => ({
  createVoiceActivity: () => ({ isVoiced: (frame: Int16Array) => frame[0] !== 0, close() {} }),
}));

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
