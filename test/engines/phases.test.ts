import { describe, expect, it } from 'vitest';
import type { CallPhase } from '../../src/contract/call-record.js';
import type { EngineFact } from '../../src/engines/engine.js';
import { createAgentTools } from '../../src/engines/tools/agent-tool.js';
import type { LanguageModelEvent } from '../../src/providers/language-model.js';
import { answering, ANSWER, GREETING } from './answering-rig.js';
import { CallRig, playing, type RigOptions } from './call-rig.js';
import { FakeStages, FallbackRig, GONE, modelThenStages } from './fallback-rig.js';
import { FakeRealtimeModel, RealtimeRig } from './realtime-rig.js';

const LOOK_UP: LanguageModelEvent = {
  type: 'tool-call',
  id: 'call_1',
  name: 'look_up',
  arguments: {},
  argumentsText: '{}',
};

/** The phases that were told, oldest first. */
const phases = ({ facts }: { facts: readonly EngineFact[] }): CallPhase[] =>
  facts.flatMap((fact) => (fact.type === 'phase.changed' ? [fact.phase] : []));

/** Those of what `task` brings about. */
async function during(rig: { facts: EngineFact[] }, task: () => unknown): Promise<CallPhase[]> {
  const before = phases(rig).length;
  await task();
  return phases(rig).slice(before);
}

/** A tool that takes three seconds. */
const slowTool = (clock: () => { after(ms: number, task: () => void): unknown }) =>
  createAgentTools([
    {
      name: 'look_up',
      description: 'Looks it up.',
      execute: () => new Promise((done) => void clock().after(3000, () => done('found'))),
    },
  ]);

async function rigWithTool(options: RigOptions = {}): Promise<CallRig> {
  const rig: CallRig = new CallRig({ ...options, tools: slowTool(() => rig.clock) });
  return rig.start();
}

