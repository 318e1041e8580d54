import { describe, expect, it } from 'vitest';
import type { TranscriptEntry } from '../../src/contract/call-record.js';
import { recalled, type Recorded, toResume } from '../../src/conversation/recalled.js';
import { begun, readState, restored } from '../../src/conversation/state.js';
import { historyOf, type TurnFact } from '../../src/conversation/turns.js';
import { turn } from '../support/call-facts.js';

const at = { now: 60_000, wall: 1_060_000 };
const options = { message: 'I am back. We were cut off for a moment.' };

const entry = (id: string, turnIndex: number, text: string, final = true): TranscriptEntry => {
  const [kind = ''] = id.split('-');
  const role = kind === 'user' ? 'user' : kind === 'tool' ? 'tool' : 'agent';
  return { id, turnIndex, role, text, at: 1_000_000 + 1000 * turnIndex, final };
};

const GREETING = entry('agent-0', 0, 'Good morning to you.');
const QUESTION = entry('user-1', 1, 'Where are they?');

/** `over`: so many turns are over. */
function record(over: number, ...transcript: TranscriptEntry[]): Recorded {
  return { transcript, turns: Array.from({ length: over }, (_, index) => turn(index)) };
}

/** What the next driver begins with. */
function next(of: Recorded) {
  const stored = JSON.parse(JSON.stringify(recalled(of, options)));
  const { state, facts, isCallerCutOff } = restored(stored, { at, transcribesCaller: true });
  const history = historyOf(state.turns).map(({ role, content }) => `${role}: ${content}`);
  return { ...state, history, facts, isCallerCutOff };
}

const completed = (facts: readonly TurnFact[]) =>
  facts.flatMap((fact) => (fact.type === 'turn.completed' ? [fact.turn] : []));

describe('a conversation that is recalled from its record', () => {
  it('has not begun where nothing was said', () => {
    expect(recalled(record(0), options)).toEqual(begun({ hasGreeting: true }));
  });

  it('waits for a caller who was answered', () => {
    const { history, owed, facts, turns } = next(
      record(2, GREETING, QUESTION, entry('agent-1', 1, 'Over there.')),
    );
    expect(history).toEqual([
      'assistant: Good morning to you.',
      'user: Where are they?',
      'assistant: Over there.',
    ]);
    expect([owed, facts, turns.nextIndex]).toEqual([{ kind: 'nothing' }, [], 2]);
  });

  it('answers a caller who has spoken last', () => {
    const { history, owed, facts } = next(record(1, GREETING, QUESTION));
    expect(history).toEqual(['assistant: Good morning to you.', 'user: Where are they?']);
    expect(owed).toEqual({ kind: 'answer' });
    expect(completed(facts)).toMatchObject([{ index: 1, userText: 'Where are they?', agentText: '' }]);
  });

  it('goes on with an answer behind what was certainly heard of it, and closes its entry', () => {
    const open = entry('agent-1.t2', 1, 'Some are here. Others are th', false);
    const { history, owed, facts } = next(record(1, GREETING, QUESTION, open));
    expect(history.slice(1)).toEqual(['user: Where are they?', 'assistant: Some are here.']);
    expect(owed).toEqual({ kind: 'answer' });
    expect(facts).toContainEqual({
      type: 'transcript.segment',
      entry: { ...open, text: 'Some are here.', final: true, interrupted: true },
    });
    expect(completed(facts)).toMatchObject([
      {
        index: 1,
        userText: 'Where are they?',
        agentText: 'Some are here.',
        agentTextUnheard: 'Others are th',
      },
    ]);
  });

  it('asks a caller again whose words are not final, and closes their entry', () => {
    const open = entry('user-2', 1, 'Where are', false);
    const { history, owed, facts, isCallerCutOff } = next(record(1, GREETING, open));
    expect(history).toEqual(['assistant: Good morning to you.']);
    expect([owed, isCallerCutOff]).toEqual([{ kind: 'nothing' }, true]);
    expect(facts).toEqual([{ type: 'transcript.segment', entry: { ...open, final: true } }]);
  });

  it('knows which tools have run, and that the result of one that ran is lost', () => {
    const { turns, facts, owed } = next(
      record(
        1,
        GREETING,
        QUESTION,
        entry('tool-1', 1, 'look_up: {"place":"there"}'),
        entry('tool-2', 1, 'order failed: no bread'),
        entry('tool-3', 1, 'order', false),
      ),
    );
    const told = historyOf(turns).filter(({ role }) => role === 'tool');
    expect(told.map(({ content }) => content)).toEqual([
      '{"place":"there"}',
      'no bread',
      expect.stringContaining('It may have been done'),
    ]);
    const [made] = completed(facts);
    expect(made?.toolCalls.map(({ name, error }) => [name, error])).toEqual([
      ['look_up', null],
      ['order', 'no bread'],
      ['order', null],
    ]);
    expect(facts.at(-1)).toMatchObject({ entry: { id: 'tool-3', final: true } });
    expect([owed, turns.nextTool]).toEqual([{ kind: 'answer' }, 4]);
  });

  it('leaves out what no model is told', () => {
    const { history } = next(
      record(
        3,
        GREETING,
        entry('filler-1', 1, 'One moment.'),
        QUESTION,
        entry('agent-1', 1, 'Over there.'),
        entry('agent-2.t2', 2, 'I am back. We were'),
      ),
    );
    expect(history.slice(1)).toEqual(['user: Where are they?', 'assistant: Over there.']);
  });

  it('owes nothing of words to be back with that were cut off', () => {
    const back = entry('agent-1.t2', 1, 'I am back. We were', false);
    const { history, facts } = next(record(1, GREETING, back));
    expect(history).toEqual(['assistant: Good morning to you.']);
    expect(facts).toContainEqual(
      expect.objectContaining({ entry: expect.objectContaining({ id: back.id, final: true }) }),
    );
  });
});

describe('what was stored of a conversation', () => {
  const of = record(1, GREETING, QUESTION);
  const whole = recalled(of, options);

  it('is gone on with as it is', () => {
    const stored: unknown = JSON.parse(JSON.stringify(whole));
    expect(readState(stored)).toBe(stored);
    expect(toResume(stored, of, options)).toBe(stored);
  });

  it('is gone on with in each phase', () => {
    const open = recalled(record(1, GREETING, QUESTION, entry('agent-1', 1, 'Over', false)), options);
    expect(open.floor.floor.phase).toBe('speaking');
    expect(readState(open)).toBe(open);
  });

  it.each([
    ['nothing', null],
    ['text', 'nonsense'],
    ['another version', { ...whole, version: whole.version + 1 }],
    ['a part', { ...whole, turns: undefined }],
    ['a part of another kind', { ...whole, turns: { ...whole.turns, history: 'nonsense' } }],
    ['a step of another kind', { ...whole, turns: { ...whole.turns, history: [null] } }],
  ])('is left where it is %s: the record tells', (_, stored) => {
    expect(readState(stored)).toBe(undefined);
    expect(toResume(stored, of, options)).toEqual(whole);
  });

  it('is left where the record has turns as over that it does not know to be', () => {
    const later = record(2, GREETING, QUESTION, entry('agent-1', 1, 'Over there.'));
    expect(toResume(whole, later, options)).toEqual(recalled(later, options));
  });
});
