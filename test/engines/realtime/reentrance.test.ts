import { describe, expect, it } from 'vitest';
import type { EngineFact } from '../../../src/engines/engine.js';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import { RealtimeRig } from '../realtime-rig.js';

/** A call with a greeting, an answer, a tool, keys and an interruption, whose owner hears every fact in its tick. */
async function eventfulCall(
  heard: (rig: RealtimeRig, fact: EngineFact, index: number) => void,
): Promise<RealtimeRig> {
  const rig = new RealtimeRig({
    firstMessage: 'Good morning to you.',
    tools: createAgentTools([{ name: 'look_up', description: 'Looks it up.', execute: () => 'found' }]),
  });
  let count = 0;
  const push = rig.facts.push.bind(rig.facts);
  rig.facts.push = (...facts) => {
    const length = push(...facts);
    for (const fact of facts) heard(rig, fact, count++);
    return length;
  };
  const { model } = rig;
  rig.start();
  model.answers('Good morning to you.');
  await rig.wait(1500);
  model.hears('When do you open?');
  model.answers('I am looking for it.', [{ id: '1', name: 'look_up' }]);
  await rig.wait(1500);
  model.answers('We are open from eight to six.');
  await rig.wait(500);
  model.hears('And on Sunday?');
  await rig.wait(100);
  model.answers('Not at all.');
  await rig.wait(1000);
  rig.engine.pushDtmf('1');
  await rig.wait(4000);
  return rig;
}

const total = async () => (await eventfulCall(() => {})).facts.length;

describe('an owner of a call with a realtime model who, told of a fact,', () => {
  it('ends the call at once is obeyed: nothing is told after that, and nothing is left', async () => {
    const count = await total();
    expect(count).toBeGreaterThan(15);
    for (let at = 0; at < count; at += 1) {
      let asked = 0;
      const rig = await eventfulCall((call, _, index) => {
        if (index !== at) return;
        call.engine.close();
        call.pacer.close();
        asked = call.model.asked.length;
      });
      const started = rig.facts.filter(({ type }) => type === 'turn.started').length;
      expect(rig.turns, `fact ${at}`).toHaveLength(started);
      expect(rig.model.asked.length, `fact ${at}`).toBe(asked);
      expect(rig.clock.pending, `fact ${at}`).toBe(0);
    }
  });

  it('holds the call at once is obeyed: nothing is said, and nobody is missed, until it is resumed', async () => {
    const count = await total();
    for (let at = 0; at < count; at += 1) {
      let heardMs = -1;
      const rig = await eventfulCall((call, _, index) => {
        if (index !== at) return;
        call.engine.hold();
        call.pacer.clear();
        heardMs = call.heardMs;
      });
      await rig.wait(10_000);
      expect(rig.heardMs, `fact ${at}`).toBe(heardMs);
      expect(rig.ended, `fact ${at}`).toEqual([]);
    }
  });

  it('holds the call as it begins to speak hears all of it when the hold is over', async () => {
    const rig = new RealtimeRig({ firstMessage: 'Good morning to you.' });
    const push = rig.facts.push.bind(rig.facts);
    rig.facts.push = (...facts) => {
      if (facts.some(({ type }) => type === 'turn.started')) rig.engine.hold();
      return push(...facts);
    };
    rig.start();
    expect(rig.model.asked).not.toContain('say Good morning to you.');
    rig.engine.resume('continue');
    expect(rig.model.asked).toContain('say Good morning to you.');
  });

  it('holds the call before keys are answered has them answered when the hold is over, once', async () => {
    const rig = new RealtimeRig({ firstMessage: 'Hello!', turnTaking: { interruptibleGreeting: false } });
    const push = rig.facts.push.bind(rig.facts);
    rig.facts.push = (...facts) => {
      if (facts.some(({ type }) => type === 'turn.completed')) rig.engine.hold();
      return push(...facts);
    };
    rig.start();
    rig.model.begins('Hello!');
    await rig.wait(100);
    rig.engine.pushDtmf('7');
    await rig.wait(3000);
    rig.model.ends('r1');
    await rig.wait(3000);
    expect(rig.turns).toHaveLength(1);
    expect(rig.model.asked).not.toContain('respond');
    rig.engine.resume('continue');
    expect(rig.model.asked.filter((asked) => asked === 'respond')).toHaveLength(1);
    rig.model.answers('It is done.');
    await rig.wait(3000);
    expect(rig.model.asked.filter((asked) => asked === 'respond')).toHaveLength(1);
  });

  it('holds the call and lets it go on as it begins to speak hears that once', () => {
    const rig = new RealtimeRig({ firstMessage: 'Good morning to you.' });
    const push = rig.facts.push.bind(rig.facts);
    rig.facts.push = (...facts) => {
      if (facts.some(({ type }) => type === 'turn.started')) {
        rig.engine.hold();
        rig.engine.resume('continue');
      }
      return push(...facts);
    };
    rig.start();
    expect(rig.model.asked.filter((asked) => asked.startsWith('say'))).toEqual(['say Good morning to you.']);
  });
});