describe('the phases of a pipeline', () => {
  it('are those of a greeting, a question and its answer', async () => {
    const rig = await new CallRig({ firstMessage: GREETING }).start();
    expect(phases(rig)).toEqual(['thinking', 'speaking']);
    await rig.quiet(playing(GREETING));
    expect(phases(rig).slice(2)).toEqual(['listening']);
    rig.model.answer('We are open.');
    expect(await during(rig, () => rig.voiced(400))).toEqual(['hearing']);
    rig.ears.events.final('When are you open?');
    expect(await during(rig, () => rig.quiet(480))).toEqual(['thinking', 'speaking']);
    expect(await during(rig, () => rig.quiet(3000))).toEqual(['listening']);
  });

  it('begin with listening where nobody is greeted', async () => {
    expect(phases(await new CallRig({}).start())).toEqual(['listening']);
  });

  it('wait for the words of a sound, of which there may be none', async () => {
    const rig = await new CallRig({}).start();
    expect(await during(rig, () => rig.voiced(200))).toEqual(['hearing']);
    expect(await during(rig, () => rig.quiet(600))).toEqual([]);
    expect(await during(rig, () => rig.quiet(6000))).toEqual(['listening']);
  });

  it('do not change with what is said in one breath, however many texts come of it', async () => {
    const rig = await new CallRig({}).start();
    const told = await during(rig, async () => {
      for (let words = 1; words < 40; words += 1) {
        await rig.voiced(60);
        rig.ears.events.partial('word '.repeat(words));
        await rig.quiet(40);
      }
    });
    expect(told).toEqual(['hearing']);
  });

  it('show a barge-in as it happens', async () => {
    const rig = await answering(1000);
    expect(phases(rig).at(-1)).toBe('speaking');
    rig.model.answer('At nine.');
    expect(await during(rig, () => rig.voiced(1200))).toEqual(['hearing']);
    rig.ears.events.final('No, on Sunday.');
    expect(await during(rig, () => rig.quiet(600))).toEqual(['thinking', 'speaking']);
    expect(rig.turns[0]).toMatchObject({ interrupted: true });
  });

  it('show that the agent is silent while it is not known whether a sound was meant', async () => {
    const rig = await answering(1500);
    await rig.voiced(100);
    rig.ears.events.partial('mm-hm');
    expect(await during(rig, () => rig.voiced(600))).toEqual(['hearing']);
    expect(await during(rig, () => rig.quiet(1000))).toEqual(['speaking']);
    expect(rig.turns).toEqual([]);
  });

  it('are silent again while a tool runs behind what was said', async () => {
    const rig = await rigWithTool();
    rig.model.answer('Let me look. ', LOOK_UP).answer('It is at nine.');
    expect(await during(rig, () => rig.says('When?'))).toEqual(['hearing', 'thinking', 'speaking']);
    expect(await during(rig, () => rig.quiet(1500))).toEqual(['thinking']);
    expect(await during(rig, () => rig.quiet(1500))).toEqual(['speaking']);
    expect(await during(rig, () => rig.quiet(2000))).toEqual(['listening']);
    expect(rig.turns).toMatchObject([{ agentText: 'Let me look. It is at nine.' }]);
  });

  it('are speaking while a filler is heard, and thinking behind it', async () => {
    const rig = await rigWithTool({ turnTaking: { fillers: ['One moment.'] } });
    rig.model.answer(LOOK_UP).answer('It is at nine.');
    const told = await during(rig, () => rig.says('When?'));
    expect(told).toEqual(['hearing', 'thinking']);
    expect(await during(rig, () => rig.quiet(900))).toEqual(['speaking']);
    expect(await during(rig, () => rig.quiet(600))).toEqual(['thinking']);
    expect(await during(rig, () => rig.quiet(6000))).toEqual(['speaking', 'listening']);
  });

  it('are speaking just as long as the line carries the voice of the agent', async () => {
    const rig = await rigWithTool({ firstMessage: GREETING, turnTaking: { fillers: ['One moment.'] } });
    rig.model
      .answer(LOOK_UP)
      .answer('It is at nine. ', { ...LOOK_UP, id: 'call_2' })
      .answer(ANSWER)
      .answer('All right.');
    const isVoiced = [
      [2000, 2500],
      [11_500, 12_400],
    ] as const;
    /** How long the two have been apart. */
    let apartMs = 0;
    const longest: number[] = [];
    for (let at = 0; at < 20_000; at += 20) {
      const isSound = isVoiced.some(([from, to]) => at >= from && at < to);
      await (isSound ? rig.voiced(20) : rig.quiet(20));
      if (at === 2400 || at === 12_300) rig.ears.events.final('When do you open on Sunday?');
      const isSpeaking = phases(rig).at(-1) === 'speaking';
      apartMs = isSpeaking === rig.player.aheadMs > 0 ? 0 : apartMs + 20;
      longest.push(apartMs);
    }
    expect(rig.turns).toHaveLength(3);
    expect(rig.turns[1]?.interrupted).toBe(true);
    // A mark is under way for a frame.
    expect(Math.max(...longest)).toBeLessThanOrEqual(40);
    expect(phases(rig).filter((phase) => phase === 'speaking')).toHaveLength(5);
  });

  it('are held in a hold, and go on where it was', async () => {
    const rig = await answering(1000);
    expect(await during(rig, () => rig.engine.hold())).toEqual(['held']);
    expect(await during(rig, () => rig.voiced(500))).toEqual([]);
    expect(await during(rig, () => rig.engine.resume('continue'))).toEqual(['thinking']);
    expect(await during(rig, () => rig.quiet(playing(ANSWER)))).toEqual(['speaking', 'listening']);
  });

  it('are speaking to the end of a goodbye, and none behind it', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('Goodbye!', { type: 'end-call' });
    await rig.says('Bye.');
    await rig.quiet(2000);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup' }]);
    rig.engine.close();
    expect(phases(rig)).toEqual(['listening', 'hearing', 'thinking', 'speaking']);
  });
});

