import { beforeEach, describe, expect, it } from 'vitest';
import { MULAW_8K, PCM_16K } from '../../src/audio/format.js';
import { LiveMix } from '../../src/audio/live-mix.js';
import { toBytes } from '../../src/audio/pcm-bytes.js';
import { transcoder } from '../../src/transcoder/select.js';

const DELAY_MS = 300;
const FRAME_MS = 20;
/** The call is up since then. */
const BEGIN_MS = 10_000;

let mix: LiveMix;
/** What has come out, sample by sample. */
let heard: { caller: number[]; agent: number[] };

/** 20 ms of one level, as a line of 16 kHz has it. */
const frame = (level: number, ms = FRAME_MS) => toBytes(new Int16Array(ms * 16).fill(level));

function begin(delayMs = DELAY_MS): void {
  mix = new LiveMix({ backend: transcoder, delayMs, nowMs: BEGIN_MS });
  mix.line(PCM_16K, PCM_16K);
  heard = { caller: [], agent: [] };
}

beforeEach(() => begin());

function take(nowMs: number): void {
  const bytes = mix.take(nowMs);
  const samples = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
  for (let index = 0; index < samples.length; index += 2) {
    heard.caller.push(samples[index] ?? 0);
    heard.agent.push(samples[index + 1] ?? 0);
  }
}

/** Where a side has sound: `[fromMs, toMs, level]`, in the time of the call. */
function spans(side: 'caller' | 'agent', delayMs = DELAY_MS): [number, number, number][] {
  const found: [number, number, number][] = [];
  let last = 0;
  for (const [index, level] of [...heard[side], 0].entries()) {
    if (level === last) continue;
    const atMs = BEGIN_MS - delayMs + index / 16;
    const open = found.at(-1);
    if (last !== 0 && open !== undefined) open[1] = atMs;
    if (level !== 0) found.push([atMs, Number.NaN, level]);
    last = level;
  }
  return found;
}

/** The caller speaks all the time, and the line brings it as it says. `lateMs`: of the frame that ended at a time. */
function hearCaller(fromMs: number, toMs: number, lateMs: (endMs: number) => number = () => 0): void {
  const frames = [];
  for (let endMs = fromMs + FRAME_MS; endMs <= toMs; endMs += FRAME_MS)
    frames.push({ cameMs: endMs + lateMs(endMs), level: endMs });
  let tookMs = fromMs;
  for (const { cameMs, level } of frames) {
    for (; tookMs <= cameMs; tookMs += 40) take(tookMs);
    mix.caller(frame(level), cameMs);
  }
  for (; tookMs <= toMs + 2 * DELAY_MS; tookMs += 40) take(tookMs);
}

/** Each frame is where it was said: its level is the time of its end. */
function misplaced(): number[] {
  return spans('caller').flatMap(([fromMs, , level]) => (fromMs === level - FRAME_MS ? [] : [level]));
}

