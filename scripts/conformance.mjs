// `npm run conformance`: holds our words against the official packages of carriers and AI vendors. Sets the clone up, installs those
// packages beside the tests that use them, and runs the tests. Arguments go to vitest.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { giveUp, root, run, say, setUp } from './setup.mjs';

const FOLDER = 'test/conformance';
/** Tests of packages that want this version of Node or a later one. */
const NODE_22 = { version: 22, tests: `${FOLDER}/node-22` };

/** True when every package is there in the version that its manifest names. @param {string} folder @param {Record<string, string>} wanted */
function isInstalled(folder, wanted) {
  return Object.entries(wanted).every(([name, version]) => {
    const manifest = join(root, folder, 'node_modules', name, 'package.json');
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version.startsWith(version);
  });
}

/**
 * From the registry alone: no script of a package is run.
 * @param {string} what @param {string} folder @param {Record<string, string>} wanted @param {string[]} [names]
 */
async function install(what, folder, wanted, names = []) {
  if (isInstalled(folder, wanted)) return;
  say(`installing ${what} …`);
  const options = [
    ...(names.length > 0 ? ['--no-save'] : []),
    '--no-package-lock',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  await run('npm', ['install', ...names, ...options, '--prefix', folder]).catch((error) =>
    giveUp(`${what} could not be installed: ${error instanceof Error ? error.message : error}`),
  );
}

/** A Node of that version: this one, or one that comes as a package. @param {number} version @returns {Promise<string>} */
async function nodeOf(version) {
  if (Number.parseInt(process.versions.node, 10) >= version) return process.execPath;
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${platform}-${process.arch}`;
  const folder = `.node/${version}`;
  await install(`Node ${version}`, folder, { [name]: `${version}.` }, [`${name}@${version}`]);
  const program = platform === 'win' ? 'bin/node.exe' : 'bin/node';
  return join(root, folder, 'node_modules', name, program);
}

/** @param {string} program @param {string[]} args */
const node = (program, args) => run(program, args, { show: true }).catch(() => process.exit(1));

await setUp();
const { dependencies } = JSON.parse(readFileSync(join(root, FOLDER, 'package.json'), 'utf8'));
await install('the official packages', FOLDER, dependencies);
say(
  Object.entries(dependencies)
    .map(([name, version]) => `${name} ${version}`)
    .join(', '),
);
await node(process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit', '-p', FOLDER]);
const asked = process.argv.slice(2);
const vitest = [
  'node_modules/vitest/vitest.mjs',
  ...['run', '--config', `${FOLDER}/vitest.config.ts`, ...asked],
  // What was asked for may be in the other half alone.
  ...(asked.length > 0 ? ['--passWithNoTests'] : []),
];
const newer = await nodeOf(NODE_22.version);
if (newer === process.execPath) await node(process.execPath, vitest);
else {
  await node(process.execPath, [...vitest, '--exclude', `${NODE_22.tests}/**`]);
  say(`the packages that want Node ${NODE_22.version} …`);
  await node(newer, [...vitest, '--exclude', `${FOLDER}/{*.test.ts,providers/**}`]);
}
