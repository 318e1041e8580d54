/** Energy of a signal, as RMS. */
export function rms(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

/** Envelope of a signal: RMS of every 10 ms. */
function envelope(samples: Int16Array, sampleRateHz: number): Float64Array {
  const step = sampleRateHz / 100;
  return Float64Array.from({ length: Math.floor(samples.length / step) }, (_, index) =>
    rms(samples.subarray(index * step, (index + 1) * step)),
  );
}

function correlationAt(pattern: Float64Array, signal: Float64Array, offset: number): number {
  const window = signal.subarray(offset, offset + pattern.length);
  const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [patternMean, windowMean] = [mean(pattern), mean(window)];
  let [product, patternPower, windowPower] = [0, 0, 0];
  for (let index = 0; index < pattern.length; index += 1) {
    const a = (pattern[index] ?? 0) - patternMean;
    const b = (window[index] ?? 0) - windowMean;
    product += a * b;
    patternPower += a * a;
    windowPower += b * b;
  }
  return product / Math.sqrt(patternPower * windowPower || 1);
}

/**
 * How much `signal` contains `pattern`: the best correlation of their loudness envelopes over all positions, at most 1.
 * The same sentence scores above 0.9, another one below 0.7.
 */
export function contains(signal: Int16Array, pattern: Int16Array, sampleRateHz: number): number {
  const [long, short] = [envelope(signal, sampleRateHz), envelope(pattern, sampleRateHz)];
  let best = -1;
  for (let offset = 0; offset + short.length <= long.length; offset += 1) {
    best = Math.max(best, correlationAt(short, long, offset));
  }
  return best;
}
