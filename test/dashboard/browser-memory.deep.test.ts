// A page that stays open while calls come and go, in a real browser. Time is as fast as the page can draw.
import { expect, it } from 'vitest';
import { ended, say, started, turn } from '../support/call-facts.js';
import { describeInChromium } from '../support/dashboard-page.js';
import { runs } from '../support/depth.js';

const CALLS_UP = 50;
/** As many ended calls as the page keeps, and more. */
const CALLS_BEFORE = 520;
/** Each call lasts so many rounds, and has news in every tenth. A round stands for a second: all of them are ten minutes. */
const CALL_ROUNDS = 40;
const NEWS_ROUNDS = 10;
const MAX_GROWTH_BYTES = 2 * 1024 * 1024;

describeInChromium('the memory of a page', (bench) => {
  it('is the same after minutes of 50 calls that come and go', { timeout: 600_000 }, async () => {
    const page = await bench.open();
    const browser = await bench.context.newCDPSession(page);
    const usedBytes = async () => {
      await browser.send('HeapProfiler.collectGarbage');
      return (await browser.send('Runtime.getHeapUsage')).usedSize;
    };
    for (let index = 0; index < CALLS_BEFORE; index += 1) bench.callOf(`before-${index}`)(started(), ended());
    const calls: ReturnType<typeof bench.callOf>[] = [];
    let round = 0;
    const play = async (rounds: number) => {
      for (const end = round + rounds; round < end; round += 1) {
        const said = `Round ${round} of what is said.`;
        for (let place = 0; place < CALLS_UP; place += 1) {
          const age = (round + place * 7) % CALL_ROUNDS;
          if (age === 0 || calls[place] === undefined) {
            calls[place]?.(ended());
            calls[place] = bench.callOf(`c${place}-${round}`);
            calls[place]?.(started());
          }
          // Not all at once: what is drawn again stands beside what is not.
          if ((round + place) % NEWS_ROUNDS > 0) continue;
          calls[place]?.(say(said, { id: `e${age}` }), {
            type: 'turn.completed',
            turn: turn(age, { totalMs: 700 }),
          });
        }
        // Drawn, round by round.
        await page.getByText(said).first().waitFor();
      }
    };
    await play(CALL_ROUNDS);
    const before = await usedBytes();
    await play(runs(40, 560));
    expect((await usedBytes()) - before).toBeLessThan(MAX_GROWTH_BYTES);
    expect(bench.troubles).toEqual([]);
  });
});
