import { describe, expect, it } from 'vitest';
import type { EngineRecipe } from '../../../src/engines/engine.js';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import { createFallbackRecipe } from '../../../src/engines/fallback/recipe.js';
import { Circuits } from '../../../src/providers/circuits.js';
import {
  askedWith,
  FakeStages,
  FallbackRig,
  GONE,
  type FallbackRigOptions,
  toldAtStart,
} from '../fallback-rig.js';
import { FakeClock } from '../../support/fake-clock.js';
import { FakeRealtimeModel } from '../realtime-rig.js';

const BROKEN: EngineRecipe = {
  mode: 'realtime',
  providers: { engine: 'broken', stt: null, llm: null, tts: null },
  create() {
    throw new Error('It cannot be made.');
  },
};

function make(options: Partial<FallbackRigOptions> = {}) {
  const first = new FakeStages();
  const second = new FakeRealtimeModel();
  const rig = new FallbackRig({ modes: [first, second], systemPrompt: 'You bake.', ...options });
  return { first, second, rig };
}

/** A call whose first turn was with the pipeline. */
async function talking(options: Partial<FallbackRigOptions> = {}) {
  const scene = make(options);
  const { first, rig } = scene;
  first.model.answer('At noon.');
  await rig.start();
  await rig.says(first, 'Three loaves.');
  await rig.quiet(1000);
  return scene;
}