describe('the sound of a live call', () => {
  it('is silent where nothing is said, and as long as the time that has passed', () => {
    take(BEGIN_MS);
    expect(heard.caller).toEqual([]);
    take(BEGIN_MS + 1000);
    expect(heard.caller).toHaveLength(16_000);
    expect(heard.caller.concat(heard.agent).every((sample) => sample === 0)).toBe(true);
  });

  it('has the caller left where it was said, and the agent right where it sounds', () => {
    mix.caller(frame(5), BEGIN_MS + 20);
    for (let index = 0; index < 5; index += 1) mix.agent(frame(7), BEGIN_MS + 100 + index * FRAME_MS);
    take(BEGIN_MS + 100);
    take(BEGIN_MS + 1000);
    expect(spans('caller')).toEqual([[BEGIN_MS, BEGIN_MS + 20, 5]]);
    expect(spans('agent')).toEqual([[BEGIN_MS + 100, BEGIN_MS + 200, 7]]);
  });

  it('ends the agent where it was cut, and goes on behind it', () => {
    for (let index = 0; index < 20; index += 1) mix.agent(frame(7), BEGIN_MS + index * FRAME_MS);
    mix.cut(BEGIN_MS + 130);
    mix.agent(frame(8), BEGIN_MS + 200);
    take(BEGIN_MS + 1000);
    expect(spans('agent')).toEqual([
      [BEGIN_MS, BEGIN_MS + 130, 7],
      [BEGIN_MS + 200, BEGIN_MS + 220, 8],
    ]);
  });

  it('has the agent as late as marks were, the next time that it begins, and what was sounding ends first', () => {
    mix.agent(frame(1, 100), BEGIN_MS);
    mix.lag(BEGIN_MS, 90);
    mix.lag(BEGIN_MS, 60);
    mix.agent(frame(2, 100), BEGIN_MS + 200);
    mix.lag(BEGIN_MS, 5000);
    mix.lag(BEGIN_MS, 0);
    mix.agent(frame(3, 100), BEGIN_MS + 340);
    take(BEGIN_MS + 1000);
    expect(spans('agent')).toEqual([
      [BEGIN_MS, BEGIN_MS + 100, 1],
      [BEGIN_MS + 260, BEGIN_MS + 360, 2],
      [BEGIN_MS + 360, BEGIN_MS + 460, 3],
    ]);
  });

  it('cuts what is heard late as late', () => {
    mix.agent(frame(1, 100), BEGIN_MS);
    mix.lag(BEGIN_MS, 60);
    mix.agent(frame(2, 400), BEGIN_MS + 200);
    mix.cut(BEGIN_MS + 300);
    take(BEGIN_MS + 1500);
    expect(spans('agent').at(-1)).toEqual([BEGIN_MS + 260, BEGIN_MS + 360, 2]);
  });

  it.each([
    ['in time', () => 0],
    ['in bunches', (endMs: number) => (160 - (endMs % 160)) % 160],
    [
      'with a stall',
      (endMs: number) => (endMs > BEGIN_MS + 400 && endMs <= BEGIN_MS + 600 ? BEGIN_MS + 600 - endMs : 0),
    ],
  ])('has everything of a caller whose audio comes %s where it was said', (_how, lateMs) => {
    hearCaller(BEGIN_MS, BEGIN_MS + 3200, lateMs);
    expect(misplaced()).toEqual([]);
    expect(spans('caller')).toHaveLength(160);
  });

  it('drops of a long stall what is too late, and has the rest where it was said', () => {
    const [from, to] = [BEGIN_MS + 1000, BEGIN_MS + 2000];
    hearCaller(BEGIN_MS, BEGIN_MS + 4000, (endMs) => (endMs > from && endMs <= to ? to - endMs : 0));
    expect(misplaced()).toEqual([]);
    const missing = 200 - spans('caller').length;
    expect(missing).toBeGreaterThan(30);
    expect(missing).toBeLessThan(40);
  });

  it.each([
    [1200, true],
    [200, false],
  ])(
    'a tone on a line that has fallen behind by 1,100 ms is in front of the pause for it with a patience of %i ms: %s',
    (patienceMs, isHeard) => {
      mix = new LiveMix({ backend: transcoder, delayMs: 1200, patienceMs, nowMs: BEGIN_MS });
      mix.line(PCM_16K, PCM_16K);
      const toneEndMs = BEGIN_MS + 1500;
      hearCaller(BEGIN_MS, toneEndMs, (endMs) => (endMs > BEGIN_MS + 1000 ? 1100 : 0));
      // The key is told 150 ms behind its tone.
      mix.pause(toneEndMs + 1100 + 150 - 1200);
      for (let nowMs = toneEndMs + 1120; nowMs <= BEGIN_MS + 5000; nowMs += 40) take(nowMs);
      expect(heard.caller.includes(toneEndMs)).toBe(isHeard);
    },
  );

  it.each([100, 800])('finds the place again of a caller of whom %i ms were lost', (lostMs) => {
    hearCaller(BEGIN_MS, BEGIN_MS + 1000);
    const from = BEGIN_MS + 1000 + lostMs;
    hearCaller(from, from + 4000);
    const late = misplaced();
    // A line that is late for a moment, and one that has lost something, are the same at first.
    expect(Math.max(0, ...late)).toBeLessThanOrEqual(from + 1100);
    expect(lostMs < DELAY_MS || late.length === 0).toBe(true);
  });

  it('follows a carrier whose clock is faster, or slower', () => {
    for (const drift of [0.98, 1.02]) {
      begin();
      hearCaller(BEGIN_MS, BEGIN_MS + 6000, (endMs) => (endMs - BEGIN_MS) * (drift - 1) + 500);
      const off = spans('caller').map(
        ([fromMs, , level]) => fromMs - (level - FRAME_MS) - 500 - (level - BEGIN_MS) * (drift - 1),
      );
      expect(Math.max(...off.map(Math.abs))).toBeLessThan(45);
    }
  });

  it('has nothing of either side from where it was paused, a moment ago too, until it goes on', () => {
    begin(1200);
    for (let endMs = BEGIN_MS + 20; endMs <= BEGIN_MS + 1000; endMs += 20) {
      mix.caller(frame(5), endMs);
      mix.agent(frame(7), endMs + 300);
      take(endMs);
    }
    mix.pause(BEGIN_MS + 100);
    mix.pause(BEGIN_MS + 400);
    for (let endMs = BEGIN_MS + 1020; endMs <= BEGIN_MS + 2000; endMs += 20) {
      mix.caller(frame(5), endMs);
      mix.agent(frame(7), endMs + 300);
      take(endMs);
    }
    mix.resume(BEGIN_MS + 2000);
    // In a bunch, of which half was said before.
    for (let index = 0; index < 4; index += 1) mix.caller(frame(6), BEGIN_MS + 2040);
    mix.agent(frame(8), BEGIN_MS + 1990);
    for (let endMs = BEGIN_MS + 2060; endMs <= BEGIN_MS + 2400; endMs += 20) mix.caller(frame(6), endMs);
    take(BEGIN_MS + 4000);
    expect(spans('caller', 1200)).toEqual([
      [BEGIN_MS, BEGIN_MS + 100, 5],
      [BEGIN_MS + 2000, BEGIN_MS + 2400, 6],
    ]);
    expect(spans('agent', 1200)).toEqual([[BEGIN_MS + 2000, BEGIN_MS + 2010, 8]]);
  });

  it('goes on over another stream of another format', () => {
    mix.caller(frame(5), BEGIN_MS + 20);
    mix.line(MULAW_8K, MULAW_8K);
    mix.caller(new Uint8Array(160).fill(0), BEGIN_MS + 140);
    mix.agent(new Uint8Array(160).fill(0), BEGIN_MS + 140);
    take(BEGIN_MS + 1000);
    const [first, second] = spans('caller');
    expect(first).toEqual([BEGIN_MS, BEGIN_MS + 20, 5]);
    expect(second?.[0]).toBeGreaterThanOrEqual(BEGIN_MS + 120);
    expect(second?.[0]).toBeLessThan(BEGIN_MS + 125);
    expect(Math.min(...heard.agent)).toBeLessThan(-20_000);
  });

  it.each([
    ['another stream', () => mix.line(PCM_16K, PCM_16K)],
    ['a cut', () => mix.cut(BEGIN_MS + 100)],
  ])('has the agent as late as marks were behind %s, also where it goes on at once', (_, happens) => {
    mix.agent(frame(1, 100), BEGIN_MS);
    mix.lag(BEGIN_MS, 60);
    happens();
    mix.agent(frame(2, 100), BEGIN_MS + 100);
    take(BEGIN_MS + 1000);
    expect(spans('agent')).toEqual([
      [BEGIN_MS, BEGIN_MS + 100, 1],
      [BEGIN_MS + 160, BEGIN_MS + 260, 2],
    ]);
  });

  it('takes and gives nothing once it is closed', () => {
    mix.close();
    mix.close();
    mix.caller(frame(5), BEGIN_MS + 20);
    mix.agent(frame(5), BEGIN_MS + 20);
    take(BEGIN_MS + 1000);
    expect(spans('caller')).toEqual([]);
  });

  it('gives what is due a part at a time where the process stood still, and loses no place', () => {
    mix.agent(frame(7), BEGIN_MS + 8000);
    take(BEGIN_MS + 8000);
    const first = heard.caller.length;
    expect(first).toBeLessThan(3 * 16_000);
    for (let index = 0; index < 4; index += 1) take(BEGIN_MS + 8000);
    expect(heard.caller).toHaveLength(8000 * 16);
    mix.agent(frame(7), BEGIN_MS + 8100);
    take(BEGIN_MS + 9000);
    expect(spans('agent')).toEqual([[BEGIN_MS + 8100, BEGIN_MS + 8120, 7]]);
  });
});
