import { describe, expect, it } from 'vitest';
import { PlaceholderWatch } from '../../src/client/placeholder-watch.js';
import type { Engine, EngineContext, EngineRecipe } from '../../src/engines/engine.js';
import { Agent } from '../../src/options/agent.js';
import { RecordedLogger } from '../support/recorded-logger.js';

const context = {} as EngineContext;
const engine = {} as Engine;
const recipe: EngineRecipe = {
  mode: 'pipeline',
  providers: { engine: null, stt: null, llm: null, tts: null },
  create: () => engine,
};

describe('placeholders that nothing fills', () => {
  it('are told once per name, when a call is made', () => {
    const logger = new RecordedLogger();
    const watch = new PlaceholderWatch(logger);
    const agent = new Agent({
      systemPrompt: 'Help {nmae} of {city}.',
      firstMessage: 'Hello {nmae}, {greeting}. {"json": 1}',
      variables: { city: 'Bern' },
    });
    const watched = watch.watch(recipe, agent, { variables: { greeting: 'good day' } });
    expect(logger.lines).toEqual([]);
    for (let call = 0; call < 2; call += 1) expect(watched.create(context)).toBe(engine);
    watch.note('Call {nmae} or {who} back.', agent, {});
    expect(logger.lines.map(({ level, fields }) => [level, fields])).toEqual([
      ['warn', { placeholder: 'nmae' }],
      ['warn', { placeholder: 'who' }],
    ]);
  });

  it('keep nothing from an engine that was prepared', () => {
    const preparation = { close() {} };
    const given: unknown[] = [];
    const prepared: EngineRecipe = {
      ...recipe,
      prepare: () => preparation,
      create: (_, made) => {
        given.push(made);
        return engine;
      },
    };
    const watched = new PlaceholderWatch(new RecordedLogger()).watch(prepared, new Agent({}), {});
    watched.create(context, watched.prepare?.(context));
    expect(given).toEqual([preparation]);
  });

  it('leave a call alone whose greeting is its own', () => {
    const logger = new RecordedLogger();
    const agent = new Agent({ firstMessage: 'Hello {name}.' });
    new PlaceholderWatch(logger).watch(recipe, agent, { firstMessage: 'Hello.' }).create(context);
    expect(logger.lines).toEqual([]);
  });
});
