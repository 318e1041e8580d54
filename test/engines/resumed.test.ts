import { describe, expect, it } from 'vitest';
import type { ConversationState } from '../../src/conversation/state.js';
import type { EngineFact } from '../../src/engines/engine.js';
import { setPhrasesFor } from '../../src/engines/languages/set-phrases.js';
import { createAgentTools } from '../../src/engines/tools/agent-tool.js';
import type { ToolContext } from '../../src/engines/tools/tool.js';
import { CallRig, FakeVoice, playing } from './call-rig.js';
import { askedWith, FakeStages, FallbackRig, GONE, toldAtStart } from './fallback-rig.js';
import { FakeRealtimeModel, RealtimeRig } from './realtime-rig.js';

const { message, repeat } = setPhrasesFor('en').resumed;

const agent = {
  firstMessage: 'Good morning to you all.',
  tools: createAgentTools([
    { name: 'look_up', description: 'Looks it up.', execute: () => new Promise<string>(() => {}) },
  ]),
  idle: { afterMs: 4000, prompts: [], goodbye: 'Well then, have a very nice day, and goodbye.' },
};

const GAP_MS = 3000;

function stored({ engine }: CallRig | RealtimeRig | FallbackRig): ConversationState {
  return JSON.parse(JSON.stringify(engine.state));
}

interface How {
  readonly message?: string;
  readonly term?: number;
}

/** The process of `rig` dies, and another one has the call a while later. */
async function resumed(rig: CallRig, how: How = {}, options: object = {}): Promise<CallRig> {
  const { clock } = rig;
  const resumed = { message, term: 2, ...how, state: stored(rig) };
  rig.context.fact = () => {};
  rig.engine.close();
  await clock.advanceAsync(GAP_MS);
  const other = new CallRig({ ...agent, ...options, clock, resumed });
  other.model.answer('Here I am again.');
  return other.start();
}

async function resumedModel(rig: RealtimeRig, how: How = {}): Promise<RealtimeRig> {
  const { clock } = rig;
  const resumed = { message, term: 2, ...how, state: stored(rig) };
  rig.engine.close();
  await clock.advanceAsync(GAP_MS);
  return new RealtimeRig({ ...agent, clock, resumed }).start();
}

async function greeted(options: object = {}): Promise<CallRig> {
  const rig = await new CallRig({ ...agent, ...options }).start();
  await rig.quiet(playing(agent.firstMessage));
  return rig;
}

async function greetedByModel(options: object = {}): Promise<RealtimeRig> {
  const rig = new RealtimeRig({ ...agent, ...options }).start();
  rig.model.answers(agent.firstMessage);
  await rig.wait(playing(agent.firstMessage));
  return rig;
}

async function inAnAnswer(options: object = {}): Promise<CallRig> {
  const rig = await greeted(options);
  rig.model.answer('One of them is here. Two of them are there.');
  await rig.says('Where are they?');
  await rig.quiet(playing('One of them is here.') + 500);
  return rig;
}

/** What the model is asked with, without its instructions. */
const asked = ({ model }: CallRig) =>
  (model.requests.at(-1)?.messages ?? [])
    .filter(({ role }) => role !== 'system')
    .map(({ role, content }) => `${role}: ${content}`);

const idsOf = (facts: readonly EngineFact[]) =>
  facts.flatMap((fact) => (fact.type === 'transcript.segment' ? [fact.entry.id] : []));

