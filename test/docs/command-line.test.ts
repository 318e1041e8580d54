// How the pages call the command line: `npx offhook` is for users of the package, `node dist/cli.js` for who works in a clone.
import { expect, it } from 'vitest';
import { allPages } from './pages.js';

const BUILT = 'node dist/cli.js';
/** Pages that also are for who has nothing but a clone. */
const FOR_CLONES = ['CONTRIBUTING.md', 'README.md', 'docs/quick-start.md', 'docs/reference/cli.md'];

it('the built file is run where a section is about a clone, and nowhere else', () => {
  const built = [...allPages()].flatMap(([page, text]) =>
    text
      .split(/^(?=#{1,6} )/m)
      .filter((section) => section.includes(BUILT))
      .map((section) => ({ page, heading: section.split('\n')[0], isOfClone: /\bclone\b/i.test(section) })),
  );
  expect(built.length).toBeGreaterThan(2);
  expect(built.filter(({ page, isOfClone }) => !isOfClone || !FOR_CLONES.includes(page))).toEqual([]);
});
