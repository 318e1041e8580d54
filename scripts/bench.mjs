// Sets the clone up and runs a bench of the built package: `npm run bench -- transcoder [FOLDER]`. Benches stand in test/bench.
import { existsSync } from 'node:fs';
import { setUp } from './setup.mjs';

const [name = '', ...rest] = process.argv.slice(2);
const bench = new URL(`../test/bench/${name}.bench.mjs`, import.meta.url);
if (!/^[a-z-]+$/.test(name) || !existsSync(bench)) {
  console.error(
    'usage: npm run bench -- transcoder | conversation | machine | facts | dashboard | turn-taking | frame | load | overload | webhook | handover | recording | cluster',
  );
  process.exit(2);
}
await setUp();
const { run } = await import(bench.href);
await run(...rest);
