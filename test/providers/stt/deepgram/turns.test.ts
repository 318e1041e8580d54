import { describe, expect, it } from 'vitest';
import type { DeepgramResults } from '../../../../src/providers/stt/deepgram/messages.js';
import { DeepgramTurns } from '../../../../src/providers/stt/deepgram/turns.js';

function listen(options: { ownsTurnTaking: boolean }) {
  const told: string[] = [];
  const turns = new DeepgramTurns(
    {
      partial: (text) => void told.push(`~${text}`),
      final: (text) => void told.push(text),
      turnEnded: () => void told.push('|'),
      wantsRest: () => void told.push('?'),
    },
    options,
  );
  return { told, turns };
}

/** Words are half a second long. */
function piece(text: string, span: [number, number], flags: Partial<DeepgramResults> = {}): DeepgramResults {
  const [startS, endS] = span;
  const words = text.split(' ').filter(Boolean);
  return {
    type: 'results',
    text,
    words: words.map((word, index) => ({ text: word, startS: startS + index * 0.5 })),
    startS,
    endS,
    isFinal: false,
    speechFinal: false,
    fromFinalize: false,
    ...flags,
  };
}

const final = { isFinal: true };
const end = { isFinal: true, speechFinal: true };

describe('DeepgramTurns', () => {
  it('replaces partials and adds finals up to the end of the turn', () => {
    const { told, turns } = listen({ ownsTurnTaking: true });
    turns.results(piece('I', [0, 1]));
    turns.results(piece('I would', [0, 1.5]));
    turns.results(piece('I would like', [0, 2], final));
    turns.results(piece('a table.', [2, 3], end));
    expect(told).toEqual(['~I', '~I would', 'I would like', 'a table.', '|']);
  });

  it('ends no turn without words, whatever the flags say', () => {
    const { told, turns } = listen({ ownsTurnTaking: true });
    turns.results(piece('', [0, 1], end));
    turns.results(piece('', [1, 5], final));
    turns.utteranceEnd(1);
    turns.utteranceEnd(undefined);
    expect(told).toEqual([]);
  });

  it('withdraws a partial that came to nothing', () => {
    const { told, turns } = listen({ ownsTurnTaking: true });
    turns.results(piece('um', [0, 1]));
    turns.results(piece('', [0, 1.2], end));
    expect(told).toEqual(['~um', '']);
  });

  it('ends a turn once, whether by the one sign or the other', () => {
    const { told, turns } = listen({ ownsTurnTaking: true });
    turns.results(piece('Yes.', [0, 1], end));
    turns.utteranceEnd(1);
    turns.results(piece('No.', [2, 3], final));
    turns.utteranceEnd(2.5);
    turns.utteranceEnd(2.5);
    expect(told).toEqual(['Yes.', '|', 'No.', '|']);
  });

  it('does not end a turn by the gap that followed the one before', () => {
    const { told, turns } = listen({ ownsTurnTaking: true });
    turns.results(piece('Yes.', [0, 1], end));
    turns.results(piece('And', [2, 2.5], final));
    turns.utteranceEnd(1);
    expect(told).toEqual(['Yes.', '|', 'And']);
  });

  it('asks for the rest when the gap comes while a piece is open', () => {
    const { told, turns } = listen({ ownsTurnTaking: true });
    turns.results(piece('Good', [0, 1], final));
    turns.results(piece('morning', [1, 1.5]));
    turns.utteranceEnd(1.5);
    expect(told).toEqual(['Good', '~morning', '?']);
    turns.results(piece('morning.', [1, 1.6], final));
    expect(told.slice(3)).toEqual(['morning.', '|']);
  });

  it('takes an open piece as it is when nothing more comes, and then drops what is late', () => {
    const { told, turns } = listen({ ownsTurnTaking: true });
    turns.results(piece('good morning', [0, 1]));
    turns.utteranceEnd(1);
    turns.settle();
    turns.results(piece('Good morning.', [0, 1], end));
    expect(told).toEqual(['~good morning', '?', 'good morning', '|']);
  });

  it('gives of a late final only the words that are new', () => {
    const { told, turns } = listen({ ownsTurnTaking: false });
    turns.results(piece('good morning', [0, 1]));
    turns.settle();
    turns.results(piece('Good morning my friend.', [0, 2], final));
    expect(told).toEqual(['~good morning', 'good morning', 'my friend.']);
    expect(turns.settledS).toBe(2);
  });

  it('gives of a late final nothing where its only word is known, and all of it where it tells no words', () => {
    const { told, turns } = listen({ ownsTurnTaking: false });
    turns.results(piece('Morning.', [0, 1], final));
    turns.results(piece('Morning.', [0, 2], final));
    turns.results(piece('My friend.', [0, 3], { ...final, words: [] }));
    expect(told).toEqual(['Morning.', 'My friend.']);
  });

  it('drops repetitions, and partials that their final has overtaken', () => {
    const { told, turns } = listen({ ownsTurnTaking: false });
    turns.results(piece('Yes.', [0, 1], final));
    turns.results(piece('Yes.', [0, 1], final));
    turns.results(piece('yes', [0, 0.8]));
    expect(told).toEqual(['Yes.']);
  });

  it('says that nothing is open, unless something was told since it was asked', () => {
    const { told, turns } = listen({ ownsTurnTaking: false });
    turns.asked();
    turns.settle();
    turns.asked();
    turns.results(piece('Yes.', [0, 1], final));
    turns.settle();
    expect(told).toEqual(['', 'Yes.']);
  });

  it('tells no ends of turns when the agent decides', () => {
    const { told, turns } = listen({ ownsTurnTaking: false });
    turns.results(piece('Yes.', [0, 1], end));
    turns.results(piece('open', [1, 2]));
    turns.utteranceEnd(2);
    expect(told).toEqual(['Yes.', '~open']);
  });
});
