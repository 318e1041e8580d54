// What a bad line does to the caller's voice on its way to the phone server: echo, bursts of noise, lost frames, frames in bunches.
import { checkNumber, checkOptions } from '../base/option-checks.js';
import { CALLER_RATE_HZ } from './caller-speech.js';
import { CALLER_FRAME_SAMPLES, type CallerFrame } from './caller-track.js';
import { clampSample, WhiteNoise } from './noise.js';
import { seededRandom } from './seeded-random.js';

/** A caller's line. Everything is off by default, and the same in every run. */
export interface LineConditions {
  /** What is played to the caller comes back in their voice, as from a loudspeaker. Level -60 to 0 dB (-20), delay 0 to 1000 ms (120). */
  echo?: { levelDb?: number; delayMs?: number };
  /** Bursts of white noise: -60 to 0 dBFS (-20), of `burstMs` (300), one every `everyMs` (2000), both 20 to 60,000. */
  noise?: { levelDbfs?: number; burstMs?: number; everyMs?: number };
  /** Share of the caller's frames that never arrive, 0 to 0.9. Their numbers are missing. @default 0 */
  loss?: number;
  /** Frames are held back and arrive together, so many milliseconds of them at once, 20 to 2000. @default 20 */
  bunchMs?: number;
}

/** The conditions with their defaults filled in. */
interface CheckedLine {
  readonly echo: { readonly gain: number; readonly delayMs: number } | undefined;
  readonly noise:
    | { readonly levelDbfs: number; readonly burstMs: number; readonly everyMs: number }
    | undefined;
  readonly loss: number;
  readonly bunchFrames: number;
}

const FRAME_MS = (CALLER_FRAME_SAMPLES * 1000) / CALLER_RATE_HZ;
const SEED = 1;

/** @throws ConfigError that names the condition. */
export function checkLine(conditions: LineConditions): CheckedLine {
  const names = ['echo', 'noise', 'loss', 'bunchMs'];
  checkOptions(conditions, { known: names }, 'line');
  const { echo, noise, loss, bunchMs } = conditions;
  const within = (name: string, value: unknown, [min, max, fallback]: readonly [number, number, number]) =>
    checkNumber(`line.${name}`, value, { min, max, fallback });
  if (echo !== undefined) {
    checkOptions(echo, { known: ['levelDb', 'delayMs'] }, 'line.echo');
  }
  if (noise !== undefined) {
    const known = ['levelDbfs', 'burstMs', 'everyMs'];
    checkOptions(noise, { known }, 'line.noise');
  }
  return {
    echo: echo && {
      gain: 10 ** (within('echo.levelDb', echo.levelDb, [-60, 0, -20]) / 20),
      delayMs: within('echo.delayMs', echo.delayMs, [0, 1000, 120]),
    },
    noise: noise && {
      levelDbfs: within('noise.levelDbfs', noise.levelDbfs, [-60, 0, -20]),
      burstMs: within('noise.burstMs', noise.burstMs, [20, 60_000, 300]),
      everyMs: within('noise.everyMs', noise.everyMs, [20, 60_000, 2000]),
    },
    loss: within('loss', loss, [0, 0.9, 0]),
    bunchFrames: Math.max(1, Math.round(within('bunchMs', bunchMs, [20, 2000, 20]) / FRAME_MS)),
  };
}

/** What was played to the caller from a moment of the line on: as many samples as a frame has. */
export type PlayedAudio = (fromMs: number) => Int16Array;

export class LineImpairment {
  readonly #line: CheckedLine;
  readonly #played: PlayedAudio;
  readonly #noise: WhiteNoise;
  readonly #random = seededRandom(SEED);
  #held: CallerFrame[] = [];

  /** @throws ConfigError */
  constructor(conditions: LineConditions, played: PlayedAudio) {
    this.#line = checkLine(conditions);
    this.#played = played;
    this.#noise = new WhiteNoise(this.#line.noise?.levelDbfs ?? 0, SEED);
  }

  /** The frame that was spoken at `atMs`, as the line makes it. */
  color(samples: Int16Array, atMs: number): Int16Array {
    const { echo, noise } = this.#line;
    const isBurst = noise !== undefined && atMs % noise.everyMs >= noise.everyMs - noise.burstMs;
    if (echo === undefined && !isBurst) return samples;
    const back = echo === undefined ? undefined : this.#played(atMs - echo.delayMs);
    return samples.map((sample, index) => {
      const echoed = (back?.[index] ?? 0) * (echo?.gain ?? 0);
      return clampSample(sample + echoed + (isBurst ? this.#noise.next() : 0));
    });
  }

  /** Takes a frame, and gives those that arrive now. */
  carry(frame: CallerFrame): readonly CallerFrame[] {
    const isLost = this.#random() < this.#line.loss;
    this.#held.push(isLost ? { ...frame, isLost } : frame);
    return this.#held.length < this.#line.bunchFrames ? [] : this.flush();
  }

  /** What is still held back. */
  flush(): readonly CallerFrame[] {
    const frames = this.#held;
    this.#held = [];
    return frames;
  }
}
