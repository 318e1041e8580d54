import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CallLanguage,
  inLanguage,
  languageAmong,
  languageOfTurn,
  NO_LANGUAGE,
  type SpokenPiece,
  tagIn,
  TURNS_TO_CHANGE,
  TURNS_TO_RETURN,
  turnSpoken,
} from '../../src/conversation/language.js';
import { begun, leftBy, readState } from '../../src/conversation/state.js';
import { NOTHING_UNTAKEN } from '../../src/conversation/untaken.js';
import { recalled } from '../../src/conversation/recalled.js';
import { runs } from '../support/depth.js';

const LANGUAGES = ['en', 'de-CH', 'es'];
const IN_ENGLISH = inLanguage(NO_LANGUAGE, 'en');

const piece = (tag: string, words = 5, confidence = 1): SpokenPiece => ({ tag, words, confidence });

/** The language after turns of five words each in `tags`; '' for a turn that says nothing. */
function spoken(tags: readonly string[], from: CallLanguage = IN_ENGLISH): CallLanguage {
  const first = (from.turnIndex ?? -1) + 1;
  return tags.reduce(
    (language, tag, place) =>
      turnSpoken(language, { pieces: tag === '' ? [] : [piece(tag)], turnIndex: first + place }, LANGUAGES),
    from,
  );
}

const tagsAfter = (tags: readonly string[]) => tags.map((_, place) => spoken(tags.slice(0, place + 1)).tag);

describe('what a turn says about the language', () => {
  it.each<[string, SpokenPiece[], string | null]>([
    ['a sentence', [piece('de')], 'de-CH'],
    ['a region that the agent does not name', [piece('de-AT')], 'de-CH'],
    ['another way to write a tag', [piece('DE_de')], 'de-CH'],
    ['nothing', [], null],
    ['two words', [piece('es', 2)], null],
    ['two pieces of two words', [piece('es', 2), piece('es', 2)], 'es'],
    ['keys and numbers alone', [piece('es', 0)], null],
    ['a language that the agent does not speak', [piece('fr')], 'other'],
    ['half of each', [piece('de', 4), piece('en', 4)], null],
    ['a foreign word in a sentence', [piece('de', 8), piece('en', 1)], 'de-CH'],
    ['a recognizer that is not sure', [piece('de', 8, 0.5)], null],
    ['a recognizer that is sure enough', [piece('de', 8, 0.8)], 'de-CH'],
  ])('%s', (_, pieces, language) => {
    expect(languageOfTurn(pieces, LANGUAGES)).toBe(language);
  });
});

