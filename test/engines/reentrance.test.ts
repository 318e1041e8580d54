import { describe, expect, it } from 'vitest';
import type { EngineFact } from '../../src/engines/engine.js';
import { createAgentTools } from '../../src/engines/tools/agent-tool.js';
import { CallRig } from './call-rig.js';

const LONG = 'We are open from eight to six. On Saturday we close at noon. Come whenever you like.';

/** A call with a greeting, a tool, an interruption, keys and a failure, whose owner hears every fact in its tick. */
async function eventfulCall(
  heard: (rig: CallRig, fact: EngineFact, index: number) => void,
): Promise<CallRig> {
  const rig = new CallRig({
    firstMessage: 'Good morning to you.',
    turnTaking: { fillers: ['One moment.'] },
    tools: createAgentTools([{ name: 'look_up', description: 'Looks it up.', execute: () => 'found' }]),
  });
  let count = 0;
  const push = rig.facts.push.bind(rig.facts);
  rig.facts.push = (...facts) => {
    const length = push(...facts);
    for (const fact of facts) heard(rig, fact, count++);
    return length;
  };
  await rig.start();
  await rig.quiet(1500);
  const tool = { type: 'tool-call', id: '1', name: 'look_up', arguments: {}, argumentsText: '{}' } as const;
  rig.model.answer('I am looking for it. ', tool).answer(LONG).answer(LONG).answer(new Error('broken'));
  await rig.voiced(200);
  rig.ears.events.partial('When do');
  await rig.says('When do you open?');
  await rig.quiet(3500);
  await rig.says('Stop, I mean on Sunday.', 700);
  await rig.quiet(2000);
  rig.engine.pushDtmf('1');
  await rig.quiet(8000);
  return rig;
}

/** How many facts such a call has when nobody interferes. */
const total = async () => (await eventfulCall(() => {})).facts.length;

describe('an owner who, told of a fact,', () => {
  it('ends the call at once is obeyed: nothing is asked, said or told after that, and nothing is left', async () => {
    const count = await total();
    expect(count).toBeGreaterThan(20);
    for (let at = 0; at < count; at += 1) {
      let requests = 0;
      let spoken = 0;
      const rig = await eventfulCall((call, _, index) => {
        if (index !== at) return;
        call.engine.close();
        call.pacer.close();
        requests = call.model.requests.length;
        spoken = call.voice.spoken.length;
      });
      const started = rig.facts.filter(({ type }) => type === 'turn.started').length;
      expect(rig.turns, `fact ${at}`).toHaveLength(started);
      expect(
        rig.transcript.filter(({ final }) => !final),
        `fact ${at}`,
      ).toEqual([]);
      expect([rig.model.requests.length, rig.voice.spoken.length], `fact ${at}`).toEqual([requests, spoken]);
      expect(rig.clock.pending, `fact ${at}`).toBe(0);
    }
  });

  it('holds the call at once is obeyed: nothing is said until it is resumed', async () => {
    const count = await total();
    for (let at = 0; at < count; at += 1) {
      let heardMs = -1;
      const rig = await eventfulCall((call, _, index) => {
        if (index !== at) return;
        call.engine.hold();
        call.pacer.clear();
        heardMs = call.heardMs;
      });
      expect(rig.heardMs, `fact ${at}`).toBe(heardMs);
      rig.engine.close();
      rig.pacer.close();
      await rig.clock.advanceAsync(20);
      expect(rig.turns.length).toBe(rig.facts.filter(({ type }) => type === 'turn.started').length);
    }
  });

  it('holds the call as it begins to speak hears all of it when the hold is over', async () => {
    const rig = new CallRig({ firstMessage: 'Good morning to you.' });
    const push = rig.facts.push.bind(rig.facts);
    rig.facts.push = (...facts) => {
      if (facts.some(({ type }) => type === 'turn.started')) rig.engine.hold();
      return push(...facts);
    };
    await rig.start();
    await rig.quiet(500);
    expect(rig.voice.spoken).toEqual([]);
    rig.engine.resume('continue');
    await rig.quiet(2000);
    expect(rig.voice.spoken).toEqual(['Good morning to you.']);
  });

  it('holds the call and lets it go on as it begins to speak hears that once', async () => {
    const rig = new CallRig({ firstMessage: 'Good morning to you.' });
    const push = rig.facts.push.bind(rig.facts);
    rig.facts.push = (...facts) => {
      if (facts.some(({ type }) => type === 'turn.started')) {
        rig.engine.hold();
        rig.engine.resume('continue');
      }
      return push(...facts);
    };
    await rig.start();
    await rig.quiet(2000);
    expect(rig.voice.spoken).toEqual(['Good morning to you.']);
  });
});