describe('a call whose pipeline is at its end', () => {
  it('is greeted by the model when the voice fails in the greeting', async () => {
    const { first, second, rig } = make({ firstMessage: 'Hello!' });
    first.voice.failOn = 'Hello';
    await rig.start();
    expect(second.asked).toEqual(['say Hello!']);
    second.ready();
    second.answers('Hello!');
    await rig.wait(1000);
    expect(rig.said).toEqual([['', 'Hello!']]);
    expect(rig.turns[0]?.index).toBe(0);
    expect(rig.replacements).toMatchObject([
      { stage: 'tts', from: 'fake-tts', to: 'fake-realtime', mode: 'realtime' },
    ]);
    expect(rig.ended).toEqual([]);
  });

  it('listens on, and the model knows what was said', async () => {
    const { first, second, rig } = await talking();
    first.ears.events.failed(GONE);
    await rig.wait(100);
    second.ready();
    expect(toldAtStart(second)).toEqual(['user: Three loaves.', 'assistant: At noon.']);
    expect(second.asked).toEqual([]);
    expect(second.context.instructions).toBe('You bake.');
    second.hears('What is it?');
    second.answers('Ten dollars.');
    await rig.wait(1500);
    expect(rig.said).toEqual([
      ['Three loaves.', 'At noon.'],
      ['What is it?', 'Ten dollars.'],
    ]);
    expect(rig.turns.map(({ index }) => index)).toEqual([0, 1]);
  });

  it('is answered by the model when the language model fails, without an apology', async () => {
    const { first, second, rig } = await talking();
    first.model.answer(new Error('broken'));
    await rig.says(first, 'What is it?');
    await rig.wait(100);
    expect(first.voice.spoken).toEqual(['At noon.']);
    expect(second.asked).toEqual(['respond']);
    second.ready();
    expect(toldAtStart(second)).toEqual(['user: Three loaves.', 'assistant: At noon.', 'user: What is it?']);
    second.answers('Ten dollars.');
    await rig.wait(1500);
    expect(rig.said.slice(1)).toEqual([
      ['What is it?', ''],
      ['', 'Ten dollars.'],
    ]);
    expect(rig.replacements).toMatchObject([{ stage: 'llm', from: 'fake-llm', code: 'PROVIDER_FAILED' }]);
  });

  it('waits for the first word until some three seconds after the caller has finished', async () => {
    const { first, second, rig } = await talking();
    first.model.answers.push(async function* () {
      await new Promise(() => {});
      yield { type: 'text', delta: 'never' };
    });
    await rig.voiced(400);
    first.ears.events.final('What is it?');
    await rig.quiet(600);
    await rig.wait(1850);
    expect(second.asked).toEqual([]);
    await rig.wait(200);
    expect(second.asked).toEqual(['respond']);
  });

  it('goes on from what was heard of an answer, silent at once', async () => {
    const { first, second, rig } = await talking();
    first.model.answer('There are seven kinds of cakes. ', new Error('broken'));
    await rig.voiced(400);
    first.ears.events.final('Which cakes?');
    await rig.quiet(600);
    await rig.wait(20);
    second.ready();
    const told = toldAtStart(second);
    expect(told.slice(0, 3)).toEqual(['user: Three loaves.', 'assistant: At noon.', 'user: Which cakes?']);
    expect(second.asked).toEqual(['respond']);
    const turn = rig.turns[1];
    expect(`${turn?.agentText} ${turn?.agentTextUnheard}`.trim()).toBe('There are seven kinds of cakes.');
    expect(told.slice(3)).toEqual(turn?.agentText === '' ? [] : [`assistant: ${turn?.agentText}`]);
  });

  it('is silent in the middle of a word when its recognizer goes', async () => {
    const { first, second, rig } = await talking();
    first.model.answer('There are seven kinds of cakes, with nuts, with cream and with raisins.');
    await rig.says(first, 'Which cakes?');
    await rig.quiet(500);
    first.ears.events.failed(GONE);
    await rig.wait(0);
    const heardMs = rig.heardMs;
    expect(rig.player.clears).toBe(1);
    await rig.wait(1000);
    expect(rig.heardMs - heardMs).toBeLessThan(40);
    second.ready();
    expect(toldAtStart(second).slice(2)).toEqual(['user: Which cakes?', 'assistant: There are seven']);
    expect(second.asked).toEqual(['respond']);
  });

  it('hears half a sentence again that the recognizer failed in', async () => {
    const { first, second, rig } = await talking();
    await rig.voiced(1000);
    first.ears.events.partial('I would like');
    await rig.voiced(200);
    first.ears.events.failed(GONE);
    await rig.wait(0);
    second.ready();
    // 1200 ms, of which the detector needs none to know when they began.
    expect(second.audioBytes / 640).toBeGreaterThanOrEqual(59);
    expect(toldAtStart(second)).toEqual(['user: Three loaves.', 'assistant: At noon.']);
    expect(rig.transcript.map(({ text }) => text)).toEqual(['Three loaves.', 'At noon.']);
  });

  it('keeps words that nobody has answered as a turn', async () => {
    const { first, second, rig } = await talking();
    await rig.voiced(400);
    first.ears.events.final('What is it?');
    rig.engine.pushDtmf('7');
    first.ears.events.failed(GONE);
    await rig.wait(0);
    second.ready();
    expect(toldAtStart(second).at(-1)).toBe('user: What is it? The caller pressed 7');
    expect(second.asked).toEqual(['respond']);
    expect(rig.said.at(-1)).toEqual(['What is it? The caller pressed 7', '']);
  });

  it('gives the model the result of a tool that was running', async () => {
    let finish = (_: string) => {};
    let runs = 0;
    const tools = createAgentTools([
      {
        name: 'look_up',
        description: 'Looks it up.',
        execute: () => {
          runs += 1;
          return new Promise((resolve) => {
            finish = resolve;
          });
        },
      },
    ]);
    const { first, second, rig } = await talking({ tools });
    first.model.answer({
      type: 'tool-call',
      id: 'c1',
      name: 'look_up',
      arguments: {},
      argumentsText: '{}',
    });
    await rig.says(first, 'What is it?');
    first.ears.events.failed(GONE);
    await rig.wait(0);
    second.ready();
    expect(toldAtStart(second).slice(2)).toEqual(['user: What is it?', 'assistant: ']);
    expect(second.asked).toEqual([]);
    finish('10');
    await rig.wait(0);
    expect(second.asked).toEqual(['results c1=10', 'respond']);
    expect(runs).toBe(1);
    expect(rig.transcript.filter(({ role }) => role === 'tool')).toMatchObject([{ final: true }]);
  });

  it('is silent where the hold of the first engine has begun', async () => {
    const { first, second, rig } = await talking();
    rig.engine.hold();
    first.ears.events.failed(GONE);
    await rig.wait(1000);
    expect(second.asked).toEqual([]);
    rig.engine.close();
    expect(rig.replacements).toEqual([]);
    await rig.wait(60_000);
    expect(rig.ended).toEqual([]);
  });

  it('says why the caller is back where the first engine failed in a hold that came upon that', async () => {
    const news = 'That number is busy.';
    const { first, second, rig } = await talking();
    rig.engine.hold();
    rig.engine.resume({ news });
    rig.engine.hold();
    first.ears.events.failed(GONE);
    await rig.wait(100);
    rig.engine.resume('continue');
    expect(second.asked).toEqual([`say ${news}`]);
  });

  it('begins nothing where the call ends in the same tick', async () => {
    const { first, second, rig } = await talking();
    first.ears.events.failed(GONE);
    rig.engine.close();
    await rig.wait(1000);
    expect(rig.replacements).toEqual([]);
    expect(second.asked).toEqual([]);
  });
});

