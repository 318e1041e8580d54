import { describe, expect, it } from 'vitest';
import type { ConversationState } from '../../src/conversation/state.js';
import { STILL_OWED } from '../../src/base/owed-words.js';
import { createAgentTools } from '../../src/engines/tools/agent-tool.js';
import { CallRig, END_CALL, MS_PER_CHAR, playing } from './call-rig.js';
import { FakeStages, FallbackRig, GONE } from './fallback-rig.js';
import { FakeRealtimeModel, RealtimeRig } from './realtime-rig.js';
import { call, heldTool, rigWith } from './tools/tools-rig.js';

const NEWS = 'We close in ten minutes.';
const MORE = 'The doors are locked then.';
const ANSWER = 'We are open from eight to six. On Saturday we close at noon.';
const FIRST = 'We are open from eight to six.';
const QUESTION = 'When are you open?';
const GREETING = 'Good morning to you all.';

type Rig = CallRig | RealtimeRig | FallbackRig;

function ask(
  rig: Rig,
  text: string,
  options: { interrupts?: boolean; interruptible?: boolean } = {},
): boolean {
  return rig.engine.request({ id: text, text, interrupts: false, ...options });
}

const saidOn = (rig: Rig) => rig.turns.map(({ userText, agentText }) => [userText, agentText]);
const stored = (rig: Rig): ConversationState => JSON.parse(JSON.stringify(rig.engine.state));

/** The caller has asked, and hears the first half of the first sentence of the answer. */
async function answering(): Promise<CallRig> {
  const rig = await new CallRig().start();
  rig.model.answer(ANSWER);
  await rig.says(QUESTION);
  await rig.quiet((FIRST.length / 2) * MS_PER_CHAR);
  return rig;
}

