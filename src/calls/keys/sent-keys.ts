// Keys that are played to the other side: what may be asked for, and how long it takes.
import { RequestError } from '../../base/errors.js';

const KEYS = /^[0-9A-D#*wW]{1,32}$/;

/** Longest time that a carrier needs for one key with the silence after it, in milliseconds. */
const KEY_MS = 500;
const PAUSE_MS: Readonly<Record<string, number>> = { w: 500, W: 1000 };

/** @throws RequestError for what is no sequence of keys. */
export function checkKeys(digits: unknown): asserts digits is string {
  if (typeof digits !== 'string' || !KEYS.test(digits)) {
    throw new RequestError(
      'REQUEST_INVALID',
      'Send 1 to 32 keys of 0-9, A-D, # and *, with w and W for half a second and a second of silence.',
    );
  }
}

/** Time in which the keys have certainly been played, in milliseconds. */
export function keysDurationMs(digits: string): number {
  return [...digits].reduce((total, key) => total + (PAUSE_MS[key] ?? KEY_MS), 0);
}
