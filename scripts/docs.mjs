// The documentation. `npm run docs` fills what is made from the code and builds the site; `npm run docs:reference` does only the first, and with
// `--check` only compares. `npm run docs -- --serve` shows the site, and pages as they are edited.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsIn, fillPage } from './docs/pages.mjs';
import { giveUp, root, run, say, setUp } from './setup.mjs';

const SITE = join(root, 'docs/site');
const INSTALLED = join(SITE, 'node_modules/.offhook-installed');
const REFERENCE = process.argv.includes('--reference');
const CHECK = process.argv.includes('--check');
const SERVE = process.argv.includes('--serve');

/** @param {...string} args */
function commandLine(...args) {
  // A pipe has no width, so lines break where they do for everybody.
  return execFileSync(process.execPath, [join(root, 'dist/cli.js'), ...args], { encoding: 'utf8' });
}

/** @returns {Promise<import('./docs/pages.mjs').Facts>} */
async function readFacts() {
  const [errors, dashboard, prices, carriers] = await Promise.all([
    import(join(root, 'dist/base/errors.js')),
    import(join(root, 'dist/dashboard/openapi.js')),
    import(join(root, 'dist/options/price-list.js')),
    import(join(root, 'dist/carriers/index.js')),
  ]);
  const help = commandLine('--help');
  return {
    errorCodes: errors.ERROR_CODES,
    httpStatuses: errors.HTTP_STATUSES,
    openApi: dashboard.OPENAPI,
    prices: { models: prices.MODEL_PRICES, calls: carriers.carrierPrices() },
    commands: [
      { name: 'offhook', help },
      ...commandsIn(help).map((name) => ({ name: `offhook ${name}`, help: commandLine(name, '--help') })),
    ],
  };
}

/** Pages that may have generated parts, new ones included. */
function pages() {
  const flags = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const listed = execFileSync('git', [...flags, 'docs', 'src'], { cwd: root, encoding: 'utf8' });
  return listed
    .trim()
    .split('\n')
    .filter((path) => path.endsWith('.md') && existsSync(join(root, path)));
}

/** @returns {Promise<string[]>} The pages that were not as they should be. */
async function fillPages() {
  const facts = await readFacts();
  return pages().filter((path) => {
    const before = readFileSync(join(root, path), 'utf8');
    const after = fillPage(before, facts);
    if (after !== before && !CHECK) writeFileSync(join(root, path), after);
    return after !== before;
  });
}

/** The generator of the site has packages of its own, so that nobody else installs them. */
async function installSite() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(SITE, 'package-lock.json')))
    .digest('hex');
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, 'utf8') === wanted) return;
  say('installing the packages of the site, once …');
  await run('npm', [
    'ci',
    '--prefix',
    SITE,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]);
  writeFileSync(INSTALLED, wanted);
}

const vitepress = join(SITE, 'node_modules/vitepress/bin/vitepress.js');

await setUp();
const stale = await fillPages();
if (CHECK && stale.length > 0) giveUp(`behind the code: ${stale.join(', ')}. Run npm run docs:reference.`);
say(stale.length === 0 ? 'the generated parts are those of the code' : `filled ${stale.join(', ')}`);
if (!REFERENCE) {
  await installSite();
  if (SERVE) {
    spawn(process.execPath, [vitepress, 'dev', SITE], { cwd: SITE, stdio: 'inherit' });
  } else {
    say('building the site …');
    await run(process.execPath, [vitepress, 'build', SITE]);
    say('built docs/site/dist: open it through any web server');
  }
}
