// What is found of the private numbers and addresses in texts of our own. `texts/held-out.txt` was written before the finder, and not used
// to tune it. The figures in docs/privacy.md are these.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { KINDS, measure, rowsOf, textsOf } from './measured-texts.js';

const DOCS = readFileSync(new URL('../../../docs/privacy.md', import.meta.url), 'utf8');
const LANGUAGES = ['en', 'de', 'es', 'fr', 'it'];

describe.each([
  ['tuning.txt', 200, 'tuned on'],
  ['held-out.txt', 120, 'held out'],
])('%s', (file, fewest, heading) => {
  const texts = textsOf(file);
  const figures = measure(texts);

  it('has enough texts in every language, with and without what has to go', () => {
    expect(texts.length).toBeGreaterThanOrEqual(fewest);
    for (const language of LANGUAGES)
      expect(texts.filter((text) => text.language === language).length).toBeGreaterThanOrEqual(25);
    expect(figures.innocent).toBeGreaterThanOrEqual(fewest / 3);
    for (const kind of KINDS) expect(figures.secrets[kind]).toBeGreaterThanOrEqual(20);
  });

  it('is found as the page says', () => {
    const section = DOCS.split('\n### ').find((each) =>
      each.toLowerCase().startsWith(`texts that were ${heading}`),
    );
    for (const row of rowsOf(figures)) expect(section, figures.notes.join('\n')).toContain(row);
    expect(section).toContain(`${figures.texts} texts, ${figures.innocent} of them with nothing to find`);
  });

  it('is found well enough', () => {
    for (const kind of KINDS) {
      expect(figures.found[kind] / figures.secrets[kind], kind).toBeGreaterThanOrEqual(0.92);
      expect(figures.wrong[kind] / figures.texts, kind).toBeLessThanOrEqual(0.01);
    }
    expect(figures.wrong.number / figures.texts).toBeLessThanOrEqual(0.01);
  });
});
