// The dashboard's page in Chromium, against a real server. Knows the browser, not what the page shows.
import type { BrowserContext, Page } from 'playwright-core';
import { afterEach, beforeAll } from 'vitest';
import { findChromium, launchChromium } from '../../scripts/browser.mjs';
import { readEnv } from '../../src/base/env.js';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import { stamp } from './call-facts.js';
import { describeNeeding } from './describe-needing.js';
import { type DashboardServer, type DashboardServerOptions, startDashboard } from './dashboard-server.js';
import { buildPage } from './page-build.js';

const chromium = readEnv('CHROMIUM') ?? findChromium(readEnv('PATH') ?? '');

let opened: Promise<Page> | undefined;

/** One page for all tests of a process, with which its browser ends: another page is a second of work for Chromium. */
async function open(): Promise<Page> {
  await buildPage();
  const browser = await launchChromium(chromium ?? '');
  const context = await browser.newContext();
  return context.newPage();
}

function launched(): Promise<Page> {
  opened ??= open();
  return opened;
}

/** A clock that was moved once cannot be put back. */
async function withOwnClock(shared: Page): Promise<Page> {
  const context = await shared.context().browser()?.newContext();
  if (context === undefined) throw new Error('The browser is gone.');
  const page = await context.newPage();
  await page.clock.install();
  return page;
}

interface VisitOptions {
  readonly origin?: string;
  readonly viewport?: { width: number; height: number };
  readonly colorScheme?: 'light' | 'dark';
  /** A page of its own, whose clock the test moves. */
  readonly withClock?: boolean;
}

/** A browser, and one server at a time. */
export class PageBench {
  #page: Page | undefined;
  #server: DashboardServer | undefined;
  /** What must stay empty: console errors, page errors, requests to other origins. */
  troubles: string[] = [];

  get server(): DashboardServer {
    if (this.#server === undefined) throw new Error('No server runs.');
    return this.#server;
  }

  get context(): BrowserContext {
    if (this.#page === undefined) throw new Error('No page is open.');
    return this.#page.context();
  }

  async serve(options: DashboardServerOptions = {}): Promise<DashboardServer> {
    this.#server = await startDashboard(options);
    return this.#server;
  }

  /** `origin`: another server than the bench's own. */
  async visit(path = '/', options: VisitOptions = {}): Promise<Page> {
    const { origin: home = this.server.url, viewport = { width: 1440, height: 900 }, colorScheme } = options;
    const shared = await launched();
    const page = options.withClock === true ? await withOwnClock(shared) : shared;
    this.#page = page;
    this.troubles = [];
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: colorScheme ?? 'light' });
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

  async open(
    options: DashboardServerOptions = {},
    visit: VisitOptions & { path?: string } = {},
  ): Promise<Page> {
    await this.serve(options);
    return this.visit(visit.path, visit);
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

  /** Leaves the page as if nobody had been there. */
  async endVisit(): Promise<void> {
    const page = this.#page;
    if (page === undefined) return;
    this.#page = undefined;
    page.removeAllListeners();
    if (page !== (await launched())) {
      await page.context().close();
      return;
    }
    for (const other of page.context().pages()) if (other !== page) await other.close();
    await page.evaluate('localStorage.clear(), sessionStorage.clear()');
    await page.goto('about:blank');
    await page.context().clearCookies();
  }

  async endServer(): Promise<void> {
    await this.#server?.close();
    this.#server = undefined;
  }
}

/** Tests of one subject in a browser. */
export function describeInChromium(subject: string, tests: (bench: PageBench) => void): void {
  describeNeeding('Chromium (on PATH or in CHROMIUM)', chromium !== null)(subject, () => {
    const bench = new PageBench();
    beforeAll(() => launched());
    afterEach(async () => {
      await bench.endVisit();
      await bench.endServer();
    });
    tests(bench);
  });
}
