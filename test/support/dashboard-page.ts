// The dashboard's page in Chromium, against a real server. Knows the browser, not what the page shows.
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { findChromium, launchChromium } from '../../scripts/browser.mjs';
import { readEnv } from '../../src/base/env.js';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import { stamp } from './call-facts.js';
import { type DashboardServer, type DashboardServerOptions, startDashboard } from './dashboard-server.js';
import { buildPage } from './page-build.js';

const chromium = readEnv('CHROMIUM') ?? findChromium(readEnv('PATH') ?? '');

/** A browser, and one server at a time. */
export class PageBench {
  #browser: Browser | undefined;
  #context: BrowserContext | undefined;
  #server: DashboardServer | undefined;
  /** What must stay empty: console errors, page errors, requests to other origins. */
  troubles: string[] = [];

  get server(): DashboardServer {
    if (this.#server === undefined) throw new Error('No server runs.');
    return this.#server;
  }

  get context(): BrowserContext {
    if (this.#context === undefined) throw new Error('No page is open.');
    return this.#context;
  }

  async launch(): Promise<void> {
    await buildPage();
    this.#browser = await launchChromium(chromium ?? '');
  }

  async serve(options: DashboardServerOptions = {}): Promise<DashboardServer> {
    this.#server = await startDashboard(options);
    return this.#server;
  }

  /** `origin`: another server than the bench's own. */
  async visit(path = '/', options: BrowserContextOptions & { origin?: string } = {}): Promise<Page> {
    const { origin: home = this.server.url, ...rest } = options;
    if (this.#browser === undefined) throw new Error('No browser runs.');
    this.troubles = [];
    this.#context = await this.#browser.newContext({ viewport: { width: 1440, height: 900 }, ...rest });
    const page = await this.#context.newPage();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.troubles.push(message.text());
    });
    page.on('pageerror', (error) => this.troubles.push(String(error)));
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== 'data:' && origin !== home) this.troubles.push(request.url());
    });
    await page.goto(home + path);
    return page;
  }

  async open(options: DashboardServerOptions = {}, path = '/'): Promise<Page> {
    await this.serve(options);
    return this.visit(path);
  }

  /** Publishes facts of one call, now, one behind the other. */
  callOf(callId: string): (...facts: CallFact[]) => void {
    let seq = 0;
    return (...facts) => {
      for (const fact of facts) {
        seq += 1;
        const [event] = stamp([fact], { callId, at: Date.now() });
        this.server.publish({ ...event, seq } as CallEvent);
      }
    };
  }

  async endVisit(): Promise<void> {
    await this.#context?.close();
    this.#context = undefined;
  }

  async endServer(): Promise<void> {
    await this.#server?.close();
    this.#server = undefined;
  }

  async close(): Promise<void> {
    await this.#browser?.close();
  }
}

/** Tests of one subject in a browser; skipped where there is none. */
export function describeInChromium(subject: string, tests: (bench: PageBench) => void): void {
  const title = `${subject} (skipped where no Chromium is on PATH or in CHROMIUM)`;
  describe.skipIf(chromium === null)(title, () => {
    const bench = new PageBench();
    beforeAll(() => bench.launch());
    afterEach(async () => {
      await bench.endVisit();
      await bench.endServer();
    });
    afterAll(() => bench.close());
    tests(bench);
  });
}
