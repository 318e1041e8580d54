// The page for everybody: by keyboard alone, by screen reader, in the dark, on a phone, in two tabs.
import { expect, it } from 'vitest';
import { ended, IDENTITY, say, started, turn } from '../support/call-facts.js';
import { describeInChromium } from '../support/dashboard-page.js';
import { seriousFindings } from '../support/page-findings.js';

describeInChromium('the page for everybody', (bench) => {
  function fill(): void {
    const latency = { endpointingMs: 400, llmFirstTokenMs: 300, ttsFirstByteMs: 100, totalMs: 800 };
    bench.callOf('live')(
      started(),
      say('Hello?'),
      { type: 'turn.completed', turn: turn(0, latency) },
      say('Are you', { id: 'e2', final: false }),
    );
    bench.callOf('over')(
      started({ direction: 'outbound' }),
      say('Good morning.', { role: 'agent' }),
      {
        type: 'turn.completed',
        turn: { ...turn(0, latency), interrupted: true, agentTextUnheard: 'Goodbye.' },
      },
      { type: 'incident.noted', code: 'stream-replaced', message: 'The stream came back.' },
      ended({
        error: { code: 'PROVIDER_FAILED', message: 'It did not answer.' },
        endReason: 'provider-failed',
      }),
    );
  }

  it.each([
    ['light', 1440],
    ['dark', 1440],
    ['light', 1024],
    ['light', 390],
    ['dark', 390],
  ] as const)('has nothing serious against it, %s at %i pixels', async (colorScheme, width) => {
    await bench.serve();
    const page = await bench.visit('/', { colorScheme, viewport: { width, height: 844 } });
    await page.getByText('No calls yet').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    fill();
    await page.locator('tbody a').waitFor();
    await page.locator('article').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByText('over time').click();
    await page.getByText('1 of 1 failed (100 %)').waitFor();
    await page.getByText('Alerts', { exact: true }).click();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.locator('tbody a').click();
    await page.getByRole('dialog').getByText('Goodbye.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    const overflow = 'document.documentElement.scrollWidth - innerWidth';
    expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
    expect(bench.troubles).toEqual([]);
  });

  it('signs out', async () => {
    const token = 'a-token-of-16-or-more';
    await bench.serve({ token });
    const page = await bench.visit(`/?token=${token}`);
    bench.callOf('c1')(started(), ended());
    await page.locator('tbody a').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Dashboard token').waitFor();
    expect(await bench.context.cookies()).toEqual([]);
    await page.reload();
    await page.getByLabel('Dashboard token').fill(token);
    await page.keyboard.press('Enter');
    await page.locator('tbody a').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });

  it('signs out in every tab', async () => {
    const token = 'a-token-of-16-or-more';
    await bench.serve({ token });
    const page = await bench.visit(`/?token=${token}`);
    const other = await bench.context.newPage();
    await other.goto(`${bench.server.url}/`);
    await other.getByText('No calls yet').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Dashboard token').waitFor();
    await other.getByLabel('Dashboard token').waitFor();
    await other.close();
  });

  it('has room on a phone for all that its head says', async () => {
    const token = 'a-token-of-16-or-more';
    await bench.serve({ token });
    const page = await bench.visit(`/?token=${token}`, { viewport: { width: 390, height: 844 } });
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    bench.server.announceDrain();
    await page.getByText('Server is shutting down').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    const button = await page.getByRole('button', { name: 'Sign out' }).boundingBox();
    expect((button?.x ?? 390) + (button?.width ?? 0)).toBeLessThanOrEqual(390);
  });

  it('has no sign-out where nobody signs in', async () => {
    const page = await bench.open();
    await page.getByText('No calls yet').waitFor();
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
  });

  it.each([1000, 1100, 1180, 1240, 1440])('shows both parties of a call, at %i pixels', async (width) => {
    await bench.serve();
    const page = await bench.visit('/', { viewport: { width, height: 844 } });
    fill();
    await page.locator('tbody a').waitFor();
    const isCut = 'element.scrollWidth > element.clientWidth';
    const cut = await page.evaluate(
      `[...document.querySelectorAll('tbody .parties bdi')].filter((element) => ${isCut}).length`,
    );
    expect(cut).toBe(0);
  });

  it('says nothing of how long a call was that nobody took', async () => {
    const page = await bench.open({}, { viewport: { width: 390, height: 844 } });
    const ringing = { type: 'call.status', status: 'ringing', ...IDENTITY } as const;
    bench.callOf('busy')(ringing, ended({ outcome: 'busy', endReason: 'over-capacity' }));
    await expect.poll(() => page.locator('tbody .brief').textContent()).toBe('busy · ');
  });

  it.each([1440, 1024, 390])('shows whole numbers of many live calls, at %i pixels', async (width) => {
    const page = await bench.open({}, { viewport: { width, height: 844 } });
    const phase = { type: 'phase.changed', phase: 'listening' } as const;
    for (let index = 0; index < 8; index += 1) bench.callOf(`c${index}`)(started(), say('Hello?'), phase);
    bench.callOf('over')(started(), ended());
    const lines = page.locator('article');
    await expect.poll(() => lines.count()).toBe(8);
    const cut = () =>
      page.evaluate(
        `[...document.querySelectorAll('article bdi')].filter(
          (element) => element.checkVisibility() && element.scrollWidth > element.clientWidth,
        ).length`,
      );
    await lines.nth(7).getByText('listening').waitFor();
    expect(await cut()).toBe(0);
    await page.getByRole('button', { name: 'Show numbers' }).click();
    await lines.nth(7).getByText('+15550111').waitFor();
    expect(await cut()).toBe(0);
    // Hints that are cut read like other words.
    const hints =
      await page.evaluate(`[...document.querySelectorAll('input[type=search]')].filter((element) => {
      const pen = document.createElement('canvas').getContext('2d');
      const { font, paddingInlineStart, paddingInlineEnd } = getComputedStyle(element);
      pen.font = font;
      const room = element.clientWidth - parseFloat(paddingInlineStart) - parseFloat(paddingInlineEnd);
      return pen.measureText(element.placeholder).width > room;
    }).map(({ placeholder }) => placeholder)`);
    expect(hints).toEqual([]);
  });

  it.each([
    [1440, 900],
    [1024, 768],
    [390, 844],
  ])('keeps history and commands at hand beside 200 calls, at %i pixels', async (width, height) => {
    const page = await bench.open({}, { viewport: { width, height } });
    for (let index = 0; index < 200; index += 1) bench.callOf(`c${index}`)(started(), say('Hello?'));
    const lines = page.locator('article');
    await expect.poll(() => lines.count()).toBe(200);
    const endOf = async (name: string) => {
      const box = await page.getByRole('heading', { name }).boundingBox();
      return (box?.y ?? height) + (box?.height ?? 0);
    };
    expect(await endOf('History')).toBeLessThan(height);
    for (const name of ['Transfer', 'Hang up'])
      expect(await lines.first().getByRole('button', { name }).isVisible()).toBe(true);
    await lines.last().getByRole('button', { name: 'Hang up' }).click();
    await lines.last().getByRole('button', { name: 'End call' }).click();
    await expect.poll(() => bench.server.commands).toEqual(['hangup c199']);
    await lines.last().getByRole('button', { name: 'In full' }).click();
    expect(await endOf('History')).toBeLessThan(height);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(await seriousFindings(page)).toEqual([]);
    expect(bench.troubles).toEqual([]);
  });

  it.each([1180, 1320, 1440])('draws no curve over a figure, at %i pixels', async (width) => {
    await bench.serve();
    const page = await bench.visit('/', { viewport: { width, height: 844 } });
    const cost = { stt: 4000, llm: 4000, tts: 4000, telephony: 345.67, total: 12_345.67 };
    for (let index = 0; index < 4; index += 1)
      bench.callOf(`c${index}`)(
        started(),
        { type: 'cost.updated', cost: { ...cost, currency: 'USD', estimated: false }, usage: null },
        ended(),
      );
    await page.getByText('4 calls').waitFor();
    const overlaps = await page.locator('.counters > div').evaluateAll(
      (figures) =>
        figures.filter((figure) => {
          const value = document.createRange();
          value.selectNodeContents(figure.querySelector('dd') as Element);
          const curve = figure.querySelector('svg')?.getBoundingClientRect();
          return curve !== undefined && curve.width > 0 && curve.left < value.getBoundingClientRect().right;
        }).length,
    );
    expect(overlaps).toBe(0);
  });

  it('has nothing serious against its sign-in form', async () => {
    const page = await bench.open({ token: 'abc' });
    await page.getByLabel('Dashboard token').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('does everything by keyboard: range, filter, order, a call, its end', async () => {
    const page = await bench.open();
    fill();
    await page.locator('tbody a').waitFor();
    const focused = () =>
      page.evaluate(
        "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()",
      );
    const tabTo = async (name: string) => {
      for (let step = 0; step < 40; step += 1) {
        await page.keyboard.press('Tab');
        if (String(await focused()).startsWith(name)) return;
      }
      throw new Error(`The Tab key does not lead to ${name}.`);
    };
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Alerts');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.getByText('Alerts on').waitFor();
    await page.keyboard.press('Escape');
    expect(await focused()).toBe('Alerts on');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => page.locator('input[name=range]:checked + span').textContent()).toBe('24 h');
    await tabTo('Cost, latency and failures over time');
    await page.keyboard.press('Enter');
    await page.getByRole('img', { name: 'Cost by component' }).waitFor();
    await tabTo('Hang up');
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('Keep');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => bench.server.commands).toEqual(['hangup live']);
    await tabTo('Search by number');
    await page.keyboard.type('nobody');
    await page.getByText('No call matches.').waitFor();
    await tabTo('Clear');
    await page.keyboard.press('Enter');
    await page.locator('tbody a').waitFor();
    await tabTo('Latency');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('[aria-sort]').textContent()).toContain('Latency');
    await tabTo('outbound');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Goodbye.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(bench.troubles).toEqual([]);
  });

  it('shows the same in a second tab, and keeps up in both', async () => {
    const first = await bench.open();
    const second = await bench.context.newPage();
    await second.goto(bench.server.url);
    fill();
    for (const page of [first, second]) {
      await page.locator('tbody a').waitFor();
      await page.getByText('Hello?').waitFor();
    }
    bench.callOf('more')(started(), ended());
    for (const page of [first, second]) await expect.poll(() => page.locator('tbody tr').count()).toBe(2);
  });
});
