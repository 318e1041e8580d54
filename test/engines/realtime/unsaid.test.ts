// A realtime model that was told what to say, and does something else before a sound of it.
import { describe, expect, it } from 'vitest';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import { playing } from '../call-rig.js';
import { RealtimeRig, type RealtimeRigOptions } from '../realtime-rig.js';
import { heldTool } from '../tools/tools-rig.js';

const NEWS = 'We close in ten minutes.';
const GREETING = 'Good morning to you all.';
const CALLS = [{ id: 'c1', name: 'find_slot', args: { day: 'Friday' } }];

/** The model has greeted, and was asked for `NEWS`. */
async function setUp(options: RealtimeRigOptions = {}) {
  const { tool, runs } = heldTool();
  const tools = createAgentTools([tool]);
  const turnTaking = { fillers: [] };
  const rig = new RealtimeRig({ firstMessage: GREETING, tools, turnTaking, ...options }).start();
  rig.model.answers(GREETING);
  await rig.wait(playing(GREETING) + 100);
  rig.model.asked.length = 0;
  const ask = (text: string, interrupts = false) => rig.engine.request({ id: text, text, interrupts });
  const gives = async () => {
    runs.at(-1)?.resolve('at nine');
    await rig.wait(0);
  };
  return { rig, ask, gives };
}

/** It has called a tool that takes its time, in the place of them. */
async function unsaid(options: RealtimeRigOptions = {}) {
  const parts = await setUp(options);
  parts.ask(NEWS);
  parts.rig.model.answers('', CALLS);
  await parts.rig.wait(100);
  return parts;
}

const saidOn = ({ turns }: RealtimeRig) => turns.map(({ userText, agentText }) => [userText, agentText]);

const saysOf = ({ model }: RealtimeRig, text = NEWS) =>
  model.asked.filter((asked) => asked === `say ${text}`).length;

describe('words in whose place a realtime model calls a tool', () => {
  it('are asked for twice, also where a filler was asked for before them', async () => {
    const { rig, ask } = await setUp({ turnTaking: { fillers: ['One moment.'] } });
    rig.model.hears('When?');
    rig.model.answers('', CALLS);
    await rig.wait(300);
    rig.model.hears('And so on.');
    rig.model.answers('Yes.');
    while (!rig.model.asked.some((asked) => asked.includes('One moment'))) await rig.wait(100);
    ask(NEWS);
    for (let at = 0; at < 12 && rig.ended.length === 0; at += 1) {
      rig.model.answers('', [{ id: `x${at}`, name: 'nobody' }]);
      await rig.wait(200);
    }
    expect(saysOf(rig)).toBe(2);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
  });

  it('have a second try of their own, whatever was said before them', async () => {
    const { rig, ask, gives } = await unsaid();
    await gives();
    expect(saysOf(rig)).toBe(2);
    ask('Please hold the line.', true);
    await rig.wait(100);
    rig.model.answers('', [{ id: 'c2', name: 'find_slot', args: { day: 'Friday' } }]);
    await rig.wait(100);
    await gives();
    expect(rig.ended).toEqual([]);
    expect(saysOf(rig, 'Please hold the line.')).toBe(2);
  });

  it('are said before the call ends, where that tool is to end it', async () => {
    const { rig, ask } = await setUp();
    ask(NEWS);
    rig.model.answers('', [{ id: 'e1', name: 'end_call' }]);
    await rig.wait(100);
    expect([rig.ended, rig.outcomes, saysOf(rig)]).toEqual([[], [], 2]);
    expect(rig.model.asked[1]).toContain('The call goes on.');
    rig.model.answers(NEWS);
    await rig.wait(playing(NEWS));
    expect(rig.outcomes).toEqual([`${NEWS} heard`]);
    expect(rig.model.asked.at(-1)).toBe('respond');
    rig.model.answers('Goodbye.', [{ id: 'e2', name: 'end_call' }]);
    await rig.wait(2000);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup' }]);
  });

  it('are said when a hold is over', async () => {
    const { rig } = await unsaid();
    rig.engine.hold();
    await rig.wait(100);
    rig.engine.resume('continue');
    await rig.wait(100);
    expect(saysOf(rig)).toBe(2);
    expect(rig.outcomes).toEqual([]);
  });

  it('are not taken for said where the caller speaks, and is answered', async () => {
    const { rig, gives } = await unsaid();
    const { events } = rig.model;
    events.speechStarted();
    events.speechEnded({ itemId: 'u9', agoMs: 500 });
    events.userText({ itemId: 'u9', text: 'Hello?', final: true });
    rig.model.answers('Yes, I am here.');
    await rig.wait(2000);
    await gives();
    await rig.wait(1000);
    expect(rig.outcomes).toEqual([`${NEWS} interrupted`]);
    expect(rig.turns.at(-1)).toMatchObject({ userText: 'Hello?', agentText: 'Yes, I am here.' });
  });

  it('are said at once where a key is pressed that cannot interrupt them', async () => {
    const { rig } = await unsaid({ interruptible: false });
    rig.engine.pushDtmf('1');
    await rig.wait(3000);
    expect(saysOf(rig)).toBe(2);
    rig.model.answers(NEWS);
    await rig.wait(playing(NEWS));
    expect(rig.ended).toEqual([]);
  });
});

