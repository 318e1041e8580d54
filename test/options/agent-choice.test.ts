import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/base/errors.js';
import { Agent } from '../../src/options/agent.js';
import { type AgentChoice, checkAgents, checkChoice } from '../../src/options/agent-choice.js';
import { refusal } from './refusal.js';

const agent = new Agent({});
const fallbackAgent = new Agent({});
const choose = () => agent;

// As a program without types may write them.
const check = (options: object) => checkAgents(options as Parameters<typeof checkAgents>[0]);

describe('the agents of a server', () => {
  it('are one, which answers every call', () => {
    expect(check({ agent })).toEqual({ agent, choice: undefined });
  });

  it('are chosen by a function, and one is the server’s own', () => {
    expect(check({ agent: choose, fallbackAgent })).toEqual({
      agent: fallbackAgent,
      choice: { choose, answerWithinMs: 2500, transferTargets: {} },
    });
    const more = { answerWithinMs: 100, transferTargets: { sales: '+15550123' } };
    expect(check({ agent: choose, fallbackAgent, ...more }).choice).toMatchObject(more);
  });

  it.each([
    [{}, 'CONFIG_MISSING', 'agent must be the result of phone.agent'],
    [{ agent: 'bakery' }, 'CONFIG_INVALID', 'or a function that chooses one'],
    [{ agent: choose }, 'CONFIG_MISSING', 'fallbackAgent is missing'],
    [{ agent: choose, fallbackAgent: {} }, 'CONFIG_INVALID', 'fallbackAgent must be'],
    [{ agent, fallbackAgent }, 'CONFIG_CONFLICT', 'Remove fallbackAgent.'],
    [{ agent, answerWithinMs: 1000 }, 'CONFIG_CONFLICT', 'Remove answerWithinMs.'],
    [{ agent, transferTargets: {} }, 'CONFIG_CONFLICT', 'Remove transferTargets.'],
    [{ agent: choose, fallbackAgent, answerWithinMs: 99 }, 'CONFIG_INVALID', 'from 100 to 10000'],
    [{ agent: choose, fallbackAgent, answerWithinMs: 10_001 }, 'CONFIG_INVALID', 'from 100 to 10000'],
    [{ agent: choose, fallbackAgent, answerWithinMs: '1000' }, 'CONFIG_INVALID', 'answerWithinMs must be'],
    [
      { agent: choose, fallbackAgent, transferTargets: { a: '1' } },
      'CONFIG_INVALID',
      'transferTargets must be',
    ],
  ])('are refused as %j', (options, code, sentence) => {
    const { code: given, message } = refusal(() => check(options));
    expect([given, message]).toEqual([code, expect.stringContaining(sentence)]);
  });
});

describe('what the function returns', () => {
  const targets = { sales: '+15550123' };
  const read = (value: unknown) => checkChoice(value as AgentChoice, targets);

  it.each([
    [agent, { type: 'agent', agent, variables: {}, firstMessage: undefined }],
    [
      { agent, variables: { who: 'Ada' }, firstMessage: 'Hi {who}.' },
      { type: 'agent', agent, variables: { who: 'Ada' }, firstMessage: 'Hi {who}.' },
    ],
    [{ reject: 'busy' }, { type: 'reject', reason: 'busy' }],
    [{ reject: 'declined' }, { type: 'reject', reason: 'declined' }],
    [
      { say: 'Closed.', language: 'en-gb' },
      { type: 'say', text: 'Closed.', language: 'en-GB' },
    ],
    [{ say: 'Closed.' }, { type: 'say', text: 'Closed.', language: undefined }],
    [{ transfer: 'sales' }, { type: 'transfer', to: '+15550123' }],
  ])('is understood: %#', (value, choice) => {
    expect(read(value)).toEqual(choice);
  });

  it.each([
    [undefined, 'must return an agent'],
    [null, 'must return an agent'],
    ['busy', 'must return an agent'],
    [{}, 'must return an agent'],
    [{ reject: 'busy', say: 'Closed.' }, 'must return an agent'],
    [{ agent: {} }, 'agent in the result must be'],
    [{ agent, variable: {} }, 'Did you mean variables?'],
    [{ agent, variables: { who: {} } }, 'variables must be'],
    [{ agent, firstMessage: '' }, 'firstMessage must be'],
    [{ reject: true }, 'reject must be one of busy, declined'],
    [{ say: '' }, 'say must be'],
    [{ say: 'x'.repeat(1001) }, 'at most 1000 characters'],
    [{ say: 'Closed.', language: 'german' }, 'language must be a language tag'],
    [{ transfer: '+15550123' }, 'a name in transferTargets of serve(): sales'],
    [{ transfer: '__proto__' }, 'a name in transferTargets of serve(): sales'],
    [{ transfer: ['sales'] }, 'a name in transferTargets of serve(): sales'],
  ])('is refused as %j', (value, sentence) => {
    expect(() => read(value)).toThrow(ConfigError);
    expect(() => read(value)).toThrow(sentence);
  });

  it('names no number where there are none', () => {
    expect(() => checkChoice({ transfer: 'sales' }, {})).toThrow(
      'transferTargets in serve(), which has none',
    );
  });
});