describe('words that somebody asks a pipeline for', () => {
  it('are said at once where nobody speaks, and the model knows them', async () => {
    const rig = await new CallRig().start();
    expect(ask(rig, NEWS)).toBe(true);
    await rig.quiet(playing(NEWS));
    expect(rig.outcomes).toEqual([`${NEWS} heard`]);
    expect(saidOn(rig)).toEqual([['', NEWS]]);
    rig.model.answer('Yes.');
    await rig.says('So soon?');
    expect(rig.model.requests[0]?.messages.slice(-2)).toEqual([
      { role: 'assistant', content: NEWS },
      { role: 'user', content: 'So soon?' },
    ]);
  });

  it('come after what the agent says, one after the other', async () => {
    const rig = await answering();
    ask(rig, NEWS);
    ask(rig, MORE);
    await rig.quiet(playing(`${ANSWER} ${NEWS} ${MORE}`) + 500);
    expect(saidOn(rig)).toEqual([
      [QUESTION, ANSWER],
      ['', NEWS],
      ['', MORE],
    ]);
    expect(rig.outcomes).toEqual([`${NEWS} heard`, `${MORE} heard`]);
  });

  it('cut the agent off where they interrupt, and what was cut off is not said again', async () => {
    const rig = await answering();
    ask(rig, MORE);
    ask(rig, NEWS, { interrupts: true });
    await rig.quiet(playing(`${NEWS} ${MORE}`) + 500);
    expect(rig.turns[0]).toMatchObject({ userText: QUESTION, interrupted: true });
    expect(saidOn(rig).slice(1)).toEqual([
      ['', NEWS],
      ['', MORE],
    ]);
    expect(rig.model.requests).toHaveLength(1);
  });

  it('cut off what was asked for before, who is told so', async () => {
    const rig = await new CallRig().start();
    ask(rig, NEWS, { interruptible: false });
    await rig.quiet(500);
    ask(rig, MORE, { interrupts: true });
    await rig.quiet(playing(MORE));
    expect(rig.outcomes).toEqual([`${NEWS} interrupted`, `${MORE} heard`]);
  });

  it('wait for a caller who speaks, and for the answer to them', async () => {
    const rig = await new CallRig().start();
    rig.model.answer(ANSWER);
    await rig.voiced(400);
    ask(rig, NEWS, { interrupts: true });
    expect(rig.voice.spoken).toEqual([]);
    await rig.says(QUESTION);
    await rig.quiet(playing(`${ANSWER} ${NEWS}`) + 500);
    expect(saidOn(rig)).toEqual([
      [QUESTION, ANSWER],
      ['', NEWS],
    ]);
  });

  it('follow on a sound of the caller that was no words', async () => {
    const rig = await new CallRig().start();
    await rig.voiced(400);
    ask(rig, NEWS);
    await rig.quiet(3500 + playing(NEWS));
    expect(rig.outcomes).toEqual([`${NEWS} heard`]);
  });

  it('come before an answer of which nothing was heard, and that is given behind them', async () => {
    const rig = await new CallRig().start();
    rig.model.answers.push(async function* () {
      await new Promise(() => {});
      yield { type: 'text', delta: '' };
    });
    rig.model.answer(ANSWER);
    await rig.says(QUESTION);
    ask(rig, NEWS, { interrupts: true });
    await rig.quiet(playing(`${NEWS} ${ANSWER}`) + 500);
    expect(saidOn(rig)).toEqual([
      [QUESTION, NEWS],
      ['', ANSWER],
    ]);
    expect(rig.model.requests[1]?.messages).toEqual([
      { role: 'user', content: QUESTION },
      { role: 'assistant', content: NEWS },
      { role: 'system', content: STILL_OWED },
    ]);
  });

  it('are said while a tool runs, whose result is answered behind them', async () => {
    const { tool, runs } = heldTool();
    const rig = await rigWith([tool]);
    rig.model.answer(call('find_slot', { day: 'Friday' })).answer('Friday at nine.');
    await rig.says('When?');
    ask(rig, NEWS, { interrupts: true });
    await rig.quiet(playing(NEWS));
    expect(rig.outcomes).toEqual([`${NEWS} heard`]);
    expect(runs).toHaveLength(1);
    runs[0]?.resolve('at nine');
    await rig.quiet(3000);
    expect(rig.turns.at(-1)?.agentText).toBe('Friday at nine.');
    expect(JSON.stringify(rig.model.requests.at(-1)?.messages)).toContain('at nine');
    expect(rig.model.requests).toHaveLength(2);
  });

  it.each([
    [undefined, 'interrupted'],
    [false, 'heard'],
  ])(
    'are interrupted by the caller unless that was excluded (interruptible: %s)',
    async (interruptible, outcome) => {
      const rig = await new CallRig().start();
      rig.model.answer('Yes.');
      ask(rig, ANSWER, interruptible === undefined ? {} : { interruptible });
      await rig.quiet(1500);
      await rig.says('Stop it please now.', 800);
      await rig.quiet(playing(ANSWER) + 2000);
      expect(rig.outcomes).toEqual([`${ANSWER} ${outcome}`]);
      expect(rig.turns.at(-1)).toMatchObject({ userText: 'Stop it please now.', agentText: 'Yes.' });
    },
  );

  it('wait for the end of a hold, and go on where one cut them off', async () => {
    const rig = await new CallRig().start();
    ask(rig, ANSWER);
    await rig.quiet((FIRST.length / 2) * MS_PER_CHAR);
    rig.engine.hold();
    ask(rig, NEWS, { interrupts: true });
    await rig.quiet(3000);
    expect(rig.outcomes).toEqual([]);
    rig.engine.resume('continue');
    await rig.quiet(playing(`${ANSWER} ${NEWS}`) + 500);
    expect(rig.outcomes).toEqual([`${ANSWER} heard`, `${NEWS} heard`]);
    const said = rig.turns.map(({ agentText }) => agentText).join(' ');
    expect(said).toBe(`${ANSWER} ${NEWS}`);
  });

  it('are refused while the agent says goodbye, and end with the call where they waited', async () => {
    const rig = await new CallRig().start();
    rig.model.answer('Goodbye to you.', END_CALL);
    await rig.voiced(400);
    ask(rig, NEWS);
    await rig.says('That is all.');
    await rig.quiet(300);
    expect(ask(rig, MORE, { interrupts: true })).toBe(false);
    await rig.quiet(3000);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup' }]);
    expect(ask(rig, MORE)).toBe(false);
    expect([rig.outcomes, saidOn(rig)]).toEqual([[], [['That is all.', 'Goodbye to you.']]]);
  });

  it('outlive their process: what waits and what was not heard is said by the next one', async () => {
    const rig = await new CallRig().start();
    ask(rig, ANSWER);
    ask(rig, NEWS);
    await rig.quiet(playing(FIRST) + 500);
    const { clock } = rig;
    const other = await new CallRig({ clock, resumed: { message: '', term: 2, state: stored(rig) } }).start();
    await other.quiet(playing(`${ANSWER} ${NEWS}`) + 500);
    const said = other.turns.map(({ agentText }) => agentText);
    expect(said.join(' ')).toBe(`${ANSWER} ${NEWS}`);
    expect(other.outcomes).toEqual([`${ANSWER} heard`, `${NEWS} heard`]);
  });

  it('are said by the voice mode that takes over', async () => {
    const [model, stages] = [new FakeRealtimeModel(), new FakeStages()];
    const rig = new FallbackRig({ modes: [model, stages] });
    rig.engine.start();
    model.ready();
    model.events.speechStarted();
    ask(rig, NEWS);
    model.events.failed(GONE);
    expect(ask(rig, MORE)).toBe(true);
    await rig.quiet(playing(`${NEWS} ${MORE}`) + 1000);
    expect(stages.voice.spoken).toEqual([NEWS, MORE]);
    expect(rig.outcomes).toEqual([`${NEWS} heard`, `${MORE} heard`]);
  });

  it('are told of once where a realtime model is lost in the middle of them', async () => {
    const [model, stages] = [new FakeRealtimeModel(), new FakeStages()];
    const rig = new FallbackRig({ modes: [model, stages] });
    rig.engine.start();
    model.ready();
    ask(rig, NEWS);
    model.answers(NEWS);
    await rig.quiet(playing(NEWS) / 2);
    model.events.failed(GONE);
    expect(rig.outcomes).toEqual([]);
    await rig.quiet(playing(NEWS) + 1000);
    expect(stages.voice.spoken).toEqual([expect.stringMatching(/ten minutes\.$/)]);
    expect(rig.outcomes).toEqual([`${NEWS} heard`]);
  });
});

