// An agent that hands the caller over, at the worst moments.
import { describe, expect, it } from 'vitest';
import { readState } from '../../../src/conversation/state.js';
import type { EngineRecipe } from '../../../src/engines/engine.js';
import { createPipelineRecipe } from '../../../src/engines/pipeline/recipe.js';
import { askedWith, FakeStages, FallbackRig, type FallbackRigOptions } from '../fallback-rig.js';

const ORDER = { to: 'billing', summary: 'A bill.' };
const HANDS_OVER = {
  type: 'tool-call' as const,
  id: 'call_1',
  name: 'hand_off',
  arguments: ORDER,
  argumentsText: JSON.stringify(ORDER),
};
/** Nobody can talk with it. */
const BROKEN: EngineRecipe = {
  mode: 'pipeline',
  providers: { engine: null, stt: 'gone', llm: 'gone', tts: 'gone' },
  create: () => {
    throw new Error('no engine');
  },
};

/** An engine of which nothing can take the place. */
function staying({ ears: stt, model: llm, voice: tts }: FakeStages): EngineRecipe {
  const recipe = createPipelineRecipe({ stt, llm, tts, handoffs: { billing: 'bills' } });
  return {
    ...recipe,
    create: (context) =>
      new Proxy(recipe.create(context), {
        get(engine, name) {
          const value = name === 'handOver' ? undefined : Reflect.get(engine, name, engine);
          return typeof value === 'function' ? value.bind(engine) : value;
        },
      }),
  };
}

type Billing = NonNullable<FallbackRigOptions['billing']>;

async function desk(options: Partial<Billing> = {}) {
  const [first, next] = [new FakeStages(), new FakeStages()];
  const rig = new FallbackRig({ modes: [first], billing: { modes: [next], ...options } });
  await rig.start();
  const handoffs = () => rig.facts.filter((fact) => fact.type === 'caller.handed-over');
  return { rig, first, next, handoffs };
}