describe('a chain of three', () => {
  it('goes through all of them, and has a turn of each', async () => {
    const first = new FakeRealtimeModel();
    const second = new FakeStages();
    const third = new FakeRealtimeModel();
    const rig = new FallbackRig({ modes: [first, second, third], firstMessage: 'Hello!' });
    await rig.start();
    first.ready();
    first.answers('Hello!');
    await rig.wait(1000);
    first.events.failed(GONE);
    await rig.wait(0);
    second.model.answer('At noon.');
    await rig.says(second, 'Three loaves.');
    await rig.quiet(1000);
    second.voice.failOn = 'Ten';
    second.model.answer('Ten dollars.');
    await rig.says(second, 'What is it?');
    await rig.wait(100);
    third.ready();
    expect(toldAtStart(third)).toEqual([
      'assistant: Hello!',
      'user: Three loaves.',
      'assistant: At noon.',
      'user: What is it?',
    ]);
    third.answers('Ten dollars.');
    await rig.wait(1500);
    expect(rig.said).toEqual([
      ['', 'Hello!'],
      ['Three loaves.', 'At noon.'],
      ['What is it?', ''],
      ['', 'Ten dollars.'],
    ]);
    expect(rig.replacements.map(({ from, to }) => [from, to])).toEqual([
      ['fake-realtime', 'fake-stt + fake-llm + fake-tts'],
      ['fake-tts', 'fake-realtime'],
    ]);
    third.events.failed(GONE);
    await rig.wait(0);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { untold: true } }]);
    expect(new Set(rig.transcript.map(({ id }) => id)).size).toBe(rig.transcript.length);
  });

  it('has the history of two engines word for word, whichever way it goes', async () => {
    const [first, third] = [new FakeStages(), new FakeStages()];
    const second = new FakeRealtimeModel();
    const rig = new FallbackRig({ modes: [first, second, third] });
    first.model.answer('At noon.');
    await rig.start();
    await rig.says(first, 'Three loaves.');
    await rig.quiet(1000);
    first.ears.events.failed(GONE);
    await rig.wait(0);
    second.ready();
    second.hears('And a cake.');
    second.answers('The cake, too.');
    await rig.wait(1500);
    second.events.failed(GONE);
    await rig.wait(0);
    third.model.answer('Goodbye.');
    await rig.says(third, 'Thank you.');
    await rig.quiet(1000);
    expect(askedWith(third)).toEqual([
      'user: Three loaves.',
      'assistant: At noon.',
      'user: And a cake.',
      'assistant: The cake, too.',
      'user: Thank you.',
    ]);
    const words = rig.transcript.filter(({ role }) => role === 'user').map(({ text }) => text);
    expect(words).toEqual(['Three loaves.', 'And a cake.', 'Thank you.']);
  });

  it('passes over an engine that cannot be made', async () => {
    const second = new FakeStages();
    const rig = new FallbackRig({ modes: [BROKEN, second, BROKEN], firstMessage: 'Hello!' });
    await rig.start();
    await rig.wait(1000);
    expect(rig.said).toEqual([['', 'Hello!']]);
    expect(rig.replacements).toMatchObject([{ from: 'broken', code: 'INTERNAL', gapMs: 0 }]);
    second.ears.events.failed(GONE);
    await rig.wait(0);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { untold: true } }]);
  });

  it('begins with the one that was prepared, and frees what nothing was made of', () => {
    const prepared: string[] = [];
    const preparing = (name: string, recipe: EngineRecipe): EngineRecipe => ({
      ...recipe,
      prepare: () => {
        prepared.push(`${name} ready`);
        return { close: () => void prepared.push(`${name} closed`) };
      },
    });
    const clock = new FakeClock();
    const choices = [preparing('first', BROKEN), preparing('second', BROKEN)].map((recipe) => ({
      recipe,
      needs: [],
    }));
    const recipe = createFallbackRecipe(choices, new Circuits(clock));
    const { context } = new FallbackRig({ modes: [new FakeStages()] });
    const preparation = recipe.prepare?.(context);
    expect(prepared).toEqual(['first ready']);
    expect(() => recipe.create(context, preparation)).toThrow('cannot be made');
    expect(prepared).toEqual(['first ready', 'first closed']);
    recipe.prepare?.(context).close();
    expect(prepared.slice(2)).toEqual(['first ready', 'first closed']);
  });

  it('has no call when no engine can be made', () => {
    expect(() => new FallbackRig({ modes: [BROKEN, BROKEN] })).toThrow('cannot be made');
  });
});

