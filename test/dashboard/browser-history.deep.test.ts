// The table of ended calls, in a real browser.
import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import type { CallFact } from '../../src/contract/call-event.js';
import { toLocalInput } from '../../src/dashboard/ui/format.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { ended, say, stamp, started, turn } from '../support/call-facts.js';
import { describeInChromium } from '../support/dashboard-page.js';

const DAY_MS = 86_400_000;

/** What one ended call of the history is like. */
interface Past {
  callId: string;
  agoMs: number;
  latencyMs?: number;
  facts?: CallFact[];
  identity?: Parameters<typeof started>[0];
  end?: Parameters<typeof ended>[0];
}

describeInChromium('the history', (bench) => {
  async function fill(calls: readonly Past[]): Promise<void> {
    const now = Date.now();
    for (const { callId, agoMs, latencyMs, facts = [], identity = {}, end = {} } of calls) {
      const answers: CallFact[] =
        latencyMs === undefined ? [] : [{ type: 'turn.completed', turn: turn(0, { totalMs: latencyMs }) }];
      const whole = [started({ carrierCallId: null, ...identity }), ...answers, ...facts, ended(end)];
      bench.server.publish(...stamp(whole, { callId, at: now - agoMs }));
    }
    await bench.server.bus.settled();
  }

  it('does not say that there are no calls before it knows', async () => {
    await bench.serve();
    await fill([{ callId: 'c1', agoMs: 1000 }]);
    const page = await bench.visit('/');
    let open = () => {};
    const isOpen = new Promise<void>((resolve) => {
      open = resolve;
    });
    await page.route('**/events', async (route) => {
      await isOpen;
      await route.continue();
    });
    await page.reload();
    await page.getByText('Connecting').waitFor();
    // Whatever the page has asked for is answered before this, and drawn.
    await page.evaluate(`(async () => {
      await (await fetch('/api/dashboard/aggregates')).json();
      for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
    })()`);
    expect(await page.getByText('No calls yet').count()).toBe(0);
    open();
    await page.locator('tbody a').waitFor();
    await page.unroute('**/events');
  });

  it('holds all 500 calls, of which only those near the eye are in the document', async () => {
    await bench.serve();
    await fill(
      Array.from({ length: 510 }, (_, index) => ({
        callId: `c${index}`,
        agoMs: (510 - index) * 1000,
        identity: { caller: `+1555${String(index).padStart(7, '0')}` },
      })),
    );
    const page = await bench.visit('/');
    await page.getByText('500 calls', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show numbers' }).click();
    const rows = page.locator('tbody tr:not(.gap)');
    expect(await rows.count()).toBeLessThan(80);
    await rows.filter({ hasText: '+15550000509' }).waitFor();
    const height = () => page.evaluate('document.documentElement.scrollHeight');
    const before = await height();
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await rows.filter({ hasText: '+15550000010' }).waitFor();
    expect(await rows.count()).toBeLessThan(80);
    expect(await height()).toBe(before);
    expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe('501');
    expect(await rows.last().getAttribute('aria-rowindex')).toBe('501');
    expect(bench.troubles).toEqual([]);
  });

  it('is where the keyboard is again after a call that a link has opened, and after its neighbor', async () => {
    await bench.serve();
    await fill([
      { callId: 'c1', agoMs: 3000, identity: { caller: '+15551110001' } },
      { callId: 'c2', agoMs: 2000, identity: { caller: '+15551110002' } },
    ]);
    const page = await bench.visit('/#call=c2');
    const focused = () => page.evaluate('document.activeElement.getAttribute("href")');
    const detail = page.getByRole('dialog');
    await detail.getByText('••• 0002').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(focused).toBe('#call=c2');
    await page.keyboard.press('Enter');
    await detail.getByText('••• 0002').waitFor();
    await page.keyboard.press('j');
    await detail.getByText('••• 0001').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(focused).toBe('#call=c1');
    expect(bench.troubles).toEqual([]);
  });

  it('orders by what is asked for, what is not known last', async () => {
    await bench.serve();
    await fill([
      { callId: 'slow', agoMs: 3000, latencyMs: 1900, identity: { caller: '+15551110001' } },
      { callId: 'fast', agoMs: 2000, latencyMs: 400, identity: { caller: '+15551110002' } },
      { callId: 'none', agoMs: 1000, identity: { caller: '+15551110003' } },
    ]);
    const page = await bench.visit('/');
    await page.locator('tbody tr').first().waitFor();
    const slow = page.locator('tbody tr', { hasText: '0001' });
    expect(await slow.textContent()).toMatch(
      /fake\/stt · fake\/llm · fake\/tts.*pipeline · carrier-a.*1\.90 s.*answered.*caller hangup/,
    );
    expect(await page.locator('.counters svg.sparkline').count()).toBeGreaterThan(3);
    const order = () => page.locator('tbody .parties bdi:first-child').allTextContents();
    expect(await order()).toEqual(['••• 0003', '••• 0002', '••• 0001']);
    await page.getByRole('button', { name: 'Latency' }).click();
    await expect.poll(order).toEqual(['••• 0001', '••• 0002', '••• 0003']);
    expect(await page.locator('[aria-sort]').getAttribute('aria-sort')).toBe('descending');
    await page.getByRole('button', { name: 'Latency' }).click();
    await expect.poll(order).toEqual(['••• 0002', '••• 0001', '••• 0003']);
    expect(await page.locator('[aria-sort]').getAttribute('aria-sort')).toBe('ascending');
  });

  it('keeps a choice that was made in the same instant in which a call is opened', async () => {
    await bench.serve();
    await fill([{ callId: 'c1', agoMs: 1000 }]);
    const page = await bench.visit('/');
    await page.locator('tbody a').waitFor();
    await page.evaluate(`
      const direction = document.querySelector('select[aria-label="Direction"]');
      direction.value = 'inbound';
      direction.dispatchEvent(new Event('change', { bubbles: true }));
      document.querySelector('tbody a').click();
    `);
    await page.getByRole('dialog').waitFor();
    await expect.poll(() => new URL(page.url()).hash).toBe('#call=c1&direction=inbound');
    expect(await page.getByLabel('Direction', { exact: true }).inputValue()).toBe('inbound');
    await page.goBack();
    await page.waitForURL(/#direction=inbound$/);
  });

  it('goes back past an address that it would have written otherwise', async () => {
    await bench.serve();
    await fill([{ callId: 'c1', agoMs: 1000 }]);
    const page = await bench.visit('/#sort=cost&direction=inbound');
    await page.getByRole('button', { name: 'Latency' }).click();
    await page.waitForURL(/sort=latency/);
    await page.goBack();
    await page.locator('[aria-sort]', { hasText: 'Cost' }).waitFor();
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    expect(new URL(page.url()).hash).toBe('#sort=cost&direction=inbound');
    await page.goForward();
    await page.locator('[aria-sort]', { hasText: 'Latency' }).waitFor();
    expect(bench.troubles).toEqual([]);
  });

  it('finds calls, and gives out exactly those that it shows', async () => {
    await bench.serve();
    await fill([
      { callId: 'one', agoMs: 3000, identity: { caller: '+15557770001', carrier: 'carrier-b' } },
      { callId: 'two', agoMs: 2000, identity: { caller: '+15558880002' }, end: { outcome: 'busy' } },
      { callId: 'three', agoMs: 1000, identity: { caller: '+15558880003', direction: 'outbound' } },
    ]);
    const page = await bench.visit('/');
    const count = () => page.locator('tbody tr').count();
    const download = async (name: string) => {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name }).click(),
      ]);
      return readFile(await file.path(), 'utf8');
    };
    const idsOf = (csv: string) =>
      (parse(csv, { columns: true, bom: true }) as { callId: string }[]).map(({ callId }) => callId);
    await expect.poll(count).toBe(3);
    expect(idsOf(await download('CSV of all calls'))).toEqual(['three', 'two', 'one']);
    await page.getByLabel('Search by number or id').fill('888');
    await expect.poll(count).toBe(2);
    await page.getByText('2 of 3 calls').waitFor();
    await page.getByLabel('Outcome').selectOption('busy');
    await expect.poll(count).toBe(1);
    expect(idsOf(await download('CSV of shown calls'))).toEqual(['two']);
    const json = JSON.parse(await download('JSON of shown calls')) as { calls: { callId: string }[] };
    expect(json.calls.map(({ callId }) => callId)).toEqual(['two']);
    await page.getByLabel('Direction').selectOption('outbound');
    await page.getByText('No call matches.').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(count).toBe(3);
    await page.getByLabel('Carrier').selectOption('carrier-b');
    await expect.poll(count).toBe(1);
    await page.getByLabel('Carrier').selectOption('');
    await page.getByLabel('End reason', { exact: true }).selectOption('caller-hangup');
    await expect.poll(count).toBe(3);
    await page.getByLabel('End reason', { exact: true }).selectOption('process-lost');
    await page.getByText('No call matches.').waitFor();
    expect(bench.troubles).toEqual([]);
  });

  it('finds what was said, by the server, and chooses by names and figures', async () => {
    await bench.serve();
    const incident: CallFact = { type: 'incident.noted', code: 'turn-failed', message: 'It failed.' };
    const cost = { stt: 0, llm: 0, tts: 0, telephony: 0.5, total: 0.5 };
    const costs: CallFact = {
      type: 'cost.updated',
      cost: { ...cost, currency: 'USD', estimated: false },
      usage: null,
    };
    await fill([
      { callId: 'tea', agoMs: 3000, latencyMs: 1900, facts: [say('I would like TEA.')] },
      { callId: 'coffee', agoMs: 2000, latencyMs: 400, facts: [say('Coffee, please.'), incident] },
      { callId: 'dear', agoMs: 1000, facts: [say('Nothing.'), costs] },
    ]);
    const page = await bench.visit('/');
    const shown = () =>
      page
        .locator('tbody a')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href')?.slice(6)));
    const words = page.getByLabel('Search by what was said');
    await words.fill('i would like tea');
    await expect.poll(shown).toEqual(['tea']);
    // A call that ends meanwhile is found as well.
    bench.callOf('more')(started(), say('I would like tea, too.'), ended());
    await expect.poll(shown).toEqual(['more', 'tea']);
    await words.fill('nobody said this');
    await page.getByText('No call matches.').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(shown).toEqual(['more', 'dear', 'coffee', 'tea']);
    await page.getByLabel('Incident').selectOption({ label: 'Turn failed' });
    await expect.poll(shown).toEqual(['coffee']);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Provider').selectOption('fake/llm');
    await page.getByLabel('Average latency').fill('400.5');
    await expect.poll(shown).toEqual(['tea']);
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => page.getByLabel('Average latency').inputValue()).toBe('');
    // Each key is there, however fast they come, and more than one comes before the page is drawn.
    const costFrom = page.getByLabel('Cost from');
    for (const typed of ['12,75', '0.125', '0,5']) {
      await costFrom.fill('');
      await costFrom.pressSequentially(typed);
      expect(await costFrom.inputValue()).toBe(typed);
    }
    await expect.poll(shown).toEqual(['dear']);
    expect(bench.troubles).toEqual([]);
  });

  it('says that a search failed, and what is left when it works again', async () => {
    await bench.serve();
    await fill([{ callId: 'tea', agoMs: 3000, facts: [say('Tea.')] }]);
    const page = await bench.visit('/');
    await page.locator('tbody a').waitFor();
    await page.route('**/calls?*', (route) => route.fulfill({ status: 503, body: '' }));
    await page.getByLabel('Search by what was said').fill('tea');
    await page.getByText('The search failed: The server answered 503.').waitFor();
    await page.unroute('**/calls?*');
    await page.getByLabel('Search by what was said').fill('te');
    await page.locator('tbody a').waitFor();
    expect(await page.getByText('The search failed').count()).toBe(0);
  });

  it('looks at the time between two dates, figures too', async () => {
    await bench.serve();
    await fill([
      { callId: 'ancient', agoMs: 3 * DAY_MS, latencyMs: 3000 },
      { callId: 'between', agoMs: 2 * DAY_MS, latencyMs: 1000 },
      { callId: 'now', agoMs: 60_000, latencyMs: 500 },
    ]);
    const page = await bench.visit('/');
    await page.getByText('Custom', { exact: true }).click();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    const local = (agoMs: number) => toLocalInput(Date.now() - agoMs);
    await page.getByLabel('From', { exact: true }).fill(local(2.5 * DAY_MS));
    await page.getByLabel('to', { exact: true }).fill(local(DAY_MS));
    await page.getByLabel('to', { exact: true }).press('Tab');
    await expect.poll(() => page.locator('tbody a').getAttribute('href')).toBe('#call=between');
    await expect
      .poll(() => page.locator('.counters').textContent())
      .toMatch(/Total calls1.*Avg latency1\.00 s/);
    expect(bench.troubles).toEqual([]);
  });

  it('draws what the server finds of a time that the page holds nothing of, and says how much that is', async () => {
    await bench.serve({ store: new MemoryStore({ size: 1200 }) });
    const past = (name: string, count: number, agoMs: number) =>
      Array.from({ length: count }, (_, index) => ({ callId: `${name}-${index}`, agoMs: agoMs + index }));
    await fill([...past('old', 3, 5 * DAY_MS), ...past('many', 510, 3 * DAY_MS), ...past('new', 500, 0)]);
    const page = await bench.visit('/');
    await page.getByText('Cost, latency and failures over time').click();
    await page.getByText('Custom', { exact: true }).click();
    const drawn = async (fromMs: number, toMs: number) => {
      await page.getByLabel('From', { exact: true }).fill(toLocalInput(Date.now() - fromMs));
      await page.getByLabel('to', { exact: true }).fill(toLocalInput(Date.now() - toMs));
      await page.getByLabel('to', { exact: true }).press('Tab');
    };
    const over = () => page.locator('#figures-title').textContent();
    await drawn(6 * DAY_MS, 4 * DAY_MS);
    await page.locator('.chart-grid').waitFor();
    await expect.poll(over).toMatch(/chosen time, and the active ones$/);
    await drawn(3.5 * DAY_MS, 2 * DAY_MS);
    await expect.poll(over).toContain('curves and charts over 500 of the ended ones');
    expect(bench.troubles).toEqual([]);
  });

  it('moves its range on, and its days, where nothing happens', async () => {
    const page = await bench.open({}, { withClock: true });
    const midnight = new Date();
    midnight.setHours(24, 0, 0, 0);
    bench.callOf('c1')(started(), ended());
    const when = page.locator('tbody time');
    await when.waitFor();
    const untilMs = midnight.getTime() - Date.now();
    expect(await when.textContent()).toMatch(/^\d/);
    await page.getByText('1 h', { exact: true }).click();
    await when.waitFor();
    await page.clock.fastForward(Math.max(untilMs, 3_600_000) + 61_000);
    await page.getByText('No call matches.').waitFor();
    await page.getByText('All', { exact: true }).click();
    await expect.poll(() => when.textContent()).toMatch(/^\D/);
  });

  it('looks back as far as it is told, with the figures of that time', async () => {
    await bench.serve();
    await fill([
      { callId: 'ancient', agoMs: 3 * DAY_MS, latencyMs: 3000 },
      { callId: 'today', agoMs: DAY_MS / 2, latencyMs: 1000 },
      { callId: 'now', agoMs: 60_000, latencyMs: 500 },
    ]);
    const page = await bench.visit('/');
    const figures = () => page.locator('.counters').textContent();
    await expect.poll(figures).toMatch(/Total calls3.*Avg latency1\.50 s/);
    await page.getByText('24 h').click();
    await expect.poll(figures).toMatch(/Total calls2.*Avg latency750 ms/);
    await page.getByText('1 h', { exact: true }).click();
    await expect.poll(figures).toMatch(/Total calls1.*P95 latency500 ms/);
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    // A call that ends now is in every range.
    bench.callOf('next')(started(), ended());
    await expect.poll(figures).toMatch(/Total calls2/);
    await page.getByText('All', { exact: true }).click();
    await expect.poll(figures).toMatch(/Total calls4.*Avg latency1\.50 s/);
    expect(bench.troubles).toEqual([]);
  });
});
