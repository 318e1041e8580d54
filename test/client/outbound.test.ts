import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/base/errors.js';
import { toOutboundRequest, type OutboundParts } from '../../src/client/outbound.js';
import { Recipes } from '../../src/client/recipes.js';
import type { LanguageModelRequest } from '../../src/providers/language-model.js';
import { Agent } from '../../src/options/agent.js';
import { refusal } from '../options/refusal.js';
import { createPlainCarrier, PlainRest } from '../support/plain-carrier.js';
import { RecordedLogger } from '../support/recorded-logger.js';

const stage = { name: 'x', open: () => ({ pushAudio() {}, finishUtterance() {}, close() {} }) };
const voice = { name: 'x', open: () => ({ async *synthesize() {}, close() {} }) };
const model = { name: 'x', async *respond(_: LanguageModelRequest) {} };
const agent = new Agent({ stt: stage, llm: model, tts: voice, systemPrompt: 'For {name}.' });
const to = '+15550111';

function parts(options: Partial<OutboundParts> = {}): OutboundParts {
  return {
    carrier: createPlainCarrier(),
    numbers: [{ number: '+15550100', agent: undefined }],
    publicHost: 'voice.example.com',
    voicemailMessage: undefined,
    agents: { own: agent, current: (each: Agent) => each, checkHandoffs() {} },
    recipes: new Recipes({ onMessage: undefined, logger: new RecordedLogger() }),
    ...options,
  };
}

describe('an outbound request', () => {
  it('comes from the own number, with the agent of serve unless the call says something else', () => {
    expect(toOutboundRequest({ to }, parts())).toEqual({
      to,
      from: '+15550100',
      recipe: undefined,
      machineDetection: false,
      voicemailMessage: undefined,
      ringTimeoutSeconds: 25,
    });
  });

  it.each([
    { agent: new Agent({ stt: stage, llm: model, tts: voice }) },
    { variables: { name: 'Ada' } },
    { firstMessage: 'Good day.' },
  ])('brings a recipe of its own with %j', (options) => {
    expect(toOutboundRequest({ to, ...options }, parts()).recipe).toMatchObject({ mode: 'pipeline' });
  });

  it('is refused with an agent that hands callers over to nobody', () => {
    const nowhere = new Agent({ handoffs: { bills: { agent: 'bils', when: 'bills' } } });
    const checkHandoffs = (each: Agent) => {
      if (each === nowhere) throw new ConfigError('CONFIG_INVALID', 'There is no bils.');
    };
    const agents = { ...parts().agents, checkHandoffs };
    expect(() => toOutboundRequest({ to, agent: nowhere }, parts({ agents }))).toThrow('There is no bils.');
  });

  it.each([
    [{ voicemailMessage: 'Call {nmae}.', machineDetection: true }, undefined, ['nmae']],
    [{ machineDetection: true }, 'From {shpo}.', ['shpo']],
    [{ machineDetection: true }, undefined, []],
  ])(
    'speaks up for a placeholder that nothing fills in %j, or %j of serve',
    (options, voicemailMessage, told) => {
      const logger = new RecordedLogger();
      const recipes = new Recipes({ onMessage: undefined, logger });
      toOutboundRequest({ to, ...options }, parts({ recipes, voicemailMessage }));
      expect(logger.lines.map(({ fields }) => fields.placeholder)).toEqual(told);
    },
  );

  it('names the settings that are missing', () => {
    const rest = new PlainRest();
    rest.configured = false;
    const { code, message } = refusal(() =>
      toOutboundRequest({ to }, parts({ carrier: createPlainCarrier({ rest }) })),
    );
    expect(code).toBe('CONFIG_MISSING');
    expect(message).toContain('apiKey (CARRIER_B_API_KEY) and connectionId (CARRIER_B_CONNECTION_ID)');
    expect(message).not.toContain('PUBLIC_KEY');
  });

  it('needs a public host', () => {
    const { code, message } = refusal(() => toOutboundRequest({ to }, parts({ publicHost: undefined })));
    expect(code).toBe('CONFIG_MISSING');
    expect(message).toMatch(/webhookUrl.*tunnel/);
  });

  it('says of each agent once which stages the local stack stands in for', () => {
    const logger = new RecordedLogger();
    const recipes = new Recipes({ onMessage: () => '', logger });
    const bare = new Agent({ tts: voice });
    for (let time = 0; time < 3; time += 1) {
      toOutboundRequest({ to, agent: bare }, parts({ recipes }));
      toOutboundRequest({ to, variables: { name: 'Ada' } }, parts({ recipes }));
    }
    expect(logger.lines.map(({ fields }) => fields)).toEqual([
      { stt: 'simulated (no key of a provider is in the environment)' },
    ]);
  });
});
