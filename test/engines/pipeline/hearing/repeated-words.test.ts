import { describe, expect, it } from 'vitest';
import { withoutRepeated } from '../../../../src/engines/pipeline/hearing/repeated-words.js';

describe('what is new in a text', () => {
  it.each([
    ['all of it where nothing was there', 'I want to book.', '', 'I want to book.'],
    ['the rest behind the words that were', 'I want, to book a table.', 'i want to', 'book a table.'],
    ['nothing where all of it was', 'I want to.', 'I want to', ''],
    ['nothing while it has not come so far', 'I want', 'I want to', ''],
    ['nothing while its last word has just begun', 'I wan', 'I want to', ''],
    ['a word that was there in part', 'I want to book a table.', 'I want to bo', 'book a table.'],
    ['all of it where it says something else', 'We went there.', 'I want to', 'We went there.'],
    ['all of it where it goes another way', 'I went to town.', 'I want to', 'I went to town.'],
    ['all of it where the last word is another one', 'I need.', 'I want', 'I need.'],
    ['a word that was said twice', 'No. No.', 'No', 'No.'],
  ])('is %s', (_, text, before, rest) => {
    expect(withoutRepeated(text, before)).toBe(rest);
  });
});
