// Listening in to a live call, in a real browser.
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { wavHeader } from '../../src/audio/wav-header.js';
import { RequestError } from '../../src/base/errors.js';
import type { LiveSound, SoundSink } from '../../src/contract/live-sound.js';
import { ended, say, started } from '../support/call-facts.js';
import { describeInChromium } from '../support/dashboard-page.js';
import { seriousFindings } from '../support/page-findings.js';

const PIECE_MS = 40;

/** The caller at a quarter of full scale, the agent at half of it, in real time. */
class SteadySound implements LiveSound {
  readonly sinks = new Set<SoundSink>();
  refusal: RequestError | undefined;
  asked = 0;
  readonly #timer = setInterval(() => {
    for (const sink of this.sinks) sink.write(this.#piece);
  }, PIECE_MS);
  readonly #piece = new Uint8Array(
    Int16Array.from({ length: 2 * 16 * PIECE_MS }, (_, index) => (index % 2 === 0 ? 8192 : 16_384)).buffer,
  );

  listen(_callId: string, sink: SoundSink) {
    this.asked += 1;
    if (this.refusal !== undefined) throw this.refusal;
    setImmediate(() => {
      sink.write(wavHeader({ sampleRateHz: 16_000, channels: 2 }, 0xffff_ffd8));
      this.sinks.add(sink);
    });
    return { delayMs: 300, leave: () => void this.sinks.delete(sink) };
  }

  /** The server sends no more. */
  end(): void {
    for (const sink of [...this.sinks]) sink.end('call-ended');
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

interface Played {
  readonly at: number;
  readonly seconds: number;
  readonly left: number;
  readonly right: number;
}

/** Keeps what the page gives its speaker. */
const WATCH = `
  window.played = [];
  window.contexts = [];
  const start = AudioBufferSourceNode.prototype.start;
  AudioBufferSourceNode.prototype.start = function (at) {
    const [left, right] = [0, 1].map((channel) => this.buffer.getChannelData(channel)[0]);
    if (!window.contexts.includes(this.context)) window.contexts.push(this.context);
    window.played.push({ at, seconds: this.buffer.duration, left, right });
    return start.call(this, at);
  };
`;

describeInChromium('listening in', (bench) => {
  async function open(
    sound: SteadySound | null,
    visit: Parameters<typeof bench.visit>[1] = {},
  ): Promise<{ page: Page; tell: ReturnType<typeof bench.callOf> }> {
    const page = await bench.open({ liveSound: sound }, visit);
    await page.evaluate(WATCH);
    const tell = bench.callOf('c1');
    tell(started(), say('Hello?'));
    await page.locator('article a').click();
    await page.getByRole('dialog').getByText('Hello?').waitFor();
    return { page, tell };
  }

  const played = (page: Page) => page.evaluate('window.played') as Promise<Played[]>;
  const contexts = (page: Page) =>
    page.evaluate('window.contexts.map(({ state }) => state)') as Promise<AudioContextState[]>;

  async function withSound(test: (sound: SteadySound) => Promise<void>): Promise<void> {
    const sound = new SteadySound();
    await test(sound).finally(() => sound.close());
  }

  it('begins with a button, plays both sides piece behind piece, says how far behind, and stops', async () => {
    await withSound(async (sound) => {
      const { page } = await open(sound);
      expect(sound.asked).toBe(0);
      await page.getByRole('button', { name: 'Listen in' }).click();
      await page.getByText('You hear the caller left and the agent right.').waitFor();
      await expect.poll(async () => (await played(page)).length).toBeGreaterThan(20);
      const pieces = await played(page);
      expect(pieces.every(({ left, right }) => left === 0.25 && right === 0.5)).toBe(true);
      const overlaps = pieces.slice(1).filter(({ at }, index) => {
        const { at: before, seconds } = pieces[index] as Played;
        return at < before + seconds - 1e-6;
      });
      expect(overlaps).toEqual([]);
      // It runs when the browser's own process for sound says so.
      await expect.poll(() => contexts(page)).toEqual(['running']);
      await page.getByText(/^\d+\.\d s behind$/).waitFor();
      await page.getByLabel('both sides in both ears').check();
      await page.getByText('You hear both sides.').waitFor();
      await page.getByRole('button', { name: 'Stop listening' }).click();
      await page.getByRole('button', { name: 'Listen in' }).waitFor();
      await expect.poll(() => sound.sinks.size).toBe(0);
      await expect.poll(() => contexts(page)).toEqual(['closed']);
      expect(bench.troubles).toEqual([]);
    });
  });

  it('is worked by keyboard, and ends as the call is closed', async () => {
    await withSound(async (sound) => {
      const { page } = await open(sound);
      await page.getByRole('button', { name: 'Listen in' }).focus();
      await page.keyboard.press('Enter');
      await expect.poll(() => sound.sinks.size).toBe(1);
      await page.keyboard.press('Space');
      await expect.poll(() => sound.sinks.size).toBe(0);
      await page.keyboard.press('Space');
      await expect.poll(() => sound.sinks.size).toBe(1);
      await page.keyboard.press('Escape');
      await expect.poll(() => sound.sinks.size).toBe(0);
      expect(bench.troubles).toEqual([]);
    });
  });

  it('listens to one call at a time', async () => {
    await withSound(async (sound) => {
      const { page } = await open(sound);
      bench.callOf('c2')(started(), say('And me?'));
      await page.getByRole('button', { name: 'Listen in' }).click();
      await expect.poll(() => sound.sinks.size).toBe(1);
      // The page has the other call, before this one or behind it.
      await page.getByRole('button', { name: /(?:Next|Previous) call/, disabled: false }).waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('k');
      await expect.poll(() => sound.sinks.size).toBe(0);
      await page.getByRole('button', { name: 'Listen in' }).waitFor();
    });
  });

  it('says that the call has ended, and leaves the page as it is', async () => {
    await withSound(async (sound) => {
      const { page, tell } = await open(sound);
      await page.getByRole('button', { name: 'Listen in' }).click();
      await expect.poll(() => sound.sinks.size).toBe(1);
      sound.end();
      tell(ended());
      await page.getByRole('dialog').getByText('The call has ended.').waitFor();
      expect(await page.getByRole('button', { name: 'Stop listening' }).count()).toBe(0);
      expect(await page.getByRole('button', { name: 'Listen in' }).count()).toBe(0);
      expect(bench.troubles).toEqual([]);
    });
  });

  it('says that there is no more where the call goes on elsewhere, and can be asked again', async () => {
    await withSound(async (sound) => {
      const { page } = await open(sound);
      await page.getByRole('button', { name: 'Listen in' }).click();
      await expect.poll(() => sound.sinks.size).toBe(1);
      sound.end();
      await page.getByText('There is no more sound').waitFor();
      await page.getByRole('button', { name: 'Listen in' }).click();
      await expect.poll(() => sound.sinks.size).toBe(1);
      await page.getByText('You hear the caller left and the agent right.').waitFor();
    });
  });

  it('says why nobody can listen in, and that a connection broke off', async () => {
    await withSound(async (sound) => {
      sound.refusal = new RequestError('REQUEST_CONFLICT', 'The call has no sound: nobody is connected.');
      const { page } = await open(sound);
      await page.getByRole('button', { name: 'Listen in' }).click();
      await page.getByText('The call has no sound: nobody is connected.').waitFor();
      sound.refusal = undefined;
      await page.getByRole('button', { name: 'Listen in' }).click();
      await expect.poll(() => sound.sinks.size).toBe(1);
      await page.getByText('You hear the caller left and the agent right.').waitFor();
      await bench.endServer();
      await page.getByText(/The sound broke off|There is no more sound/).waitFor();
    });
  });

  it('is not shown where it is not offered, nor before there is sound', async () => {
    const { page } = await open(null);
    expect(await page.getByRole('button', { name: 'Listen in' }).count()).toBe(0);
    await bench.endVisit();
    await bench.endServer();
    await withSound(async (sound) => {
      const other = await bench.open({ liveSound: sound });
      bench.callOf('c1')({
        type: 'call.status',
        status: 'ringing',
        carrier: 'carrier-a',
        carrierCallId: 'CA0001',
        caller: '+15550111',
        callee: '+15550100',
        direction: 'inbound',
      });
      await other.locator('article a').click();
      await other.getByRole('dialog').getByText('Outcome').waitFor();
      expect(await other.getByRole('button', { name: 'Listen in' }).count()).toBe(0);
    });
  });

  it.each(
    (['light', 'dark'] as const).flatMap((scheme) => [1440, 390].map((width) => [scheme, width] as const)),
  )('has nothing serious against it, %s at %i pixels', async (colorScheme, width) => {
    await withSound(async (sound) => {
      const { page } = await open(sound, { colorScheme, viewport: { width, height: 844 } });
      await page.getByRole('button', { name: 'Listen in' }).click();
      await page.getByText(/^\d+\.\d s behind$/).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      const sheet = page.getByRole('dialog');
      expect(await sheet.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
      expect(bench.troubles).toEqual([]);
    });
  });
});
