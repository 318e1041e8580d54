// Which rates go into which, and how many samples come out when. The same numbers in every backend.
import { FILTERS } from './javascript/filters.js';

/** A path between two rates. */
export interface RatePath {
  readonly fromHz: number;
  readonly toHz: number;
  /** Output samples of a group, the smallest step of the path: 125 microseconds. */
  readonly up: number;
  /** Input samples of a group. */
  readonly down: number;
  /** Delay of the filter in samples of the rate `fromHz * up`. */
  readonly delay: number;
  /** The center tap, then the taps beside it, outwards. */
  readonly half: readonly number[];
}

const PATHS: readonly RatePath[] = FILTERS.map(({ fromHz, toHz, half }) => {
  const down = fromHz / 8000;
  // The last output of a group may look ahead to the last input of the group, no further.
  const delay = half.length - 1 - (down - 1);
  return { fromHz, toHz, up: toHz / 8000, down, delay, half };
});

/** The path between two rates in hertz, or undefined when none is offered. */
export function findPath(fromHz: number, toHz: number): RatePath | undefined {
  for (const path of PATHS) if (path.fromHz === fromHz && path.toHz === toHz) return path;
  return undefined;
}

/** Every path that is offered. */
export function allPaths(): readonly RatePath[] {
  return PATHS;
}

/** Delay of the path's filter, in milliseconds. */
export function pathDelayMs(path: RatePath): number {
  return (path.delay * 1000) / (path.fromHz * path.up);
}

/** Samples that come out of `input` more samples when `pending` of a group are there already. */
export function dueSamples(path: RatePath, pending: number, input: number): number {
  return Math.floor((pending + input) / path.down) * path.up;
}

/** Samples of the tail when `pending` samples of a group are there. */
export function tailSamples(path: RatePath, pending: number): number {
  return Math.ceil((pending * path.up + path.delay) / path.down);
}
