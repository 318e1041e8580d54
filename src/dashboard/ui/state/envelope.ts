// The envelope of a call as shapes: one outline a side. Pure: no browser, no clock.
import type { AudioEnvelope } from '../../../contract/call-record.js';

/** Pairs of least and greatest, each from -1 to 1. */
export type Outline = readonly (readonly [number, number])[];

function toOutline(base64: string): Outline {
  const bytes = atob(base64);
  const signed = (index: number) => ((bytes.charCodeAt(index) << 24) >> 24) / 128;
  return Array.from({ length: bytes.length >> 1 }, (_, index) => [signed(2 * index), signed(2 * index + 1)]);
}

export interface EnvelopeShape {
  caller: Outline;
  agent: Outline;
  /** Milliseconds from the first to the last bucket of the longer side. */
  lengthMs: number;
}

/** Null for an envelope that cannot be read. */
export function shapeOf(envelope: AudioEnvelope): EnvelopeShape | null {
  try {
    const [caller, agent] = [toOutline(envelope.caller), toOutline(envelope.agent)];
    return { caller, agent, lengthMs: Math.max(caller.length, agent.length) * envelope.bucketMs };
  } catch {
    return null;
  }
}

/** At most `columns` pairs, none of whose peaks is lost. */
export function condense(outline: Outline, columns: number): Outline {
  const step = Math.max(1, Math.ceil(outline.length / columns));
  if (step === 1) return outline;
  const condensed: [number, number][] = [];
  for (let from = 0; from < outline.length; from += step) {
    const part = outline.slice(from, from + step);
    condensed.push([
      Math.min(...part.map(([least]) => least)),
      Math.max(...part.map(([, greatest]) => greatest)),
    ]);
  }
  return condensed;
}

/** An SVG path around `outline`, one unit a pair, between `middle - half` and `middle + half`. Quiet voices are drawn larger than life. */
export function outlinePath(
  outline: Outline,
  place: { middle: number; half: number; width: number },
): string {
  if (outline.length === 0) return '';
  const { middle, half, width } = place;
  const y = (value: number) => (middle - Math.sign(value) * Math.sqrt(Math.abs(value)) * half).toFixed(1);
  const x = (index: number) => ((index / outline.length) * width).toFixed(1);
  const above = outline.map(([, greatest], index) => `${x(index)} ${y(greatest)}`);
  const below = outline.map(([least], index) => `${x(index)} ${y(least)}`).reverse();
  return `M${above.join('L')}L${below.join('L')}Z`;
}
