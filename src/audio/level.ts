// How loud a piece of sound is.

const QUIETEST_DBFS = -96;

/** Level of a frame in decibels of full scale, not below -96. */
export function levelDbfs(frame: Int16Array): number {
  let sum = 0;
  for (const sample of frame) sum += sample * sample;
  if (sum === 0) return QUIETEST_DBFS;
  return Math.max(QUIETEST_DBFS, 10 * Math.log10(sum / frame.length / (32768 * 32768)));
}