describe('the phases of a realtime model', () => {
  it('are those of a greeting, a question and its answer', async () => {
    const rig = new RealtimeRig({ firstMessage: 'Hello!' }).start();
    expect(phases(rig)).toEqual(['thinking']);
    rig.model.answers('Hello!');
    await rig.wait(100);
    expect(phases(rig).slice(1)).toEqual(['speaking']);
    expect(await during(rig, () => rig.wait(1000))).toEqual(['listening']);
    expect(await during(rig, () => rig.model.events.speechStarted())).toEqual(['hearing']);
    const end = () => rig.model.events.speechEnded({ itemId: 'u1', agoMs: 500 });
    expect(await during(rig, end)).toEqual(['thinking']);
    expect(await during(rig, () => rig.model.answers('Good day to you.'))).toEqual(['speaking']);
    expect(await during(rig, () => rig.wait(2000))).toEqual(['listening']);
  });

  it('begin with listening where nobody is greeted', () => {
    expect(phases(new RealtimeRig().start())).toEqual(['listening']);
  });

  it('show a barge-in as it happens', async () => {
    const rig = new RealtimeRig().start();
    rig.model.answers('One two three four five six seven.');
    await rig.wait(500);
    expect(phases(rig)).toEqual(['listening', 'thinking', 'speaking']);
    const told = await during(rig, () => {
      rig.model.events.speechStarted();
      rig.model.events.interrupted();
    });
    expect(told).toEqual(['hearing']);
    const end = () => rig.model.events.speechEnded({ itemId: 'u1', agoMs: 500 });
    expect(await during(rig, end)).toEqual(['thinking']);
  });

  it('are silent again while a tool runs behind what was said', async () => {
    const rig: RealtimeRig = new RealtimeRig({ tools: slowTool(() => rig.clock) }).start();
    rig.model.hears('When?');
    rig.model.answers('Let me look.', [{ id: 'c1', name: 'look_up' }]);
    expect(phases(rig)).toEqual(['listening', 'hearing', 'thinking', 'speaking']);
    expect(await during(rig, () => rig.wait(2000))).toEqual(['thinking']);
    await rig.wait(2000);
    expect(rig.model.asked).toContain('results c1=found');
    const answer = () => rig.model.begins('It is at nine.');
    expect(await during(rig, answer)).toEqual(['speaking']);
    rig.model.ends('r2');
    expect(await during(rig, () => rig.wait(2000))).toEqual(['listening']);
  });

  it('are held in a hold, and listening behind it', async () => {
    const rig = new RealtimeRig().start();
    rig.model.answers('One two three four five six seven.');
    await rig.wait(500);
    expect(await during(rig, () => rig.engine.hold())).toEqual(['held']);
    expect(await during(rig, () => rig.engine.resume('listen'))).toEqual(['listening']);
  });

  it('are speaking to the end of a goodbye, and none behind it', async () => {
    const rig = new RealtimeRig().start();
    rig.model.hears('Bye.');
    rig.model.answers('Goodbye!', [{ id: 'c1', name: 'end_call' }]);
    await rig.wait(2000);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup' }]);
    rig.engine.close();
    expect(phases(rig)).toEqual(['listening', 'hearing', 'thinking', 'speaking']);
  });
});

describe('the phases of a call that another voice mode takes over', () => {
  it('are thinking until the pipeline answers what the model left', async () => {
    const { first, second, rig } = modelThenStages();
    await rig.start();
    first.ready();
    await rig.voiced(400);
    first.hears('When?');
    second.model.answer('At nine.');
    expect(phases(rig)).toEqual(['listening', 'hearing', 'thinking']);
    const told = await during(rig, async () => {
      first.events.failed(GONE);
      await rig.wait(100);
    });
    expect(told).toEqual(['thinking', 'speaking']);
    expect(rig.ended).toEqual([]);
  });

  it('are not cut off by the end of an engine whose place another one takes', async () => {
    const { first, second, rig } = modelThenStages();
    await rig.start();
    first.ready();
    first.answers('One two three four five six seven.');
    await rig.wait(500);
    second.model.answer('Eight.');
    const told = await during(rig, async () => {
      first.events.failed(GONE);
      await rig.wait(100);
    });
    expect(told).toEqual(['thinking', 'speaking']);
  });

  it('are thinking until the model answers what the pipeline left', async () => {
    const first = new FakeStages();
    const second = new FakeRealtimeModel();
    const rig = await new FallbackRig({ modes: [first, second] }).start();
    first.model.answer(GONE);
    await rig.says(first, 'When?');
    await rig.wait(100);
    second.ready();
    expect(phases(rig)).toEqual(['listening', 'hearing', 'thinking', 'thinking']);
    expect(await during(rig, () => second.answers('At nine.'))).toEqual(['speaking']);
    expect(await during(rig, () => rig.wait(1000))).toEqual(['listening']);
  });

  it('say nothing of a caller whom a failure interrupts but what the next one says', async () => {
    const first = new FakeStages();
    const rig = await new FallbackRig({ modes: [first, new FakeRealtimeModel()] }).start();
    await rig.voiced(400);
    expect(phases(rig)).toEqual(['listening', 'hearing']);
    expect(await during(rig, () => first.ears.events.failed(GONE))).toEqual([]);
    await rig.wait(100);
    expect(phases(rig)).toHaveLength(3);
  });

  it('are held where the hold comes while there is no engine', async () => {
    const { first, rig } = modelThenStages();
    await rig.start();
    first.ready();
    first.events.failed(GONE);
    expect(await during(rig, () => rig.engine.hold())).toEqual(['held']);
    await rig.wait(100);
    expect(await during(rig, () => rig.engine.resume('listen'))).toEqual(['listening']);
  });
});
