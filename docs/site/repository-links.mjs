// Links to files that are no pages of the site lead to the repository.
import { dirname, join, relative, resolve } from 'node:path';

/**
 * @typedef {{ docs: string, repository: string | undefined }} Places `docs`: the folder of the pages. `repository`: the address that paths are
 * appended to; without one the reader is told the path.
 */

/** @param {import('markdown-it').default} markdown @param {Places} places */
export function linkToRepository(markdown, { docs, repository }) {
  const root = resolve(docs, '..');
  markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      for (const [index, token] of (children ?? []).entries()) {
        if (token.type !== 'link_open') continue;
        const path = pathOutside(String(token.attrGet('href')), env.realPath ?? env.path, { docs, root });
        if (path === undefined) continue;
        if (repository !== undefined) {
          token.attrSet('href', `${repository.replace(/\/?$/, '/')}${path}`);
          continue;
        }
        const closing = children?.slice(index).find(({ type }) => type === 'link_close');
        token.tag = 'span';
        token.attrs = [
          ['class', 'in-repository'],
          ['title', `${path.replace(/#.*/, '')} in the repository`],
        ];
        // The rules for links would make an address of it.
        token.type = 'repository_open';
        if (closing !== undefined) Object.assign(closing, { tag: 'span', type: 'repository_close' });
      }
    }
  });
}

/** The path in the repository of what is no page and no picture of the site. @param {string} href @param {string} page @param {{ docs: string, root: string }} folders */
function pathOutside(href, page, { docs, root }) {
  const [target = '', anchor] = href.split('#');
  if (target === '' || target.startsWith('/') || /^[a-z]+:/i.test(target)) return undefined;
  const path = join(dirname(page), decodeURIComponent(target));
  if (!relative(docs, path).startsWith('..')) return undefined;
  return `${relative(root, path)}${anchor === undefined ? '' : `#${anchor}`}`;
}
