// The page in Chromium: its size, how soon it is there, how soon a fact is on it, and what many live calls cost the browser. The
// baseline is a bare page that hears the same event stream and writes each fact into one line.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import express from 'express';
import { findChromium, launchChromium } from '../../scripts/browser.mjs';
import { createSampleCalls } from '../../scripts/sample-calls.mjs';
import { toTable } from './table.mjs';

/** @type {<T>(path: string) => Promise<T>} */
const built = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);
/** @type {typeof import('../../src/dashboard/index.js')} */
const { createDashboard } = await built('dashboard/index.js');
/** @type {typeof import('../../src/events/bus.js')} */
const { EventBus } = await built('events/bus.js');
/** @type {typeof import('../../src/events/summarize.js')} */
const { percentile } = await built('events/summarize.js');
/** @type {typeof import('../../src/stores/index.js')} */
const { MemoryStore } = await built('stores/index.js');
/** @type {typeof import('../../src/base/log.js')} */
const { silentLogger } = await built('base/log.js');

/** @typedef {import('playwright-core').Browser} Browser */
/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('../../src/contract/call-event.js').CallFact} CallFact */

/** Partials that a speech-to-text sends for each call while somebody speaks. */
const PARTIALS_PER_SECOND = 4;
const MEASURED_MS = 8000;

const BARE_PAGE = `<!doctype html><title>bare</title><pre id="line"></pre><script>
  const line = document.getElementById('line');
  new EventSource('api/dashboard/events').addEventListener('transcript.segment', (message) => {
    line.textContent = JSON.parse(message.data).entry.text;
  });
</script>`;

/** In the page: notes how long after its birth each text is painted. */
const WATCH = `
  window.delaysMs = [];
  const seen = new Set();
  new MutationObserver((records) => {
    const births = new Set();
    for (const { target } of records)
      for (const [text, at] of (target.textContent ?? '').matchAll(/born (\\d+)\\.\\d+/g))
        if (!seen.has(text)) { seen.add(text); births.add(Number(at)); }
    if (births.size === 0) return;
    requestAnimationFrame(() => setTimeout(() => {
      for (const at of births) window.delaysMs.push(Date.now() - at);
    }));
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
`;

