// Sets the clone up, measures the audio of the built package, path by path, and writes a table and plots.
//
//   npm run audio-report [-- FOLDER]     default: docs/audio
//
// Every backend gives the same bytes; the report measures one and compares the others with it.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BARS, measurePath, RIPPLE_LIMIT_DB, SINAD_LIMIT_DB } from '../test/bench/audio-quality.mjs';
import { plotLines } from '../test/bench/plot.mjs';
import { toTable } from '../test/bench/table.mjs';
import { setUp } from './setup.mjs';

await setUp();
const built = new URL('../dist/transcoder/', import.meta.url);
/** @type {typeof import('../src/transcoder/select.js')} */
const { BACKEND_NAMES, loadTranscoder } = await import(new URL('select.js', built).href);
/** @type {typeof import('../src/transcoder/rates.js')} */
const { findPath } = await import(new URL('rates.js', built).href);

const folder = process.argv[2] ?? 'docs/audio';
mkdirSync(folder, { recursive: true });

const backends = BACKEND_NAMES.flatMap((name) => {
  try {
    return [loadTranscoder(name)];
  } catch {
    return [];
  }
});
const first = backends[0];
if (first === undefined) throw new Error('no backend of the transcoder works here');
if (first.name !== 'native') console.log('no native addon here (it takes cargo): its bytes are not compared');

/** One second of full-scale noise and its tail, as a fingerprint. @param {import('../src/transcoder/backend.js').TranscoderBackend} backend @param {number} fromHz @param {number} toHz */
function fingerprint(backend, fromHz, toHz) {
  const hash = createHash('sha256');
  const resampler = backend.createResampler(fromHz, toHz);
  let state = 99;
  for (let i = 0; i < 50; i++) {
    const input = Int16Array.from({ length: fromHz / 50 + (i % 3) }, () => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
      return (state >> 15) - 0x8000;
    });
    hash.update(new Uint8Array(resampler.process(input).slice().buffer));
  }
  hash.update(new Uint8Array(resampler.flush().buffer));
  resampler.free();
  return hash.digest('hex');
}

/** The response that the taps have. @param {number} fromHz @param {number} toHz @param {[number, number]} band */
function response(fromHz, toHz, band) {
  const path = findPath(fromHz, toHz);
  if (path === undefined) return [];
  const rate = fromHz * path.up;
  const gainAt = (/** @type {number} */ hz) =>
    path.half.reduce(
      (sum, tap, k) => sum + (k === 0 ? tap : 2 * tap * Math.cos((2 * Math.PI * k * hz) / rate)),
      0,
    );
  const unity = gainAt(0);
  return Array.from({ length: 601 }, (_, i) => {
    const x = band[0] + ((band[1] - band[0]) * i) / 600;
    return { x, y: 20 * Math.log10(Math.max(1e-7, Math.abs(gainAt(x) / unity))) };
  });
}

const rows = [];
let failed = false;
for (const bars of BARS) {
  const { fromHz, toHz, passHz } = bars;
  const figures = measurePath(first, bars);
  const prints = new Set(backends.map((backend) => fingerprint(backend, fromHz, toHz)));
  const met =
    figures.rippleDb <= RIPPLE_LIMIT_DB &&
    figures.strayMarginDb >= 0 &&
    figures.sinadDb >= SINAD_LIMIT_DB &&
    figures.delayMs <= bars.delayMs &&
    figures.chunksSame &&
    figures.framesWhole &&
    prints.size === 1;
  failed ||= !met;
  rows.push([
    `${fromHz / 1000} to ${toHz / 1000} kHz`,
    `${figures.rippleDb.toFixed(4)} dB to ${passHz} Hz`,
    `${figures.strayDb.toFixed(1)} dB (${figures.strayMarginDb.toFixed(1)} below its bar)`,
    `${figures.sinadDb.toFixed(1)} dB`,
    `${figures.delayMs.toFixed(3)} ms`,
    figures.chunksSame && figures.framesWhole ? 'yes' : 'NO',
    prints.size === 1 ? backends.map(({ name }) => name).join(', ') : 'DIFFER',
    met ? 'met' : 'MISSED',
  ]);
  const name = `${fromHz / 1000}-to-${toHz / 1000}`;
  const top = (fromHz * toHz) / 16000;
  writeFileSync(
    join(folder, `${name}-response.svg`),
    plotLines({
      title: `${fromHz} to ${toHz} Hz: response of the filter`,
      xLabel: 'Hz',
      yLabel: 'dB',
      x: [0, top],
      y: [-120, 0],
      lines: [
        { label: 'response', points: response(fromHz, toHz, [0, top]) },
        {
          label: 'images and aliases, measured',
          points: figures.strays.map(({ hz, db }) => ({ x: hz, y: db })),
        },
      ],
    }),
  );
  writeFileSync(
    join(folder, `${name}-passband.svg`),
    plotLines({
      title: `${fromHz} to ${toHz} Hz: pass band`,
      xLabel: 'Hz',
      yLabel: 'dB',
      x: [0, passHz],
      y: [-RIPPLE_LIMIT_DB, RIPPLE_LIMIT_DB],
      lines: [
        { label: 'response', points: response(fromHz, toHz, [0, passHz]) },
        { label: 'measured', points: figures.gains.map(({ hz, db }) => ({ x: hz, y: db })) },
      ],
    }),
  );
}
const head = [
  'path',
  'ripple',
  'worst image or alias',
  'SINAD, 997 Hz at -1 dBFS',
  'delay',
  'any chunks, whole frames',
  'same bytes',
  'bars',
];
const table = toTable(head, rows);
const plots = BARS.map(({ fromHz, toHz }) => {
  const name = `${fromHz / 1000}-to-${toHz / 1000}`;
  return `![response ${name}](${name}-response.svg)\n![pass band ${name}](${name}-passband.svg)`;
}).join('\n');
writeFileSync(
  join(folder, 'README.md'),
  `# Audio of the transcoder\n\nWritten by \`npm run audio-report\`: tones through the public API of the built package, fitted by least squares.\n\n${table}\n\n${plots}\n`,
);
console.log(table);
console.log(`\nplots and table: ${folder}`);
process.exitCode = failed ? 1 : 0;