describe.each([
  [
    'a request',
    async (options: object) => {
      const { rig, ask } = await setUp(options);
      ask(NEWS);
      return rig;
    },
  ],
  ['a greeting', async (options: object) => new RealtimeRig({ firstMessage: NEWS, ...options }).start()],
  [
    'a goodbye to a silent caller',
    async (options: object) => {
      const { rig } = await setUp({ ...options, idle: { afterMs: 1000, prompts: [], goodbye: NEWS } });
      await rig.wait(1000);
      return rig;
    },
  ],
])('words in whose place a realtime model calls a tool are asked for once more: %s', (what, begin) => {
  const begins = async (fillers: readonly string[]) => {
    const { tool, runs } = heldTool();
    const rig = await begin({ tools: createAgentTools([tool]), turnTaking: { fillers } });
    rig.model.answers('', CALLS);
    return { rig, give: () => runs.at(-1)?.resolve('at nine') };
  };

  it('with its result', async () => {
    const { rig, give } = await begins([]);
    await rig.wait(100);
    give();
    await rig.wait(0);
    expect(rig.model.asked).toEqual([`say ${NEWS}`, 'results c1=at nine', `say ${NEWS}`]);
    rig.model.answers(NEWS);
    await rig.wait(playing(NEWS));
    expect(rig.model.asked.slice(3)).toEqual(['respond']);
    expect(saidOn(rig).at(-1)).toEqual(['', NEWS]);
    expect(rig.outcomes).toEqual(what === 'a request' ? [`${NEWS} heard`] : []);
  });

  it('in the place of a filler, where it takes long', async () => {
    const { rig, give } = await begins(['One moment.']);
    await rig.wait(3000);
    expect(rig.model.asked).toEqual([
      `say ${NEWS}`,
      expect.stringMatching(/^results c1=.*running/),
      `say ${NEWS}`,
    ]);
    rig.model.answers(NEWS);
    await rig.wait(playing(NEWS));
    give();
    await rig.wait(100);
    expect(rig.outcomes).toEqual(what === 'a request' ? [`${NEWS} heard`] : []);
    expect([rig.ended.length, rig.model.asked.filter((each) => each === 'respond').length]).toEqual([0, 1]);
  });

  it('and by nobody where the same comes again: the model is given up', async () => {
    const { rig, give } = await begins([]);
    for (const id of ['c1', 'c2']) {
      if (id === 'c2') rig.model.answers('', [{ ...CALLS[0], id, name: 'find_slot' }]);
      await rig.wait(100);
      give();
      await rig.wait(0);
    }
    expect(rig.model.asked.filter((each) => each.startsWith('say'))).toHaveLength(2);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    expect(rig.outcomes).not.toContain(`${NEWS} heard`);
  });
});

describe('words in whose place a tool runs as another engine takes over', () => {
  const goesOn = async ({ rig, gives }: Awaited<ReturnType<typeof unsaid>>) => {
    const takeover = rig.engine.handOver?.();
    const next = new RealtimeRig({ clock: rig.clock, firstMessage: GREETING, takeover }).start();
    await next.wait(100);
    return { next, gives };
  };

  it('are said by that one at once, and what the tool gives is answered behind them', async () => {
    const parts = await unsaid();
    const { next, gives } = await goesOn(parts);
    expect(next.model.asked).toEqual([`say ${NEWS}`]);
    next.model.answers(NEWS);
    await next.wait(500);
    await gives();
    await next.wait(playing(NEWS));
    expect([parts.rig.outcomes, next.outcomes]).toEqual([[], [`${NEWS} heard`]]);
    expect(next.model.asked.at(-1)).toBe('respond');
  });

  it('are the greeting, too', async () => {
    const { tool, runs } = heldTool();
    const options = { firstMessage: GREETING, tools: createAgentTools([tool]) };
    const rig = new RealtimeRig({ ...options, turnTaking: { fillers: [] } }).start();
    rig.model.answers('', CALLS);
    await rig.wait(100);
    const { next } = await goesOn({ rig, ask: () => true, gives: async () => runs[0]?.resolve('') });
    expect(saysOf(next, GREETING)).toBe(1);
  });
});

describe('words that a service breaks off before a sound of them', () => {
  const breaksOff = ({ model }: RealtimeRig) => {
    const responseId = model.begins('');
    model.events.responseEnded({ responseId, reason: 'interrupted', toolCalls: [] });
  };

  it('are said when it gives them once more', async () => {
    const { rig, ask } = await setUp();
    ask(NEWS);
    breaksOff(rig);
    await rig.wait(200);
    expect(rig.outcomes).toEqual([]);
    rig.model.answers(NEWS);
    await rig.wait(playing(NEWS));
    expect(rig.outcomes).toEqual([`${NEWS} heard`]);
  });

  it('are no silence without an end where it does not', async () => {
    const { rig, ask } = await setUp();
    ask(NEWS);
    breaksOff(rig);
    await rig.wait(20_000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    expect(rig.outcomes).not.toContain(`${NEWS} heard`);
  });

  it('are no silence without an end behind a tool, either, for which the model had asked for patience aloud', async () => {
    const { rig, gives } = await setUp();
    rig.model.hears('When?');
    rig.model.answers('One moment.', CALLS);
    await rig.wait(playing('One moment.') + 200);
    await gives();
    expect(rig.model.asked.at(-1)).toBe('respond');
    breaksOff(rig);
    await rig.wait(20_000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
  });

  it('are no silence of the model where the caller speaks, and the model answers what they say', async () => {
    const { rig } = await setUp();
    rig.model.hears('When?');
    const responseId = rig.model.begins('');
    rig.model.events.speechStarted();
    rig.model.events.responseEnded({ responseId, reason: 'interrupted', toolCalls: [] });
    await rig.wait(8000);
    expect(rig.ended).toEqual([]);
    rig.model.events.speechEnded({ itemId: 'u9', agoMs: 500 });
    await rig.wait(20_000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
  });
});
