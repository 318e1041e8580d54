// Runs a bench of the built package: `npm run bench -- transcoder [FOLDER]`. Benches stand in test/bench.
import { existsSync } from 'node:fs';

const [name = '', ...rest] = process.argv.slice(2);
const bench = new URL(`../test/bench/${name}.bench.mjs`, import.meta.url);
if (!/^[a-z-]+$/.test(name) || !existsSync(bench)) {
  console.error('usage: npm run bench -- transcoder');
  process.exit(2);
}
if (!existsSync(new URL('../dist/transcoder/index.js', import.meta.url))) {
  console.error('the bench measures the built package: run npm run build first');
  process.exit(1);
}
const { run } = await import(bench.href);
await run(...rest);
