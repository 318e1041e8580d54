import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Conversation } from '../../src/engines/conversation.js';
import { createAgentTools } from '../../src/engines/tools/agent-tool.js';
import { runs } from '../support/depth.js';
import { type Schedule, ScheduledCall, schedule } from './call-schedule.js';
import { type ConversationState, restored } from '../../src/conversation/state.js';
import { CallRig, playing } from './call-rig.js';
import { type FallbackRig, GONE, talkingToModel, toldAtStart } from './fallback-rig.js';
import { RealtimeRig } from './realtime-rig.js';

afterEach(() => vi.restoreAllMocks());

const { change } = Conversation.prototype;

/** From now on each change of a conversation is what was stored and read again. */
function storeEachChange(): void {
  vi.spyOn(Conversation.prototype, 'change').mockImplementation(function (this: Conversation, state) {
    change.call(this, JSON.parse(JSON.stringify(state)));
  });
}

/** All that came of a call. */
async function played(plan: Schedule) {
  const call = new ScheduledCall(plan);
  await call.play();
  const { facts, ended, model, orders } = call.rig;
  return { facts, ended, orders, heard: call.heard(), asked: model.requests.map(({ messages }) => messages) };
}

const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 3000 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('hears' as const),
      text: fc.constantFrom('A table.', undefined),
      answer: fc.constantFrom('We have one. Another one is free at nine.', '', undefined),
      hasTool: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constantFrom(
        'interrupts' as const,
        'key',
        'hold',
        'answers',
        'is lost',
        'is back',
        'says',
        'fails',
      ),
    }),
  },
);

/** All that came of a call with a model that hears the caller by itself. */
async function playedByModel(actions: readonly (typeof action extends fc.Arbitrary<infer T> ? T : never)[]) {
  const rig = new RealtimeRig({
    firstMessage: 'Good morning to you.',
    tools: createAgentTools([{ name: 'look_up', description: 'Looks it up.', execute: () => 'found' }]),
    idle: { afterMs: 4000, prompts: ['Are you there?'], goodbye: 'Goodbye.' },
  }).start();
  const { engine, model } = rig;
  let [isHeld, isLost] = [false, false];
  for (const [at, each] of actions.entries()) {
    if (each.type === 'wait') await rig.wait(each.ms);
    else if (each.type === 'key') engine.pushDtmf('1');
    else if (each.type === 'says')
      engine.request({ id: `r${at}`, text: 'We close at six.', interrupts: at % 2 === 0 });
    else if (each.type === 'hold') {
      isHeld = !isHeld;
      if (isHeld) engine.hold();
      else engine.resume(at % 2 === 0 ? 'continue' : { news: 'That number is busy.' });
    } else if (each.type === 'is lost' && !isLost) {
      isLost = true;
      model.events.lost?.({ agoMs: 500 });
    } else if (each.type === 'is back' && isLost) {
      isLost = false;
      model.events.reconnected({ gapMs: 500 });
    } else if (isLost) continue;
    else if (each.type === 'interrupts') model.events.interrupted();
    else if (each.type === 'answers') model.answers('It is on the left.');
    else if (each.type === 'fails') model.answers('');
    else if (each.type === 'hears') {
      model.hears(each.text);
      const calls = each.hasTool ? [{ id: `c${at}`, name: 'look_up' }] : [];
      if (each.answer !== undefined) model.answers(each.answer, calls);
    }
  }
  await rig.wait(30_000);
  return { facts: rig.facts, ended: rig.ended, asked: model.asked, heardMs: rig.heardMs };
}

async function isSame(play: () => Promise<unknown>): Promise<void> {
  // One that failed before has left it.
  vi.restoreAllMocks();
  const whole = await play();
  storeEachChange();
  const stored = await play();
  vi.restoreAllMocks();
  expect(stored).toEqual(whole);
}