async function startServer() {
  const store = new MemoryStore();
  const bus = new EventBus(silentLogger);
  bus.subscribeDurable((event) => store.append(event));
  for (const event of createSampleCalls({ now: Date.now(), ended: 500, live: 0 })) bus.publish(event);
  await bus.settled();
  const dashboard = createDashboard({ store, bus, controls: null, logger: silentLogger });
  const app = express()
    .get('/bare', (_request, response) => void response.type('html').send(BARE_PAGE))
    .use(dashboard.handler);
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server did not get a port.');
  return {
    bus,
    url: `http://127.0.0.1:${address.port}`,
    close() {
      dashboard.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * `count` calls that are up, each of which says something several times a second. Returns the function that ends them.
 * @param {import('../../src/events/bus.js').EventBus} bus
 * @param {{ count: number, name: string }} options
 */
function talk(bus, { count, name }) {
  const calls = Array.from({ length: count }, (_, index) => {
    let seq = 0;
    return (/** @type {CallFact} */ fact) => {
      seq += 1;
      bus.publish({ callId: `${name}-${index}`, nodeId: 'bench', term: 1, seq, at: Date.now(), ...fact });
    };
  });
  for (const [index, publish] of calls.entries())
    publish({
      type: 'call.started',
      mode: 'pipeline',
      provider: { engine: null, stt: 'simulated', llm: 'scripted', tts: 'flite' },
      carrierCallId: null,
      carrier: 'carrier-a',
      direction: 'inbound',
      caller: `+1555${String(index).padStart(7, '0')}`,
      callee: '+15550100',
    });
  let next = 0;
  const timer = setInterval(
    () => {
      const publish = calls[next % count];
      const at = Date.now();
      publish?.({
        type: 'transcript.segment',
        entry: {
          id: 'said',
          turnIndex: 0,
          role: 'user',
          text: `born ${at}.${next} and so on`,
          at,
          final: false,
        },
      });
      next += 1;
    },
    1000 / (PARTIALS_PER_SECOND * count),
  );
  return () => {
    clearInterval(timer);
    for (const publish of calls)
      publish({
        type: 'call.ended',
        endReason: 'caller-hangup',
        outcome: 'answered',
        error: null,
        media: { framesReceived: 0, framesSent: 0, unexpectedMessages: 0, clears: 0 },
      });
  };
}

/**
 * What the browser does while `count` calls talk.
 * @param {Browser} browser
 * @param {{ url: string, bus: import('../../src/events/bus.js').EventBus, path: string, count: number }} options
 */
async function measure(browser, { url, bus, path, count }) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(url + path);
  await wait(500);
  const end = talk(bus, { count, name: `${path}-${count}` });
  await page.evaluate(WATCH);
  await wait(1000);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const busySeconds = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    const of = (/** @type {string} */ name) => metrics.find((metric) => metric.name === name)?.value ?? 0;
    return { script: of('ScriptDuration'), all: of('TaskDuration') };
  };
  await page.evaluate('window.delaysMs.length = 0');
  const before = await busySeconds();
  await wait(MEASURED_MS);
  const after = await busySeconds();
  const delaysMs = /** @type {number[]} */ (await page.evaluate('window.delaysMs'));
  end();
  await page.close();
  const perSecond = 1e6 / MEASURED_MS;
  return {
    p50Ms: percentile(delaysMs, 50) ?? Number.NaN,
    p95Ms: percentile(delaysMs, 95) ?? Number.NaN,
    scriptMs: (after.script - before.script) * perSecond,
    busyMs: (after.all - before.all) * perSecond,
  };
}

/** How soon the page and its 500 calls are there, when the server and the browser are warm. @param {Browser} browser @param {string} url */
async function measureOpening(browser, url) {
  const paints = [];
  const rows = [];
  for (let round = 0; round < 7; round += 1) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(url);
    await page.locator('tbody tr').first().waitFor();
    rows.push(/** @type {number} */ (await page.evaluate('performance.now()')));
    await wait(200);
    paints.push(
      /** @type {number} */ (
        await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")
      ),
    );
    await page.close();
  }
  return {
    paintMs: percentile(paints.slice(1), 50) ?? Number.NaN,
    rowsMs: percentile(rows.slice(1), 50) ?? Number.NaN,
  };
}

/** @param {string} [folder] */
export async function run(folder = fileURLToPath(new URL('../../docs/bench', import.meta.url))) {
  const chromium = findChromium(process.env.PATH ?? '');
  if (chromium === null) throw new Error('No Chromium on PATH: install one to measure the page.');
  const html = readFileSync(new URL('../../dist/dashboard/page.html', import.meta.url));
  const server = await startServer();
  const browser = await launchChromium(chromium);
  try {
    const opening = await measureOpening(browser, server.url);
    const rows = [];
    for (const count of [50, 200]) {
      for (const [name, path] of [
        ['a bare page', '/bare'],
        ['offhook', '/'],
      ]) {
        const seen = await measure(browser, { ...server, path: path ?? '/', count });
        const figures = [seen.p50Ms, seen.p95Ms, seen.scriptMs, seen.busyMs].map((value) => value.toFixed(0));
        rows.push([`${count} calls, ${name}`, ...figures]);
        console.log(rows.at(-1)?.join('  '));
      }
    }
    const size = `${(html.length / 1000).toFixed(1)} kB, ${(gzipSync(html).length / 1000).toFixed(1)} kB gzip (bars: 150 and 50)`;
    const text = `# Bench of the page

Written by \`npm run bench -- dashboard\`, in Chromium, with 500 ended calls in the history.

- Size: ${size}.
- Opening, with server and browser warm: first paint after ${opening.paintMs.toFixed(0)} ms, the table after ${opening.rowsMs.toFixed(0)} ms.

Each live call has ${PARTIALS_PER_SECOND} new texts a second. From the fact on the server to the painted frame, in milliseconds (bar: 95 % of
them within 100 ms with 50 calls); then how many milliseconds of a second the browser spends on scripts, and on everything.

${toTable(['what', 'p50', 'p95', 'script', 'all'], rows, { numbersFrom: 1 })}
`;
    writeFileSync(`${folder}/dashboard.md`, text);
    console.log(`\n${text}`);
  } finally {
    await browser.close();
    server.close();
  }
}
