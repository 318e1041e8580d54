import { describe, expect, it } from 'vitest';
import { MAX_HANDOFFS } from '../../src/contract/call-record.js';
import {
  agentOf,
  callerActed,
  type Handoffs,
  handedOver,
  isHandoffs,
  refusalOf,
  withAgent,
} from '../../src/conversation/handoffs.js';
import { recalled, toResume } from '../../src/conversation/recalled.js';
import { begun, readState, restored } from '../../src/conversation/state.js';

const over = (to: string, from: Handoffs) => handedOver(from, to);
const options = { message: 'I am back.' };

describe('hand-offs', () => {
  it('have the caller with whoever got them last', () => {
    expect(agentOf(withAgent(null))).toBeNull();
    expect(agentOf(over('billing', withAgent('desk')))).toBe('billing');
  });

  it('do not go back before the caller has said something', () => {
    const there = over('billing', withAgent('desk'));
    expect(refusalOf(there, 'desk')).toMatch(/^Not done: that agent has just had the caller/);
    expect(refusalOf(there, 'billing')).toMatch(/^Not done/);
    expect(refusalOf(there, 'sales')).toBeUndefined();
    expect(refusalOf(over('sales', there), 'desk')).toMatch(/^Not done/);
    const asked = callerActed(there);
    expect(refusalOf(asked, 'desk')).toBeUndefined();
    expect(refusalOf(asked, 'billing')).toMatch(/^Not done/);
    expect(asked.count).toBe(1);
  });

  it('are ten at most, whatever the caller says', () => {
    let handoffs = withAgent('desk');
    for (let time = 0; time < MAX_HANDOFFS; time += 1) {
      const to = time % 2 === 0 ? 'billing' : 'desk';
      expect(refusalOf(handoffs, to)).toBeUndefined();
      handoffs = callerActed(over(to, handoffs));
    }
    expect(MAX_HANDOFFS).toBe(10);
    expect(refusalOf(handoffs, 'billing')).toMatch(/^Not done: the caller was handed over too often/);
    expect(handoffs).toEqual({ count: 10, since: ['desk'] });
  });

  it('are plain data', () => {
    const handoffs = over('billing', withAgent(null));
    const stored = JSON.parse(JSON.stringify(handoffs));
    expect(stored).toEqual(handoffs);
    expect(isHandoffs(stored)).toBe(true);
  });

  it.each([
    null,
    7,
    {},
    { count: 1 },
    { count: '1', since: ['a'] },
    { count: 1, since: [] },
    { count: 1, since: [{}] },
  ])('are none where %j was stored', (value) => expect(isHandoffs(value)).toBe(false));
});

describe('a conversation that is gone on with', () => {
  const handoffs = over('billing', withAgent('desk'));
  const record = {
    transcript: [],
    turns: [],
    handoffs: [{ at: 1, from: 'desk', to: 'billing', summary: '' }],
  };
  const state = { ...begun({ hasGreeting: false }), handoffs };

  it('is with the second agent, however often it is stored', () => {
    const at = { now: 0, wall: 0 };
    const once = restored(JSON.parse(JSON.stringify(state)), { at, transcribesCaller: true });
    expect(once.state.handoffs).toEqual(handoffs);
    expect(toResume(JSON.parse(JSON.stringify(once.state)), record, options).handoffs).toEqual(handoffs);
  });

  it('has had no hand-off where an older version stored it', () => {
    const stored = JSON.parse(JSON.stringify(begun({ hasGreeting: true })));
    expect(toResume(stored, { transcript: [], turns: [] }, options).handoffs).toBeUndefined();
  });

  it('is that of its record where it is older than the hand-off, or damaged', () => {
    const known = { count: 1, since: ['billing'] };
    expect(toResume(begun({ hasGreeting: false }), record, options).handoffs).toEqual(known);
    expect(readState({ ...state, handoffs: { count: 1 } })).toBeUndefined();
    expect(recalled(record, options).handoffs).toEqual(known);
  });
});