describe('an agent that hands the caller over', () => {
  it('is gone, and the next one answers with all that was said', async () => {
    const { rig, first, next, handoffs } = await desk();
    first.model.answer('I put you through.', HANDS_OVER);
    next.model.answer('It is paid.');
    await rig.says(first, 'My bill?');
    await rig.wait(5000);
    expect(handoffs()).toMatchObject([{ from: 'desk', to: 'billing', summary: 'A bill.' }]);
    expect(rig.said.map(([, agent]) => agent)).toEqual(['I put you through.', 'It is paid.']);
    expect(askedWith(next).join()).toContain('A bill.');
    const entries = rig.facts.flatMap((fact) => (fact.type === 'transcript.segment' ? [fact.entry] : []));
    expect(entries.filter(({ role, final }) => role === 'tool' && final).map(({ text }) => text)).toEqual([
      'hand_off: billing',
    ]);
    expect(rig.engine.state.handoffs).toEqual({ count: 1, since: ['desk', 'billing'] });
    expect(readState(JSON.parse(JSON.stringify(rig.engine.state)))).toBeDefined();
    next.model.answer('Bye.');
    await rig.says(next, 'Thanks.');
    expect(rig.engine.state.handoffs).toEqual({ count: 1, since: ['billing'] });
    expect(first.model.requests).toHaveLength(1);
  });

  it('keeps a caller who speaks over its sentence', async () => {
    const { rig, first, handoffs } = await desk();
    first.model.answer(
      'I put you through to somebody who knows all about bills and what is in them.',
      HANDS_OVER,
    );
    first.model.answer('Fine.');
    await rig.says(first, 'My bill?');
    await rig.wait(300);
    await rig.says(first, 'No, wait.');
    await rig.wait(5000);
    expect(handoffs()).toEqual([]);
    expect(rig.said.at(-1)).toEqual(['No, wait.', 'Fine.']);
  });

  it('has what the application says said by the next one', async () => {
    const { rig, first, next } = await desk({ say: 'Billing here.' });
    first.model.answer(HANDS_OVER);
    next.model.answer('It is paid.');
    const { fact } = rig.context;
    // Between the two.
    rig.context.fact = (told) => {
      fact(told);
      if (told.type === 'caller.handed-over')
        rig.engine.request({ id: 'r1', text: 'We close at six.', interrupts: false });
    };
    await rig.says(first, 'My bill?');
    await rig.wait(8000);
    const all = rig.said.map(([, agent]) => agent).join(' ');
    expect(all).toContain('Billing here.');
    expect(all).toContain('We close at six.');
    expect(rig.ended).toEqual([]);
  });

  it('leaves the caller with the fallback of a next one that cannot be made', async () => {
    const spare = new FakeStages();
    const { rig, first } = await desk({ modes: [BROKEN, spare] });
    first.model.answer(HANDS_OVER);
    spare.model.answer('It is paid.');
    await rig.says(first, 'My bill?');
    await rig.wait(5000);
    expect(rig.said.at(-1)?.[1]).toBe('It is paid.');
    expect(rig.replacements).toMatchObject([
      { from: 'gone + gone + gone', to: expect.stringContaining('fake') },
    ]);
    expect(rig.ended).toEqual([]);
  });

  it.each(['before it is heard', 'in the middle of it'] as const)(
    'has what the next one says first said by its fallback where it fails %s',
    async (moment) => {
      const spare = new FakeStages();
      const next = new FakeStages();
      const say = 'Billing here. This call is recorded.';
      const { rig, first } = await desk({ modes: [next, spare], say });
      if (moment === 'before it is heard') next.voice.failOn = 'Billing';
      else next.voice.hangs = true;
      first.model.answer(HANDS_OVER);
      spare.model.answer('It is paid.');
      await rig.says(first, 'My bill?');
      await rig.wait(30_000);
      expect(spare.voice.spoken).toEqual([say, 'It is paid.']);
      expect(rig.said.slice(-2).map(([, agent]) => agent)).toEqual([say, 'It is paid.']);
      expect(rig.ended).toEqual([]);
      expect(rig.engine.state.handoffs).toEqual({ count: 1, since: ['desk', 'billing'] });
    },
  );

  it('has it said by each process until the caller has heard it, and once', async () => {
    const { rig, first } = await desk({ say: 'Billing here.' });
    first.model.answer(HANDS_OVER);
    await rig.says(first, 'My bill?');
    const state = readState(JSON.parse(JSON.stringify(rig.engine.state)));
    expect(state?.handoffs?.say).toBe('Billing here.');
    const next = async (from = state, term = 2) => {
      const stages = new FakeStages();
      stages.model.answer('It is paid.');
      const resumed = from && { state: from, message: 'I am back.', term };
      return { stages, rig: await new FallbackRig({ modes: [stages], resumed }).start() };
    };
    const second = await next();
    await second.rig.wait(700);
    expect(second.rig.said).toEqual([]);
    const third = await next(readState(JSON.parse(JSON.stringify(second.rig.engine.state))), 3);
    await third.rig.wait(8000);
    expect(third.stages.voice.spoken).toEqual(['I am back. Billing here.', 'It is paid.']);
    const fourth = await next(readState(JSON.parse(JSON.stringify(third.rig.engine.state))), 4);
    await fourth.rig.wait(8000);
    expect(fourth.stages.voice.spoken).toEqual(['I am back.']);
  });

  it('keeps a caller whose engine cannot be replaced', async () => {
    const [first, next] = [new FakeStages(), new FakeStages()];
    const rig = new FallbackRig({ modes: [staying(first)], billing: { modes: [next] } });
    await rig.start();
    first.model.answer(HANDS_OVER).answer('I help you myself.');
    await rig.says(first, 'My bill?');
    await rig.wait(5000);
    expect(rig.said.at(-1)?.[1]).toBe('I help you myself.');
    await rig.says(first, 'Thanks.');
    expect(first.model.requests).toHaveLength(3);
    expect(next.model.requests).toEqual([]);
  });

  it('ends the call as one whose provider has failed where no next one can be made', async () => {
    const { rig, first } = await desk({ modes: [BROKEN] });
    first.model.answer(HANDS_OVER);
    await rig.says(first, 'My bill?');
    await rig.wait(5000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
  });
});
