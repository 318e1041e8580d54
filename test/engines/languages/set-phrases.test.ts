import { describe, expect, it } from 'vitest';
import { setPhrasesFor, waitingPhrasesFor } from '../../../src/engines/languages/set-phrases.js';

const ENGLISH = 'I am sorry, something went wrong. Please call again later.';

describe('setPhrasesFor', () => {
  it.each([
    [undefined, ENGLISH, 'en-US'],
    ['en-GB', ENGLISH, 'en-GB'],
    ['de', 'Es tut mir leid, da ist etwas schiefgegangen. Bitte rufen Sie später noch einmal an.', 'de'],
    [
      'de-CH',
      'Es tut mir leid, da ist etwas schiefgegangen. Bitte rufen Sie später noch einmal an.',
      'de-CH',
    ],
    ['fr-CA', 'Je suis désolé, un problème est survenu. Veuillez rappeler plus tard.', 'fr-CA'],
  ])('speaks the language of the agent: %s', (language, call, spoken) => {
    const { apologies, overBudget } = setPhrasesFor(language);
    expect(apologies).toMatchObject({ call, language: spoken });
    expect(overBudget.language).toBe(spoken);
  });

  it('is English, and says so to the carrier, where the language is none of ours', () => {
    expect(setPhrasesFor('pl-PL')).toEqual(setPhrasesFor('en-US'));
  });

  const LANGUAGES = ['en', 'de', 'es', 'fr', 'it', 'pt', 'nl'];

  it.each(LANGUAGES)('asks for one more try in %s, in other words', (tag) => {
    const { call, turn } = setPhrasesFor(tag).apologies;
    const [sentence = ''] = call.split('.');
    expect(turn.startsWith(`${sentence}.`)).toBe(true);
    expect(turn).toMatch(/\?$/);
  });

  it.each(LANGUAGES)('is sorry in %s for a call that costs too much, and for a transfer to nobody', (tag) => {
    const { apologies, overBudget, notConnected } = setPhrasesFor(tag);
    const [sorry = ''] = apologies.call.split(/[ ,]/);
    const news = Object.values(notConnected);
    for (const text of [overBudget.text, ...news]) expect(text.startsWith(sorry)).toBe(true);
    expect(overBudget.text).toMatch(/\.$/);
    const questions = news.map((text) => /[^.]+\?$/.exec(text)?.[0]);
    expect(questions).toEqual(Array(3).fill(expect.any(String)));
    expect(new Set(questions).size).toBe(1);
    expect(new Set(news).size).toBe(3);
  });

  it.each(LANGUAGES)('is back in %s, and asks for what was lost', (tag) => {
    const { message, repeat } = setPhrasesFor(tag).resumed;
    expect(message).toMatch(/^[^?]+\.$/);
    expect(repeat).toMatch(/^[^.]+\?$/);
  });

  it.each(LANGUAGES)('asks a silent caller in %s, and says goodbye', (tag) => {
    const { fillers = [], prompts = [], goodbye } = waitingPhrasesFor(`${tag}-XX`) ?? {};
    expect([fillers.length, prompts.length]).toEqual([2, 2]);
    for (const filler of fillers) expect(filler).toMatch(/^[^?]+\.$/);
    for (const prompt of prompts) expect(prompt).toMatch(/\?$/);
    expect(goodbye).toMatch(/\.$/);
  });

  it('asks nobody in a language that may not be theirs', () => {
    expect(waitingPhrasesFor('pl')).toBeUndefined();
    expect(waitingPhrasesFor(undefined)).toEqual(waitingPhrasesFor('en'));
  });

  it('has other words in each of them', () => {
    const all = LANGUAGES.flatMap((tag) => {
      const { apologies, overBudget, notConnected, resumed } = setPhrasesFor(tag);
      const { call, turn } = apologies;
      return [call, turn, overBudget.text, ...Object.values(notConnected), ...Object.values(resumed)];
    });
    expect(new Set(all).size).toBe(LANGUAGES.length * 8);
  });

  it("says the agent's own words in the agent's language when the call cannot go on", () => {
    const [own, english] = [setPhrasesFor('pl', 'Przepraszam, do usłyszenia.'), setPhrasesFor(undefined)];
    expect(own).toEqual({
      ...english,
      apologies: { ...english.apologies, call: 'Przepraszam, do usłyszenia.', language: 'pl' },
    });
  });
});
