import { describe, expect, it } from 'vitest';
import { checkResume } from '../../src/options/resume.js';
import { textIn } from '../../src/options/text-by-language.js';
import { refusal } from './refusal.js';

const BACK = { en: 'I am back.', de: 'Da bin ich wieder.', 'de-AT': 'Servus, da bin ich wieder.' };

describe('resume.message', () => {
  it.each([
    [undefined, 'de', undefined],
    ['Back.', 'de', 'Back.'],
    ['', 'de', ''],
    [BACK, 'de', BACK.de],
    [BACK, 'de-CH', BACK.de],
    [BACK, 'DE-at', BACK['de-AT']],
    [BACK, 'fr-FR', undefined],
    [BACK, undefined, BACK.en],
    [{}, 'constructor', undefined],
  ])('%j is for an agent that speaks %s: %s', (message, language, text) => {
    expect(textIn(language, checkResume(message === undefined ? {} : { message }).message)).toBe(text);
  });
});

describe('resume.holdSeconds', () => {
  it.each([0, 10])('may be %d', (holdSeconds) => {
    expect(checkResume({ holdSeconds }).holdSeconds).toBe(holdSeconds);
  });

  it.each([-1, 11, 1.5])('may not be %d', (holdSeconds) => {
    expect(refusal(() => checkResume({ holdSeconds }))).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('resume.holdSeconds'),
    });
  });

  it('is 2 unless the server says otherwise', () => {
    expect(checkResume().holdSeconds).toBe(2);
    expect(checkResume({}, { holdSeconds: 0 }).holdSeconds).toBe(0);
  });
});
