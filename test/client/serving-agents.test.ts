import { describe, expect, it } from 'vitest';
import { Recipes } from '../../src/client/recipes.js';
import { ServingAgents } from '../../src/client/serving-agents.js';
import { Agent } from '../../src/options/agent.js';
import { RecordedLogger } from '../support/recorded-logger.js';

const SHOP = { number: '+15550100', agent: undefined };

function serving({
  areNumbersListed = true,
  agent = new Agent({}),
  named = [] as readonly Agent[],
  announcement = undefined as Record<string, string> | undefined,
  ofNumber = undefined as string | undefined,
} = {}) {
  const logger = new RecordedLogger();
  const recipes = new Recipes({ onMessage: undefined, announcement, logger: new RecordedLogger() });
  const client = {
    numbers: [{ ...SHOP, agent: ofNumber }] as const,
    areNumbersListed,
    agentNamed: (name: string) => named.find(({ options }) => options.name === name),
    agentNames: () => named.flatMap(({ options }) => options.name ?? []),
  };
  const agents = new ServingAgents({ agent, client, recipes, logger });
  return { agents, logger };
}

describe('a call to a number that the client does not list', () => {
  it('is said once for each number, and of a hundred numbers at most', () => {
    const { agents, logger } = serving();
    for (let time = 0; time < 2; time += 1)
      for (let index = 0; index < 150; index += 1) agents.of({ callee: `+1555${1000 + index}` });
    expect(logger.lines).toHaveLength(100);
    expect(logger.lines[1]).toMatchObject({ level: 'warn', fields: { callee: '…1001' } });
  });

  it('is nothing to speak of where the client lists none', () => {
    const { agents, logger } = serving({ areNumbersListed: false });
    expect(agents.of({ callee: '+15551000' })).toBeUndefined();
    expect(logger.lines).toEqual([]);
  });

  it('is none where it is in the list', () => {
    const { agents, logger } = serving();
    expect(agents.of({ callee: SHOP.number })).toBeUndefined();
    expect(logger.lines).toEqual([]);
  });
});

it('says of an agent that is set which one it is, and refuses a name where no agent has one', () => {
  const { agents, logger } = serving();
  agents.set(new Agent({ name: 'night' }));
  expect(agents.own.options.name).toBe('night');
  expect(agents.ownRecipe.agentName).toBe('night');
  expect(logger.lines).toMatchObject([
    { level: 'info', fields: { agent: 'night' }, sentence: 'new calls get another agent' },
  ]);
  expect(() => agents.set('day', new Agent({}))).toThrow('the agents of this client are: none with a name');
});

describe('an agent that may hand callers over', () => {
  const when = 'questions about bills';
  const billing = new Agent({ name: 'billing' });
  const to = (agent: Agent | string) => ({ handoffs: { bills: { agent, when } } });

  it('does so to agents of its client, which may name each other', () => {
    const desk = new Agent({ name: 'desk', ...to('night') });
    const night = new Agent({ name: 'night', ...to(desk) });
    const { agents } = serving({ agent: desk, named: [desk, night] });
    expect(agents.targetOf('night')).toBe(night);
    expect(agents.targetOf(desk)).toBe(desk);
    const other = new Agent({ systemPrompt: 'You are new.' });
    agents.set('night', other);
    expect(agents.targetOf(night)?.options.systemPrompt).toBe('You are new.');
  });

  it('is refused at start where they are not there, or of another client', () => {
    expect(() => serving({ agent: new Agent(to('bils')), named: [billing] })).toThrow(
      /^handoffs\.bills .*billing/,
    );
    expect(() => serving({ agent: new Agent(to(billing)) })).toThrow('none with a name');
    const other = new Agent({ name: 'billing' });
    expect(() => serving({ agent: new Agent(to(other)), named: [billing] })).toThrow('one of another client');
  });

  it('is refused as it is chosen, where it was made later', () => {
    const { agents } = serving({ named: [billing] });
    expect(() => agents.checkHandoffs(new Agent(to('bils')))).toThrow(/^handoffs\.bills/);
    agents.checkHandoffs(new Agent(to('billing')));
  });

  it('is refused as it is set, and nothing changes', () => {
    const { agents } = serving({ named: [billing] });
    expect(() => agents.set('billing', new Agent(to('billing')))).toThrow(
      'handoffs.bills is the agent itself',
    );
    expect(() => agents.set(new Agent(to('nobody')))).toThrow(/^handoffs\.bills/);
    expect(agents.named('billing')).toBe(billing);
  });
});

describe('an agent in the place of another one, where an announcement has no text for it', () => {
  const announcement = { en: 'This call is recorded.' };
  const billing = new Agent({ name: 'billing', language: 'fr' });
  const french = new Agent({ language: 'fr', systemPrompt: 'You are new.' });
  const desk = new Agent({ name: 'desk', handoffs: { bills: { agent: 'billing', when: 'bills' } } });

  it('is taken where callers are only handed over to it, who have heard that', () => {
    const { agents } = serving({ announcement, agent: desk, named: [desk, billing] });
    agents.set('billing', french);
    expect(agents.named('billing')?.options.systemPrompt).toBe('You are new.');
    expect(agents.recipeNamed('billing')?.agentName).toBe('billing');
    expect(agents.recipeNamed('nobody')).toBeUndefined();
  });

  it.each([
    { who: 'that answers a number', ofNumber: 'night', own: desk, name: 'night' },
    { who: 'of the server', ofNumber: undefined, own: desk, name: 'desk' },
  ])('is refused in the place of one $who, and nothing changes', ({ ofNumber, own, name }) => {
    const night = new Agent({ name: 'night' });
    const { agents } = serving({ announcement, ofNumber, agent: own, named: [desk, billing, night] });
    const before = agents.named(name);
    expect(() => agents.set(name, french)).toThrow("no text for an agent with language 'fr'");
    expect(agents.named(name)).toBe(before);
  });
});
