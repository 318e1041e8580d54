import { describe, expect, it } from 'vitest';
import { Conversation } from '../../src/engines/conversation.js';
import type { EngineFact } from '../../src/engines/engine.js';
import { TurnBook } from '../../src/engines/turn-book.js';
import { FakeClock } from '../support/fake-clock.js';

function open() {
  const clock = new FakeClock();
  const facts: EngineFact[] = [];
  const turns = new TurnBook({
    conversation: new Conversation(clock),
    transcribesCaller: true,
    fact: (fact) => void facts.push(structuredClone(fact)),
  });
  return { clock, facts, turns };
}

it('what is said into an answer that goes on belongs to its turn', () => {
  const { facts, turns } = open();
  turns.answer();
  turns.speechStarted();
  turns.speechEnded('a', { agoMs: 0 });
  turns.heard('a', 'And rolls?', { isFinal: true });
  turns.answer();
  expect(facts.filter(({ type }) => type === 'turn.started')).toHaveLength(1);
  expect(facts.at(-1)).toMatchObject({ entry: { id: 'user-a', text: 'And rolls?', turnIndex: 0 } });
});

it('what began as an aside and goes on as an answer is something that a model is told', () => {
  const { turns } = open();
  turns.aside();
  const said = { heard: 'Of course.', unheard: '' };
  expect(turns.history(said)).toEqual([]);
  turns.noAside();
  expect(turns.history(said)).toEqual([{ role: 'assistant', content: 'Of course.' }]);
});

describe('a call that is given up while its model has no connection', () => {
  it.each([false, true])(
    'is handed over with what was said on the one before (into an answer: %s)',
    (isInto) => {
      const { clock, facts, turns } = open();
      clock.advance(10_000);
      if (isInto) turns.answer();
      const saidAt = clock.now();
      turns.speechStarted();
      clock.advance(1500);
      turns.speechEnded('a', { agoMs: 500 });
      turns.lost({ isAnswered: isInto });
      clock.advance(2500);
      expect(turns.giveUp().since).toBe(saidAt);
      const segments = facts.filter(({ type }) => type === 'transcript.segment');
      expect(segments.at(-1)).toMatchObject({ entry: { id: 'user-a', text: '', final: true } });
      const { length } = facts;
      turns.close();
      expect(facts).toHaveLength(length);
    },
  );
});
