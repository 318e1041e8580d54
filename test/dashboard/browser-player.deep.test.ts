// A call in detail, in a real browser: its recording, its address, and the calls beside it.
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { wavHeader } from '../../src/audio/wav-header.js';
import { RecordingError } from '../../src/base/errors.js';
import type { CallFact } from '../../src/contract/call-event.js';
import type { LocalRecording } from '../../src/contract/call-record.js';
import type { RecordingSource } from '../../src/dashboard/call-audio.js';
import { ended, say, started, toolCall, turn } from '../support/call-facts.js';
import { describeInChromium } from '../support/dashboard-page.js';
import { seriousFindings } from '../support/page-findings.js';

const SECONDS = 60;
/** As long as a player waits before it asks why. */
const PATIENCE_MS = 8000;

/** Silence in a format of the line. */
function silence(encoding: 'mulaw' | 'alaw' | 'pcm', seconds = SECONDS): Uint8Array {
  const [sampleRateHz, sampleBytes] = encoding === 'pcm' ? [16_000, 2] : [8000, 1];
  // Source: ITU-T G.711: the codes of a sample of 0.
  const samples = Buffer.alloc(
    2 * sampleBytes * sampleRateHz * seconds,
    { mulaw: 0xff, alaw: 0xd5, pcm: 0 }[encoding],
  );
  return Buffer.concat([wavHeader({ sampleRateHz, channels: 2, encoding }, samples.length), samples]);
}

const WAV = silence('mulaw');

/** Gives out `wav` until `refusal` is set. */
class OneRecording implements RecordingSource {
  wav = WAV;
  refusal: RecordingError | undefined;
  /** From this byte on it is damaged. */
  brokenAt = Number.POSITIVE_INFINITY;
  /** How often it was asked for. */
  asked = 0;

  async read() {
    this.asked += 1;
    if (this.refusal !== undefined) throw this.refusal;
    const { wav, brokenAt } = this;
    return {
      size: wav.length,
      async *read(start: number, end: number) {
        if (start < brokenAt) yield wav.subarray(start, Math.min(end, brokenAt));
        if (end > brokenAt) throw new RecordingError('RECORDING_DAMAGED', 'The recording is damaged here.');
      },
      async close() {},
    };
  }
}

function recordingOf(
  callId: string,
  change: Partial<LocalRecording> & { startedAt: number },
): LocalRecording {
  return {
    status: 'completed',
    file: `${callId}.wav`,
    durationMs: SECONDS * 1000,
    bytes: WAV.length,
    pauses: [],
    trouble: null,
    ...change,
  };
}