describe('a call that goes on in another process', () => {
  it('says first that it is back, and then what is owed', async () => {
    const other = await resumed(await inAnAnswer());
    expect([other.voice.spoken, other.model.requests]).toEqual([[message], []]);
    await other.quiet(playing(message) + 1000);
    expect(other.voice.spoken.join(' ')).toBe(`${message} Here I am again.`);
    expect(asked(other)).toEqual([
      `assistant: ${agent.firstMessage}`,
      'user: Where are they?',
      'assistant: One of them is here.',
    ]);
  });

  it('says in the transcript that it is back, and tells no model of it', async () => {
    const other = await resumed(await greeted());
    await other.quiet(playing(message));
    expect(other.turns).toMatchObject([{ userText: '', agentText: message, interrupted: false }]);
    expect(other.transcript).toMatchObject([{ role: 'agent', text: message, final: true }]);
    await other.says('Where are they?');
    expect(asked(other)).toEqual([`assistant: ${agent.firstMessage}`, 'user: Where are they?']);
  });

  it('goes on in the language that the caller speaks: the voice, what it is asked for, and what it says itself', async () => {
    const voice = Object.assign(new FakeVoice(), { name: 'german-voice' });
    const [none, goodbye] = [{ apology: undefined, fillers: [] }, 'Auf Wiederhören.'];
    const languages = [
      { ...none, language: 'en', idle: agent.idle },
      { ...none, language: 'de', idle: { ...agent.idle, goodbye }, tts: voice },
    ];
    const rig = await greeted({ language: 'en', languages });
    const german = { tag: 'de' };
    for (const text of ['Wo sind sie denn alle?', 'Und wo sind die anderen?']) {
      rig.model.answer('Hier.');
      await rig.voiced(400);
      rig.ears.events.final(text, german);
      await rig.quiet(600 + playing('Hier.'));
    }
    const change = { type: 'language.changed', language: 'de', previous: 'en' };
    expect(rig.facts).toContainEqual(expect.objectContaining(change));
    const before = { english: rig.voice.spoken.length, german: voice.spoken.length };
    expect(before).toEqual({ english: 2, german: 1 });
    const other = await resumed(rig, { message: 'Da bin ich wieder.' }, { language: 'en', languages });
    await other.quiet(playing('Da bin ich wieder.'));
    await other.says('Ja, gut.');
    await other.quiet(playing('Here I am again.') + 4500);
    expect(other.model.requests.at(-1)?.messages[0]?.content).toContain('The call is in German (de)');
    expect(other.voice.spoken).toEqual([]);
    expect(voice.spoken.slice(1)).toEqual(['Da bin ich wieder.', 'Here I am again.', goodbye]);
    expect(other.facts.filter(({ type }) => type === 'language.changed')).toEqual([]);
    // Whoever is replaced later, it is that voice that speaks.
    other.ears.events.replaced?.({
      from: 'fake-stt',
      to: 'other',
      code: 'PROVIDER_FAILED',
      gapMs: 0,
    });
    expect(other.facts.at(-1)).toMatchObject({ provider: { tts: 'german-voice' } });
  });

  it('waits for a caller to whom nothing is owed, and asks after them', async () => {
    const other = await resumed(await greeted());
    await other.quiet(playing(message) + 3500);
    expect([other.voice.spoken.join(' '), other.model.requests]).toEqual([message, []]);
    await other.quiet(1000);
    expect(other.voice.spoken.join(' ')).toBe(`${message} ${agent.idle.goodbye}`);
  });

  it('greets who has heard nothing of the greeting, without a word before it', async () => {
    const rig = await new CallRig(agent).start();
    expect((await resumed(rig)).voice.spoken).toEqual([agent.firstMessage]);
    const model = new RealtimeRig(agent).start();
    expect((await resumedModel(model)).model.asked).toEqual([`say ${agent.firstMessage}`]);
  });

  it('says the rest of a greeting behind it, which the caller cannot interrupt where it could not be', async () => {
    const turnTaking = { interruptibleGreeting: false };
    const [hello, question] = ['Good morning to you all, dear people.', 'What can I do for you on this day?'];
    const firstMessage = `${hello} ${question}`;
    const rig = await new CallRig({ ...agent, firstMessage, turnTaking }).start();
    await rig.quiet(playing(hello) + 300);
    const other = await resumed(rig, {}, { firstMessage, turnTaking });
    await other.quiet(playing(message) + 20);
    expect(other.voice.spoken.at(-1)).toBe(question);
    expect(other.engine.state.floor.manner).toMatchObject({ interruptible: false });
  });

  it('says on what was asked for from outside before it asks a caller again who was cut off, and asks once', async () => {
    const text = 'We close in ten minutes. The doors are locked then, and nobody gets in any more.';
    const rest = `The doors are locked then, and nobody gets in any more. ${repeat}`;
    const cutOff = async (each: CallRig) => {
      await each.voiced(300);
      each.ears.events.partial('but');
      return each;
    };
    const rig = await greeted();
    rig.engine.request({ id: 'r1', text, interrupts: false, interruptible: false });
    await rig.quiet(playing('We close in ten minutes.') + 500);
    const other = await resumed(await cutOff(rig));
    await other.quiet(playing(message) + 500);
    expect(other.voice.spoken).toEqual([message, ...rest.split(/(?<=more[.]) /)]);
    const third = await resumed(await cutOff(other), { term: 3 });
    await third.quiet(playing(`${message} ${rest}`) + 500);
    expect(third.voice.spoken.join(' ')).toBe(`${message} ${rest}`);
    expect(third.outcomes).toEqual(['r1 heard']);
  });

  it('answers a caller whom a request had put off behind the rest of that, which is said all the same', async () => {
    const text = 'We close in ten minutes. The doors are locked then, and nobody gets in any more.';
    const rig = await greeted();
    rig.model.answers = [() => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) })];
    await rig.says('Where are they?');
    await rig.quiet(500);
    rig.engine.request({ id: 'r1', text, interrupts: true });
    await rig.quiet(playing('We close in ten minutes.') + 500);
    expect(rig.engine.state.floor.isCallerOwed).toBe(true);
    const other = await resumed(rig);
    await other.quiet(playing(`${message} ${text}`) + playing('Here I am again.') + 1000);
    const said = other.voice.spoken.join(' ');
    expect(said).toContain('nobody gets in any more.');
    expect(said).toContain('Here I am again.');
    expect(other.outcomes).toEqual(['r1 heard']);
  });

  it('tells news that a caller was being told who is owed an answer as well', async () => {
    const news = 'That number is busy. It will be free again in an hour, as they say there.';
    const rig = await greeted();
    rig.ears.events.final('Where are they?');
    rig.engine.hold();
    rig.engine.resume({ news });
    await rig.quiet(500);
    const other = await resumed(rig);
    await other.quiet(playing(`${message} Here I am again. ${news}`) + 1000);
    const said = other.voice.spoken.join(' ');
    expect(said).toContain('Here I am again.');
    expect(said).toContain('It will be free again in an hour');
  });

  it('tells news that a model was telling a caller who is owed an answer as well', async () => {
    const news = 'That number is busy. It will be free again in an hour, as they say there.';
    const rig = await greetedByModel();
    rig.model.events.speechStarted();
    rig.model.events.speechEnded({ itemId: 'u1', agoMs: 500 });
    rig.model.events.userText({ itemId: 'u1', text: 'Where are they?', final: true });
    rig.engine.hold();
    rig.engine.resume({ news });
    const other = await resumedModel(rig);
    for (const text of [message, 'Here I am again.', 'That number is busy.']) {
      other.model.answers(text);
      await other.wait(playing(text) + 500);
    }
    expect(other.model.asked).toEqual([`say ${message}`, 'respond', `say ${news}`]);
  });

  describe('in a hold that came upon news for the caller', () => {
    const news = 'That number is busy.';

    it.each([0, 200])('says them all the same, after %i ms of them', async (heardMs) => {
      const rig = await greeted();
      rig.engine.hold();
      rig.engine.resume({ news });
      if (heardMs > 0) await rig.quiet(heardMs);
      rig.engine.hold();
      const other = await resumed(rig);
      await other.quiet(playing(`${message} ${news}`));
      const said = other.voice.spoken.join(' ');
      expect([said.startsWith(message), said.endsWith('is busy.')]).toEqual([true, true]);
      expect(other.model.requests).toEqual([]);
    });

    it.each([0, 200])(
      'says them all the same with a model that hears by itself, after %i ms',
      async (heardMs) => {
        const rig = await greetedByModel();
        rig.engine.hold();
        rig.engine.resume({ news });
        if (heardMs > 0) {
          rig.model.begins(news);
          await rig.wait(heardMs);
        }
        rig.engine.hold();
        const other = await resumedModel(rig);
        other.model.answers(message);
        await other.wait(playing(message));
        expect(other.model.asked).toEqual([`say ${message}`, `say ${news}`]);
      },
    );

    it('asks anew for an answer that it came upon', async () => {
      const rig = await inAnAnswer();
      rig.engine.hold();
      const other = await resumed(rig);
      await other.quiet(playing(message) + 1000);
      expect(other.voice.spoken.join(' ')).toBe(`${message} Here I am again.`);
    });
  });

  it('begins with what is owed where it has no message', async () => {
    const other = await resumed(await inAnAnswer(), { message: '' });
    await other.quiet(500);
    expect(other.voice.spoken).toEqual(['Here I am again.']);
  });

  it('ends without a word where all of a goodbye was heard', async () => {
    const rig = await greeted();
    await rig.quiet(4000 + playing(agent.idle.goodbye) + 100);
    const other = await resumed(rig);
    expect(other.voice.spoken).toEqual([]);
    expect(other.ended).toMatchObject([{ reason: 'idle', failure: undefined }]);
  });

  it('says the rest of a goodbye behind it, and ends with that', async () => {
    const rig = await greeted();
    await rig.quiet(4000 + 1000);
    const other = await resumed(rig);
    await other.quiet(playing(message) + playing(agent.idle.goodbye));
    expect(other.voice.spoken.join(' ')).toBe(`${message} ${agent.idle.goodbye}`);
    expect(other.ended).toMatchObject([{ reason: 'idle', failure: undefined }]);
  });

  it('does not count the gap as the time of a model, nor gives one up for it', async () => {
    const rig = await greeted();
    rig.model.answers = [() => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) })];
    await rig.says('Where are they?');
    await rig.quiet(5000);
    const other = await resumed(rig);
    const { watch, trouble, unheardSince, troubledSince } = other.engine.state;
    expect([watch.wait.since, unheardSince, troubledSince]).toEqual([other.clock.now(), null, null]);
    expect(trouble.phase).toBe('none');
    await other.quiet(playing(message) + playing('Here I am again.') + 500);
    const [bridge, answer] = other.turns.slice(-2);
    expect(bridge?.agentText).toBe(message);
    expect(answer?.agentText).toBe('Here I am again.');
    for (const turn of [bridge, answer])
      for (const [stage, latencyMs] of Object.entries(turn?.latency ?? {}))
        expect(latencyMs ?? 0, stage).toBeLessThan(GAP_MS);
  });

  it('states no entry under a name that the process before it has used', async () => {
    const rig = await inAnAnswer();
    const other = await resumed(rig);
    const cut = idsOf(other.facts).filter((id) => !id.endsWith('.t2'));
    expect(cut).toEqual(['agent-1']);
    expect(idsOf(rig.facts)).toContain('agent-1');
    const begun = other.facts.length;
    await other.quiet(playing(message) + 1000);
    await other.says('And the others?');
    const next = await resumed(other, { term: 3 });
    const own = idsOf(other.facts.slice(begun));
    expect(own).toContain('user-1.t2');
    expect(own.filter((id) => idsOf(rig.facts).includes(id))).toEqual([]);
    await next.quiet(1000);
    await next.says('And the others?');
    const known = [...idsOf(rig.facts), ...idsOf(other.facts)];
    expect(idsOf(next.facts).filter((id) => !known.includes(id))).toContain('user-1.t3');
  });

  it('closes entries that were open under their own names', async () => {
    const rig = await inAnAnswer({ interruptible: false });
    await rig.voiced(200);
    rig.ears.events.partial('and where');
    const open = rig.transcript.filter(({ final }) => !final);
    expect(open.map(({ role }) => role)).toEqual(['agent', 'user']);
    const other = await resumed(rig);
    for (const { id } of open)
      expect(other.transcript.find((entry) => entry.id === id)).toMatchObject({ final: true });
    expect(other.transcript.find(({ id }) => id === open[1]?.id)?.text).toBe('and where');
    expect(other.turns.map(({ index }) => index)).toEqual([1]);
  });
});

