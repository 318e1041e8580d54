import { describe, expect, it } from 'vitest';
import type { EngineFact } from '../../src/engines/engine.js';
import { TurnBook } from '../../src/engines/turn-book.js';
import { FakeClock } from '../support/fake-clock.js';
import { aConversation } from './a-conversation.js';

function open() {
  const clock = new FakeClock();
  const facts: EngineFact[] = [];
  const conversation = aConversation({
    clock,
    policy: { endsTurns: true, transcribesCaller: true },
    fact: (fact) => void facts.push(structuredClone(fact)),
  });
  const turns = new TurnBook({ conversation });
  return { clock, facts: () => facts.filter(({ type }) => type !== 'phase.changed'), conversation, turns };
}

it('what is said into an answer that goes on belongs to its turn', () => {
  const { facts, conversation } = open();
  conversation.tell({ type: 'began', isMore: false });
  conversation.tell({ type: 'caller.speaks' });
  conversation.tell({ type: 'caller.finished', itemId: 'a', agoMs: 0 });
  conversation.tell({ type: 'caller.text', itemId: 'a', text: 'And rolls?', isFinal: true });
  conversation.tell({ type: 'began', isMore: true });
  expect(facts().filter(({ type }) => type === 'turn.started')).toHaveLength(1);
  expect(facts().at(-1)).toMatchObject({ entry: { id: 'user-a', text: 'And rolls?', turnIndex: 0 } });
});

it('what began as an aside and goes on as an answer is something that a model is told', () => {
  const { conversation, turns } = open();
  conversation.tell({ type: 'say', text: 'I am back.', manner: { leadsTo: 'nothing' } });
  conversation.tell({ type: 'began', isMore: false });
  const said = { heard: 'Of course.', unheard: '' };
  expect(turns.history(said)).toEqual([]);
  conversation.tell({ type: 'began', isMore: true });
  expect(turns.history(said)).toEqual([{ role: 'assistant', content: 'Of course.' }]);
});

describe('a call that is given up while its model has no connection', () => {
  it.each([false, true])(
    'is handed over with what was said on the one before (into an answer: %s)',
    (isInto) => {
      const { clock, conversation, facts } = open();
      clock.advance(10_000);
      if (isInto) conversation.tell({ type: 'began', isMore: false });
      const saidAt = clock.now();
      conversation.tell({ type: 'caller.speaks' });
      clock.advance(1500);
      conversation.tell({ type: 'caller.finished', itemId: 'a', agoMs: 500 });
      conversation.tell({ type: 'connection.lost', agoMs: 0, unansweredMs: null, isAnswered: isInto });
      clock.advance(2500);
      conversation.tell({ type: 'leaves', said: null, unheardSince: [], troubledSince: [] });
      expect(conversation.state.unheardSince).toBe(saidAt);
      const segments = facts().filter(({ type }) => type === 'transcript.segment');
      expect(segments.at(-1)).toMatchObject({ entry: { id: 'user-a', text: '', final: true } });
      const { length } = facts();
      conversation.tell({ type: 'closed' });
      expect(facts()).toHaveLength(length);
    },
  );
});
