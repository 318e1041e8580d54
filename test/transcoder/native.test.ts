import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TranscoderError } from '../../src/base/errors.js';
import { PACKAGE_VERSION } from '../../src/base/package-version.js';
import { loadAddon, platformNames } from '../../src/transcoder/native.js';

const [name = ''] = platformNames();
const packageName = `@offhook/transcoder-${name}`;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'offhook-addon-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A platform package whose addon is a script that gives its origin. */
function installPackage(version: string): void {
  const place = join(folder, 'node_modules', packageName);
  mkdirSync(place, { recursive: true });
  writeFileSync(
    join(place, 'package.json'),
    JSON.stringify({ name: packageName, version, main: 'addon.js' }),
  );
  writeFileSync(join(place, 'addon.js'), 'module.exports = { origin: "package" };');
}

const load = () => loadAddon(pathToFileURL(join(folder, 'dist/transcoder/native.js')).href);

function failure(): TranscoderError {
  try {
    load();
  } catch (error) {
    if (error instanceof TranscoderError) return error;
  }
  throw new Error('an addon was loaded');
}

const reasons = () => failure().attempts.map(({ reason }) => reason);

describe('the addon of a platform package', () => {
  it('is loaded when it is of this version', () => {
    installPackage(PACKAGE_VERSION);
    expect(load()).toEqual({ origin: 'package' });
  });

  it.each(['0.0.1', `${PACKAGE_VERSION}-rc.1`])('is left alone when it is of version %s', (version) => {
    installPackage(version);
    expect(reasons()[0]).toBe(
      `${packageName} is version ${version}, but offhook is ${PACKAGE_VERSION}: install ${packageName}@${PACKAGE_VERSION}`,
    );
    // The source tree is asked next.
    expect(reasons()[1]).toContain(`offhook-transcoder.${name}.node`);
    // Where nothing is, nothing is wrong.
    expect(failure().message).toBe(reasons()[0]);
  });

  it('that is not there is one short reason', () => {
    expect(reasons()[0]).toBe(`Cannot find module '${packageName}/package.json'`);
    const packages = platformNames().map((each) => `@offhook/transcoder-${each}`);
    expect(failure().message).toBe(
      `no native addon for this platform is installed (looked for ${packages.join(' and ')})`,
    );
  });
});