describe('a caller whose words were lost with a process', () => {
  it('is asked to say them again', async () => {
    const rig = await greeted();
    await rig.voiced(300);
    rig.ears.events.partial('where are');
    const other = await resumed(rig);
    await other.quiet(playing(message) + playing(repeat));
    expect(other.voice.spoken.join(' ')).toBe(`${message} ${repeat}`);
    expect(other.model.requests).toEqual([]);
    await other.says('Where are they?');
    expect(asked(other)).toEqual([`assistant: ${agent.firstMessage} ${repeat}`, 'user: Where are they?']);
  });

  it('is asked so while nothing of it was recognized', async () => {
    const rig = await greeted();
    await rig.voiced(1000);
    const other = await resumed(rig, { message: '' });
    expect(other.voice.spoken).toEqual([repeat]);
  });

  it('is not asked for the sound of a cough', async () => {
    const rig = await greeted();
    await rig.voiced(200);
    await rig.quiet(100);
    const other = await resumed(rig);
    await other.quiet(playing(message) + 1000);
    expect(other.voice.spoken.join(' ')).toBe(message);
  });

  it('is answered where the words were complete', async () => {
    const rig = await greeted();
    await rig.voiced(300);
    rig.ears.events.final('Where are they?');
    const other = await resumed(rig);
    await other.quiet(playing(message) + 500);
    expect(asked(other)).toEqual([`assistant: ${agent.firstMessage}`, 'user: Where are they?']);
    expect(other.turns[0]).toMatchObject({ index: 1, userText: 'Where are they?', agentText: '' });
    expect(rig.transcript.at(-1)).toMatchObject({ id: 'user-1', turnIndex: 1, final: true });
  });

  it('is answered behind what they had heard of an answer', async () => {
    const rig = await inAnAnswer();
    rig.ears.events.final('No, I mean the others.');
    const other = await resumed(rig);
    await other.quiet(playing(message) + 500);
    expect(asked(other).slice(2)).toEqual([
      expect.stringMatching(/^assistant: One of them is here\. Two/),
      'user: No, I mean the others.',
    ]);
  });

  it('is answered where they have pressed it', async () => {
    const rig = await greeted();
    rig.engine.pushDtmf('1');
    await rig.voiced(100);
    await rig.voiced(3000);
    expect(rig.engine.state.untaken.keys).not.toBe('');
    const other = await resumed(rig);
    expect(other.turns[0]?.userText).toMatch(/1/);
  });

  it('is asked again by a model that hears the caller by itself', async () => {
    const rig = await greetedByModel();
    rig.model.events.speechStarted();
    await rig.wait(300);
    const { model, ...other } = await resumedModel(rig);
    expect(model.asked).toEqual([`say ${message}`]);
    model.answers(message);
    await other.clock.advanceAsync(playing(message));
    expect(model.asked).toEqual([`say ${message}`, `say ${repeat}`]);
  });

  it('is asked again where a model had not told what they said', async () => {
    const rig = await greetedByModel();
    rig.model.hears();
    await rig.wait(300);
    const { model, ...other } = await resumedModel(rig);
    model.answers(message);
    await other.clock.advanceAsync(playing(message));
    expect(model.asked).toEqual([`say ${message}`, `say ${repeat}`]);
  });
});

