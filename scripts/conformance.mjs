// `npm run conformance`: holds our words against the carriers' official packages. Sets the clone up, installs those packages
// beside the tests that use them, and runs the tests. Arguments go to vitest.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { giveUp, root, run, setUp } from './setup.mjs';

const FOLDER = 'test/conformance';

/** True when every package is there in the version that package.json names. */
function isInstalled() {
  const wanted = JSON.parse(readFileSync(join(root, FOLDER, 'package.json'), 'utf8')).dependencies;
  return Object.entries(wanted).every(([name, version]) => {
    const manifest = join(root, FOLDER, 'node_modules', name, 'package.json');
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version;
  });
}

await setUp();
if (!isInstalled()) {
  process.stderr.write("offhook: installing the carriers' packages …\n");
  const install = ['install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', [...install, '--loglevel=error', '--prefix', FOLDER]).catch((error) =>
    giveUp(`the packages were not installed: ${error instanceof Error ? error.message : error}`),
  );
}
const node = (/** @type {string[]} */ args) =>
  run(process.execPath, args, { show: true }).catch(() => process.exit(1));
await node(['node_modules/typescript/bin/tsc', '--noEmit', '-p', FOLDER]);
await node([
  'node_modules/vitest/vitest.mjs',
  ...['run', '--config', `${FOLDER}/vitest.config.ts`],
  ...process.argv.slice(2),
]);