describe('a conversation whose state is stored and read again after each change', () => {
  it('goes on in the same way: whole calls by chance', async () => {
    const property = fc.asyncProperty(schedule, (plan) => isSame(() => played(plan)));
    await fc.assert(property, { numRuns: runs(30, 500) });
  });

  it('goes on in the same way: calls by chance with a model that hears the caller by itself', async () => {
    const actions = fc.array(action, { minLength: 3, maxLength: 15 });
    const property = fc.asyncProperty(actions, (plan) => isSame(() => playedByModel(plan)));
    await fc.assert(property, { numRuns: runs(100, 2000) });
  });

  it('goes on in the same way with a model that hears the caller by itself', async () => {
    const call = async () => {
      const rig = new RealtimeRig({
        firstMessage: 'Good morning to you.',
        tools: createAgentTools([{ name: 'look_up', description: 'Looks it up.', execute: () => 'found' }]),
        idle: { afterMs: 4000, prompts: ['Are you there?'], goodbye: 'Goodbye.' },
      }).start();
      const { model } = rig;
      model.answers('Good morning to you.');
      await rig.wait(1500);
      model.hears('When do you open?');
      model.answers('I am looking for it.', [{ id: '1', name: 'look_up' }]);
      await rig.wait(1500);
      model.answers('We are open from eight to six.');
      await rig.wait(500);
      model.hears('And on Sunday?');
      await rig.wait(100);
      rig.engine.hold();
      rig.pacer.clear();
      await rig.wait(1000);
      rig.engine.resume('continue');
      model.answers('Not at all.');
      rig.engine.pushDtmf('1');
      await rig.wait(20_000);
      return { facts: rig.facts, ended: rig.ended, asked: model.asked, heardMs: rig.heardMs };
    };
    const whole = await call();
    expect(whole.facts.length).toBeGreaterThan(20);
    storeEachChange();
    expect(await call()).toEqual(whole);
  });
});

