// Bars beside a figure: how much of it there was when. Where nothing is known there is none.
import type { Trend } from '../state/trends.js';

const WIDTH = 96;
const HEIGHT = 24;

export function Sparkline({ trend }: { trend: Trend }) {
  const greatest = Math.max(...trend.map((value) => value ?? 0));
  if (!(greatest > 0)) return null;
  const bars = trend.flatMap((value, index) => {
    if (value === null || value <= 0) return [];
    const x = ((index + 0.5) / trend.length) * WIDTH;
    return [`M${x.toFixed(1)} ${HEIGHT}V${(HEIGHT - 1 - (value / greatest) * (HEIGHT - 1)).toFixed(1)}`];
  });
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={bars.join('')} />
    </svg>
  );
}
