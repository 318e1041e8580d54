import { expect, it } from 'vitest';
import { agentsOf, speakerOf } from '../../../../src/dashboard/ui/state/speakers.js';
import { turn } from '../../../support/call-facts.js';

const handoff = (from: string | null, to: string) => ({ at: 1, from, to, summary: '' });
const alone = { agent: 'desk', handoffs: [], turns: [turn(0)] };
const together = {
  agent: 'desk',
  handoffs: [handoff(null, 'billing'), handoff('billing', 'desk')],
  turns: [turn(0), { ...turn(1), agent: 'billing' }],
};

it('names the agent of each turn where there are several', () => {
  const agentOf = (turnIndex: number) => speakerOf({ role: 'agent', turnIndex }, together);
  expect([0, 1, 2].map(agentOf)).toEqual(['Agent', 'billing', 'desk']);
  expect(speakerOf({ role: 'user', turnIndex: 1 }, together)).toBe('Caller');
  expect(speakerOf({ role: 'agent', turnIndex: 0 }, alone)).toBe('Agent');
});

it('tells who had the caller, in their order', () => {
  expect(agentsOf(alone)).toBe('desk');
  expect(agentsOf(together)).toBe('Agent → billing → desk');
});
