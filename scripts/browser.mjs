// Finds and starts Chromium, for pictures and for tests of the page.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Quiet and offline: nothing but the page talks to anyone. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Path of the first Chromium in `searchPath` (the format of PATH), or null.
 * @param {string} searchPath
 * @returns {string | null}
 */
export function findChromium(searchPath) {
  for (const folder of searchPath.split(delimiter)) {
    for (const name of NAMES) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // Not here.
      }
    }
  }
  return null;
}

/**
 * Starts it. The caller closes it.
 * @param {string} executablePath
 */
export function launchChromium(executablePath) {
  return chromium.launch({ executablePath, args: FLAGS });
}
