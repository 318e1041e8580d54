// Pictures of the dashboard for the README: `node scripts/screenshot.mjs [--url http://127.0.0.1:8000/] [--out docs]`.
// Without a URL it shows made-up calls from a dashboard of its own, which needs a build in dist.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import express from 'express';
import { findChromium, launchChromium } from './browser.mjs';
import { withPalette } from './palette-png.mjs';
import { createSampleCalls } from './sample-calls.mjs';

const { values: options } = parseArgs({
  options: {
    url: { type: 'string' },
    out: { type: 'string', default: 'docs' },
    chromium: { type: 'string' },
    /** Every state in both color schemes, for looking at. */
    all: { type: 'boolean', default: false },
    /** Waits for this many live calls to be on the page first. */
    live: { type: 'string', default: '1' },
  },
});

const SIZES = [
  { name: 'dashboard', width: 1440, height: 900 },
  { name: 'dashboard-phone', width: 390, height: 844 },
];

const path = options.chromium ?? findChromium(process.env.PATH ?? '');
if (path === null) throw new Error('No Chromium on PATH. Install one, or name it with --chromium.');

const sample = options.url === undefined ? await startSample() : null;
const url = options.url ?? sample?.url ?? '';
mkdirSync(options.out, { recursive: true });
const browser = await launchChromium(path);
try {
  for (const scheme of options.all
    ? /** @type {const} */ (['light', 'dark'])
    : /** @type {const} */ (['light']))
    for (const size of SIZES) await picture(size, scheme);
} finally {
  await browser.close();
  sample?.close();
}

/**
 * @param {{ name: string, width: number, height: number }} size
 * @param {'light' | 'dark'} colorScheme
 */
async function picture({ name, width, height }, colorScheme) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, deviceScaleFactor: 1 });
  await page.goto(url);
  await page.getByText('Live', { exact: true }).first().waitFor();
  await page
    .locator('article')
    .nth(Number(options.live) - 1)
    .waitFor({ timeout: 60_000 });
  const suffix = colorScheme === 'dark' ? '-dark' : '';
  writeFileSync(join(options.out, `${name}${suffix}.png`), withPalette(await page.screenshot()));
  if (options.all) {
    await page.screenshot({ path: join(options.out, `${name}${suffix}-full.png`), fullPage: true });
    await page.locator('tbody a').nth(1).click();
    await page.locator('dialog .bars').waitFor();
    await page.screenshot({ path: join(options.out, `${name}${suffix}-detail.png`) });
  }
  await page.close();
}

/** A dashboard with made-up calls on a free port of this machine. */
async function startSample() {
  const built = (/** @type {string} */ path) => import(new URL(`../dist/${path}`, import.meta.url).href);
  /** @type {typeof import('../src/dashboard/index.js')} */
  const { createDashboard } = await built('dashboard/index.js');
  /** @type {typeof import('../src/events/bus.js')} */
  const { EventBus } = await built('events/bus.js');
  /** @type {typeof import('../src/stores/index.js')} */
  const { MemoryStore } = await built('stores/index.js');
  /** @type {typeof import('../src/base/log.js')} */
  const { silentLogger } = await built('base/log.js');
  const store = new MemoryStore();
  for (const event of createSampleCalls({ now: Date.now(), ended: 24, live: 2 })) await store.append(event);
  const dashboard = createDashboard({
    store,
    bus: new EventBus(silentLogger),
    controls: {
      hangUp: async () => 'done',
      transfer: async () => {},
      sendDigits: async () => {},
      say: async () => 'heard',
      inform: async () => {},
      pauseRecording: async () => {},
      resumeRecording: async () => {},
    },
    logger: silentLogger,
  });
  const server = express().use(dashboard.handler).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server did not get a port.');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    close() {
      dashboard.close();
      server.close();
      server.closeAllConnections();
    },
  };
}