describe('the words that a call is back with', () => {
  it('are interrupted by the caller, who is answered', async () => {
    const other = await resumed(await greeted());
    await other.quiet(500);
    await other.says('Hello? Are you there?');
    await other.quiet(1000);
    expect(other.turns[0]).toMatchObject({ interrupted: true });
    expect(message.startsWith(other.turns[0]?.agentText ?? '?')).toBe(true);
    expect(asked(other)).toEqual([`assistant: ${agent.firstMessage}`, 'user: Hello? Are you there?']);
  });

  it('lead to an answer also where the caller has interrupted them', async () => {
    const other = await resumed(await inAnAnswer());
    await other.quiet(500);
    await other.says('Hello? Are you there?');
    await other.quiet(1000);
    expect(asked(other).slice(1)).toEqual([
      'user: Where are they?',
      'assistant: One of them is here.',
      'user: Hello? Are you there?',
    ]);
  });

  it('are said to their end where a sound was no words', async () => {
    const other = await resumed(await greeted());
    await other.quiet(600);
    await other.voiced(300);
    await other.quiet(3000);
    expect(other.turns.map(({ agentText }) => agentText).join(' ')).toContain('for a moment.');
    expect(other.model.requests).toEqual([]);
  });

  it.each([
    ['an answer', inAnAnswer, 'Here I am again.'],
    ['nothing', greeted, ''],
    [
      'a goodbye',
      async () => {
        const rig = await greeted();
        await rig.quiet(5000);
        return rig;
      },
      agent.idle.goodbye,
    ],
    [
      'a request',
      async () => {
        const rig = await greeted();
        await rig.voiced(300);
        rig.ears.events.partial('where are');
        return rig;
      },
      repeat,
    ],
  ])('leave %s owed where they are cut off by the end of another process', async (__, rig, owed) => {
    const how = { message: 'I am back with you now, at last. We were cut off for a moment, I am afraid.' };
    const other = await resumed(await rig(), how);
    await other.quiet(2200);
    const next = await resumed(other, { ...how, term: 3 });
    expect(next.turns[0]).toMatchObject({
      userText: '',
      agentText: 'I am back with you now, at last.',
      agentTextUnheard: 'We were cut off for a moment, I am afraid.',
      interrupted: true,
    });
    await next.quiet(playing(how.message) + Math.max(playing(owed), 500));
    expect(next.voice.spoken.join(' ')).toBe(`${how.message} ${owed}`.trim());
    expect(JSON.stringify(next.model.requests)).not.toContain('I am back');
  });

  it('lead to what a model that speaks by itself owes', async () => {
    const rig = await greetedByModel();
    rig.model.hears('Where are they?');
    await rig.wait(300);
    const other = await resumedModel(rig);
    const { model } = other;
    expect(toldAtStart(model).at(-1)).toMatch(/Where are they\?/);
    expect(model.asked).toEqual([`say ${message}`]);
    model.answers(message);
    await other.wait(playing(message));
    expect(model.asked).toEqual([`say ${message}`, 'respond']);
    model.answers('One of them is here.');
    await other.wait(3000);
    expect(other.turns.map(({ agentText }) => agentText)).toEqual(['', message, 'One of them is here.']);
    const next = await resumedModel(other, { message: '', term: 3 });
    expect(JSON.stringify(toldAtStart(next.model))).not.toContain('I am back');
    expect(next.model.asked).toEqual([]);
  });

  it('leave what a model owes where they are cut off', async () => {
    const rig = await greetedByModel();
    rig.model.hears('Where are they?');
    await rig.wait(300);
    const other = await resumedModel(rig);
    other.model.answers(message);
    await other.wait(500);
    const next = await resumedModel(other, { message: '', term: 3 });
    expect(next.model.asked).toEqual(['respond']);
  });
});

