// The page in a real browser, against a real server.
import { expect, it } from 'vitest';
import type { CallFact } from '../../src/contract/call-event.js';
import { ended, say, started, toolCall, turn } from '../support/call-facts.js';
import { describeInChromium } from '../support/dashboard-page.js';

describeInChromium('the page', (bench) => {
  const callOf = (callId: string) => bench.callOf(callId);

  it('shows a call from its first fact to its place in the history', async () => {
    const page = await bench.open();
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
    await expect.poll(() => page.locator('.counters').textContent()).toMatch(/Total calls1.*Active0/);

    await page.getByRole('button', { name: 'Show numbers' }).click();
    await page.locator('tbody').getByText('+15557771234').waitFor();
    await page.locator('tbody a').focus();
    await page.keyboard.press('Enter');
    const detail = page.getByRole('dialog');
    await detail.getByText('lemon?').waitFor();
    const widths = await detail
      .locator('.track i')
      .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().width));
    const track = await detail.locator('.track').evaluate((element) => element.getBoundingClientRect().width);
    expect(widths).toHaveLength(3);
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeCloseTo(track, 0);
    await expect.poll(() => new URL(page.url()).hash).toBe('#call=c1');
    await page.keyboard.press('Escape');
    await detail.waitFor({ state: 'detached' });
    await expect.poll(() => page.url()).toBe(`${bench.server.url}/`);
    expect(bench.troubles).toEqual([]);
  });

  it('ends a call after asking, and shows no button where it cannot', async () => {
    const page = await bench.open();
    callOf('c1')(started());
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await button('Hang up').click();
    await button('Keep').click();
    expect(bench.server.commands).toEqual([]);
    await button('Hang up').click();
    await button('End call').click();
    await expect.poll(() => bench.server.commands).toEqual(['hangup c1']);
    expect(bench.troubles).toEqual([]);
    await bench.endVisit();
    await bench.endServer();
    const bare = await bench.open({ controls: null });
    callOf('c1')(started());
    await bare.locator('article').waitFor();
    expect(await bare.getByRole('button', { name: 'Hang up' }).count()).toBe(0);
  });

  it('deletes a call after asking, where a token is set, and says that it is gone', async () => {
    await bench.serve({ token: 'a-token-of-16-or-more' });
    const page = await bench.visit('/?token=a-token-of-16-or-more');
    callOf('c1')(started(), say('I would like tea.'), ended());
    await page.locator('tbody a').click();
    const detail = page.getByRole('dialog');
    await detail.getByText('I would like tea.').waitFor();
    const button = (name: string) => detail.getByRole('button', { name, exact: true });
    await button('Delete').click();
    await button('Keep').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await button('Delete').waitFor();
    expect(bench.server.commands).toEqual([]);
    await button('Delete').click();
    await button('Delete for good').click();
    await detail.getByText('This call was deleted.').waitFor();
    expect(bench.server.commands).toEqual(['forget c1']);
    await page.keyboard.press('Escape');
    await page.getByText('No calls yet').waitFor();
    expect(await page.content()).not.toContain('I would like tea.');
    await page.goto(`${bench.server.url}/#call=c1`);
    await detail.getByText('This call was deleted.').waitFor();
    await page.reload();
    await detail.getByText('No such call.').waitFor();
    expect(bench.troubles.filter((trouble) => !trouble.includes('404'))).toEqual([]);
    await bench.endVisit();
    await bench.endServer();
    const open = await bench.open();
    callOf('c2')(started(), ended());
    await open.locator('tbody a').click();
    await open.getByRole('button', { name: 'Copy as JSON' }).waitFor();
    expect(await open.getByRole('button', { name: 'Delete', exact: true }).count()).toBe(0);
  });

  it('runs nothing that a call says, through any field', async () => {
    const evil = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>{{7*7}}\u202e"\'`';
    const page = await bench.open();
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
        turn: {
          ...turn(0, { totalMs: 5 }),
          userText: evil,
          agentText: evil,
          agentTextUnheard: evil,
          toolCalls: [toolCall({ name: evil, startedAt: Date.now(), durationMs: null, error: evil })],
        },
      },
      say(evil, { id: 'tool', role: 'tool' }),
      { type: 'incident.noted', code: evil, message: evil },
      { type: 'transfer.updated', to: evil, result: 'failed' },
      ended({ error: { code: evil, message: evil } }),
      { type: 'recording.completed', recording: { url: evil, durationMs: null, status: 'completed' } },
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
    expect(bench.troubles).toEqual([]);
  });

  it('opens a call from its address, whether or not the page holds it', async () => {
    await bench.serve();
    callOf('old')(started(), say('Long ago.'), ended());
    await bench.server.bus.settled();
    const page = await bench.visit('/dashboard#call=old');
    await page.getByRole('dialog').getByText('Long ago.').waitFor();
    await page.goto(`${bench.server.url}/dashboard#call=gone`);
    await page.getByRole('dialog').getByText('No such call.').waitFor();
  });

  it('tells the truth about its connection, and catches up after it', async () => {
    const page = await bench.open();
    const publish = callOf('c1');
    publish(started());
    await page.locator('article').waitFor();
    await page.getByText('Live', { exact: true }).first().waitFor();
    const { bus, store, port } = bench.server;
    await bench.endServer();
    await page.getByText('Reconnecting…').waitFor();
    await bench.serve({ bus, store, port });
    publish(say('Still there?'));
    await page.getByText('Still there?').waitFor();
    expect(await page.locator('.connection.live').count()).toBe(1);
  });

  it('says that the server is about to stop, and takes it back when it is there again', async () => {
    const page = await bench.open();
    const publish = bench.callOf('c1');
    publish(started());
    await page.locator('article').waitFor();
    bench.server.announceDrain();
    await page.getByText('Server is shutting down').waitFor();
    publish(say('Still talking.'));
    await page.getByText('Still talking.').waitFor();
    const late = await bench.context.newPage();
    await late.goto(bench.server.url);
    await late.getByText('Server is shutting down').waitFor();
    const { bus, store, port } = bench.server;
    await bench.endServer();
    await page.getByText('Reconnecting…').waitFor();
    await bench.serve({ bus, store, port });
    // The browser comes back after two seconds.
    await page.getByText('Server is shutting down').waitFor({ state: 'detached' });
  });

  it('says that the broker of the cluster is away, and takes it back', async () => {
    const page = await bench.open();
    await page.getByText('Live', { exact: true }).first().waitFor();
    bench.server.announceBroker(false);
    await page.getByText('Broker is away').waitFor();
    const late = await bench.context.newPage();
    await late.goto(bench.server.url);
    await late.getByText('Broker is away').waitFor();
    bench.server.announceBroker(true);
    for (const each of [page, late]) await each.getByText('Broker is away').waitFor({ state: 'detached' });
  });

  it('signs in by address or by form, and leaves no token behind', async () => {
    const page = await bench.open(
      { token: 'correct horse' },
      { path: '/?token=correct%20horse&x=1#call=none' },
    );
    await page.getByText('Live', { exact: true }).first().waitFor();
    await expect.poll(() => page.url()).toBe(`${bench.server.url}/?x=1#call=none`);
    expect(bench.troubles.filter((line) => !line.includes('404'))).toEqual([]);
    await bench.endVisit();
    const signedOut = await bench.visit('/');
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

  it.each(['/tools/phone/', '/tools/phone/dashboard'])('works behind a path prefix, at %s', async (path) => {
    const page = await bench.open({ prefix: '/tools/phone', token: 'abc' }, { path: `${path}?token=abc` });
    callOf('c1')(started());
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByRole('button', { name: 'End call' }).click();
    await expect.poll(() => bench.server.commands).toEqual(['hangup c1']);
    callOf('c2')(started(), ended());
    await page.locator('tbody tr').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^offhook-calls-.*\.csv$/);
    expect(bench.troubles).toEqual([]);
  });

  it.each([390, 1440])('fits %i pixels without scrolling sideways', async (width) => {
    const page = await bench.open();
    await page.setViewportSize({ width, height: 844 });
    callOf('c1')(
      started({ caller: '+15557771234' }),
      say('word '.repeat(80)),
      say('x'.repeat(300), { id: 'e2' }),
    );
    const long = 'z'.repeat(300);
    const provider = { engine: null, stt: long, llm: long, tts: long };
    callOf('c2')(
      { ...started({ caller: `${long} of no number` }), provider } as CallFact,
      say('y'.repeat(300)),
      { type: 'incident.noted', code: long, message: long },
      { type: 'transfer.updated', to: long, result: 'failed' },
      {
        type: 'turn.completed',
        turn: {
          ...turn(0, { totalMs: 9 }),
          toolCalls: [toolCall({ name: long, startedAt: 1, durationMs: null, error: long })],
        },
      },
      ended({
        endReason: 'over-capacity',
        outcome: 'no-answer',
        error: { code: long, message: long },
      }),
    );
    await page.locator('tbody tr').waitFor();
    const overflow = () => page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(await overflow()).toBeLessThanOrEqual(0);
    await page.locator('tbody a').click();
    const sheet = page.locator('dialog');
    await sheet.getByText('y'.repeat(300)).waitFor();
    expect(await sheet.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
    const close = await sheet.getByRole('button', { name: 'Close' }).boundingBox();
    expect((close?.x ?? width) + (close?.width ?? 0)).toBeLessThanOrEqual(width);
    expect(bench.troubles).toEqual([]);
  });
});
