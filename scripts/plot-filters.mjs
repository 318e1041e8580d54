// Draws the response of every filter, with its facts, into crates/transcoder/docs. Run it after gen-filters.mjs.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { plotLines } from '../test/bench/plot.mjs';

const table = readFileSync(new URL('../crates/transcoder/src/filters.rs', import.meta.url), 'utf8');
const folder = fileURLToPath(new URL('../crates/transcoder/docs/', import.meta.url));
mkdirSync(folder, { recursive: true });

const filters = [
  ...table.matchAll(/\/\/ (.*)\n\s*Filter \{\s*from_hz: (\d+),\s*to_hz: (\d+),\s*half: &\[([^\]]*)\]/g),
].map(([, facts = '', from, to, taps = '']) => ({
  facts,
  fromHz: Number(from),
  toHz: Number(to),
  half: taps
    .split(',')
    .filter((tap) => tap.trim() !== '')
    .map(Number),
}));

/** @param {{ fromHz: number, toHz: number, half: number[] }} filter @param {number} hz */
function gainAt({ fromHz, toHz, half }, hz) {
  const angle = (2 * Math.PI * hz * 8000) / (fromHz * toHz);
  return half.reduce((sum, tap, k) => sum + (k === 0 ? tap : 2 * tap * Math.cos(k * angle)), 0);
}

const sections = filters.map((filter) => {
  const { fromHz, toHz, half, facts } = filter;
  const name = `${fromHz / 1000}-to-${toHz / 1000}`;
  const top = (fromHz * toHz) / 16000;
  const unity = gainAt(filter, 0);
  const points = Array.from({ length: 801 }, (_, i) => {
    const x = (top * i) / 800;
    return { x, y: 20 * Math.log10(Math.max(1e-7, Math.abs(gainAt(filter, x) / unity))) };
  });
  const title = `${fromHz} to ${toHz} Hz`;
  const plot = { title, xLabel: 'Hz', yLabel: 'dB', lines: [{ label: 'response', points }] };
  writeFileSync(`${folder}${name}.svg`, plotLines({ ...plot, x: [0, top], y: [-132, 0] }));
  const delay = half.length - 1 - (fromHz / 8000 - 1);
  const delayMs = (delay * 8e6) / (fromHz * toHz);
  const sentence = `Delay: ${delay} samples of ${(fromHz * toHz) / 8000} Hz, ${delayMs.toFixed(3)} ms.`;
  return `## ${title}\n\n${facts}\n${sentence}\n`;
});

writeFileSync(
  `${folder}filters.md`,
  `# The filters

Drawn by \`scripts/plot-filters.mjs\` from the table that \`scripts/gen-filters.mjs\` designs; the design is documented there.

Each is a symmetric FIR of odd length at the rate where both sides meet, designed for the smallest greatest weighted error
(least squares, reweighted by its own error until the ripple is even: C. L. Lawson, 1961). Where the pass band mirrors the stop
band around half the lower rate, every second or third tap is zero, and one output phase is a copy of the input. Taps are
integers, every polyphase branch sums to exactly 2^20. The stop band of the filters that make new samples weighs more toward
its end, where the images of speech lie.

The plots stand beside this page, and at the end of it in the crate's own documentation (\`cargo doc\`).

${sections.join('\n')}`,
);
console.log(`wrote ${filters.length} plots and filters.md to crates/transcoder/docs`);
