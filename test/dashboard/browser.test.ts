// The page in a real browser, against a real server.
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findChromium, launchChromium } from '../../scripts/browser.mjs';
import { readEnv } from '../../src/base/env.js';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import { ended, stamp, started, turn } from '../support/call-facts.js';
import {
  type DashboardServer,
  type DashboardServerOptions,
  startDashboard,
} from '../support/dashboard-server.js';
import { buildPage } from '../support/page-build.js';

const chromium = readEnv('CHROMIUM') ?? findChromium(readEnv('PATH') ?? '');

const say = (
  text: string,
  fields: { id?: string; final?: boolean; role?: 'user' | 'agent' } = {},
): CallFact => ({
  type: 'transcript.segment',
  entry: { id: 'e1', turnIndex: 0, role: 'user', text, at: Date.now(), final: true, ...fields },
});

describe.skipIf(chromium === null)(
  'the page in Chromium (skipped where there is none on PATH or in CHROMIUM)',
  () => {
    let browser: Browser;
    let context: BrowserContext;
    let server: DashboardServer;
    /** What must stay empty: console errors, page errors, requests to other origins. */
    let troubles: string[] = [];

    beforeAll(async () => {
      await buildPage();
      browser = await launchChromium(chromium ?? '');
    });
    afterAll(() => browser?.close());
    afterEach(async () => {
      await context.close();
      await server.close();
    });

    async function open(options: DashboardServerOptions = {}, path = '/'): Promise<Page> {
      server = await startDashboard(options);
      return visit(path);
    }

    async function visit(path: string): Promise<Page> {
      troubles = [];
      context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
      const page = await context.newPage();
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) troubles.push(message.text());
      });
      page.on('pageerror', (error) => troubles.push(String(error)));
      page.on('request', (request) => {
        const { origin, protocol } = new URL(request.url());
        if (protocol !== 'data:' && origin !== server.url) troubles.push(request.url());
      });
      await page.goto(server.url + path);
      return page;
    }

    /** Publishes facts of one call, now, one behind the other. */
    function callOf(callId: string) {
      let seq = 0;
      return (...facts: CallFact[]) => {
        for (const fact of facts) {
          seq += 1;
          server.publish({ ...stamp([fact], { callId, at: Date.now() })[0]!, seq } as CallEvent);
        }
      };
    }

    it('shows a call from its first fact to its place in the history', async () => {
      const page = await open();
      await page.getByText('No calls yet').waitFor();
      const publish = callOf('c1');
      publish(started({ caller: '+15557771234' }));
      const card = page.locator('article');
      await card.getByText('••• 1234').waitFor();
      publish(say('I would l', { final: false }));
      await card.locator('.partial', { hasText: 'I would l' }).waitFor();
      publish(say('I would like tea.'));
      await card.getByText('I would like tea.').waitFor();
      await expect.poll(() => card.locator('.partial').count()).toBe(0);
      const timer = card.getByRole('timer');
      const first = await timer.textContent();
      await expect.poll(() => timer.textContent()).not.toBe(first);
      publish(
        say('Milk or', { id: 'e2', role: 'agent' }),
        {
          type: 'turn.completed',
          turn: {
            ...turn(0, { endpointingMs: 400, llmFirstTokenMs: 300, ttsFirstByteMs: 112, totalMs: 812 }),
            agentTextUnheard: 'lemon?',
            interrupted: true,
          },
        },
        ended({ endReason: 'caller-hangup' }),
      );
      await page.locator('tbody tr', { hasText: '812 ms' }).waitFor();
      await expect.poll(() => card.count()).toBe(0);
      await expect.poll(() => page.locator('.counters').textContent()).toMatch(/Total calls1Active0/);

      await page.getByRole('button', { name: 'Show numbers' }).click();
      await page.locator('tbody').getByText('+15557771234').waitFor();
      await page.locator('tbody a').focus();
      await page.keyboard.press('Enter');
      const detail = page.getByRole('dialog');
      await detail.getByText('lemon?').waitFor();
      const widths = await detail
        .locator('.track i')
        .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().width));
      const track = await detail
        .locator('.track')
        .evaluate((element) => element.getBoundingClientRect().width);
      expect(widths).toHaveLength(3);
      expect(widths.reduce((sum, width) => sum + width, 0)).toBeCloseTo(track, 0);
      await expect.poll(() => new URL(page.url()).hash).toBe('#call=c1');
      await page.keyboard.press('Escape');
      await detail.waitFor({ state: 'detached' });
      await expect.poll(() => page.url()).toBe(`${server.url}/`);
      expect(troubles).toEqual([]);
    });

    it('ends a call after asking, and shows no button where it cannot', async () => {
      const page = await open();
      callOf('c1')(started());
      await page.getByRole('button', { name: 'Hang up' }).click();
      await page.getByRole('button', { name: 'Keep' }).click();
      expect(server.commands).toEqual([]);
      await page.getByRole('button', { name: 'Hang up' }).click();
      await page.getByRole('button', { name: 'End call' }).click();
      await expect.poll(() => server.commands).toEqual(['hangup c1']);
      expect(troubles).toEqual([]);
      await context.close();
      await server.close();
      const bare = await open({ controls: null });
      callOf('c1')(started());
      await bare.locator('article').waitFor();
      expect(await bare.getByRole('button', { name: 'Hang up' }).count()).toBe(0);
    });

    it('runs nothing that a call says, through any field', async () => {
      const evil = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>{{7*7}}\u202e"\'`';
      const page = await open();
      callOf(`${evil}`)(started({ caller: evil, callee: evil, carrierCallId: null }), say(evil));
      const over = callOf('over');
      over(
        {
          ...started({ caller: evil, callee: evil, carrierCallId: evil }),
          provider: { engine: evil, stt: evil, llm: evil, tts: evil },
        } as CallFact,
        say(evil),
        say(evil, { id: evil, role: 'agent' }),
        { type: 'dtmf.received', digit: evil },
        {
          type: 'turn.completed',
          turn: { ...turn(0, { totalMs: 5 }), userText: evil, agentText: evil, agentTextUnheard: evil },
        },
        ended({ error: { code: evil, message: evil } }),
      );
      await page.locator('tbody a').click();
      const detail = page.getByRole('dialog');
      await detail.getByText(evil).first().waitFor();
      expect(await detail.textContent()).toContain('<script>window.hit=1</script>');
      await page.keyboard.press('Escape');
      await page.locator('article a').click();
      await detail.getByText(evil).first().waitFor();
      expect(await page.evaluate('"hit" in window')).toBe(false);
      expect(await page.locator('img, iframe').count()).toBe(0);
      expect(await page.locator('script').count()).toBe(1);
      expect(troubles).toEqual([]);
    });

    it('opens a call from its address, whether or not the page holds it', async () => {
      server = await startDashboard();
      callOf('old')(started(), say('Long ago.'), ended());
      await server.bus.settled();
      const page = await visit('/dashboard#call=old');
      await page.getByRole('dialog').getByText('Long ago.').waitFor();
      await page.goto(`${server.url}/dashboard#call=gone`);
      await page.getByRole('dialog').getByText('There is no such call.').waitFor();
    });

    it('tells the truth about its connection, and catches up after it', async () => {
      const page = await open();
      const publish = callOf('c1');
      publish(started());
      await page.locator('article').waitFor();
      await page.getByText('Live', { exact: true }).first().waitFor();
      const { bus, store, port } = server;
      await server.close();
      await page.getByText('Reconnecting…').waitFor();
      server = await startDashboard({ bus, store, port });
      publish(say('Still there?'));
      await page.getByText('Still there?').waitFor({ timeout: 15_000 });
      expect(await page.locator('.connection.live').count()).toBe(1);
    });

    it('signs in by address or by form, and leaves no token behind', async () => {
      const page = await open({ token: 'correct horse' }, '/?token=correct%20horse&x=1#call=none');
      await page.getByText('Live', { exact: true }).first().waitFor();
      await expect.poll(() => page.url()).toBe(`${server.url}/?x=1#call=none`);
      expect(troubles.filter((line) => !line.includes('404'))).toEqual([]);
      await context.close();
      const signedOut = await visit('/');
      const field = signedOut.getByLabel('Dashboard token');
      await field.fill('wrong');
      await field.press('Enter');
      await signedOut.getByText('That is not the token.').waitFor();
      await field.fill('correct horse');
      await field.press('Enter');
      await signedOut.getByText('Live', { exact: true }).first().waitFor();
      expect(
        await signedOut.evaluate('document.cookie + JSON.stringify(localStorage) + location.href'),
      ).not.toMatch(/correct|session/);
      await signedOut.reload();
      await signedOut.getByText('No calls yet').waitFor();
    });

    it('loads more of a long history', async () => {
      server = await startDashboard();
      for (let index = 0; index < 120; index += 1)
        server.publish(
          ...stamp([started({ carrierCallId: null }), ended()], { callId: `c${index}`, at: 1000 * index }),
        );
      await server.bus.settled();
      const page = await visit('/');
      const rows = page.locator('tbody tr');
      for (const count of [50, 100, 120]) {
        await expect.poll(() => rows.count()).toBe(count);
        if (count < 120) await page.getByRole('button', { name: 'Load more' }).click();
      }
      expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0);
      expect(troubles).toEqual([]);
    });

    it.each(['/tools/phone/', '/tools/phone/dashboard'])(
      'works behind a path prefix, at %s',
      async (path) => {
        const page = await open({ prefix: '/tools/phone', token: 'abc' }, `${path}?token=abc`);
        callOf('c1')(started());
        await page.getByRole('button', { name: 'Hang up' }).click();
        await page.getByRole('button', { name: 'End call' }).click();
        await expect.poll(() => server.commands).toEqual(['hangup c1']);
        callOf('c2')(started(), ended());
        await page.locator('tbody tr').waitFor();
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('link', { name: 'CSV' }).click(),
        ]);
        expect(download.suggestedFilename()).toMatch(/^offhook-calls-.*\.csv$/);
        expect(troubles).toEqual([]);
      },
    );

    it.each([390, 1440])('fits %i pixels without scrolling sideways', async (width) => {
      const page = await open();
      await page.setViewportSize({ width, height: 844 });
      callOf('c1')(
        started({ caller: '+15557771234' }),
        say('word '.repeat(80)),
        say('x'.repeat(300), { id: 'e2' }),
      );
      callOf('c2')(
        started(),
        say('y'.repeat(300)),
        ended({ endReason: 'over-capacity', outcome: 'no-answer' }),
      );
      await page.locator('tbody tr').waitFor();
      const overflow = () => page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(await overflow()).toBeLessThanOrEqual(0);
      await page.locator('tbody a').click();
      const sheet = page.locator('dialog');
      await sheet.getByText('y'.repeat(300)).waitFor();
      expect(await sheet.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
      expect(troubles).toEqual([]);
    });
  },
);