describeInChromium('a call in detail', (bench) => {
  /** A call of a minute, recorded from `began` on: a turn every ten seconds. */
  function recorded(
    callId: string,
    change: Partial<LocalRecording> = {},
    facts: readonly CallFact[] = [],
    tell = bench.callOf(callId),
  ): number {
    const began = Date.now() - SECONDS * 1000;
    const recording = recordingOf(callId, { startedAt: began, ...change });
    const turns = Array.from({ length: 5 }, (_, index): CallFact[] => {
      const at = began + 10_000 * index;
      const latency = { endpointingMs: 300, llmFirstTokenMs: 500 + 10 * index, totalMs: 800 + 10 * index };
      return [
        {
          type: 'transcript.segment',
          entry: {
            id: `u${index}`,
            turnIndex: index,
            role: 'user',
            text: `Question ${index}?`,
            at,
            final: true,
          },
        },
        {
          type: 'transcript.segment',
          entry: {
            id: `a${index}`,
            turnIndex: index,
            role: 'agent',
            text: `Answer ${index}.`,
            at: at + 5000,
            final: true,
          },
        },
        { type: 'turn.completed', turn: { ...turn(index, latency), startedAt: at } },
      ];
    }).flat();
    tell(started(), ...turns, ...facts, ended(), {
      type: 'local-recording.updated',
      recording,
    });
    return began;
  }

  function forget(callId: string): void {
    bench.server.publish({
      type: 'call.forgotten',
      callId,
      nodeId: 'node-1',
      term: 9,
      seq: 1,
      at: Date.now(),
    });
  }

  const isPaused = (page: Page) => page.locator('audio').evaluate((audio: HTMLAudioElement) => audio.paused);
  const secondsOf = (page: Page) =>
    page.locator('audio').evaluate((audio: HTMLAudioElement) => audio.currentTime);
  const said = (page: Page) => page.locator('[aria-current] p').first();

  it('plays on when the record is told again', async () => {
    const page = await bench.open({ recordings: new OneRecording() });
    const tell = bench.callOf('c1');
    const startedAt = recorded('c1', {}, [], tell);
    await page.locator('tbody a').click();
    const detail = page.getByRole('dialog');
    await detail.getByRole('button', { name: 'Play' }).click();
    await expect.poll(() => secondsOf(page)).toBeGreaterThan(0);
    tell({
      type: 'local-recording.updated',
      recording: recordingOf('c1', { startedAt, durationMs: 59_000 }),
    });
    await detail.getByText('/ 0:59').waitFor();
    expect(await isPaused(page)).toBe(false);
    expect(await page.locator('audio').getAttribute('src')).toContain('c1');
    expect(bench.troubles).toEqual([]);
  });

  it('plays the recording, whose transcript follows, and goes where a click leads', async () => {
    const page = await bench.open({ recordings: new OneRecording() });
    recorded('c1');
    await page.locator('tbody a').click();
    const detail = page.getByRole('dialog');
    await detail.getByText('0:00 / 1:00').waitFor();
    await detail.getByRole('button', { name: 'Go to 0:15' }).click();
    await expect.poll(() => said(page).textContent()).toBe('Answer 1.');
    await expect.poll(() => secondsOf(page)).toBe(15);
    expect(await page.locator('.word').textContent()).toBe('Answer');
    await expect.poll(() => new URL(page.url()).hash).toBe('#call=c1&t=15');
    await detail.getByRole('button', { name: 'Play' }).click();
    await detail.getByRole('button', { name: 'Pause' }).waitFor();
    await expect.poll(() => secondsOf(page)).toBeGreaterThan(15);
    await expect.poll(() => page.locator('.word').textContent()).toBe('1');
    await detail.getByLabel('Speed').selectOption('2');
    await detail.getByRole('button', { name: 'Go to 0:20' }).click();
    await expect.poll(() => said(page).textContent()).toBe('Question 2?');
    await detail.getByRole('button', { name: 'Pause' }).click();
    await expect.poll(() => isPaused(page)).toBe(true);
    await detail.getByRole('button', { name: 'Go to turn 4' }).click();
    await expect.poll(() => secondsOf(page)).toBe(30);
    await expect.poll(() => said(page).textContent()).toBe('Question 3?');
    // What is said is brought in sight when it is drawn, which may move the picture while it is looked for.
    const picture = detail.locator('.envelope');
    const width = await picture.evaluate((element) => element.getBoundingClientRect().width);
    await picture.click({ position: { x: width / 4, y: 20 }, force: true });
    await expect.poll(() => secondsOf(page)).toBeCloseTo(15, 0);
    expect(bench.troubles).toEqual([]);
  });

  it('pauses at Space also behind a click on a time', async () => {
    const page = await bench.open({ recordings: new OneRecording() });
    recorded('c1');
    await page.locator('tbody a').click();
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByRole('button', { name: 'Go to 0:15' }).click();
    await expect.poll(() => secondsOf(page)).toBeGreaterThan(15);
    await page.keyboard.press('Space');
    await expect.poll(() => isPaused(page)).toBe(true);
    expect(await secondsOf(page)).toBeGreaterThan(15);
    expect(bench.troubles).toEqual([]);
  });

  it.each(['alaw', 'pcm'] as const)('plays a line of %s, too', async (encoding) => {
    const recordings = new OneRecording();
    recordings.wav = silence(encoding);
    const page = await bench.open({ recordings });
    recorded('c1', { bytes: recordings.wav.length });
    await page.locator('tbody a').click();
    await page.getByRole('button', { name: 'Go to 0:15' }).click();
    await page.getByRole('button', { name: 'Play' }).click();
    await expect.poll(() => secondsOf(page)).toBeGreaterThan(15);
    expect(bench.troubles).toEqual([]);
  });

  it('is played by keyboard', async () => {
    const page = await bench.open({ recordings: new OneRecording() });
    recorded('c1');
    await page.locator('tbody a').click();
    await page.getByText('0:00 / 1:00').waitFor();
    await expect
      .poll(() => page.locator('audio').evaluate((audio: HTMLAudioElement) => audio.readyState))
      .toBe(4);
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowLeft']) await page.keyboard.press(key);
    await expect.poll(() => secondsOf(page)).toBe(10);
    await expect.poll(() => said(page).textContent()).toBe('Question 1?');
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Play' }).waitFor();
    await page.getByLabel('Place in the call').focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => secondsOf(page)).toBeGreaterThanOrEqual(15);
    expect(bench.troubles).toEqual([]);
  });

  it.each([
    ['RECORDING_LOCKED', 'The recording is encrypted: set localRecording.key to its key.'],
    ['RECORDING_DAMAGED', 'The recording is damaged and cannot be played.'],
    ['RECORDING_ABSENT', 'This server keeps no recordings: ask the one that took the call.'],
  ] as const)('says why a recording cannot be played: %s', async (code, message) => {
    const recordings = new OneRecording();
    recordings.refusal = new RecordingError(code, message);
    const page = await bench.open({ recordings });
    recorded('c1');
    await page.locator('tbody a').click();
    await page.getByText(message).waitFor();
    // It is there again.
    recordings.refusal = undefined;
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByText(message).waitFor({ state: 'detached' });
  });

  it('says once that a recording is damaged in the middle, and asks for it again when told to', async () => {
    const recordings = new OneRecording();
    recordings.brokenAt = WAV.length / 2;
    const page = await bench.open({ recordings });
    recorded('c1');
    await page.locator('tbody a').click();
    const detail = page.getByRole('dialog');
    const sentence = detail.locator('.player .problem');
    await detail.getByRole('button', { name: 'Go to 0:25' }).first().click();
    for (const _ of ['once', 'twice']) {
      recordings.asked = 0;
      await detail.getByRole('button', { name: 'Play' }).click();
      await expect.poll(() => sentence.textContent()).toMatch(/damaged/);
      await detail.getByRole('button', { name: 'Play' }).waitFor();
      // Without a source there is nothing to ask for.
      expect(await page.locator('audio').evaluate((audio: HTMLAudioElement) => audio.networkState)).toBe(0);
      expect(recordings.asked).toBeLessThan(8);
    }
    // It is whole again.
    recordings.brokenAt = Number.POSITIVE_INFINITY;
    await detail.getByRole('button', { name: 'Play' }).click();
    await expect.poll(() => secondsOf(page)).toBeGreaterThanOrEqual(25);
    await sentence.waitFor({ state: 'detached' });
  });

  it('says why it waits, and stays with that', async () => {
    const recordings = new OneRecording();
    const page = await bench.open({ recordings }, { withClock: true });
    recorded('c1');
    await page.locator('tbody a').click();
    const detail = page.getByRole('dialog');
    const sentence = detail.locator('.player .problem');
    await detail.getByRole('button', { name: 'Go to 0:25' }).first().click();
    await detail.getByRole('button', { name: 'Play' }).click();
    await expect.poll(() => secondsOf(page)).toBeGreaterThan(25);
    // Its beginning is whole.
    recordings.brokenAt = WAV.length / 2;
    await page.locator('audio').dispatchEvent('waiting');
    await page.clock.fastForward(PATIENCE_MS);
    await expect.poll(() => sentence.textContent()).toMatch(/damaged/);
    await page.clock.fastForward(PATIENCE_MS);
    // Whatever would be asked now has been answered.
    await page.evaluate(() => fetch('/health'));
    expect(await sentence.textContent()).toMatch(/damaged/);
  });

  it('stays where it was, also where it went on while the server was asked', async () => {
    const recordings = new OneRecording();
    const page = await bench.open({ recordings }, { withClock: true });
    recorded('c1');
    await page.locator('tbody a').click();
    const detail = page.getByRole('dialog');
    await detail.getByRole('button', { name: 'Go to 0:25' }).first().click();
    await detail.getByRole('button', { name: 'Play' }).click();
    await expect.poll(() => secondsOf(page)).toBeGreaterThan(25);
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route('**/audio', async (route) => {
      isAsked();
      await answered;
      await route.continue();
    });
    recordings.refusal = new RecordingError('RECORDING_DAMAGED', 'The recording is damaged.');
    await page.locator('audio').dispatchEvent('waiting');
    await page.clock.fastForward(PATIENCE_MS);
    await asked;
    await page.locator('audio').dispatchEvent('playing');
    answer();
    await detail.getByText('The recording is damaged.').waitFor();
    await page.clock.runFor(200);
    expect(Number(await page.getByLabel('Place in the call').inputValue())).toBeGreaterThan(25);
  });

  it('goes to what was said behind the end of the audio', async () => {
    const recordings = new OneRecording();
    recordings.wav = silence('mulaw', 30);
    const page = await bench.open({ recordings });
    recorded('c1', { durationMs: 30_000, bytes: recordings.wav.length });
    await page.locator('tbody a').click();
    const detail = page.getByRole('dialog');
    const isThere = async () => {
      await expect.poll(() => said(page).textContent()).toBe('Answer 4.');
      await expect.poll(() => new URL(page.url()).hash).toBe('#call=c1&t=45');
    };
    await detail.getByRole('button', { name: 'Go to 0:45' }).click();
    await isThere();
    await page.reload();
    await expect.poll(() => secondsOf(page)).toBe(30);
    await isThere();
    // Also where it plays when that is chosen.
    await detail.getByRole('button', { name: 'Go to 0:10' }).first().click();
    await detail.getByRole('button', { name: 'Play' }).click();
    await expect.poll(() => secondsOf(page)).toBeGreaterThan(10);
    await detail.getByRole('button', { name: 'Go to 0:45' }).click();
    await detail.getByRole('button', { name: 'Play' }).waitFor();
    await isThere();
    expect(bench.troubles).toEqual([]);
  });

  it('goes no further than the end, wherever a link leads', async () => {
    const page = await bench.open({ recordings: new OneRecording() });
    recorded('c1');
    await bench.server.bus.settled();
    await page.goto(`${bench.server.url}/#call=c1&t=99999`);
    await page.reload();
    await page.getByText('1:00 / 1:00').waitFor();
    await expect.poll(() => secondsOf(page)).toBe(SECONDS);
    await expect.poll(() => new URL(page.url()).hash).toBe('#call=c1&t=60');
    await page.evaluate("location.hash = '#call=c1&t=5555'");
    await expect.poll(() => new URL(page.url()).hash).toBe('#call=c1&t=60');
    await page.getByText('1:00 / 1:00').waitFor();
    expect(bench.troubles).toEqual([]);
  });

  it('says that a file is none that a browser plays', async () => {
    const recordings = new OneRecording();
    recordings.wav = Buffer.from('RIFF and nothing else');
    const page = await bench.open({ recordings });
    recorded('c1');
    await page.locator('tbody a').click();
    await page.getByText('This browser cannot play the recording: download it.').waitFor();
  });

  it.each([
    [{ status: 'recording' }, 'This call is being recorded.'],
    [{ status: 'pending' }, 'The recording is being made.'],
    [{ status: 'failed', trouble: 'disk-full' }, 'There is no recording: the disk was full.'],
    [{ trouble: 'disk-slow' }, 'The recording is not whole: the disk did not keep up.'],
  ] as const)('says how far a recording is: %j', async (change, sentence) => {
    const page = await bench.open({ recordings: new OneRecording() });
    recorded('c1', change);
    await page.locator('tbody a').click();
    await page.getByText(sentence).waitFor();
  });

  it('stops where the call is deleted while it plays, and says so', async () => {
    const page = await bench.open({ recordings: new OneRecording() });
    recorded('c1');
    await page.locator('tbody a').click();
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.evaluate('window.element = document.querySelector("audio")');
    forget('c1');
    await page.getByText('This call was deleted.').waitFor();
    expect(await page.evaluate('window.element.paused && !window.element.hasAttribute("src")')).toBe(true);
  });

  it('lets go of a recording that it had no time to draw', async () => {
    const page = await bench.open({ recordings: new OneRecording() });
    recorded('c1');
    await page.locator('tbody a').waitFor();
    // Whatever waits for the page to be drawn waits for ever.
    await page.evaluate('{ const own = setTimeout; setTimeout = (run, ms) => ms > 0 && own(run, ms); }');
    await page.locator('tbody a').click();
    await page.getByRole('button', { name: 'Play' }).waitFor();
    await page.evaluate('window.element = document.querySelector("audio")');
    forget('c1');
    await page.getByText('This call was deleted.').waitFor();
    expect(await page.evaluate('window.element.hasAttribute("src")')).toBe(false);
  });

  it('shows pauses, and says in them who paused', async () => {
    const page = await bench.open({ recordings: new OneRecording() });
    const began = Date.now() - SECONDS * 1000;
    recorded('c1', { pauses: [{ startedAt: began + 20_000, endedAt: began + 25_000, by: 'keys' }] });
    await page.locator('tbody a').click();
    await page.getByRole('button', { name: 'Go to 0:20' }).first().click();
    await page.getByText('Not recorded here: the caller keyed something in.').waitFor();
    expect(await page.locator('rect.paused').count()).toBe(1);
  });

  it('opens at an instant, and keeps filter, range and order over a reload and the back button', async () => {
    const page = await bench.open({ recordings: new OneRecording() });
    recorded('c1');
    recorded('c2');
    await bench.server.bus.settled();
    await page.goto(`${bench.server.url}/#call=c2&t=35&outcome=answered&sort=cost&order=asc&range=day`);
    await page.reload();
    await expect.poll(() => said(page).textContent()).toBe('Answer 3.');
    await expect.poll(() => secondsOf(page)).toBe(35);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.locator('[aria-sort=ascending]').textContent()).toContain('Cost');
    expect(await page.getByLabel('Outcome').inputValue()).toBe('answered');
    expect(await page.locator('input[name=range]:checked + span').textContent()).toBe('24 h');
    await page.getByLabel('Direction').selectOption('outbound');
    await page.getByText('No call matches.').waitFor();
    await expect.poll(() => new URL(page.url()).hash).toContain('direction=outbound');
    await page.goBack();
    await page.locator('tbody a').first().waitFor();
    expect(await page.getByLabel('Direction').inputValue()).toBe('');
    await page.getByLabel('Search by number').fill('nobody');
    await expect.poll(() => new URL(page.url()).hash).toContain('q=nobody');
    await page.goBack();
    await page.getByRole('dialog').waitFor();
    expect(bench.troubles).toEqual([]);
  });

  it('goes to the next and the previous call of the list, by button and by key', async () => {
    const page = await bench.open({ recordings: new OneRecording() });
    for (const callId of ['c1', 'c2', 'c3'])
      bench.callOf(callId)(started(), say(`Here is ${callId}.`), ended());
    await page.locator('tbody a').nth(2).waitFor();
    const links = await page
      .locator('tbody a')
      .evaluateAll((all) => all.map((each) => each.getAttribute('href')));
    await page.locator('tbody a').first().click();
    const detail = page.getByRole('dialog');
    const shows = (place: number) => detail.getByText(`Here is ${links[place]?.split('=')[1]}.`).waitFor();
    await shows(0);
    await page.keyboard.press('j');
    await shows(1);
    await detail.getByRole('button', { name: 'Next call' }).click();
    await shows(2);
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await shows(1);
    await detail.getByRole('button', { name: 'Previous call' }).focus();
    await page.keyboard.press('Enter');
    await shows(0);
    expect(await detail.getByRole('button', { name: 'Previous call' }).getAttribute('aria-disabled')).toBe(
      'true',
    );
    await page.goBack();
    await shows(1);
    expect(bench.troubles).toEqual([]);
  });

  it.each([1440, 1024, 390])('follows a live call to its last line, at %i pixels', async (width) => {
    const page = await bench.open({}, { viewport: { width, height: 844 } });
    const publish = bench.callOf('c1');
    publish(started());
    await page.locator('article a').click();
    const last = page.getByRole('dialog').locator('.transcript li').last();
    const isSeen = async (line: Locator) => {
      const box = await line.boundingBox();
      return box !== null && box.y >= 0 && box.y + box.height <= 844;
    };
    for (let index = 0; index < 18; index += 1)
      publish(
        say(`Question ${index} `.repeat(8), { id: `u${index}`, turnIndex: index }),
        say(`Answer ${index} `.repeat(20), { id: `a${index}`, role: 'agent', turnIndex: index }),
        { type: 'turn.completed', turn: turn(index, { totalMs: 800 }) },
      );
    await last.getByText('Answer 17').waitFor();
    await expect.poll(() => isSeen(last)).toBe(true);
    await page
      .getByRole('dialog')
      .locator('.transcript')
      .evaluate((list) => list.scrollTo(0, 0));
    await expect.poll(() => isSeen(page.getByRole('dialog').locator('.transcript li').first())).toBe(true);
    publish(say('One more.', { id: 'u18', turnIndex: 18 }));
    await last.getByText('One more.').waitFor();
    expect(await isSeen(last)).toBe(false);
  });

  it('leads from latency to transcript, and has the slowest turn first where that is asked for', async () => {
    const page = await bench.open({ recordings: new OneRecording() });
    const toolAt = Date.now() - 4000;
    const began = recorded('c1', {}, [
      {
        type: 'turn.completed',
        turn: {
          ...turn(5, { totalMs: 2000, heardMs: 2100 }),
          startedAt: Date.now() - 5000,
          speechEndedAt: toolAt - 500,
          fillerMs: 400,
          cost: 0.0123,
          tokens: {
            ...{ inputTokens: 1410, cachedTokens: 512, audioInputTokens: 0 },
            ...{ outputTokens: 28, audioOutputTokens: 0 },
          },
          toolCalls: [
            toolCall({
              id: 'tool-1',
              arguments: { text: '{"day":"Friday"}', cut: false },
              result: { text: '{"slots":[', cut: true },
              startedAt: toolAt,
              durationMs: 900,
            }),
          ],
        },
      },
      say('look_up: {"slots":[', { id: 'tool-1', role: 'tool', turnIndex: 5 }),
    ]);
    expect(began).toBeLessThan(Date.now());
    await page.locator('tbody a').click();
    const bars = page.locator('.bars li');
    await expect.poll(() => bars.count()).toBe(6);
    expect(await bars.last().textContent()).toContain(
      'look_up 900 msheard after 2.10 s · filler after 400 ms · $0.0123 · 1,410 tokens in (512 cached) · 28 out',
    );
    // Half a second of two after the end of the caller's speech, whenever the agent was heard first.
    const bar = page.locator('.tool-bar');
    expect(await bar.evaluate((element: HTMLElement) => element.style.marginInlineStart)).toBe('25%');
    expect(
      await bars
        .last()
        .locator('.span-note')
        .last()
        .evaluate((note) => note.scrollWidth <= note.clientWidth),
    ).toBe(true);
    await page.getByText('Arguments and result').click();
    const texts = page.locator('.tool-texts dd');
    expect(await texts.allTextContents()).toEqual(['{"day":"Friday"}', '{"slots":[The rest was not kept.']);
    await page.getByRole('button', { name: 'Slowest first' }).click();
    await expect.poll(() => bars.first().textContent()).toContain('Turn 6');
    await bars.nth(1).hover();
    await expect.poll(() => page.locator('.transcript .pointed-at').count()).toBe(2);
    await page.getByText('Question 2?').hover();
    await expect.poll(() => page.locator('.bars .pointed-at').textContent()).toContain('Turn 3');
    await page.getByText(/P50 .* P95 .* P99/).waitFor();
    await page.getByText('CA0001', { exact: true }).waitFor();
    expect(bench.troubles).toEqual([]);
  });

  it.each(
    (['light', 'dark'] as const).flatMap((scheme) =>
      [1440, 1024, 390].map((width) => [scheme, width] as const),
    ),
  )('has nothing serious against it, %s at %i pixels', async (colorScheme, width) => {
    await bench.serve({ recordings: new OneRecording() });
    const page = await bench.visit('/', { colorScheme, viewport: { width, height: 844 } });
    recorded('c1', {
      pauses: [{ startedAt: Date.now() - 50_000, endedAt: Date.now() - 45_000, by: 'tool' }],
    });
    await page.locator('tbody a').click();
    await page.getByRole('button', { name: 'Go to 0:15' }).click();
    await said(page).getByText('Answer 1.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    const sheet = page.getByRole('dialog');
    expect(await sheet.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
    expect(bench.troubles).toEqual([]);
  });
});
