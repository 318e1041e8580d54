// What facts cost on their way from the bus: store, disk, readers. Each part measures scenarios of its own, beside a baseline in the same run.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureFactsOverHttp } from './facts-http.mjs';
import { measureDisk } from './facts/disk.mjs';
import { plotBars } from './plot.mjs';
import { toTable } from './table.mjs';

/**
 * Each returns its scenarios; the first bar of a scenario is its baseline.
 * @type {readonly (() => Promise<import('./facts/disk.mjs').Scenario[]>)[]}
 */
const PARTS = [measureDisk, () => measureFactsOverHttp()];

/** @param {number} value */
const figure = (value) => (value < 10 ? value.toFixed(2) : value.toFixed(0));

/** Prints the tables, and writes them with plots to `folder`. */
export async function run(folder = 'docs/bench') {
  mkdirSync(folder, { recursive: true });
  const texts = [
    '# Bench of the facts',
    'Written by `npm run bench -- facts`: medians, each beside a baseline in the same run. Only the ratios travel.',
  ];
  let plots = 0;
  for (const part of PARTS) {
    for (const { title, unit, note, bars } of await part()) {
      const base = bars[0]?.value ?? 1;
      const rows = bars.map(({ label, value, goal = '' }) => [
        label,
        figure(value),
        (value / base).toFixed(2),
        goal,
      ]);
      const table = toTable(['candidate', unit, 'ratio', 'goal'], rows, { numbersFrom: 1 });
      console.log(`\n${title}\n${note}\n${table}`);
      plots += 1;
      const plot = `facts-${plots}.svg`;
      writeFileSync(join(folder, plot), plotBars({ title, unit, bars }));
      texts.push(`## ${title}`, note, table, `![${title}](${plot})`);
    }
  }
  writeFileSync(join(folder, 'facts.md'), `${texts.join('\n\n')}\n`);
  console.log(`\nplots and tables: ${folder}`);
}