describe('a call that goes on elsewhere with the state that was stored last', () => {
  const agent = {
    firstMessage: 'Good morning to you all.',
    tools: createAgentTools([
      { name: 'look_up', description: 'Looks it up.', execute: () => new Promise<string>(() => {}) },
    ]),
    idle: { afterMs: 4000, prompts: [], goodbye: 'Well then, have a very nice day, and goodbye.' },
  };

  /** The next process: what was stored of `rig` is all that it knows. */
  function stored(rig: CallRig | RealtimeRig | FallbackRig): ConversationState {
    const state: ConversationState = JSON.parse(JSON.stringify(rig.engine.state));
    const at = { now: rig.clock.now(), wall: rig.clock.wallNow() };
    return restored(state, { at, transcribesCaller: rig instanceof RealtimeRig }).state;
  }

  async function next(rig: CallRig): Promise<CallRig> {
    const { clock } = rig;
    const other = new CallRig({ ...agent, clock, takeover: { state: stored(rig) } });
    other.model.answer('Here I am again.');
    rig.engine.close();
    await other.start();
    await other.quiet(100);
    return other;
  }

  async function nextModel(rig: RealtimeRig): Promise<RealtimeRig> {
    const { clock } = rig;
    const other = new RealtimeRig({ ...agent, clock, takeover: { state: stored(rig) } });
    rig.engine.close();
    return other.start();
  }

  /** What the model is asked with, without its instructions. */
  const asked = ({ model }: CallRig) =>
    (model.requests.at(-1)?.messages ?? [])
      .filter(({ role }) => role !== 'system')
      .map(({ role, content }) => `${role}: ${content}`);

  async function greeted(): Promise<CallRig> {
    const rig = await new CallRig(agent).start();
    await rig.quiet(playing(agent.firstMessage));
    return rig;
  }

  async function inAnAnswer(): Promise<CallRig> {
    const rig = await greeted();
    rig.model.answer('One of them is here. Two of them are there.');
    await rig.says('Where are they?');
    await rig.quiet(playing('One of them is here.') + 500);
    return rig;
  }

  it('greets who has heard nothing of the greeting', async () => {
    const rig = await new CallRig(agent).start();
    expect((await next(rig)).voice.spoken).toEqual([agent.firstMessage]);
    const model = new RealtimeRig(agent).start();
    expect((await nextModel(model)).model.asked).toEqual([`say ${agent.firstMessage}`]);
  });

  it('waits for the caller where nothing is owed, and asks after one who says nothing', async () => {
    const other = await next(await greeted());
    expect([other.voice.spoken, other.model.requests]).toEqual([[], []]);
    await other.quiet(4000);
    expect(other.voice.spoken).toEqual([agent.idle.goodbye]);
  });

  it('answers who was waiting for an answer', async () => {
    const rig = await greeted();
    rig.model.answers = [() => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) })];
    await rig.says('Where are they?');
    await rig.quiet(1000);
    expect(asked(await next(rig))).toEqual([`assistant: ${agent.firstMessage}`, 'user: Where are they?']);
  });

  it('goes on with an answer behind what the caller is known to have heard of it', async () => {
    const other = await next(await inAnAnswer());
    expect(asked(other).slice(1)).toEqual(['user: Where are they?', 'assistant: One of them is here.']);
    expect(other.voice.spoken).toEqual(['Here I am again.']);
  });

  it('goes on with an answer that a hold had cut off', async () => {
    const rig = await inAnAnswer();
    rig.engine.hold();
    rig.pacer.clear();
    const heard = `assistant: ${rig.turns.at(-1)?.agentText}`;
    expect(heard).toMatch(/^assistant: One of them is here. Two/);
    const other = await next(rig);
    expect(asked(other).slice(1)).toEqual(['user: Where are they?', heard]);
    expect(other.voice.spoken).toEqual(['Here I am again.']);
  });

  it('tells the model that the result of a tool which ran was lost, and that it may have been done', async () => {
    const lost = expect.stringMatching(/^tool: .*The result of the tool was lost\. It may have been done/);
    const rig = await greeted();
    const call = { id: '1', name: 'look_up', arguments: {}, argumentsText: '{}' };
    rig.model.answer({ type: 'tool-call', ...call });
    await rig.says('Where are they?');
    await rig.quiet(500);
    expect(asked(await next(rig)).slice(-1)).toEqual([lost]);
    const model = new RealtimeRig(agent).start();
    model.model.answers(agent.firstMessage);
    await model.wait(3000);
    model.model.hears('Where are they?');
    model.model.answers('', [{ id: '1', name: 'look_up' }]);
    await model.wait(500);
    const other = await nextModel(model);
    expect(toldAtStart(other.model).slice(-1)).toEqual([lost]);
    expect(other.model.asked).toEqual(['respond']);
  });

  it('says the rest of a goodbye, and ends with it', async () => {
    const rig = await greeted();
    await rig.quiet(4000 + 1000);
    const other = await next(rig);
    expect(other.voice.spoken).toEqual([agent.idle.goodbye]);
    await other.quiet(playing(agent.idle.goodbye));
    expect(other.ended).toMatchObject([{ reason: 'idle', failure: undefined }]);
  });

  it('says again what was on of a goodbye that a model has found the words of', async () => {
    const rig = await greeted();
    rig.model.answer('It was nice to talk to you.', { type: 'end-call' });
    await rig.says('That is all.');
    await rig.quiet(500);
    const other = await next(rig);
    expect([other.voice.spoken, other.model.requests]).toEqual([['It was nice to talk to you.'], []]);
    await other.quiet(playing('It was nice to talk to you.'));
    expect(other.ended).toMatchObject([{ reason: 'agent-hangup', failure: undefined }]);
  });

  it('asks for a goodbye anew of which there were no words', async () => {
    const rig = await greeted();
    rig.model.answers.push(async function* () {
      yield { type: 'end-call' };
      await new Promise(() => {});
    });
    await rig.says('That is all.');
    await rig.quiet(500);
    const other = await next(rig);
    expect(asked(other).at(-1)).toBe('user: That is all.');
    expect(other.ended).toEqual([]);
  });

  it('ends where all of a goodbye was heard', async () => {
    const rig = await greeted();
    await rig.quiet(4000 + playing(agent.idle.goodbye) + 100);
    expect(rig.ended).toMatchObject([{ reason: 'idle' }]);
    const model = new RealtimeRig({ ...agent, takeover: { state: stored(rig) } }).start();
    expect(model.model.asked).toEqual(['cancel']);
    const other = await next(rig);
    expect([other.voice.spoken, other.model.requests]).toEqual([[], []]);
    for (const { ended } of [model, other])
      expect(ended).toMatchObject([{ reason: 'idle', failure: undefined }]);
  });

  it('does not hang up on who has cut a goodbye off', async () => {
    const rig = await greeted();
    await rig.quiet(4000 + 1000);
    await rig.voiced(200);
    rig.ears.events.partial('wait, I would like to say something');
    await rig.quiet(20);
    const { floor } = rig.engine.state.floor;
    expect(floor).toMatchObject({ phase: 'listening', rest: { manner: { ends: 'idle' } } });
    const other = await next(rig);
    expect(other.voice.spoken).toEqual(['Here I am again.']);
  });

  it('does not hang up where a model is lost before its goodbye was heard', async () => {
    const rig = new RealtimeRig(agent).start();
    rig.model.answers(agent.firstMessage);
    await rig.wait(playing(agent.firstMessage) + 4000);
    rig.model.events.failed(GONE);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    expect(stored(rig).owed).toEqual({ kind: 'nothing' });
  });

  it('answers who has spoken over a goodbye to nobody', async () => {
    const rig = new RealtimeRig({ ...agent, interruptible: false }).start();
    rig.model.answers(agent.firstMessage);
    await rig.wait(playing(agent.firstMessage) + 4000);
    expect(rig.model.asked.at(-1)).toBe(`say ${agent.idle.goodbye}`);
    rig.model.answers(agent.idle.goodbye);
    await rig.wait(1500);
    rig.model.events.speechStarted();
    rig.model.events.speechEnded({ itemId: 'u1', agoMs: 500 });
    rig.model.events.userText({ itemId: 'u1', text: 'I am here.', final: true });
    expect((await nextModel(rig)).model.asked).toEqual(['respond']);
  });

  it('goes on with an answer to what has no words so far', async () => {
    const rig = new RealtimeRig(agent).start();
    rig.model.answers(agent.firstMessage);
    await rig.wait(3000);
    rig.model.hears();
    rig.model.answers('One of them is here. Two of them are there, and three of them nowhere.');
    await rig.wait(2500);
    const other = await nextModel(rig);
    expect(toldAtStart(other.model).at(-1)).toMatch(/ One of them is here\./);
    expect(other.model.asked).toEqual(['respond']);
  });

  it('tells the record that an answer was cut off', async () => {
    const rig = await inAnAnswer();
    const at = { now: rig.clock.now(), wall: rig.clock.wallNow() };
    const { facts } = restored(rig.engine.state, { at, transcribesCaller: false });
    expect(facts.at(-1)).toMatchObject({
      type: 'turn.completed',
      turn: {
        agentText: 'One of them is here.',
        agentTextUnheard: 'Two of them are there.',
        interrupted: true,
      },
    });
  });

  it('tells who was promised the result of a tool that there is none', async () => {
    const lost = expect.stringMatching(/^tool: .*The result of the tool was lost\. It may have been done/);
    const rig = await greeted();
    const call = { id: '1', name: 'look_up', arguments: {}, argumentsText: '{}' };
    rig.model.answer({ type: 'tool-call', ...call });
    await rig.says('Where are they?');
    await rig.quiet(500);
    rig.model.answer('I tell you soon.');
    await rig.says('When do you know?');
    await rig.quiet(playing('I tell you soon.') + 100);
    expect(rig.turns).toHaveLength(2);
    expect(asked(await next(rig))).toContainEqual(lost);
    const model = new RealtimeRig(agent).start();
    model.model.answers(agent.firstMessage);
    await model.wait(3000);
    model.model.hears('Where are they?');
    model.model.answers('', [{ id: '1', name: 'look_up' }]);
    await model.wait(500);
    model.model.hears('When do you know?');
    model.model.answers('I tell you soon.');
    await model.wait(3000);
    const other = await nextModel(model);
    expect(toldAtStart(other.model)).toContainEqual(lost);
    expect(other.model.asked).toEqual(['respond']);
  });

  it('waits for a caller who was told the result of a tool that nobody waited for', async () => {
    let finish = (_: string) => {};
    const execute = () =>
      new Promise<string>((resolve) => {
        finish = resolve;
      });
    const tools = createAgentTools([{ name: 'look_up', description: 'Looks it up.', execute }]);
    const rig = new RealtimeRig({ ...agent, tools }).start();
    rig.model.answers(agent.firstMessage);
    await rig.wait(3000);
    rig.model.hears('Where are they?');
    rig.model.answers('', [{ id: '1', name: 'look_up' }]);
    await rig.wait(500);
    rig.model.hears('When do you know?');
    rig.model.answers('I tell you soon.');
    await rig.wait(1500);
    finish('at home');
    await rig.wait(0);
    expect(rig.model.asked.slice(-2)).toEqual(['results 1=at home', 'respond']);
    rig.model.answers('They are at home.');
    await rig.wait(2000);
    const other = await nextModel(rig);
    expect(other.model.asked).toEqual([]);
  });

  it('goes on as whoever was about to take over would have', async () => {
    const { first, rig } = await talkingToModel({ idle: agent.idle });
    await rig.wait(4000);
    expect(first.asked.at(-1)).toBe(`say ${agent.idle.goodbye}`);
    rig.engine.hold();
    first.events.failed(GONE);
    await rig.wait(0);
    const { owed, unheardSince, troubledSince } = stored(rig);
    expect(owed).toEqual({ kind: 'goodbye', text: agent.idle.goodbye, reason: 'idle' });
    expect({ owed, unheardSince, troubledSince }).toEqual({
      owed: rig.engine.state.owed,
      unheardSince: rig.engine.state.unheardSince,
      troubledSince: rig.engine.state.troubledSince,
    });
  });

  it('is told of no word that the caller has not heard, at any moment of any call', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async (plan) => {
        const call = new ScheduledCall(plan);
        const { rig } = call;
        const known: [index: number, heard: string][] = [];
        const running: string[] = [];
        const push = rig.facts.push.bind(rig.facts);
        rig.facts.push = (...facts) => {
          const { turns } = stored(rig);
          const { open } = rig.engine.state.turns;
          if (open !== null) known.push([open.index, open.heard]);
          for (const { status, call } of Object.values(turns.tools))
            if (status === 'running') running.push(call.name);
          return push(...facts);
        };
        await call.play();
        expect(running).toEqual([]);
        for (const [index, heard] of known)
          expect(rig.turns.find((turn) => turn.index === index)?.agentText.startsWith(heard)).toBe(true);
      }),
      { numRuns: runs(20, 300) },
    );
  });
});
