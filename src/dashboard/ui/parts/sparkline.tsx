// A curve beside a figure: which way it goes, not how much.
import type { Trend } from '../state/trends.js';

const WIDTH = 96;
const HEIGHT = 24;

export function Sparkline({ trend }: { trend: Trend }) {
  const greatest = Math.max(...trend.map((value) => value ?? 0));
  if (!(greatest > 0)) return null;
  const points = trend.flatMap((value, index) =>
    value === null
      ? []
      : [
          `${((index / (trend.length - 1)) * WIDTH).toFixed(1)} ${(HEIGHT - 1 - (value / greatest) * (HEIGHT - 3)).toFixed(1)}`,
        ],
  );
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={`M${points.join('L')}`} />
    </svg>
  );
}