describe('the tools of a call that goes on in another process', () => {
  /** A pipeline whose model wants a tool, as its process dies. Returns the keys of the runs so far, and who goes on. */
  async function calling({ idempotent }: { idempotent: boolean }) {
    const keys: string[] = [];
    let finish = (_: string) => {};
    const tools = createAgentTools([
      {
        name: 'order',
        description: 'Orders bread.',
        idempotent,
        execute: (_: object, { idempotencyKey }: ToolContext) => {
          keys.push(idempotencyKey);
          return new Promise<string>((resolve) => {
            finish = resolve;
          });
        },
      },
    ]);
    const rig = await greeted({ tools });
    rig.model.answer({ type: 'tool-call', id: 'c1', name: 'order', arguments: {}, argumentsText: '{}' });
    await rig.says('Bread, please.');
    const open = rig.transcript.find(({ role }) => role === 'tool');
    expect(open).toMatchObject({ id: 'tool-1', final: false });
    const other = await resumed(rig, {}, { tools });
    await other.quiet(playing(message) + 500);
    return { keys, other, finish: (result: string) => finish(result) };
  }

  it('are lost, and may have been done', async () => {
    const { keys, other } = await calling({ idempotent: false });
    expect(keys).toEqual(['call-1.tool-1']);
    expect(asked(other).at(-1)).toMatch(/The result of the tool was lost\. It may have been done/);
    expect(other.transcript.find(({ id }) => id === 'tool-1')).toMatchObject({ final: true });
  });

  it('are run again under the same key where that does no harm, in the same entry', async () => {
    const { keys, other, finish } = await calling({ idempotent: true });
    expect(keys).toEqual(['call-1.tool-1', 'call-1.tool-1']);
    expect(other.model.requests).toEqual([]);
    finish('ordered');
    await other.quiet(500);
    expect(asked(other).at(-1)).toBe('tool: ordered');
    const entries = other.transcript.filter(({ role }) => role === 'tool');
    expect(entries).toMatchObject([{ id: 'tool-1', text: 'order: ordered', final: true }]);
  });
});

