// Calls that are up and the call that is open, in a real browser.
import { expect, it } from 'vitest';
import type { AudioEnvelope } from '../../src/contract/call-record.js';
import { ended, say, started, toolCall, turn } from '../support/call-facts.js';
import { describeInChromium } from '../support/dashboard-page.js';

const base64Of = (...values: number[]) => Buffer.from(Int8Array.from(values).buffer).toString('base64');

const TOKEN = 'correct-horse-battery';

describeInChromium('live calls', (bench) => {
  it('shows where the time of the last answer and the money went', async () => {
    const page = await bench.open();
    const publish = bench.callOf('c1');
    const cost = { stt: 0.0012, llm: 0.0004, tts: null, telephony: 0.01, total: 0.0116 };
    publish(
      started(),
      { type: 'turn.completed', turn: turn(0) },
      { type: 'turn.completed', turn: turn(1, { endpointingMs: 500, llmFirstTokenMs: 700, totalMs: 1200 }) },
      { type: 'cost.updated', cost: { ...cost, currency: 'USD', estimated: true }, usage: null },
    );
    const card = page.locator('article');
    await card.getByText('Turn 2 answered in 1.20 s').waitFor();
    await card.getByText('phone $0.0100').waitFor();
    expect(await card.textContent()).toContain('Cost $0.0116STT $0.0012LLM $0.0004');
    expect(await card.getByRole('img', { name: 'First token 700 ms' }).count()).toBe(1);
    expect(bench.troubles).toEqual([]);
  });

  it('says of a tool that it has no result yet, not that it speaks', async () => {
    const page = await bench.open();
    const publish = bench.callOf('c1');
    publish(started(), say('find_slot', { id: 'tool-1', role: 'tool', final: false }));
    const transcript = page.locator('article .transcript');
    await transcript.getByText('find_slot (no result yet)').waitFor();
    publish(say('find_slot: 9:40', { id: 'tool-1', role: 'tool' }), say('And', { id: 'e2', final: false }));
    await transcript.getByText('And (still speaking)').waitFor();
    expect(await transcript.getByText('no result').count()).toBe(0);
  });

  it('shows the phase of a call as it changes, in the list and in full, with its time', async () => {
    const page = await bench.open();
    const publish = bench.callOf('c1');
    publish(started(), { type: 'phase.changed', phase: 'listening' });
    const label = page.locator('article .phase');
    await label.getByText('listening').waitFor();
    publish({ type: 'phase.changed', phase: 'speaking', previous: 'listening' });
    await label.getByText('speaking').waitFor();
    expect(await label.count()).toBe(1);
    await page.locator('article a.open').click();
    const detail = page.getByRole('dialog');
    await detail.locator('.phase').getByText('speaking').waitFor();
    // A busy machine may draw none of a certain second.
    await detail
      .getByRole('timer', { name: 'Time in this phase' })
      .getByText(/^\d+:(?!00)\d\d$/)
      .waitFor();
    publish(ended());
    await detail.getByText('caller hangup').first().waitFor();
    expect(await page.locator('.phase').count()).toBe(0);
    expect(bench.troubles).toEqual([]);
  });

  it('hands a call over to a number with its country code, and says why it cannot', async () => {
    const page = await bench.open();
    bench.callOf('c1')(started());
    await page.getByRole('button', { name: 'Transfer' }).click();
    const number = page.getByLabel('Number to transfer to');
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('to');
    await number.fill('5550123');
    await number.press('Enter');
    expect(bench.server.commands).toEqual([]);
    await number.press('Escape');
    await number.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Transfer' }).click();
    await number.fill('+1 (555) 012-3');
    await number.press('Enter');
    await page.getByText('Transferring…').waitFor();
    await expect.poll(() => bench.server.commands).toEqual(['transfer c1 +15550123']);
  });

  it('says what became of a transfer, and takes another one', async () => {
    const page = await bench.open();
    const publish = bench.callOf('c1');
    publish(started());
    const number = page.getByLabel('Number to transfer to');
    const order = async (to: string) => {
      await page.getByRole('button', { name: 'Transfer' }).click();
      await number.fill(to);
      await number.press('Enter');
      await page.getByText('Transferring…', { exact: true }).waitFor();
    };
    await order('+15550123');
    publish({ type: 'transfer.updated', to: '+15550123', result: null });
    await page.getByText('Transferring to ••• 0123…').waitFor();
    publish({ type: 'transfer.updated', to: '+15550123', result: 'busy' });
    await page.getByText('Transfer to ••• 0123: busy').waitFor();
    await order('+15550124');
    publish({ type: 'transfer.updated', to: '+15550124', result: null });
    publish({ type: 'transfer.updated', to: '+15550124', result: 'no-answer' });
    await page.getByText('Transfer to ••• 0124: no answer').waitFor();
    await page.getByRole('button', { name: 'Transfer' }).waitFor();
    expect(bench.troubles).toEqual([]);
  });

  it('has the agent say what a person writes, and its model know, behind a token', async () => {
    const page = await bench.open({ token: TOKEN }, { path: `/?token=${TOKEN}` });
    bench.callOf('c1')(started());
    await page.locator('article a.open').click();
    await page.getByRole('button', { name: 'Say' }).click();
    const text = page.getByLabel('What the agent says');
    await text.press('Enter');
    expect(bench.server.commands).toEqual([]);
    await text.fill('We close in ten minutes.');
    await page.getByLabel('at once').check();
    await text.press('Enter');
    await page.getByText('The caller heard it.').waitFor();
    await page.getByRole('button', { name: 'Inform' }).click();
    await page.getByLabel('What the model is told').fill('The order is ready.');
    await page.getByRole('button', { name: 'Inform' }).click();
    await page.getByText('The model knows.').waitFor();
    expect(bench.server.commands).toEqual([
      'say c1 We close in ten minutes. {"interrupt":true}',
      'inform c1 The order is ready.',
    ]);
    expect(bench.troubles).toEqual([]);
  });

  it('lets nobody speak where no token is set', async () => {
    const page = await bench.open();
    bench.callOf('c1')(started());
    await page.locator('article a.open').click();
    await page.getByRole('button', { name: 'Hang up' }).last().waitFor();
    expect(await page.getByRole('button', { name: /Say|Inform/ }).count()).toBe(0);
  });

  it('offers a command again of which nothing comes', async () => {
    const page = await bench.open({}, { withClock: true });
    bench.callOf('c1')(started());
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByRole('button', { name: 'End call' }).click();
    await page.getByText('Hanging up…').waitFor();
    await page.clock.fastForward(15_000);
    await page.getByText('Nothing has come of it yet.').waitFor();
    await page.getByRole('button', { name: 'Hang up' }).waitFor();
  });

  it('keeps a form that is open, and what was typed, when more calls arrive', async () => {
    const page = await bench.open();
    for (let index = 0; index < 4; index += 1) bench.callOf(`c${index}`)(started());
    await page.getByRole('button', { name: 'Transfer' }).nth(2).click();
    const number = page.getByLabel('Number to transfer to');
    await number.pressSequentially('+1555');
    bench.callOf('c4')(started());
    await expect.poll(() => page.locator('article.line').count()).toBe(5);
    await number.pressSequentially('0123');
    expect(await number.inputValue()).toBe('+15550123');
    await number.press('Enter');
    await expect.poll(() => bench.server.commands).toEqual(['transfer c2 +15550123']);
  });

  it('says in a line, too, that a transfer has failed, for as long as the call is up', async () => {
    const page = await bench.open();
    const calls = Array.from({ length: 5 }, (_, index) => bench.callOf(`c${index}`));
    for (const publish of calls) publish(started());
    const line = page.locator('article.line').nth(1);
    calls[1]?.({ type: 'transfer.updated', to: '+15550123', result: null });
    calls[1]?.({ type: 'transfer.updated', to: '+15550123', result: 'busy' }, say('I am sorry.'));
    await line.getByText('Transfer: busy · I am sorry.').waitFor();
    calls[1]?.({ type: 'transfer.updated', to: '+15550124', result: null });
    await expect.poll(() => line.getByText('Transfer: busy').count()).toBe(0);
    calls[1]?.({ type: 'transfer.updated', to: '+15550124', result: 'connected' });
    await line.getByText('I am sorry.').waitFor();
    expect(await line.getByText('Transfer: ').count()).toBe(0);
    expect(bench.troubles).toEqual([]);
  });

  it('says by itself since when it has heard nothing', async () => {
    const page = await bench.open({}, { withClock: true });
    await page.getByText('Live', { exact: true }).first().waitFor();
    await bench.endServer();
    await page.getByText('Reconnecting…').waitFor();
    await page.clock.fastForward(9000);
    await page.getByText(/^Stale since/).waitFor();
  });

  it('follows what is said in a call that is open in full', async () => {
    const page = await bench.open();
    const publish = bench.callOf('c1');
    publish(started(), say('Hello?'));
    await page.locator('article a.open').click();
    const detail = page.getByRole('dialog');
    await detail.getByText('Hello?').waitFor();
    for (let index = 0; index < 40; index += 1) publish(say(`Sentence ${index}.`, { id: `s${index}` }));
    const last = detail.getByText('Sentence 39.');
    await last.waitFor();
    await expect
      .poll(() => last.evaluate((line) => line.getBoundingClientRect().bottom <= innerHeight))
      .toBe(true);
  });

  it('shows many calls as lines, all of them, and their words as they come', async () => {
    const page = await bench.open();
    const calls = Array.from({ length: 200 }, (_, index) => bench.callOf(`c${index}`));
    for (const publish of calls) publish(started());
    const lines = page.locator('article.line');
    await expect.poll(() => lines.count()).toBe(200);
    calls[199]?.(say('Is anybody there?'));
    await lines.getByText('Is anybody there?').waitFor();
    for (const publish of calls.slice(3)) publish(ended());
    await expect.poll(() => page.locator('article').count()).toBe(3);
    expect(await lines.count()).toBe(0);
    await page.getByText('197 calls').waitFor();
    expect(bench.troubles).toEqual([]);
  });

  it('finds one of many calls, puts first who waits or has trouble, and opens one in full', async () => {
    const page = await bench.open();
    const calls = Array.from({ length: 200 }, (_, index) => bench.callOf(`c${index}`));
    for (const [index, publish] of calls.entries())
      publish(started({ caller: `+1555${String(index).padStart(7, '0')}` }), say(`Caller ${index}.`));
    const lines = page.locator('article');
    await expect.poll(() => lines.count()).toBe(200);
    const search = page.getByLabel('Search live calls');
    await search.fill('+1 555 000-0123');
    await expect.poll(() => lines.count()).toBe(1);
    await lines.getByText('Caller 123.').waitFor();
    await search.fill('nobody');
    await page.getByText('No live call matches.').waitFor();
    await search.fill('');
    await expect.poll(() => lines.count()).toBe(200);
    calls[150]?.({ type: 'phase.changed', phase: 'thinking' });
    calls[170]?.({ type: 'incident.noted', code: 'turn-failed', message: 'It failed.' });
    const order = page.getByLabel('Order of live calls');
    await order.selectOption('waiting');
    await lines.first().getByText('Caller 150.').waitFor();
    await order.selectOption('trouble');
    await lines.first().getByText('Turn failed').waitFor();
    await lines.first().getByRole('button', { name: 'In full' }).click();
    await expect.poll(() => page.locator('article:not(.line)').count()).toBe(1);
    await lines.first().getByText('Nothing said yet').waitFor({ state: 'detached' });
    // Who points at a call finds it where it was.
    calls[180]?.({ type: 'incident.noted', code: 'turn-failed', message: 'It failed.' });
    await page.getByText('Turn failed').nth(1).waitFor();
    expect(await lines.first().evaluate((line) => line.classList.contains('line'))).toBe(false);
    await lines.nth(1).getByRole('button', { name: 'In full' }).click();
    await expect.poll(() => page.locator('article:not(.line)').count()).toBe(1);
    await page.getByRole('heading', { name: 'History' }).click();
    await page.mouse.move(5, 5);
    await lines.first().getByText('Caller 180.').waitFor();
    // Nor does every browser tell that the focus is gone with the call that had it.
    await page.evaluate(
      "addEventListener('focusout', (event) => event.stopImmediatePropagation(), { capture: true, once: true })",
    );
    await lines.first().getByRole('button', { name: 'In full' }).focus();
    calls[180]?.(ended());
    await expect.poll(() => lines.count()).toBe(199);
    calls[190]?.({ type: 'incident.noted', code: 'turn-failed', message: 'It failed.' });
    await lines.first().getByText('Caller 190.').waitFor();
    expect(bench.troubles).toEqual([]);
  });

  it('keeps the keyboard among the calls when the one that has it ends', async () => {
    const page = await bench.open();
    const calls = Array.from({ length: 7 }, (_, index) => bench.callOf(`c${index}`));
    for (const [index, publish] of calls.entries()) publish(started(), say(`Caller ${index}.`));
    const lines = page.locator('article');
    await expect.poll(() => lines.count()).toBe(7);
    const focused = lines.filter({ has: page.locator(':focus') });
    await lines.nth(2).getByRole('link').focus();
    await page.keyboard.press('Tab');
    await focused.getByText('Caller 2.').waitFor();
    calls[2]?.(ended());
    await focused.getByText('Caller 3.').waitFor();
    // Behind the last one there is none: the one before it.
    await lines.last().getByRole('link').focus();
    await page.keyboard.press('Tab');
    calls[6]?.(ended());
    await focused.getByText('Caller 5.').waitFor();
    // Who has pressed a button with the mouse does not want the keyboard anywhere.
    await lines.first().getByRole('button', { name: 'In full' }).click();
    calls[0]?.(ended());
    await expect.poll(() => lines.count()).toBe(4);
    expect(await focused.count()).toBe(0);
    expect(bench.troubles).toEqual([]);
  });

  it('alerts in the ways that were chosen, when a call fails and when a caller waits', async () => {
    const page = await bench.open({}, { withClock: true });
    // A browser without a window shows no notification and makes no sound.
    await page.addInitScript(`
      window.alerts = [];
      window.Notification = class extends EventTarget {
        static permission = 'granted';
        static async requestPermission() { return 'granted'; }
        constructor(title, { body }) { super(); window.alerts.push(body); }
      };
      const { start } = OscillatorNode.prototype;
      OscillatorNode.prototype.start = function (at) { window.alerts.push('tone'); start.call(this, at); };
      document.hasFocus = () => window.isHere ?? false;
    `);
    await page.reload();
    const heard = () => page.evaluate('window.alerts.splice(0)');
    const fail = (callId: string) => {
      bench.callOf(callId)(
        started({ caller: '+15557771234' }),
        ended({ endReason: 'provider-failed', error: { code: 'PROVIDER_FAILED', message: 'Gone.' } }),
      );
    };
    fail('before');
    await page.getByText('1 call', { exact: true }).waitFor();
    expect(await heard()).toEqual([]);
    // The title follows what is drawn.
    await expect.poll(() => page.title()).toBe('offhook');
    await page.getByText('Alerts', { exact: true }).click();
    for (const way of ['In the title of this tab', 'By a sound', 'By a notification'])
      await page.getByLabel(way).check();
    await expect.poll(heard).toEqual(['tone', 'tone']);
    fail('c1');
    bench.callOf('fine')(started(), ended());
    await expect.poll(() => page.title()).toBe('⚠ 1 · offhook');
    expect(await heard()).toEqual(['Call from ••• 1234 failed: provider failed', 'tone', 'tone']);
    const publish = bench.callOf('c2');
    const before = Number(await page.evaluate('Date.now()'));
    publish(started({ caller: '+15557770002' }), { type: 'phase.changed', phase: 'thinking' });
    await page.locator('article').waitFor();
    // However long the page took to show it, which counts: its clock goes on by itself until it stands still here.
    await page.clock.pauseAt(before + 9000);
    expect(await heard()).toEqual([]);
    await page.clock.runFor(10_000);
    expect(await heard()).toEqual([
      'Call from ••• 0002: the caller has been waiting for 10 s',
      'tone',
      'tone',
    ]);
    await page.clock.resume();
    await expect.poll(() => page.title()).toBe('⚠ 2 · (1) offhook');
    await page.evaluate("window.isHere = true; window.dispatchEvent(new Event('focus'))");
    await expect.poll(() => page.title()).toBe('(1) offhook');
    // A page that is loaded anew would tell of its caller again, at any time from now on.
    publish(ended());
    await expect.poll(() => page.title()).toBe('offhook');
    // What was chosen stays.
    await page.reload();
    await page.locator('.connection.live').waitFor();
    await page.getByText('4 calls', { exact: true }).waitFor();
    await page.getByText('Alerts on').click();
    await page.getByLabel('By a sound').uncheck();
    expect(await page.getByLabel('In the title of this tab').isChecked()).toBe(true);
    fail('c3');
    await expect.poll(heard).toEqual(['Call from ••• 1234 failed: provider failed']);
    expect(bench.troubles).toEqual([]);
  });

  it('sounds once for all that it could not sound of before somebody pressed something', async () => {
    const page = await bench.open({}, { withClock: true });
    await page.addInitScript(`
      localStorage.setItem('offhook.alerts', 'sound');
      window.tones = 0;
      OscillatorNode.prototype.start = () => void (window.tones += 1);
      OscillatorNode.prototype.stop = () => {};
      Object.defineProperty(AudioContext.prototype, 'state', { get: () => window.state ?? 'suspended' });
      AudioContext.prototype.resume = async function () {
        if (!window.isPressed) throw new DOMException('Nobody has pressed anything.', 'NotAllowedError');
        window.state = 'running';
        this.dispatchEvent(new Event('statechange'));
      };
    `);
    await page.reload();
    const tones = () => page.evaluate('window.tones');
    for (const callId of ['c1', 'c2', 'c3']) {
      bench.callOf(callId)(
        started(),
        ended({ endReason: 'provider-failed', error: { code: 'PROVIDER_FAILED', message: 'Gone.' } }),
      );
      await page.locator(`a[href="#call=${callId}"]`).first().waitFor();
      await page.clock.runFor(4000);
    }
    expect(await tones()).toBe(0);
    await page.evaluate('window.isPressed = true');
    await page.getByRole('heading', { name: 'History' }).click();
    await expect.poll(tones).toBe(2);
    await page.getByRole('heading', { name: 'History' }).click();
    expect(await tones()).toBe(2);
    expect(bench.troubles).toEqual([]);
  });

  it('offers no notifications where the browser allows none', async () => {
    const page = await bench.open({}, { withClock: true });
    await page.addInitScript("Notification.requestPermission = async () => 'denied';");
    await page.reload();
    await page.getByText('Alerts', { exact: true }).click();
    await page.getByLabel('By a notification').click();
    await page.getByText('This browser shows no notifications of this page.').waitFor();
    expect(await page.getByLabel('By a notification').isChecked()).toBe(false);
  });

  it('tells an ended call whole: sound, tools, timeline, recording, and its JSON', async () => {
    const page = await bench.open();
    const startedAt = Date.now();
    const envelope: AudioEnvelope = {
      startedAt,
      bucketMs: 1000,
      caller: base64Of(0, 0, -100, 100, 0, 0, 0, 0),
      agent: base64Of(-50, 60, 0, 0, 0, 0, -20, 20),
      marksMs: [900],
      clearsMs: [3500],
    };
    const tool = toolCall({ name: 'find_slot', startedAt: startedAt + 5, durationMs: 120, error: null });
    const slow = { ...tool, name: 'call_back', durationMs: null };
    bench.callOf('c1')(
      started(),
      say('Friday?'),
      {
        type: 'turn.completed',
        turn: { ...turn(0, { totalMs: 900 }), startedAt: startedAt + 1000, toolCalls: [tool, slow] },
      },
      { type: 'incident.noted', code: 'stream-replaced', message: 'The stream came back.' },
      { type: 'transfer.updated', to: '+15550199', result: null },
      { type: 'transfer.updated', to: '+15550199', result: 'busy' },
      { type: 'audio.measured', envelope },
      ended(),
      {
        type: 'recording.completed',
        recording: { url: 'https://carrier.example/r/1', durationMs: 4000, status: 'completed' },
      },
    );
    await page.locator('tbody a').click();
    const detail = page.getByRole('dialog');
    await detail.getByRole('img', { name: /over 0:04, with 1 turn and 1 interruption$/ }).waitFor();
    expect(await detail.locator('.envelope path.caller').getAttribute('d')).toMatch(/^M.+Z$/);
    expect(await detail.locator('.envelope .tick-clear').count()).toBe(1);
    const timeline = await detail.locator('.timeline').textContent();
    expect(timeline).toMatch(/Ringing.*Stream replaced The stream came back\..*Ended caller hangup/);
    expect(timeline).toContain('Tool find_slot 120 ms');
    expect(timeline).toContain('Tool call_back went on after its turn');
    expect(timeline).toMatch(/Transfer to ••• 0199 busy/);
    const link = detail.getByRole('link', { name: 'Recording' });
    expect(await link.getAttribute('href')).toBe('https://carrier.example/r/1');
    // A browser without a window has no clipboard to read from.
    await page.evaluate('navigator.clipboard.writeText = async (text) => { window.copied = text; }');
    await detail.getByRole('button', { name: 'Copy as JSON' }).click();
    await detail.getByText('Copied', { exact: true }).waitFor();
    const copied = JSON.parse(await page.evaluate('window.copied')) as object;
    expect(copied).toMatchObject({ callId: 'c1', envelope, transfer: { result: 'busy' } });
    expect(bench.troubles).toEqual([]);
  });

  it('never makes a link of an address that is none', async () => {
    const page = await bench.open();
    const url = 'javascript:alert(1)';
    bench.callOf('c1')(started(), ended(), {
      type: 'recording.completed',
      recording: { url, durationMs: null, status: 'completed' },
    });
    await page.locator('tbody a').click();
    await page.getByRole('dialog').getByText('Timeline').waitFor();
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
  });

  it('stays small while a thousand calls go through', async () => {
    const page = await bench.open();
    const session = await bench.context.newCDPSession(page);
    const heapBytes = async () => {
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Runtime.getHeapUsage')).usedSize;
    };
    let next = 0;
    const pass = async (count: number) => {
      const last = next + count;
      for (; next < last; next += 1) {
        const words = [say('word '.repeat(40)), say('Yes.', { id: 'e2', role: 'agent' })];
        const callId = `c${next}`;
        bench.callOf(callId)(
          started(),
          ...words,
          { type: 'turn.completed', turn: turn(0, { totalMs: 700 }) },
          ended(),
        );
      }
      await page.locator(`a[href="#call=c${last - 1}"]`).waitFor();
      await expect.poll(() => page.locator('article').count()).toBe(0);
    };
    // Until everything that is bounded is full.
    for (let hundred = 0; hundred < 6; hundred += 1) await pass(100);
    const before = await heapBytes();
    for (let hundred = 0; hundred < 10; hundred += 1) await pass(100);
    // What is being drawn is let go of soon: what is kept stays.
    await expect.poll(async () => (await heapBytes()) / before).toBeLessThan(1.3);
    expect(bench.troubles).toEqual([]);
  });
});
