// What the plan of the house and the READMEs of its rooms name in code type as a file or a folder is there.
import { expect, it } from 'vitest';
import { allPages, repositoryFiles } from './pages.js';

/** All that a file or folder may be called: its path from any folder on, with its extension or without. */
const names = new Set<string>();
const folders = new Set<string>();
for (const file of repositoryFiles()) {
  const parts = file.split('/');
  for (const [from, folder] of parts.entries()) {
    if (from < parts.length - 1) folders.add(folder);
    for (let to = from + 1; to < parts.length; to += 1) names.add(parts.slice(from, to).join('/'));
    const rest = parts.slice(from).join('/');
    names.add(rest).add(rest.replace(/\.[a-z]+$/, ''));
  }
}

const FILE = /^[\w-][\w./-]*\.(?:tsx?|mjs|rs|css)$/;
const PATH = /^([\w-]+)\/[\w./-]+$/;

function isPath(text: string): boolean {
  return FILE.test(text) || folders.has(PATH.exec(text)?.[1] ?? '');
}

function codeOf(text: string): string[] {
  return [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

it('are there', () => {
  const named = [...allPages()]
    .filter(([page]) => page === 'ARCHITECTURE.md' || page.startsWith('src/'))
    .flatMap(([page, text]) => codeOf(text).map((code) => ({ page, code })))
    .filter(({ code }) => isPath(code));
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ code }) => !names.has(code.replace(/\/$/, '')))).toEqual([]);
});
