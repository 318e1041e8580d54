import { describe, expect, it } from 'vitest';
import { Agent } from '../../src/options/agent.js';
import { refusal } from './refusal.js';

const billing = new Agent({ name: 'billing' });
const when = 'questions about bills';
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
    [null, 'handoffs'],
    [[], 'handoffs'],
    ['billing', 'handoffs'],
    [many, 'handoffs takes at most 20 agents'],
    [{ 'to bills': { agent: billing, when } }, 'names in handoffs must be'],
    [{ '': { agent: billing, when } }, 'names in handoffs must be'],
    [{ bills: billing }, 'handoffs.bills'],
    [{ bills: 'billing' }, 'handoffs.bills'],
    [{ bills: null }, 'handoffs.bills'],
    [{ bills: { when } }, 'handoffs.bills.agent must be the result of phone.agent'],
    [
      { bills: { agent: { name: 'billing' }, when } },
      'handoffs.bills.agent must be the result of phone.agent',
    ],
    [{ bills: { agent: new Agent({}), when } }, 'The agent of handoffs.bills needs a name'],
    [{ bills: { agent: 'desk', when } }, 'handoffs.bills is the agent itself'],
    [{ bills: { agent: new Agent({ name: 'desk' }), when } }, 'handoffs.bills is the agent itself'],
    [{ bills: { agent: billing } }, 'handoffs.bills.when must say when'],
    [{ bills: { agent: billing, when: ' ' } }, 'handoffs.bills.when'],
    [{ bills: { agent: billing, when: 7 } }, 'handoffs.bills.when'],
    [{ bills: { agent: billing, when: 'x'.repeat(501) } }, 'handoffs.bills.when'],
    [{ bills: { agent: billing, when, say: '' } }, 'handoffs.bills.say'],
    [{ bills: { agent: billing, when, say: 'x'.repeat(301) } }, 'handoffs.bills.say'],
    [{ bills: { agent: billing, when, summary: 'x' } }, 'summary'],
  ])('refuse %j', (handoffs, message) => {
    const refused = refusal(() => new Agent({ name: 'desk', handoffs: handoffs as never }));
    expect(refused.code).toMatch(/^CONFIG_/);
    expect(refused.message).toContain(message);
  });
});
