// How loud a piece of sound is.

const QUIETEST_DBFS = -96;
const FULL_SCALE = 32_768;

/** The sum of the squares of its samples. */
export function energyOf(frame: Int16Array): number {
  let sum = 0;
  // Four times as fast as with the iterator of the array.
  for (let index = 0; index < frame.length; index += 1) {
    const sample = frame[index] ?? 0;
    sum += sample * sample;
  }
  return sum;
}

/** Level of a frame in decibels of full scale, not below -96. */
export function levelDbfs(frame: Int16Array): number {
  return energyDbfs(energyOf(frame), frame.length);
}

/** Level of so many samples whose squares sum up to `energy`, in decibels of full scale, not below -96. */
export function energyDbfs(energy: number, samples: number): number {
  if (energy === 0) return QUIETEST_DBFS;
  return Math.max(QUIETEST_DBFS, 10 * Math.log10(energy / samples / (FULL_SCALE * FULL_SCALE)));
}