/** The model has greeted, and nobody speaks. */
async function greeted(options: object = {}): Promise<RealtimeRig> {
  const rig = new RealtimeRig({ firstMessage: GREETING, ...options }).start();
  rig.model.answers(GREETING);
  await rig.wait(playing(GREETING));
  rig.model.asked.length = 0;
  return rig;
}

describe('words that somebody asks a realtime model for', () => {
  it('are said at once where nobody speaks, and after the greeting', async () => {
    const rig = new RealtimeRig({ firstMessage: GREETING }).start();
    ask(rig, NEWS);
    rig.model.answers(GREETING);
    expect(rig.model.asked).toEqual([`say ${GREETING}`]);
    await rig.wait(playing(GREETING));
    expect(rig.model.asked).toEqual([`say ${GREETING}`, `say ${NEWS}`]);
    rig.model.answers(NEWS);
    await rig.wait(playing(NEWS));
    expect(rig.outcomes).toEqual([`${NEWS} heard`]);
    expect(saidOn(rig)).toEqual([
      ['', GREETING],
      ['', NEWS],
    ]);
  });

  it('cut off what the model says where they interrupt', async () => {
    const rig = await greeted();
    rig.model.hears(QUESTION);
    rig.model.answers(ANSWER);
    await rig.wait(1000);
    ask(rig, NEWS, { interrupts: true });
    expect(rig.model.asked).toEqual(['cancel', expect.stringContaining('truncate'), `say ${NEWS}`]);
    rig.model.answers(NEWS);
    await rig.wait(playing(NEWS));
    expect(rig.turns.at(-2)).toMatchObject({ userText: QUESTION, interrupted: true });
    expect(saidOn(rig).at(-1)).toEqual(['', NEWS]);
    expect(rig.model.asked).toHaveLength(3);
  });

  it('wait for the caller and their answer', async () => {
    const rig = await greeted();
    rig.model.events.speechStarted();
    ask(rig, NEWS, { interrupts: true });
    rig.model.events.speechEnded({ itemId: 'u1', agoMs: 500 });
    expect(rig.model.asked).toEqual([]);
    rig.model.answers(ANSWER);
    await rig.wait(playing(ANSWER));
    expect(rig.model.asked).toEqual([`say ${NEWS}`]);
  });

  it('come before an answer that has not begun, which is asked for behind them', async () => {
    const rig = await greeted();
    rig.model.hears(QUESTION);
    await rig.wait(100);
    ask(rig, NEWS, { interrupts: true });
    expect(rig.model.asked).toEqual(['cancel', `say ${NEWS}`]);
    rig.model.answers(NEWS);
    await rig.wait(playing(NEWS));
    expect(rig.model.asked.slice(2)).toEqual(['respond']);
    rig.model.answers(ANSWER);
    await rig.wait(playing(ANSWER));
    expect(saidOn(rig).at(-1)?.[1]).toBe(ANSWER);
    expect(rig.model.asked).toHaveLength(3);
  });

  it('are said while the model waits for a tool, and its result is answered once', async () => {
    let give = (_: string) => {};
    const result = new Promise<string>((resolve) => {
      give = resolve;
    });
    const tools = createAgentTools([{ name: 'look_up', description: 'Looks.', execute: () => result }]);
    const rig = await greeted({ tools });
    rig.model.hears('How much?');
    rig.model.answers('', [{ id: 'c1', name: 'look_up' }]);
    await rig.wait(100);
    ask(rig, NEWS, { interrupts: true });
    expect(rig.model.asked).toEqual([
      expect.stringMatching(/^results c1=.*running/),
      'cancel',
      `say ${NEWS}`,
    ]);
    rig.model.answers(NEWS);
    give('ten');
    await rig.wait(playing(NEWS));
    expect(rig.outcomes).toEqual([`${NEWS} heard`]);
    expect(rig.model.asked.slice(3)).toEqual(['results c1=ten', 'respond']);
  });

  it.each([
    ['while they are heard', -500],
    ['as soon as they were heard', 0],
    ['long after they were heard', 8000],
  ])(
    'are told of once, and a tool that the model called behind them is answered: its result comes %s',
    async (_, afterMs) => {
      const { tool, runs } = heldTool();
      const rig = await greeted({ tools: createAgentTools([tool]), turnTaking: { fillers: [] } });
      ask(rig, NEWS);
      rig.model.answers(NEWS, [{ id: 'c1', name: 'find_slot', args: { day: 'Friday' } }]);
      await rig.wait(playing(NEWS) + afterMs);
      expect(rig.outcomes).toEqual([]);
      runs[0]?.resolve('at nine');
      await rig.wait(Math.max(0, -afterMs) + 100);
      expect(rig.outcomes).toEqual([`${NEWS} heard`]);
      expect(rig.model.asked).toEqual([`say ${NEWS}`, 'results c1=at nine', 'respond']);
      rig.model.answers('On Friday at nine.');
      await rig.wait(2000);
      expect(saidOn(rig).slice(1)).toEqual([
        ['', NEWS],
        ['', 'On Friday at nine.'],
      ]);
    },
  );

  it.each([
    [true, false],
    [false, true],
  ])('can be interrupted as they were asked for: the agent %s, they %s', async (interruptible, own) => {
    const rig = await greeted({ interruptible });
    rig.model.asked.length = 0;
    ask(rig, NEWS, { interruptible: own });
    expect(rig.model.asked).toEqual([`interruptible ${own}`, `say ${NEWS}`]);
    rig.model.answers(NEWS);
    await rig.wait(playing(NEWS));
    expect(rig.model.asked.at(-1)).toBe(`interruptible ${interruptible}`);
  });

  it('are cut off by the caller, who is answered once', async () => {
    const rig = await greeted();
    ask(rig, ANSWER);
    rig.model.answers(ANSWER);
    await rig.wait(1000);
    rig.model.hears('Stop.');
    expect(rig.outcomes).toEqual([`${ANSWER} interrupted`]);
    rig.model.answers('Yes.');
    await rig.wait(1000);
    expect(rig.model.asked.filter((each) => each === 'respond')).toEqual([]);
  });

  it('are left to the end of a hold', async () => {
    const rig = await greeted();
    rig.engine.hold();
    ask(rig, NEWS, { interrupts: true });
    rig.model.asked.length = 0;
    rig.engine.resume('continue');
    expect(rig.model.asked).toEqual([`say ${NEWS}`]);
  });

  it('outlive the process', async () => {
    const rig = await greeted();
    ask(rig, NEWS);
    ask(rig, MORE);
    rig.model.answers(NEWS);
    await rig.wait(200);
    const { clock } = rig;
    const other = new RealtimeRig({ clock, resumed: { message: '', term: 2, state: stored(rig) } }).start();
    expect(other.model.asked).toEqual([expect.stringMatching(/^say /)]);
    other.model.answers(NEWS);
    await other.wait(playing(NEWS));
    expect(other.model.asked.at(-1)).toBe(`say ${MORE}`);
  });
});

