import { describe, expect, it } from 'vitest';
import { Agent, type AgentOptions } from '../../src/options/agent.js';
import { refusal } from './refusal.js';

// Options as a program without types may write them.
const makeAgent = (options: object) => new Agent(options as AgentOptions).options;

describe('AgentOptions', () => {
  it.each(['desk', 'front-desk', 'desk-2', 'a'.repeat(40)])('take the name %s', (name) => {
    expect(makeAgent({ name }).name).toBe(name);
  });

  it.each(['Desk', '2-desks', 'front_desk', 'desk-', '', 'a'.repeat(41), 'désk', 'desk\n', 7, null])(
    'refuse the name %j',
    (name) => {
      const { code, message } = refusal(() => makeAgent({ name }));
      expect(code).toBe('CONFIG_INVALID');
      expect(message).toMatch(/^name must be kebab-case of at most 40 characters, such as front-desk/);
    },
  );

  it('give the name to the same agent in its other voice modes', () => {
    const agent = new Agent({
      name: 'desk',
      fallback: { engine: [{ llm: { name: 'x', async *respond() {} } }] },
    } as AgentOptions);
    expect(agent.substitutes.map(({ options }) => options.name)).toEqual(['desk']);
  });

  it('have the documented defaults', () => {
    expect(makeAgent({})).toEqual({
      name: undefined,
      languages: [],
      systemPrompt: '',
      firstMessage: undefined,
      variables: {},
      engine: undefined,
      stt: undefined,
      llm: undefined,
      tts: undefined,
      language: undefined,
      apology: undefined,
      interruptible: true,
      turnTaking: {
        silenceMs: 500,
        silenceAfterSentenceMs: 300,
        silenceAfterOpenEndMs: 1200,
        maxSilenceMs: 3000,
        interruptAfterMs: 500,
        interruptAfterWords: 2,
        carefulMs: 3000,
        interruptibleGreeting: true,
        resumeAfterMs: 2000,
        echoGuard: true,
        keysInterrupt: true,
        keyPauseMs: 1500,
        fillers: ['One moment.', 'Let me see.'],
        fillerAfterMs: 1200,
      },
      idle: {
        afterMs: 12_000,
        prompts: ['Are you still there?', 'Hello? Can you hear me?'],
        goodbye: 'I cannot hear you, so I will hang up now. Goodbye.',
      },
      tools: [],
      toolSources: [],
      transferTargets: {},
      handoffs: {},
      guardrails: [],
      fallback: { stt: [], llm: [], tts: [], engine: [] },
    });
  });

  it.each<[string, unknown]>([
    ['systemPrompt', 7],
    ['firstMessage', ''],
    ['firstMessage', {}],
    ['stt', 'deepgram'],
    ['stt', {}],
    ['llm', { open() {} }],
    ['tts', null],
    ['apology', ''],
    ['apology', ' '],
    ['apology', ['Sorry.']],
    ['apology', 'x'.repeat(301)],
    ['language', 'english please'],
    ['language', ''],
    ['language', 'englisch'],
    ['variables', 'name'],
    ['variables', ['name']],
    ['variables', { name: {} }],
    ['variables', { 'a b': 'x' }],
    ['interruptible', 'yes'],
    ['turnTaking', 'fast'],
    ['turnTaking', { silence: 300 }],
    ['turnTaking', { silenceMs: 50 }],
    ['turnTaking', { interruptAfterWords: 1.5 }],
    ['turnTaking', { echoGuard: 1 }],
    ['turnTaking', { fillers: 'One moment.' }],
    ['turnTaking', { fillers: [''] }],
    ['idle', true],
    ['idle', { afterSeconds: 1 }],
    ['idle', { prompts: [7] }],
    ['idle', { goodbye: '' }],
    ['engine', {}],
    ['tools', {}],
    ['tools', [{ name: 'a b', description: 'Does.', execute() {} }]],
    ['tools', [{ name: 'end_call', description: 'Does.', execute() {} }]],
    ['transferTargets', ['+15550123']],
    ['transferTargets', { sales: '5550123' }],
    ['transferTargets', { '': '+15550123' }],
    ['transferTargets', null],
    ['guardrails', () => true],
    ['guardrails', ['no']],
    ['firstMesage', 'Hello'],
  ])('refuse %s: %j', (name, value) => {
    const { code, message } = refusal(() => makeAgent({ [name]: value }));
    expect(code).toMatch(/CONFIG_(INVALID|CONFLICT)/);
    expect(message).toContain(name);
  });

  it('name what is wrong in them', () => {
    const named = (options: object) => refusal(() => makeAgent(options)).message;
    expect(named({ tools: [{ name: 'a', description: 'Does.', execute() {} }, { name: 'a b' }] })).toMatch(
      /^The name of tools\[1\] must be/,
    );
    expect(named({ tools: [{ url: 'https://shop.example.com/mcp' }] })).toMatch(/write mcp\(\{ … \}\)\.$/);
    expect(named({ tools: [() => 'done'] })).toMatch(/^tools\[0\] takes an object, such as \{ name, /);
    expect(refusal(() => new Agent((() => ({})) as never)).message).toMatch(
      /^agent\(\) takes an object, such as \{ systemPrompt/,
    );
    expect(named({ transferTargets: { sales: '+15550123', desk: '5550123' } })).toMatch(
      /the entry "desk" is not/,
    );
    expect(named({ stt: class {} })).toMatch(/Did you forget new\?$/);
  });

  it.each([
    ['English', 'en'],
    ['german', 'de'],
    ['de_DE', 'de-DE'],
    ['zh_hant_tw', 'zh-Hant-TW'],
  ])('say which tag was probably meant: %s', (language, code) => {
    const { message } = refusal(() => makeAgent({ language }));
    expect(message).toBe(`language must be a language tag like en or de-CH (BCP 47). Did you mean ${code}?`);
  });

  it('have no phrases of a language that is not theirs', () => {
    const german = makeAgent({ language: 'de-CH' });
    expect(german.turnTaking.fillers[0]).toBe('Einen Moment.');
    expect(german.idle?.prompts[0]).toBe('Sind Sie noch da?');
    const polish = makeAgent({ language: 'pl' });
    expect(polish.turnTaking.fillers).toEqual([]);
    expect(polish.idle).toBeUndefined();
    expect(makeAgent({ idle: false }).idle).toBeUndefined();
    const own = makeAgent({ language: 'de', idle: { afterSeconds: 15, prompts: ['Sind Sie noch da?'] } });
    expect(own.idle).toMatchObject({ afterMs: 15_000, prompts: ['Sind Sie noch da?'] });
  });

  it('fill variables into prompt and greeting', () => {
    const made = new Agent({
      systemPrompt: 'You work for {shop}. Answer as {"json": true}. {unknown}',
      firstMessage: 'Welcome to {shop}, {count} of us are here.',
      variables: { shop: 'A\u0000 {count} $& Bakery\r\n', count: 3 },
      language: 'EN-us',
    });
    const options = made.optionsFor();
    expect(options.systemPrompt).toBe(
      'You work for A {count} $& Bakery. Answer as {"json": true}. {unknown}',
    );
    expect(options.firstMessage).toBe('Welcome to A {count} $& Bakery, 3 of us are here.');
    expect(options.language).toBe('en-US');
  });

  it('cut long values between characters, and know no inherited names', () => {
    const { systemPrompt } = new Agent({
      systemPrompt: '{long}{toString}',
      variables: { long: '👋'.repeat(600) },
    }).optionsFor();
    expect(systemPrompt).toBe(`${'👋'.repeat(500)}{toString}`);
  });

  it('let one call say otherwise, and no other', () => {
    const made = new Agent({
      systemPrompt: 'You call {name} for {shop}.',
      firstMessage: 'Hello {name}!',
      variables: { name: 'friend', shop: 'A' },
    });
    const variables = { name: 'Ada\n{shop}' };
    expect(made.optionsFor({ variables })).toMatchObject({
      systemPrompt: 'You call Ada{shop} for A.',
      firstMessage: 'Hello Ada{shop}!',
    });
    expect(made.optionsFor({ firstMessage: 'Good day, {name}.' }).firstMessage).toBe('Good day, friend.');
    expect(made.fill('For {name} of {shop}', { variables })).toBe('For Ada{shop} of A');
    expect(made.optionsFor().firstMessage).toBe('Hello friend!');
    expect(made.optionsFor({ variables }).variables).toEqual({ ...made.options.variables, ...variables });
    expect(made.optionsFor().variables).toEqual(made.options.variables);
  });

  it('cannot be changed afterwards', () => {
    const made = new Agent({ systemPrompt: 'a' });
    expect(() => Object.assign(made.options, { systemPrompt: 'b' })).toThrow(TypeError);
  });
});
