// The page where it stands: in a process of its own, behind a call that ends, and without a question to the server too many.
import type { Page } from 'playwright-core';
import { afterEach, expect, it } from 'vitest';
import { dashboardSocket } from '../../src/base/dashboard-socket.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { ended, say, stamp, started } from '../support/call-facts.js';
import { describeInChromium } from '../support/dashboard-page.js';
import { FeedingServer, hurriedClock } from '../support/feeding-server.js';
import { openDashboard, socketFolder, TOKEN } from '../support/ingest-dashboard.js';

describeInChromium('the page in its place', (bench) => {
  const closers: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  it('shows the calls of another process, which it cannot command', async () => {
    const room = socketFolder();
    closers.push(() => room.remove());
    const dashboard = await openDashboard({ folder: room.folder });
    closers.unshift(() => dashboard.close());
    const store = new MemoryStore();
    const server = new FeedingServer({
      nodeId: 'node-1',
      store,
      socket: dashboardSocket(room.folder),
      clock: hurriedClock(20),
    });
    closers.unshift(() => server.kill());
    const page = await bench.visit(`/?token=${TOKEN}`, { origin: dashboard.url });
    await page.getByText('No calls yet').waitFor();
    const facts = [started({ caller: '+15557771234' }), say('From over there.'), ended()];
    const events = stamp(facts, { callId: 'c1', at: Date.now() });
    for (const event of events.slice(0, 2)) server.publish(event);
    const card = page.locator('article');
    await card.getByText('From over there.').waitFor();
    expect(await page.getByRole('button', { name: /Hang up|Transfer/ }).count()).toBe(0);
    for (const event of events.slice(2)) server.publish(event);
    await page.locator('tbody a', { hasText: '1234' }).waitFor();
    await expect.poll(() => card.count()).toBe(0);
    expect(bench.troubles).toEqual([]);
  });

  const topOf = (page: Page, selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => element.getBoundingClientRect().top);

  it.each([1440, 390])(
    'keeps what is being read in its place when a call ends, at %i pixels',
    async (width) => {
      await bench.serve();
      const past = Array.from({ length: 60 }, (_, index) =>
        stamp([started({ carrierCallId: null }), ended()], { callId: `past-${index}`, at: 1000 * index }),
      );
      bench.server.publish(...past.flat());
      await bench.server.bus.settled();
      const page = await bench.visit('/', { viewport: { width, height: 844 } });
      const publish = bench.callOf('live');
      publish(started(), say('A few words.'));
      await page.locator('article').waitFor();
      const row = 'a[href="#call=past-52"]';
      await page.locator(row).scrollIntoViewIfNeeded();
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))');
      const before = await topOf(page, row);
      publish(ended());
      await expect.poll(() => page.locator('article').count()).toBe(0);
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))');
      // The call has a row of its own now, above the others.
      const rowPx = await page
        .locator('tbody tr:not(.gap)')
        .first()
        .evaluate((each) => each.getBoundingClientRect().height);
      expect(Math.abs((await topOf(page, row)) - before)).toBeLessThanOrEqual(rowPx + 1);
    },
  );

  it('asks for what it shows once, and then hears of it', async () => {
    await bench.serve();
    const page = await bench.visit('/');
    await page.getByText('Live', { exact: true }).first().waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const publish = bench.callOf('c1');
    publish(started(), say('Hello.'));
    await page.getByText('Hello.').waitFor();
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 3000))');
    expect(asked).toEqual([]);
    publish(ended());
    await page.locator('tbody a').waitFor();
    // The averages over all calls are the server's to tell, once a call has ended.
    await expect.poll(() => asked.map((url) => new URL(url).pathname)).toEqual(['/api/dashboard/aggregates']);
  });
});
