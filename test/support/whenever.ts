import { systemClock, type Timer } from '../../src/base/clock.js';

const LOOK_EVERY_MS = 20;

/** Runs `task` once, as soon as it is time by the clock of the calls. The result ends the looking. */
export function whenever(isTime: () => boolean, task: () => void): () => void {
  let timer: Timer;
  const look = () => {
    if (isTime()) task();
    else timer = systemClock.after(LOOK_EVERY_MS, look);
  };
  look();
  return () => timer?.cancel();
}