describe('an agent with several voice modes in another process', () => {
  async function talking(): Promise<{ stages: FakeStages; next: FallbackRig; model: FakeRealtimeModel }> {
    const rig = await greeted();
    rig.model.answers = [() => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) })];
    await rig.says('Where are they?');
    await rig.quiet(500);
    const [stages, model] = [new FakeStages(), new FakeRealtimeModel()];
    const resumed = { message, term: 2, state: stored(rig) };
    rig.engine.close();
    const { clock } = rig;
    const next = await new FallbackRig({ ...agent, modes: [model, stages], clock, resumed }).start();
    return { stages, next, model };
  }

  it('goes on with the first of them', async () => {
    const { next, model } = await talking();
    model.ready();
    expect(toldAtStart(model).at(-1)).toBe('user: Where are they?');
    expect(model.asked).toEqual([`say ${message}`]);
    model.answers(message);
    await next.wait(playing(message));
    expect(model.asked.at(-1)).toBe('respond');
  });

  it('owes the same to whoever takes over while it says that it is back, which is not said again', async () => {
    const { stages, next, model } = await talking();
    stages.model.answer('Here I am again.');
    model.ready();
    model.begins(message);
    await next.wait(500);
    model.events.failed(GONE);
    await next.quiet(500);
    expect(stages.voice.spoken).toEqual(['Here I am again.']);
    expect(askedWith(stages)).toEqual([`assistant: ${agent.firstMessage}`, 'user: Where are they?']);
    expect(next.transcript.at(-1)?.id).toMatch(/^agent-\d\.t2\.2$/);
  });
});
