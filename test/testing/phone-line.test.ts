import { describe, expect, it } from 'vitest';
import { prepareScript, type CallerStep } from '../../src/testing/caller-script.js';
import type { CallerFrame } from '../../src/testing/caller-track.js';
import { PhoneLine } from '../../src/testing/phone-line.js';
import { PlaybackClock } from '../../src/testing/playback.js';
import { FakeClock } from '../support/fake-clock.js';

const tone = (ms: number) =>
  Int16Array.from({ length: ms * 8 }, (_, i) => Math.round(9000 * Math.sin(i * 0.35)));

async function createLine(script: CallerStep[]) {
  const clock = new FakeClock();
  const hangUps: { abrupt: boolean; atMs: number }[] = [];
  const line = new PhoneLine({
    clock,
    onHangUp: ({ abrupt }) => hangUps.push({ abrupt, atMs: clock.now() }),
  });
  const openVoice = () => {
    throw new Error('nobody speaks');
  };
  const steps = await prepareScript(script, { openVoice, signal: new AbortController().signal });
  const play = (ms: number) => {
    const playback = new PlaybackClock({ clock, echoMark() {} });
    playback.enqueue(tone(ms));
    line.hear(playback);
    return playback;
  };
  return { clock, line, steps, hangUps, play };
}

const listener = (frames: CallerFrame[]) => ({ take: (frame: CallerFrame) => void frames.push(frame) });

describe('PhoneLine', () => {
  it('speaks a frame every 20 ms from its start, whoever listens', async () => {
    const { clock, line, steps } = await createLine([
      { type: 'play', samples: tone(100), sampleRateHz: 8000 },
      { type: 'pause', durationMs: 10_000 },
    ]);
    const [first, second]: [CallerFrame[], CallerFrame[]] = [[], []];
    line.start(steps);
    line.connect(listener(first));
    clock.advance(60);
    line.connect(listener(second));
    clock.advance(60);
    line.connect(undefined);
    clock.advance(1000);
    expect([first.length, second.length]).toEqual([3, 3]);
    expect(first.every(({ samples }) => samples.some((sample) => sample !== 0))).toBe(true);
    line.close();
    expect(clock.pending).toBe(0);
  });

  it('catches up after the machine stood still', async () => {
    const { clock, line, steps } = await createLine([{ type: 'pause', durationMs: 10_000 }]);
    const frames: CallerFrame[] = [];
    line.start(steps);
    line.connect(listener(frames));
    clock.stall(500);
    clock.advance(0);
    expect(frames).toHaveLength(25);
  });

  it('waits for what it hears in any of several streams', async () => {
    const { clock, line, steps, hangUps, play } = await createLine([
      { type: 'wait-for-agent', quietMs: 500 },
      { type: 'wait-for-agent', quietMs: 500, timeoutMs: 60_000 },
      { type: 'hang-up', abrupt: true },
    ]);
    line.start(steps);
    clock.advance(1000);
    play(300);
    clock.advance(200);
    expect(hangUps).toEqual([]);
    // A second stream takes over before the first has been quiet for long enough.
    play(1000);
    clock.advance(1400);
    expect(hangUps).toEqual([]);
    clock.advance(200);
    expect(hangUps).toMatchObject([{ abrupt: true }]);
  });

  it('renders both sides from any place, at their time', async () => {
    const { clock, line, steps, play } = await createLine([
      { type: 'pause', durationMs: 400 },
      { type: 'play', samples: tone(100), sampleRateHz: 8000 },
      { type: 'pause', durationMs: 10_000 },
    ]);
    line.keepAudio();
    line.start(steps);
    clock.advance(200);
    play(100);
    clock.advance(800);
    line.close();
    const soundStart = (samples: Int16Array) => Math.round(samples.findIndex((sample) => sample !== 0) / 8);
    const whole = line.render(0);
    expect([whole.person.length, whole.agent.length]).toEqual([8000, 8000]);
    expect([soundStart(whole.person), soundStart(whole.agent)]).toEqual([400, 200]);
    const later = line.render(150);
    expect([soundStart(later.person), soundStart(later.agent)]).toEqual([250, 50]);
    expect(line.render(5000).person).toHaveLength(0);
  });

  it('stands still before its start and after its end', async () => {
    const { clock, line, steps } = await createLine([{ type: 'hang-up' }]);
    clock.advance(500);
    expect(line.nowMs).toBe(0);
    line.start(steps);
    clock.advance(100);
    line.close();
    clock.advance(500);
    expect(line.nowMs).toBe(100);
    line.start(steps);
    expect(clock.pending).toBe(0);
  });
});
