// Every link between pages leads to a file that is there, and every #anchor to a heading of it, on the code host and on the site alike: the
// site makes anchors by the same rule.
import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { anchorsOf, headingsOf, linksOf, toSlug } from '../../scripts/docs/markdown.mjs';
import { SECTIONS } from '../../docs/site/sidebar.mjs';
import { allPages, ROOT } from './pages.js';

const pages = allPages();

interface Link {
  readonly place: string;
  readonly page: string;
  readonly target: string;
  readonly path: string;
  readonly anchor: string | undefined;
}

const links: Link[] = [...pages].flatMap(([page, text]) =>
  linksOf(text)
    .filter(({ target }) => !/^[a-z]+:/i.test(target))
    .map(({ line, target }) => {
      const [file = '', anchor] = target.split('#');
      const path = file === '' ? page : relative(ROOT, join(ROOT, dirname(page), decodeURIComponent(file)));
      return { place: `${page}:${line}`, page, target, path, anchor };
    }),
);

function complaint({ page, target, path, anchor }: Link): string | undefined {
  if (target.startsWith('/')) return 'begins with a slash: write it relative to the page';
  if (path.startsWith('..') || !existsSync(ROOT + path)) return 'leads nowhere';
  if (path !== '' && statSync(ROOT + path).isDirectory())
    return page.startsWith('docs/') && path.startsWith('docs') ? 'is a folder: name its page' : undefined;
  if (anchor === undefined) return undefined;
  const text = pages.get(path);
  if (text === undefined) return 'has an anchor, and is no page';
  return anchorsOf(text).has(anchor) ? undefined : 'has an anchor that the page does not have';
}

it('lead somewhere, anchors included', () => {
  expect(links.length).toBeGreaterThan(60);
  const dead = links.flatMap((link) => {
    const why = complaint(link);
    return why === undefined ? [] : [`${link.place}: ${link.target} ${why}`];
  });
  expect(dead).toEqual([]);
});

it('lead, from a page that the package ships, to what it ships', () => {
  const shipped = (path: string) =>
    /^(README\.md|LICENSE|package\.json)$/.test(path) ||
    manifest.files.some(
      (entry) => path === entry || path.startsWith(`${entry}/`) || matchesPattern(path, entry),
    );
  const dead = links
    .filter(({ page, path }) => shipped(page) && !shipped(path))
    .map(({ place, target }) => `${place}: ${target}`);
  expect(dead).toEqual([]);
});

/** The patterns of `files`: some name, or some ending of one, anywhere below a folder. */
function matchesPattern(path: string, entry: string): boolean {
  const [folder, name = ''] = entry.split('/**/');
  return name !== '' && path.startsWith(`${folder}/`) && path.endsWith(name.replace('*', ''));
}

it('are found in lists, tables, definitions, pictures and HTML, and not in code', () => {
  const page =
    '- [a](a.md#x "A")\n| ![b](b.png) |\n[c]: c.md\n<img src="d.svg">\n`[e](e.md)`\n```\n[f](f.md)\n```\n';
  expect(linksOf(page).map(({ target }) => target)).toEqual(['a.md#x', 'b.png', 'c.md', 'd.svg']);
});

it('go to anchors as code hosts make them', () => {
  expect(toSlug('GET /api/dashboard/calls/{callId}')).toBe('get-apidashboardcallscallid');
  expect(headingsOf('# A `b`, c\n## A b, c\n```\n# no\n```\n').map(({ anchor }) => anchor)).toEqual([
    'a-b-c',
    'a-b-c-1',
  ]);
});

it('at the side of the site are all pages, each once', () => {
  const listed = SECTIONS.flatMap((section) => section.pages);
  const written = [...pages.keys()]
    .filter((path) => path.startsWith('docs/') && !path.startsWith('docs/site/'))
    .map((path) => path.slice('docs/'.length));
  expect(written.filter((path) => !listed.includes(path))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
});

it('at the side of the site lead somewhere', () => {
  const listed = SECTIONS.flatMap((section) => section.pages);
  expect(listed.filter((path) => !existsSync(`${ROOT}docs/${path}`))).toEqual([]);
});
