// Small SVG plots for the reports: lines over a linear axis, and bars over a logarithmic one. No dependency, no script.

const WIDTH = 760;
const HEIGHT = 380;
const MARGIN = { left: 64, right: 24, top: 44, bottom: 48 };
const COLOURS = ['#1f5fbf', '#c0392b', '#2e8b57', '#8e44ad', '#b8860b', '#444444'];

/** @param {string} text */
const toText = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** @param {string} title @param {string} body @param {number} [height] */
function frame(title, body, height = HEIGHT) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">
<title>${toText(title)}</title>
<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
<text x="${MARGIN.left}" y="24" font-size="15" fill="#222222">${toText(title)}</text>
${body}
</svg>
`;
}

/**
 * @typedef {{ label: string, points: { x: number, y: number }[] }} Line
 * @param {{ title: string, xLabel: string, yLabel: string, x: [number, number], y: [number, number], lines: Line[] }} plot
 */
export function plotLines({ title, xLabel, yLabel, x, y, lines }) {
  const plotWidth = WIDTH - MARGIN.left - MARGIN.right;
  const plotHeight = HEIGHT - MARGIN.top - MARGIN.bottom;
  /** @param {number} value */
  const toX = (value) => MARGIN.left + ((value - x[0]) / (x[1] - x[0])) * plotWidth;
  /** @param {number} value */
  const toY = (value) =>
    MARGIN.top + ((y[1] - Math.min(y[1], Math.max(y[0], value))) / (y[1] - y[0])) * plotHeight;
  const parts = [];
  for (let i = 0; i <= 6; i++) {
    const [xs, ys] = [x[0] + ((x[1] - x[0]) * i) / 6, y[0] + ((y[1] - y[0]) * i) / 6];
    parts.push(
      `<path d="M${toX(xs).toFixed(1)} ${MARGIN.top}V${HEIGHT - MARGIN.bottom}M${MARGIN.left} ${toY(ys).toFixed(1)}H${WIDTH - MARGIN.right}" stroke="#dddddd"/>`,
      `<text x="${toX(xs).toFixed(1)}" y="${HEIGHT - MARGIN.bottom + 16}" text-anchor="middle" fill="#444444">${+xs.toFixed(0)}</text>`,
      `<text x="${MARGIN.left - 6}" y="${(toY(ys) + 4).toFixed(1)}" text-anchor="end" fill="#444444">${+ys.toFixed(4)}</text>`,
    );
  }
  parts.push(
    `<text x="${WIDTH / 2}" y="${HEIGHT - 10}" text-anchor="middle" fill="#444444">${toText(xLabel)}</text>`,
    `<text x="14" y="${HEIGHT / 2}" text-anchor="middle" fill="#444444" transform="rotate(-90 14 ${HEIGHT / 2})">${toText(yLabel)}</text>`,
  );
  lines.forEach(({ label, points }, index) => {
    const color = COLOURS[index % COLOURS.length];
    const path = points.map(
      (point, i) => `${i === 0 ? 'M' : 'L'}${toX(point.x).toFixed(1)} ${toY(point.y).toFixed(1)}`,
    );
    parts.push(
      `<path d="${path.join('')}" fill="none" stroke="${color}" stroke-width="1.4"/>`,
      `<text x="${WIDTH - MARGIN.right}" y="${24 + 14 * index}" text-anchor="end" fill="${color}">${toText(label)}</text>`,
    );
  });
  return frame(title, parts.join('\n'));
}

/**
 * Horizontal bars, logarithmic.
 * @param {{ title: string, unit: string, bars: { label: string, value: number }[] }} plot
 */
export function plotBars({ title, unit, bars }) {
  const left = 250;
  const row = 22;
  const height = MARGIN.top + bars.length * row + 20;
  const values = bars.map(({ value }) => value);
  const low = Math.log10(Math.min(...values)) - 0.2;
  const span = Math.log10(Math.max(...values)) - low;
  const body = bars.map(({ label, value }, index) => {
    const y = MARGIN.top + index * row;
    const length = ((Math.log10(value) - low) / span) * (WIDTH - left - 110);
    const color = label.startsWith('offhook') ? COLOURS[0] : '#999999';
    return `<text x="${left - 8}" y="${y + 14}" text-anchor="end" fill="#333333">${toText(label)}</text>
<rect x="${left}" y="${y + 3}" width="${length.toFixed(1)}" height="${row - 6}" fill="${color}"/>
<text x="${(left + length + 6).toFixed(1)}" y="${y + 14}" fill="#333333">${value < 10 ? value.toFixed(2) : value.toFixed(0)} ${toText(unit)}</text>`;
  });
  return frame(title, body.join('\n'), height);
}
