// Finds clicks: places where the waveform breaks although it should go on. Judged only where two pieces of audio meet.

/** Order of the linear prediction: two samples per formant of telephone speech. */
const ORDER = 8;
/** 20 ms at 8 kHz on each side: at least one period of the deepest voice. */
const WINDOW = 160;
/** A break is this many times larger than anything the prediction misses nearby ... */
const RATIO = 2.5;
/** ... and at least this loud: about -30 dBFS. Smaller ones drown in telephone noise. */
const FLOOR = 1000;

/** Coefficients that predict a sample from the ones before it. Source: Levinson-Durbin recursion on the autocorrelation. */
function fitPrediction(samples: Int16Array): Float64Array {
  const correlation = Float64Array.from({ length: ORDER + 1 }, (_, lag) => {
    let sum = 0;
    for (let i = lag; i < samples.length; i += 1) sum += (samples[i] ?? 0) * (samples[i - lag] ?? 0);
    return sum;
  });
  const at = (values: Float64Array, index: number) => values[index] ?? 0;
  let coefficients = new Float64Array(ORDER);
  let error = at(correlation, 0) * (1 + 1e-6) + 1;
  for (let step = 0; step < ORDER; step += 1) {
    let reflection = at(correlation, step + 1);
    for (let i = 0; i < step; i += 1) reflection -= at(coefficients, i) * at(correlation, step - i);
    reflection /= error;
    const next = coefficients.slice();
    next[step] = reflection;
    for (let i = 0; i < step; i += 1) {
      next[i] = at(coefficients, i) - reflection * at(coefficients, step - 1 - i);
    }
    coefficients = next;
    error *= 1 - reflection * reflection;
  }
  return coefficients;
}

function missAt(samples: Int16Array, index: number, coefficients: Float64Array): number {
  let predicted = 0;
  for (let i = 0; i < ORDER; i += 1) predicted += (coefficients[i] ?? 0) * (samples[index - 1 - i] ?? 0);
  return Math.abs((samples[index] ?? 0) - predicted);
}

function largestMiss(samples: Int16Array, from: number, to: number): number {
  const coefficients = fitPrediction(samples.subarray(from, to));
  let largest = 0;
  for (let index = from + ORDER; index < to; index += 1) {
    largest = Math.max(largest, missAt(samples, index, coefficients));
  }
  return largest;
}

/**
 * True when the sample at `border` breaks with what comes before it: the error of a linear prediction there is over
 * -30 dBFS and over 2.5 times the largest one in the 20 ms on either side. `samples` is 8 kHz PCM.
 */
export function isClick(samples: Int16Array, border: number): boolean {
  const from = Math.max(0, border - WINDOW);
  const to = Math.min(samples.length, border + WINDOW);
  if (border - from <= ORDER || to - border <= ORDER) return false;
  const miss = missAt(samples, border, fitPrediction(samples.subarray(from, border)));
  if (miss < FLOOR) return false;
  return miss > RATIO * Math.max(largestMiss(samples, from, border), largestMiss(samples, border, to));
}
