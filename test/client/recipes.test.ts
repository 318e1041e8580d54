import type { FallbackEngine } from '../../src/options/fallback.js';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Pricing } from '../../src/calls/money/pricing.js';
import { Recipes } from '../../src/client/recipes.js';
import type { PreparationContext } from '../../src/engines/engine.js';
import { Agent, type AgentOptions } from '../../src/options/agent.js';
import { Circuits } from '../../src/providers/circuits.js';
import { ChatCompletions, ScriptedLanguageModel } from '../../src/providers/llm/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { DeepgramSpeechToText } from '../../src/providers/stt/index.js';
import { ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';
import { RecordedLogger } from '../support/recorded-logger.js';

const KEY = 'sk-0123456789';

function create(options: AgentOptions = {}, onMessage?: () => string) {
  const logger = new RecordedLogger();
  const recipes = new Recipes({ onMessage, logger });
  const agent = new Agent(options);
  const recipe = recipes.create(agent);
  recipes.create(agent, { firstMessage: 'Hello!' });
  return { recipe, logger };
}

describe('an announcement', () => {
  const announced = { fr: 'Cet appel est enregistré.', en: 'This call is recorded.' };
  const recipes = (announcement: string | Record<string, string>) =>
    new Recipes({ onMessage: undefined, announcement, logger: new RecordedLogger() });

  it('that has no text for who greets the caller is refused', () => {
    const refusal = expect.objectContaining({ code: 'CONFIG_INVALID' });
    for (const language of ['en-GB', undefined, 'fr'])
      recipes(announced).create(new Agent({ ...(language && { language }) }));
    recipes('Recorded.').create(new Agent({ language: 'it' }));
    expect(() => recipes(announced).create(new Agent({ language: 'it' }))).toThrow(refusal);
    expect(() => recipes({ fr: '' }).create(new Agent({}))).toThrow(refusal);
    // Who takes a call over says no first words.
    recipes(announced).goingOn(new Agent({ language: 'it' }));
  });
});

describe('the stages of an agent', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('come from the local stack without keys, in one line that warns', () => {
    const { recipe, logger } = create();
    expect(recipe.providers).toMatchObject({ stt: 'simulated', llm: 'scripted', tts: 'flite/slt' });
    expect(logger.lines).toMatchObject([
      {
        level: 'warn',
        fields: {
          stt: expect.stringContaining('simulated (no key'),
          llm: expect.stringContaining('scripted (no key'),
          tts: expect.stringContaining('flite/slt (no key'),
        },
      },
    ]);
  });

  it('come from the vendors whose keys are in the environment, in one line', () => {
    vi.stubEnv('DEEPGRAM_API_KEY', KEY);
    vi.stubEnv('OPENAI_API_KEY', KEY);
    vi.stubEnv('ELEVENLABS_API_KEY', KEY);
    const { recipe, logger } = create();
    expect(recipe.providers.stt).toMatch(/^deepgram\//);
    expect(recipe.providers.llm).toMatch(/^openai\//);
    expect(recipe.providers.tts).toMatch(/^elevenlabs\//);
    expect(logger.lines).toMatchObject([
      { level: 'info', fields: { stt: expect.stringMatching(/^deepgram.*its key is in the environment/) } },
    ]);
    expect(logger.text).not.toContain(KEY);
  });

  it('may be mixed, and warn of what is local', () => {
    vi.stubEnv('GROQ_API_KEY', KEY);
    const { recipe, logger } = create();
    expect(recipe.providers).toMatchObject({ stt: 'simulated', tts: 'flite/slt' });
    expect(recipe.providers.llm).toMatch(/^groq\//);
    expect(logger.lines).toMatchObject([{ level: 'warn' }]);
  });

  it('are those that the agent names, whatever is in the environment', () => {
    vi.stubEnv('DEEPGRAM_API_KEY', KEY);
    vi.stubEnv('OPENAI_API_KEY', KEY);
    const stt = { name: 'mine', open: () => ({ pushAudio() {}, finishUtterance() {}, close() {} }) };
    const { recipe, logger } = create({ stt }, () => 'Hello.');
    expect(recipe.providers).toMatchObject({ stt: 'mine', llm: 'onMessage' });
    expect(Object.keys(logger.lines[0]?.fields ?? {})).toEqual(['tts']);
  });

  it.each<[string, () => AgentOptions]>([
    ['stt', () => ({ stt: new DeepgramSpeechToText() })],
    ['llm', () => ({ llm: new ChatCompletions() })],
  ])('stop the start when the key of %s is missing', (_, options) => {
    expect(() => create(options())).toThrow(expect.objectContaining({ code: 'CONFIG_MISSING' }));
  });

  it('are warned of where the name of a model is probably misspelt', () => {
    const logger = new RecordedLogger();
    const pricing = new Pricing({ logger });
    const llm = new ChatCompletions({ apiKey: KEY, model: 'gpt-6-lunna' });
    new Recipes({ onMessage: undefined, logger, pricing }).create(new Agent({ llm }));
    expect(logger.lines[0]).toMatchObject({
      level: 'warn',
      fields: { setting: 'pricing.openai["gpt-6-lunna"]', didYouMean: 'gpt-6-luna' },
    });
  });

  it('stop the start when a key in the environment is none', () => {
    vi.stubEnv('DEEPGRAM_API_KEY', 'two words');
    expect(() => create()).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });

  it('do not ask for the key of a language model that onMessage replaces', () => {
    expect(() => create({ llm: new ChatCompletions() }, () => 'Hello.')).not.toThrow();
  });
});

describe('an agent with fallbacks', () => {
  const llm = (service: 'openai' | 'groq', apiKey?: string) => new ChatCompletions({ service, apiKey });

  it('is with the first of each stage, and says as before which stages were chosen', () => {
    const { recipe, logger } = create({
      llm: llm('groq', KEY),
      fallback: { llm: [llm('openai', KEY)], stt: [new DeepgramSpeechToText({ apiKey: KEY })] },
    });
    expect(recipe.providers).toEqual({
      engine: null,
      stt: 'simulated',
      llm: 'groq/openai/gpt-oss-20b',
      tts: 'flite/slt',
    });
    expect(recipe.payees?.llm).toMatchObject({ name: 'groq/openai/gpt-oss-20b' });
    expect(logger.lines).toMatchObject([
      { level: 'warn', fields: { stt: expect.stringMatching(/^simulated/), tts: expect.anything() } },
    ]);
    expect(logger.lines[0]?.fields).not.toHaveProperty('llm');
  });

  it('does not start when one of them lacks its key, unless nobody will ask it', () => {
    vi.stubEnv('OPENAI_API_KEY', '');
    const options = { llm: llm('groq', KEY), fallback: { llm: [llm('openai')] } };
    expect(() => create(options)).toThrow(/OPENAI_API_KEY/);
    expect(() => create(options, () => 'Hello.')).not.toThrow();
    vi.unstubAllEnvs();
  });

  it('is warned once that none of its language models is asked where onMessage answers', () => {
    const providers = {
      stt: new DeepgramSpeechToText({ apiKey: KEY }),
      tts: new ElevenLabsTextToSpeech({ apiKey: KEY, voiceId: 'v' }),
    };
    const options = { ...providers, fallback: { llm: [llm('openai', KEY)] } };
    const { logger } = create(options, () => 'Hello.');
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { option: 'fallback.llm' } }]);
    expect(create(providers, () => 'Hello.').logger.lines).toEqual([]);
    expect(create({ ...options, llm: llm('groq', KEY) }).logger.lines).toEqual([]);
  });
});

describe('an agent with an engine', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('has one provider, whatever keys are in the environment', () => {
    vi.stubEnv('DEEPGRAM_API_KEY', KEY);
    const { recipe, logger } = create({ engine: new OpenAIRealtime({ apiKey: KEY }) });
    expect(recipe.mode).toBe('realtime');
    expect(recipe.providers).toEqual({
      engine: 'openai/gpt-realtime-2.1-mini',
      stt: null,
      llm: null,
      tts: null,
    });
    expect(logger.lines).toEqual([]);
  });

  it('needs its key before the first call, and leaves nothing to onMessage', () => {
    vi.stubEnv('OPENAI_API_KEY', '');
    expect(() => create({ engine: new OpenAIRealtime() })).toThrow(/OPENAI_API_KEY/);
    const engine = new OpenAIRealtime({ apiKey: KEY });
    expect(() => create({ engine }, () => '')).toThrow(expect.objectContaining({ code: 'CONFIG_CONFLICT' }));
  });
});