describe('what a model is told and nobody hears', () => {
  const NOTE = 'The caller is a premium customer.';

  it('is in the next request, before the greeting is over or in a silence', async () => {
    const rig = await new CallRig({ firstMessage: GREETING, systemPrompt: 'Be kind.' }).start();
    rig.engine.inform(NOTE);
    await rig.quiet(playing(GREETING));
    rig.model.answer('Yes.');
    await rig.says(QUESTION);
    expect(rig.model.requests[0]?.messages).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'system', content: NOTE, isNote: true },
      { role: 'assistant', content: GREETING },
      { role: 'user', content: QUESTION },
    ]);
    expect(rig.voice.spoken).toEqual([GREETING, 'Yes.']);
  });

  it('is known to what follows on a tool that runs', async () => {
    const { tool, runs } = heldTool();
    const rig = await rigWith([tool]);
    rig.model.answer(call('find_slot', { day: 'Friday' })).answer('Friday at nine.');
    await rig.says('When?');
    rig.engine.inform(NOTE);
    runs[0]?.resolve('at nine');
    await rig.quiet(2000);
    expect(rig.model.requests[1]?.messages[0]).toMatchObject({ content: NOTE });
    expect(rig.model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool' });
  });

  it('outlives the process and asks for no answer there', async () => {
    const rig = await new CallRig().start();
    ask(rig, NEWS);
    await rig.quiet(playing(NEWS));
    rig.engine.inform(NOTE);
    const resumed = { message: '', term: 2, state: stored(rig) };
    const other = await new CallRig({ clock: rig.clock, resumed }).start();
    await other.quiet(3000);
    expect(other.model.requests).toEqual([]);
    other.model.answer('Yes.');
    await other.says(QUESTION);
    expect(other.model.requests[0]?.messages).toContainEqual({ role: 'system', content: NOTE, isNote: true });
  });

  it('is told a realtime model at once, into an answer as well, and to each connection after it', async () => {
    const rig = await greeted();
    rig.model.hears(QUESTION);
    const response = rig.model.begins(ANSWER);
    rig.engine.inform(NOTE);
    rig.model.ends(response);
    expect(rig.model.asked).toEqual([`system: ${NOTE}`]);
    await rig.wait(playing(ANSWER));
    expect(saidOn(rig).at(-1)).toEqual([QUESTION, ANSWER]);
    expect(rig.model.context.history()).toContainEqual({ role: 'system', content: NOTE, isNote: true });
  });

  it('goes with the call to the voice mode that takes over', async () => {
    const [model, stages] = [new FakeRealtimeModel(), new FakeStages()];
    const rig = new FallbackRig({ modes: [model, stages] });
    rig.engine.start();
    model.ready();
    rig.engine.inform(NOTE);
    model.events.failed(GONE);
    rig.engine.inform(MORE);
    await rig.quiet(1000);
    expect(stages.model.requests).toEqual([]);
    const notes = rig.engine.state.turns.history.map((step) => ('text' in step ? step.text : ''));
    expect(notes).toEqual([NOTE, MORE]);
  });
});
