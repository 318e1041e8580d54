import { describe, expect, it } from 'vitest';
import { neighborsOf } from '../../../../src/dashboard/ui/state/neighbors.js';
import { EMPTY_STATE, applyEvent } from '../../../../src/dashboard/ui/state/page-state.js';
import { FIRST_VIEW, selectCalls, type View } from '../../../../src/dashboard/ui/state/view.js';
import { ended, stamp, started } from '../../../support/call-facts.js';

const over = ['a', 'b', 'c'].flatMap((callId, index) =>
  stamp([started(), ended()], { callId, at: 1000 * index }),
);
const live = ['x', 'y'].flatMap((callId, index) => stamp([started()], { callId, at: 9000 + index }));
const { active, history } = [...over, ...live].reduce(applyEvent, EMPTY_STATE);

function beside(callId: string, change: Partial<View> = {}) {
  const view = { ...FIRST_VIEW, ...change };
  return neighborsOf(callId, { active, live: view.live, shown: selectCalls(history, view) });
}

describe('the calls beside an open one', () => {
  it.each([
    ['c', { previous: null, next: 'b' }],
    ['b', { previous: 'c', next: 'a' }],
    ['a', { previous: 'b', next: null }],
    ['x', { previous: null, next: 'y' }],
    ['y', { previous: 'x', next: null }],
    ['gone', { previous: null, next: null }],
  ])('are those of the list that shows it: %s', (callId, neighbors) => {
    expect(beside(callId)).toEqual(neighbors);
  });

  it('go by the order that is chosen, and what is filtered', () => {
    expect(beside('b', { isDescending: false })).toEqual({ previous: 'a', next: 'c' });
    expect(beside('b', { outcome: 'busy' })).toEqual({ previous: null, next: null });
  });
});
