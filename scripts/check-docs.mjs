// Builds the documentation, and visits what was built as a reader would: every page and link, the search, and what a browser asks for.
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { findChromium, launchChromium } from './browser.mjs';
import { root, run } from './setup.mjs';

const DIST = join(root, 'docs/site/dist');
const TYPES = new Map([
  ['.html', 'text/html'],
  ['.js', 'text/javascript'],
  ['.css', 'text/css'],
  ['.json', 'application/json'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
]);

/** @param {boolean} condition @param {string} sentence @param {readonly string[]} [lines] */
function demand(condition, sentence, lines = []) {
  if (!condition) throw new Error([sentence, ...lines].join('\n'));
  console.log(`ok  ${sentence}`);
}

/** @param {string} address Path of the site. @returns {string} The file behind it. */
function fileOf(address) {
  const path = join(DIST, decodeURIComponent(address));
  return existsSync(path) && statSync(path).isDirectory() ? join(path, 'index.html') : path;
}

/** What a page or style sheet loads by itself, as far as its text tells. @param {string} text */
function loadedBy(text) {
  return [
    ...text.matchAll(/<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\ssrc="([^"]+)"/g),
    ...text.matchAll(/<link\b(?![^>]*rel="(?:canonical|alternate)")[^>]*?\shref="([^"]+)"/g),
    ...text.matchAll(/@import\s+(?:url\()?["']?([^"')]+)/g),
    ...text.matchAll(/\burl\(\s*["']?([^"')]+)/g),
  ].map(([, target = '']) => target);
}

/** Targets on the site that nobody answers, anchors included. @param {readonly string[]} pages */
function deadLinks(pages) {
  const anchors = new Map(
    pages.map((page) => [
      page,
      new Set([...readFileSync(join(DIST, page), 'utf8').matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)),
    ]),
  );
  return pages.flatMap((page) => {
    const text = readFileSync(join(DIST, page), 'utf8');
    const targets = [...text.matchAll(/<a\b[^>]*?\shref="([^"]+)"/g)].map(([, href = '']) => href);
    return [...new Set(targets)]
      .filter((href) => !/^(https?|mailto):/.test(href))
      .filter((href) => {
        const { pathname, hash } = new URL(href.replaceAll('&amp;', '&'), `http://site/${page}`);
        const file = fileOf(pathname);
        const target = [file, `${file}.html`].find((each) => existsSync(each));
        if (target === undefined) return true;
        const known = anchors.get(target.slice(DIST.length + 1));
        return hash.length > 1 && known?.has(decodeURIComponent(hash.slice(1))) === false;
      })
      .map((href) => `${page}: ${href}`);
  });
}

/** Opens every page and searches. @param {readonly string[]} pages */
async function visit(pages) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const file = fileOf(pathname);
    if (!existsSync(file)) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': TYPES.get(extname(file)) ?? 'application/octet-stream' });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const chromium = findChromium(process.env.PATH ?? '');
  if (chromium === null) throw new Error('There is no Chromium: apt-get install chromium.');
  const browser = await launchChromium(chromium);
  try {
    const tab = await browser.newPage();
    /** @type {Set<string>} */
    const asked = new Set();
    /** @type {string[]} */
    const errors = [];
    tab.on('request', (request) => asked.add(request.url()));
    tab.on('response', (answer) => void (answer.ok() || errors.push(`${answer.status()} ${answer.url()}`)));
    tab.on('pageerror', ({ message }) => errors.push(message));
    for (const page of pages) {
      if (page === '404.html') continue;
      await tab.goto(`${origin}/${page}`, { waitUntil: 'load' });
      await tab.locator('h1').first().waitFor();
    }
    await tab.locator('.VPNavBarSearchButton, #local-search button').first().click();
    await tab.locator('#localsearch-input').fill('SIGNATURE_MISMATCH');
    await tab.locator('#localsearch-list a[href*="errors"]').first().waitFor();
    const foreign = [...asked].filter((url) => !url.startsWith(origin) && !/^(data|blob):/.test(url));
    demand(foreign.length === 0, `${asked.size} requests of a browser, all to the site`, foreign);
    demand(errors.length === 0, 'no error on any page, and the search finds an error code', errors);
  } finally {
    await browser.close();
    server.close();
  }
}

await run(process.execPath, [join(root, 'scripts/docs.mjs'), '--check'], { show: true });
const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' });
const pages = files.filter((path) => path.endsWith('.html'));
demand(pages.length > 15, `${pages.length} pages`);
const foreign = files
  .filter((path) => /\.(html|css)$/.test(path))
  .flatMap((path) =>
    loadedBy(readFileSync(join(DIST, path), 'utf8'))
      .filter((target) => /^(https?:)?\/\//.test(target))
      .map((target) => `${path}: ${target}`),
  );
demand(foreign.length === 0, 'nothing is loaded from elsewhere', foreign);
const dead = deadLinks(pages);
demand(dead.length === 0, 'every link and anchor of the built pages leads somewhere', dead);
const drawn = pages.filter((page) =>
  readFileSync(join(DIST, page), 'utf8').includes('class="state-diagram"'),
);
demand(drawn.length > 0, `the state diagram is drawn in ${drawn.join(', ')}`);
await visit(pages);
