import { describe, expect, it } from 'vitest';
import type { CallerFrame } from '../../src/testing/caller-track.js';
import { checkLine, LineImpairment, type LineConditions } from '../../src/testing/line-conditions.js';
import { PhoneLine } from '../../src/testing/phone-line.js';
import { PlaybackClock } from '../../src/testing/playback.js';
import { FakeClock } from '../support/fake-clock.js';

const tone = (samples: number, peak = 9000) =>
  Int16Array.from({ length: samples }, (_, i) => Math.round(peak * Math.sin(i * 0.35)));
const levelDb = (samples: Int16Array) =>
  10 *
  Math.log10(samples.reduce((sum, sample) => sum + sample * sample, 1e-9) / samples.length / 32_768 ** 2);

/** A person who says nothing for `ms`, on a bad line. `hears` is played to them from the beginning. */
function hearLine(line: LineConditions, ms: number, hears: Int16Array[] = []) {
  const clock = new FakeClock();
  const phone = new PhoneLine({ clock, onHangUp: () => phone.close() });
  const frames: (CallerFrame & { atMs: number })[] = [];
  phone.impair(line);
  phone.connect({ take: (frame) => void frames.push({ ...frame, atMs: clock.now() }) });
  phone.start([{ type: 'pause', durationMs: ms }, { type: 'press', digits: '7' }, { type: 'hang-up' }]);
  const playback = new PlaybackClock({ clock, echoMark() {} });
  phone.hear(playback);
  for (const samples of hears) playback.enqueue(samples);
  clock.advance(ms + 2000);
  const sent = Int16Array.from(frames.flatMap(({ samples }) => [...samples]));
  return { frames, sent };
}

describe('a bad line', () => {
  it('brings back what was played, 120 ms later and 20 dB lower', () => {
    const played = tone(4800);
    const { sent } = hearLine({ echo: {} }, 1000, [played.subarray(0, 1000), played.subarray(1000)]);
    expect(sent.findIndex((sample) => sample !== 0)).toBe(120 * 8 + 1);
    const echo = sent.subarray(120 * 8, 120 * 8 + played.length);
    expect(levelDb(echo)).toBeCloseTo(levelDb(played) - 20, 1);
    expect(sent.subarray(120 * 8 + played.length).every((sample) => sample === 0)).toBe(true);
  });

  it('brings back only what was heard before a clear', () => {
    const clock = new FakeClock();
    const playback = new PlaybackClock({ clock, echoMark() {} });
    playback.enqueue(tone(8000));
    clock.advance(100);
    playback.clear();
    expect(playback.piecesSince(0).map(({ samples }) => samples.length)).toEqual([800]);
    expect(playback.piecesSince(800)).toEqual([]);
  });

  it('has bursts of noise, each as long and as loud as was asked for', () => {
    const { sent } = hearLine({ noise: { levelDbfs: -25, burstMs: 200, everyMs: 500 } }, 1000);
    const at = (ms: number) => levelDb(sent.subarray(ms * 8, (ms + 100) * 8));
    for (const ms of [300, 400, 800, 900]) expect(at(ms)).toBeCloseTo(-25, 0);
    for (const ms of [0, 100, 200, 500, 600, 700]) expect(at(ms)).toBeLessThan(-90);
  });

  it('loses frames, but nothing that is told beside them', () => {
    const { frames } = hearLine({ loss: 0.25 }, 10_000);
    const lost = frames.filter(({ isLost }) => isLost === true).length;
    expect(lost / frames.length).toBeGreaterThan(0.18);
    expect(lost / frames.length).toBeLessThan(0.32);
    expect(frames.flatMap(({ events }) => events)).toEqual([{ type: 'dtmf', digit: '7' }]);
  });

  it('delivers in bunches, and the last ones before the person is gone', () => {
    const { frames } = hearLine({ bunchMs: 200 }, 500);
    const times = frames.map(({ atMs }) => atMs);
    expect(times.slice(0, 11)).toEqual([...Array(10).fill(200), 400]);
    expect(frames.at(-1)?.events ?? []).toEqual([]);
    expect(frames.flatMap(({ events }) => events)).toEqual([{ type: 'dtmf', digit: '7' }]);
    expect(frames.length).toBeGreaterThanOrEqual(26);
  });

  it('is the same in every run', () => {
    const line: LineConditions = { noise: {}, loss: 0.2 };
    const lost = ({ frames }: ReturnType<typeof hearLine>) => frames.map(({ isLost }) => isLost === true);
    const [first, second] = [hearLine(line, 3000), hearLine(line, 3000)];
    expect(lost(first)).toEqual(lost(second));
    expect(first.sent).toEqual(second.sent);
  });

  it('leaves a good line alone', () => {
    const samples = tone(160);
    const good = new LineImpairment({}, () => tone(160));
    expect(good.color(samples, 0)).toBe(samples);
    const frame = { samples, events: [] };
    expect(good.carry(frame)).toEqual([frame]);
  });

  it.each<[unknown, RegExp]>([
    ['bad', /line takes an object/],
    [{ echos: {} }, /Did you mean echo/],
    [{ echo: { levelDb: 3 } }, /line.echo.levelDb/],
    [{ echo: true }, /line.echo takes an object/],
    [{ noise: { everyMs: 0 } }, /line.noise.everyMs/],
    [{ loss: 1 }, /line.loss/],
    [{ bunchMs: 5 }, /line.bunchMs/],
  ])('cannot be %j', (line, sentence) => {
    expect(() => checkLine(line as LineConditions)).toThrow(sentence);
  });
});
