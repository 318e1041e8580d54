// Builds the dashboard page into one self-contained file, dist/dashboard/page.html. With `--packages` it builds nothing and prints the
// names of the packages whose code the page has in it, one a line: NOTICE.md must hold their licenses.
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('../src/dashboard/ui', import.meta.url));
const target = new URL('../dist/dashboard/page.html', import.meta.url);

/**
 * Inside an inline script the sequence `</script` would end it, whatever it stands in.
 * @param {string} code
 */
function asInlineScript(code) {
  return code.replaceAll(/<(\/script|!--)/gi, '\\x3C$1');
}

const built = await build({
  root,
  configFile: false,
  logLevel: 'warn',
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    write: false,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
  },
});
if (!('output' in built)) throw new Error('vite did not return a single build');
if (process.argv.includes('--packages')) {
  const modules = built.output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  const packages = modules.flatMap((id) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? []);
  console.log([...new Set(packages)].sort().join('\n'));
  process.exit();
}

let html = '';
const scripts = [];
const styles = [];
for (const file of built.output) {
  if (file.type === 'chunk') scripts.push(file.code);
  else if (file.fileName.endsWith('.css')) styles.push(String(file.source));
  else if (file.fileName.endsWith('.html')) html = String(file.source);
  else throw new Error(`the page must be self-contained, but the build made ${file.fileName}`);
}

html = html
  .replaceAll(/\s*<script[^>]*\ssrc=[^>]*><\/script>/g, '')
  .replaceAll(/\s*<link[^>]*\srel="stylesheet"[^>]*>/g, '');
const [head = '', tail = ''] = html.split('</head>');
const [body = '', end = ''] = tail.split('</body>');
const page = [
  head,
  `<style>${styles.join('\n').trim()}</style>\n  </head>`,
  body,
  `<script type="module">${asInlineScript(scripts.join('\n').trim())}</script>\n  </body>`,
  end,
].join('');

await mkdir(new URL('.', target), { recursive: true });
// In one step, so that a server that starts meanwhile never reads half a page.
const draft = new URL(`./page.html.${process.pid}`, target);
await writeFile(draft, page);
await rename(draft, target);
