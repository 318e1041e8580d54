import { describe, expect, it } from 'vitest';
import { Agent } from '../../src/options/agent.js';
import { checkSay, sayIn } from '../../src/options/handoffs.js';
import { refusal } from './refusal.js';

const billing = new Agent({ name: 'billing' });
const when = 'questions about bills';
const entry = "{ agent: 'billing', when: 'questions about bills' }";
const many = Object.fromEntries(
  Array.from({ length: 21 }, (_, index) => [`a${index}`, { agent: billing, when }]),
);

describe('handoffs of an agent', () => {
  it('are other agents, or their names', () => {
    const { handoffs } = new Agent({
      name: 'desk',
      handoffs: { bills: { agent: billing, when, say: 'Billing here.' }, sales: { agent: 'sales', when } },
    }).options;
    expect(handoffs).toEqual({
      bills: { agent: billing, when, say: 'Billing here.' },
      sales: { agent: 'sales', when, say: undefined },
    });
    expect(new Agent({ handoffs: {} }).options.handoffs).toEqual({});
  });

  it.each<[unknown, string]>([
    [null, 'handoffs takes an object'],
    [[], `handoffs takes an object, such as { billing: ${entry} }.`],
    ['billing', 'handoffs takes an object'],
    [many, 'handoffs takes at most 20 agents'],
    [{ 'to bills': { agent: billing, when } }, 'names in handoffs must be'],
    [{ '': { agent: billing, when } }, 'names in handoffs must be'],
    [{ bills: billing }, `handoffs.bills takes an object, such as ${entry}.`],
    [{ bills: 'billing' }, `handoffs.bills takes an object, such as ${entry}.`],
    [{ bills: null }, 'handoffs.bills takes an object'],
    [{ bills: { when } }, 'handoffs.bills.agent must be the result of phone.agent'],
    [
      { bills: { agent: { name: 'billing' }, when } },
      'handoffs.bills.agent must be the result of phone.agent',
    ],
    [{ bills: { agent: new Agent({}), when } }, 'The agent of handoffs.bills needs a name'],
    [{ bills: { agent: 'desk', when } }, 'handoffs.bills is the agent itself'],
    [{ bills: { agent: new Agent({ name: 'desk' }), when } }, 'handoffs.bills is the agent itself'],
    [{ bills: { agent: billing } }, 'handoffs.bills.when must say when'],
    [{ bills: { agent: billing, when: ' ' } }, 'handoffs.bills.when must say when'],
    [{ bills: { agent: billing, when: () => true } }, "500 characters, such as 'questions about bills'."],
    [{ bills: { agent: billing, when: 'x'.repeat(501) } }, 'handoffs.bills.when'],
    [{ bills: { agent: billing, when, say: '' } }, 'handoffs.bills.say'],
    [{ bills: { agent: billing, when, say: 'x'.repeat(301) } }, 'handoffs.bills.say'],
    [{ bills: { agent: billing, when, say: ['Hello.'] } }, 'handoffs.bills.say'],
    [{ bills: { agent: billing, when, say: { en: 'Hello.', de: '' } } }, 'handoffs.bills.say.de must be'],
    [{ bills: { agent: billing, when, say: { en: 'x'.repeat(301) } } }, 'handoffs.bills.say.en must be'],
    [{ bills: { agent: billing, when, summary: 'x' } }, 'summary'],
  ])('refuse %j', (handoffs, message) => {
    const refused = refusal(() => new Agent({ name: 'desk', handoffs: handoffs as never }));
    expect(refused.code).toMatch(/^CONFIG_/);
    expect(refused.message).toContain(message);
  });
});

describe('what the next agent says first', () => {
  const several = { languages: [{ language: 'en' }, { language: 'de-CH' }] };
  const one = { languages: [] };

  it('is one text, or one for each of its languages', () => {
    expect(() => checkSay('say', undefined, several)).not.toThrow();
    expect(() => checkSay('say', { en: 'Hello.', 'de-CH': 'Hallo.' }, several)).not.toThrow();
    expect(() => checkSay('say', 'Hello.', one)).not.toThrow();
  });

  it.each([
    [
      'Hello.',
      several,
      "say is in one language, and the agent speaks en, de-CH. Give one for each: { en: …, 'de-CH': … }.",
    ],
    [
      { en: 'Hello.' },
      several,
      'say must have one entry for each of languages (en, de-CH): de-CH is missing.',
    ],
    [{ en: 'a', 'de-CH': 'b', fr: 'c' }, several, '"fr" is none of them.'],
    [{ en: 'Hello.' }, one, 'say is given by language, and its agent has no languages. Give one text.'],
  ] as const)('is refused: %j', (say, agent, message) => {
    expect(refusal(() => checkSay('say', say, agent)).message).toContain(message);
  });

  it('is that of the language that the call goes on in', () => {
    const say = { en: 'Hello.', 'de-CH': 'Hallo.' };
    expect([sayIn(say, 'de-CH'), sayIn(say, 'en'), sayIn('Hi.', 'de')]).toEqual(['Hallo.', 'Hello.', 'Hi.']);
    // As after `setAgent`.
    expect([sayIn(say, 'de'), sayIn(say, 'fr'), sayIn(say, undefined)]).toEqual([
      'Hallo.',
      undefined,
      undefined,
    ]);
  });
});