describe('providers that fail again and again', () => {
  /** A call whose recognizer has failed in the calls before it. */
  function makeFailing() {
    const [first, second] = [new FakeStages(), new FakeRealtimeModel()];
    const circuits = (clock: ConstructorParameters<typeof Circuits>[0]) => {
      const failing = new Circuits(clock);
      for (let count = 0; count < 5; count += 1) failing.failed(first.ears);
      return failing;
    };
    return {
      first,
      second,
      rig: new FallbackRig({ modes: [first, second], circuits, firstMessage: 'Hello!' }),
    };
  }

  it('are not begun with, which the call tells', async () => {
    const { second, rig } = makeFailing();
    await rig.start();
    expect(second.asked).toEqual(['say Hello!']);
    expect(rig.facts[0]).toMatchObject({
      type: 'provider.replaced',
      from: 'fake-stt + fake-llm + fake-tts',
      to: 'fake-realtime',
      code: 'CIRCUIT_OPEN',
      gapMs: 0,
      mode: 'realtime',
    });
  });

  it('are all that is left when the others have failed, too', async () => {
    const { first, second, rig } = makeFailing();
    await rig.start();
    second.events.failed(GONE);
    await rig.wait(1000);
    expect(first.voice.spoken).toEqual(['Hello!']);
  });

  it('are counted by call, until they bring a turn to its end', async () => {
    const { first, rig } = make();
    const { circuits } = rig;
    for (let count = 0; count < 4; count += 1) circuits.failed(first.ears);
    await rig.start();
    first.ears.events.failed(GONE);
    await rig.wait(0);
    expect(circuits.isOpen(first.ears)).toBe(true);

    const other = make();
    for (let count = 0; count < 4; count += 1) other.rig.circuits.failed(other.first.ears);
    other.first.model.answer('At noon.');
    await other.rig.start();
    await other.rig.says(other.first, 'Three loaves.');
    await other.rig.quiet(1000);
    other.first.ears.events.failed(GONE);
    await other.rig.wait(0);
    expect(other.rig.circuits.isOpen(other.first.ears)).toBe(false);
  });
});
