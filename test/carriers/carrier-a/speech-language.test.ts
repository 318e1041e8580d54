import { describe, expect, it } from 'vitest';
import { toSpeechLanguage } from '../../../src/carriers/carrier-a/speech-language.js';

describe('toSpeechLanguage', () => {
  it.each([
    ['en-US', 'en-US'],
    ['en', 'en-US'],
    ['EN-gb', 'en-GB'],
    ['en_AU', 'en-AU'],
    ['en-NZ', 'en-US'],
    ['de-AT', 'de-DE'],
    ['pt-PT', 'pt-PT'],
    ['zh-Hant-TW', 'zh-TW'],
    ['zh-Hans', 'zh-CN'],
    ['no', 'nb-NO'],
    ['es-ES', 'es-ES'],
    ['tlh', undefined],
    ['', undefined],
    ['-', undefined],
    ['e', undefined],
    ['en-US"><x', 'en-US'],
    [undefined, undefined],
  ])('speaks %j as %s', (tag, spoken) => {
    expect(toSpeechLanguage(tag)).toBe(spoken);
  });
});