describe('the language of a call', () => {
  it('changes with the second turn in a row', () => {
    expect(tagsAfter(['de', 'de'])).toEqual(['en', 'de-CH']);
    expect(tagsAfter(['en', 'es', 'es', 'es'])).toEqual(['en', 'en', 'es', 'es']);
  });

  it('does not change by turns that are not in a row', () => {
    expect(new Set(tagsAfter(['de', 'en', 'de', 'en', 'de', 'en']))).toEqual(new Set(['en']));
    expect(spoken(['de', 'es', 'de', 'es']).tag).toBe('en');
    expect(spoken(['de', 'fr', 'de']).tag).toBe('en');
  });

  it('is not kept from changing by turns that say nothing', () => {
    expect(tagsAfter(['de', '', '', 'de'])).toEqual(['en', 'en', 'en', 'de-CH']);
  });

  it('counts a turn once that the caller goes on with', () => {
    const once = turnSpoken(IN_ENGLISH, { pieces: [piece('de')], turnIndex: 4 }, LANGUAGES);
    expect(turnSpoken(once, { pieces: [piece('de')], turnIndex: 4 }, LANGUAGES)).toBe(once);
    expect(turnSpoken(once, { pieces: [piece('de')], turnIndex: 5 }, LANGUAGES).tag).toBe('de-CH');
  });

  it('returns to one that it has left with the third turn in a row', () => {
    const german = ['de', 'de'];
    expect(spoken([...german, 'en', 'en']).tag).toBe('de-CH');
    expect(spoken([...german, 'en', 'en', 'en']).tag).toBe('en');
    // One that is new needs no more than the first.
    expect(spoken([...german, 'es', 'es']).tag).toBe('es');
    // In pairs it is changed once.
    expect(spoken([...german, 'en', 'en', ...german, 'en', 'en', ...german]).left).toEqual(['en']);
  });

  it('forgets what spoke for another one when it changes', () => {
    expect(spoken(['de', 'de'])).toEqual({
      tag: 'de-CH',
      spoken: 'de-CH',
      heard: null,
      left: ['en'],
      turnIndex: 1,
    });
    expect(inLanguage(spoken(['de']), 'es').heard).toBeNull();
  });

  it('is the caller’s own again for who speaks it, after one who did not', () => {
    const german = spoken(['de', 'de']);
    const through = { ...german, tag: 'en', heard: null };
    expect(languageAmong(['en'], through)).toBe('en');
    expect(languageAmong(['en', 'de'], through)).toBe('de');
    expect(languageAmong(['fr'], through)).toBeUndefined();
    // Who has not changed to any is spoken to as before.
    expect(languageAmong(['en', 'de'], IN_ENGLISH)).toBe('en');
  });

  it('is one of the agent, and changes only after the turns that it takes: any caller', () => {
    const said = fc.array(fc.constantFrom('en', 'de', 'es-MX', 'fr', ''), { maxLength: 30 });
    fc.assert(
      fc.property(said, (tags) => {
        let last = IN_ENGLISH;
        const changes: { at: number; tag: string }[] = [];
        tags.forEach((_, place) => {
          const next = spoken(tags.slice(0, place + 1));
          expect(LANGUAGES).toContain(next.tag);
          if (next.tag !== last.tag) {
            const needed = last.left.includes(next.tag ?? '') ? TURNS_TO_RETURN : TURNS_TO_CHANGE;
            const voting = tags.slice(0, place + 1).filter((tag) => tag !== '');
            const row = voting.slice(-needed).map((tag) => tagIn(LANGUAGES, tag));
            expect(row).toEqual(new Array(needed).fill(next.tag));
            changes.push({ at: place, tag: next.tag ?? '' });
          }
          last = next;
        });
        // Never back and forth.
        changes.forEach(({ at, tag }, place) => {
          const before = changes[place - 2];
          if (before !== undefined && before.tag === tag)
            expect(at - (changes[place - 1]?.at ?? 0)).toBeGreaterThanOrEqual(TURNS_TO_RETURN);
        });
      }),
      { numRuns: runs(200, 3000) },
    );
  });

  it('is the same when it is stored and read again at any moment', () => {
    const said = fc.array(fc.constantFrom('en', 'de', 'es', 'fr', ''), { maxLength: 20 });
    fc.assert(
      fc.property(said, fc.nat(20), (tags, cut) => {
        const before = spoken(tags.slice(0, cut));
        // A turn that says nothing has no index of its own in the state.
        const stored: CallLanguage = JSON.parse(JSON.stringify(before));
        expect(spoken(tags.slice(cut), stored).tag).toBe(spoken(tags).tag);
      }),
      { numRuns: runs(100, 1000) },
    );
  });
});

describe('the state of a conversation', () => {
  const state = { ...begun({ hasGreeting: false }), language: spoken(['de', 'de', 'en']) };

  it('keeps the language from one driver to the next, and through the disk', () => {
    const left = { isCutOff: false, goodbye: undefined, unheardSince: [], troubledSince: [] };
    expect(leftBy(state, left).language).toEqual(state.language);
    expect(readState(JSON.parse(JSON.stringify(state)))?.language).toEqual(state.language);
  });

  it('is read where it is older than the language, than what is known of a model, or of the caller, and not where that is damaged', () => {
    const { isCallerSpeaking, barren, isRepeated, hasFilled, ...watch } = state.watch;
    const { entries, keys, isWordless } = state.untaken;
    const { language: _, ...older } = { ...state, watch, untaken: { entries, keys, isWordless } };
    const read = readState(JSON.parse(JSON.stringify(older)));
    expect(read?.language).toEqual(NO_LANGUAGE);
    expect(read?.watch).toEqual({ ...watch, isCallerSpeaking, barren, isRepeated, hasFilled });
    expect(read?.untaken).toEqual(NOTHING_UNTAKEN);
    expect(readState({ ...state, language: 'de' })).toBeUndefined();
    expect(readState({ ...state, language: { ...state.language, left: {} } })).toBeUndefined();
  });

  it('has the language of the record where there is no state', () => {
    const record = { transcript: [], turns: [], language: 'es' };
    expect(recalled(record, { message: '' }).language.tag).toBe('es');
    expect(recalled({ transcript: [], turns: [] }, { message: '' }).language).toEqual(NO_LANGUAGE);
  });
});
