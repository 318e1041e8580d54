// The documentation as a static site: pages of docs/, search and pictures of its own, nothing from elsewhere.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { headingsOf, toSlug } from '../../../scripts/docs/markdown.mjs';
import { linkToRepository } from '../repository-links.mjs';
import { SECTIONS } from '../sidebar.mjs';
import { drawStateDiagram } from '../state-diagram.mjs';

const docs = fileURLToPath(new URL('../..', import.meta.url));

/** Where readers find what is not part of the site, like `https://example.com/offhook/blob/main/`. Without it such links are shown as paths. */
const repository = process.env.OFFHOOK_DOCS_REPOSITORY;

/** @param {string} path */
function titleOf(path) {
  return headingsOf(readFileSync(docs + path, 'utf8'))[0]?.text ?? path;
}

/** @param {string} path */
function addressOf(path) {
  return `/${path.replace(/index\.md$/, '').replace(/\.md$/, '')}`;
}

/** The pages are no neighbors of the site's packages, which is where Vite looks for what their compiled form needs. */
function vueOfTheSite() {
  return /** @type {const} */ ({
    name: 'vue-of-the-site',
    enforce: 'pre',
    /** @this {import('vite').Rollup.PluginContext} @param {string} id @param {string | undefined} importer */
    resolveId(id, importer) {
      if (!/^vue(\/|$)/.test(id) || importer?.endsWith('.md') !== true) return null;
      return this.resolve(id, fileURLToPath(import.meta.url), { skipSelf: true });
    },
  });
}

export default defineConfig({
  srcDir: '..',
  srcExclude: ['site/**'],
  outDir: './dist',
  // Out of the way of Git and of the formatter.
  cacheDir: './node_modules/.vitepress',
  base: process.env.OFFHOOK_DOCS_BASE ?? '/',
  lang: 'en',
  title: 'offhook',
  description: 'A phone server for AI voice agents, on your own machine.',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  vite: { plugins: [vueOfTheSite()] },
  markdown: {
    anchor: { slugify: toSlug },
    config(markdown) {
      linkToRepository(markdown, { docs, repository });
      const { fence } = markdown.renderer.rules;
      markdown.renderer.rules.fence = (tokens, index, ...rest) => {
        const token = tokens[index];
        if (token?.info.startsWith('mermaid')) return drawStateDiagram(token.content);
        // The highlighter does not know it.
        if (token?.info.startsWith('caddyfile')) token.info = 'text';
        return fence(tokens, index, ...rest);
      };
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: SECTIONS.map(({ title, pages }) => ({
      text: title,
      items: pages
        .filter((path) => existsSync(docs + path))
        .map((path) => ({ text: path === 'index.md' ? 'Overview' : titleOf(path), link: addressOf(path) })),
    })),
  },
});