describe('an agent with other voice modes', () => {
  afterEach(() => vi.unstubAllEnvs());
  const engine = new OpenAIRealtime({ apiKey: KEY });
  const stages = {
    stt: new DeepgramSpeechToText({ apiKey: KEY }),
    llm: new ChatCompletions({ apiKey: KEY }),
    tts: new ElevenLabsTextToSpeech({ apiKey: KEY, voiceId: 'v' }),
  };

  it('is told as the first of them', () => {
    const { recipe } = create({ engine, fallback: { engine: [stages] } });
    expect(recipe).toMatchObject({ mode: 'realtime', providers: { engine: engine.name } });
    const turned = create({ ...stages, fallback: { engine: [engine, stages] } });
    expect(turned.recipe).toMatchObject({ mode: 'pipeline', providers: { llm: stages.llm.name } });
  });

  it('needs all keys before the first call', () => {
    vi.stubEnv('OPENAI_API_KEY', '');
    const keyless = { ...stages, llm: new ChatCompletions() };
    expect(() => create({ engine, fallback: { engine: [keyless] } })).toThrow(/OPENAI_API_KEY/);
  });

  it('has stages that nobody names chosen by the environment, which is said', () => {
    vi.stubEnv('DEEPGRAM_API_KEY', KEY);
    const { logger } = create({ engine, fallback: { engine: [{ llm: stages.llm, tts: stages.tts }] } });
    expect(logger.lines).toMatchObject([
      { level: 'info', fields: { option: 'fallback.engine[0]', stt: expect.stringMatching(/^deepgram/) } },
    ]);
  });

  it.each<[string, FallbackEngine, string]>([
    ['one stage', { stt: stages.stt, tts: stages.tts }, 'fallback.engine[1] names no llm, and'],
    ['two stages', { stt: stages.stt }, 'fallback.engine[1] names no llm and no tts, and'],
    ['all stages', {}, 'fallback.engine[1] names no stt and no llm and no tts, and'],
  ])('does not start where keys and option leave %s of one to the local stack', (_, incomplete, message) => {
    const start = () => create({ engine, fallback: { engine: [stages, incomplete] } });
    expect(start).toThrow(expect.objectContaining({ code: 'CONFIG_MISSING' }));
    expect(start).toThrow(message);
  });

  it('may fall back to the local stack where it is named, and needs no model beside onMessage', () => {
    const named = { ...stages, llm: new ScriptedLanguageModel() };
    expect(create({ engine, fallback: { engine: [named] } }).logger.lines).toEqual([]);
    const { stt, tts } = stages;
    expect(create({ ...stages, fallback: { engine: [{ stt, tts }] } }, () => '').logger.lines).toEqual([]);
  });

  it.each<[string, AgentOptions['fallback'], string]>([
    ['the next one while a provider fails', {}, 'scripted'],
    ['the first one while a provider with a substitute fails', { llm: [stages.llm] }, stages.llm.name],
  ])('begins a call with %s', (_, fallback, model) => {
    const isOpen = vi.spyOn(Circuits.prototype, 'isOpen');
    onTestFinished(() => isOpen.mockRestore());
    const failing = new ChatCompletions({ apiKey: KEY });
    const next = { ...stages, llm: new ScriptedLanguageModel() };
    const working: object[] = [next.stt, next.llm, next.tts];
    isOpen.mockImplementation((provider) => !working.includes(provider));
    const { recipe } = create({ ...stages, llm: failing, fallback: { ...fallback, engine: [next] } });
    const preparation = recipe.prepare?.({} as PreparationContext);
    onTestFinished(() => preparation?.close());
    expect(preparation).toMatchObject({ choice: { recipe: { providers: { llm: model } } } });
  });

  it('leaves nothing to onMessage, in no mode, and says which one is in its way', () => {
    const start = () => create({ ...stages, fallback: { engine: [engine] } }, () => '');
    expect(start).toThrow(expect.objectContaining({ code: 'CONFIG_CONFLICT' }));
    expect(start).toThrow('the realtime model in fallback.engine[0]');
  });
});

it('refuse hand-offs where onMessage answers: there is no model that chooses', () => {
  const handoffs = { bills: { agent: 'billing', when: 'questions about bills' } };
  expect(() => create({ handoffs }, () => 'Hello.')).toThrow(
    expect.objectContaining({ code: 'CONFIG_CONFLICT', message: expect.stringContaining('onMessage') }),
  );
  expect(create({ handoffs }).recipe.mode).toBe('pipeline');
});
